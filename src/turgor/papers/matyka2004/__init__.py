"""Matyka 2004, How To Implement a Pressure Soft Body Model: its figures and listings."""
