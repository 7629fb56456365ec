"""OpenAI, Azure OpenAI, and whatever speaks as they do."""
