"""What is done with one chunk, step by step, from planned to cleared."""
