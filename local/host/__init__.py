"""The Functions host: runs an unmodified function app in Microsoft's Python worker library."""
