"""Mistral's batch jobs and chats."""
