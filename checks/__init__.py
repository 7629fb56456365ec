"""Checks of what is deployed: before, without anything to deploy it to, and after, from outside. Never deployed."""
