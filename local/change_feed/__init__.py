"""What Event Grid is in Azure: tells the host of blobs that were created.

Azurite has no change feed, but its access log says what was written. The feed follows that log and posts events
to a webhook: at least once, in no promised order, again and again while nobody answers.
"""
