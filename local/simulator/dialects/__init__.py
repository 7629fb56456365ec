"""One file a dialect; `openai_*` is what OpenAI and Azure OpenAI share."""
