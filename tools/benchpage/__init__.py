"""docs/benchmarks.md from the results of `turgor bench -o`: tables, plots, targets; tools/benchmarks runs it."""
