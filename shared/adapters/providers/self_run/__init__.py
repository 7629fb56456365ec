"""Batches that are run line by line, for servers that have none."""
