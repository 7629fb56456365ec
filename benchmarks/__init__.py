"""How fast, and in how much memory: `python -m benchmarks`. Nothing here is a test."""
