"""Martin 2009, Real-Time Soft Body Simulation Using an Approximation of the Pressure Force: its measurements."""
