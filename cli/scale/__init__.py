"""How many instances, how many messages at once: computed from the catalogue's quotas."""
