"""The ports on Azure Storage and Event Grid. Nothing of an SDK leaves this package."""
