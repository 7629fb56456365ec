"""`python -m local demo`: the sample jobs on a stack of their own, from submission to files, in a minute."""
