"""Studies: one scene with many sets of parameters, as one table."""
