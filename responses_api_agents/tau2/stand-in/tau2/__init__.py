"""Stands in for tau2-bench in tests: a package with the same entry points and one task, without a model library."""
