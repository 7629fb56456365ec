"""Checks of the templates that need neither a compiler nor a network: `python -m checks.bicep`."""
