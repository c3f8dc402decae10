"""Benchmarks: collections of questions about pictures. The module's name is the benchmark's name."""
