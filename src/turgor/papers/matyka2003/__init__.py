"""Matyka & Ollila 2003, Pressure Model of Soft Body Simulation: its figures, and what its text claims."""
