"""After a deployment: drop a document, submit a job, and see what comes of both."""
