"""What several suites share: processes on loopback, streams, receivers."""
