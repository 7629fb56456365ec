"""What the simulated model answers, in no provider's words."""
