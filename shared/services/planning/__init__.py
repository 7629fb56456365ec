"""Planning: a job's input becomes chunks, every input gets its key, and what needs no sending its outcome."""
