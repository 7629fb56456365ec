"""Makes the sample data of this folder: the same files every time. `python -m examples.generator`"""
