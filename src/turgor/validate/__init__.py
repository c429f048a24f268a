"""The engine against references from outside: formulas and published numbers, as one HTML page (`turgor validate`)."""
