"""Computations that take a while: jobs, training runs as they go, training that is wound back."""
