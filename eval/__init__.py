"""Benchmarks: what the product promises, measured. Run one with `python -m eval.<name>`, or all by `make bench`."""
