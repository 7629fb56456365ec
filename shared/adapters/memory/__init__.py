"""The ports in memory, for tests. The same contract suite runs over these and over the real ones."""
