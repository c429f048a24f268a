"""Matyka 2007, The Pressure Soft Body (poster): its figures."""
