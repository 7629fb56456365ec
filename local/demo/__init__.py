"""`python -m local demo`: the sample jobs and documents on a stack of their own, from first to last, in a minute."""
