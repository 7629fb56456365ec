"""Settling a chunk: every request gets its outcome, or is handed on to the next round."""
