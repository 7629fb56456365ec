"""How a reader says that a document has no text to give."""

from shared.domain.extraction import UnreadableReason


class Refusal(Exception):
    """Ends the reading of one document; never leaves the child process."""

    def __init__(self, reason: UnreadableReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def corrupt(what: str) -> Refusal:
    """The content is not what its signature promises."""
    return Refusal(
        UnreadableReason.CORRUPT,
        f"The {what} is damaged and cannot be read; save it again and drop the new file.",
    )


def encrypted(what: str) -> Refusal:
    """A password is needed."""
    return Refusal(
        UnreadableReason.ENCRYPTED, f"The {what} is password protected; drop a copy without a password."
    )


def no_text(message: str) -> Refusal:
    """Readable, with nothing to read."""
    return Refusal(UnreadableReason.NO_TEXT, message)


def empty(what: str) -> Refusal:
    """Nothing was ever written into it."""
    return Refusal(UnreadableReason.EMPTY, f"The {what} is empty.")


def too_large(message: str) -> Refusal:
    """A bound was reached."""
    return Refusal(UnreadableReason.TOO_LARGE, message)


def unsupported(message: str) -> Refusal:
    """A kind of file nobody reads here."""
    return Refusal(UnreadableReason.UNSUPPORTED_TYPE, message)
