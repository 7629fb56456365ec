"""Anthropic's Message Batches and Messages."""
