"""Backward Euler and statics: Newton steps whose linear systems are solved by conjugate gradients."""
