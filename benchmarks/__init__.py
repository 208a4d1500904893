"""Measurements: each module returns a Markdown section; ``python -m benchmarks.NAME`` prints one."""
