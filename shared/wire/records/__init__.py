"""How our values are stored. The shape of every entity is decided here and nowhere else.

Every record carries `schema`; readers take the current version and the one before it.
"""
