"""A day's work against every limit that it meets."""
