"""Checks of what is deployed, without anything to deploy it to. Never deployed itself."""
