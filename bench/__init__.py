"""Benchmarks: every figure that the project claims is a row here, measured against a peer or a baseline in the same run."""
