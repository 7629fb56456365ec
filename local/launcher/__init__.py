"""Starts the local stack, keeps it running and ends it."""
