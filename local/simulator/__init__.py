"""Postern's provider simulator: the batch and model APIs on a loopback port, with trouble on demand."""
