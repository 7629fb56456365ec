"""OpenAI's bodies as neutral questions, and neutral answers as OpenAI's, for providers that speak otherwise."""
