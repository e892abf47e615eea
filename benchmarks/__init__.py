"""Measurements. Each module is a program: ``python -m benchmarks.startup``."""
