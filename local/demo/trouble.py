"""What can go wrong with the demo itself."""


class DemoFailed(Exception):
    """The demo cannot go on. The message says what happened, for a person at the terminal."""
