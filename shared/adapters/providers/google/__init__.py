"""Gemini on Vertex AI, its files in Cloud Storage, and the Gemini Developer API at once."""
