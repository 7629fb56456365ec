"""A copy of all tables as files, and the way back. Blobs are kept by the account itself: see docs/deploy.md."""
