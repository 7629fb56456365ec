"""What the app, the fork server and its children tell each other: one JSON object per line.

Both ends are of one version and one machine, so these shapes carry no schema version.
"""

import msgspec

from shared.adapters.extract.limits import ChildLimits
from shared.adapters.extract.media import Kind
from shared.domain.extraction import ExtractionLimits, UnreadableReason


class Order(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Read this file. `is_second` asks for the reader that is slower and harder to break."""

    id: int
    source: str
    kind: Kind
    content_type: str | None
    limits: ExtractionLimits
    child_limits: ChildLimits
    is_second: bool = False


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """End the child that reads order `id`, if it still runs."""

    id: int


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The server accepts orders. Texts lie in `directory`; the server removes it when it ends."""

    directory: str


class Opened(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A child knows what it has in hand, and is about to give it to a parser."""

    media_type: str


class Done(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The text is in the file `output`."""

    id: int
    output: str
    media_type: str
    pages: int | None
    pages_without_text: tuple[int, ...]


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The document has no text to give."""

    id: int
    reason: UnreadableReason
    message: str


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The machine failed, not the document: a full disk, a file that is gone."""

    id: int
    message: str


class Died(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The child ended without an answer, by `signal` (0: it ended by itself)."""

    id: int
    signal: int
    media_type: str | None


type Answer = Done | Refused | Failed | Died

REQUESTS: msgspec.json.Decoder[Order | Cancel] = msgspec.json.Decoder(Order | Cancel)
READY = msgspec.json.Decoder(Ready)
ANSWERS: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Done | Refused | Failed | Died)
CHILD_LINES: msgspec.json.Decoder[Opened | Done | Refused | Failed] = msgspec.json.Decoder(
    Opened | Done | Refused | Failed
)


def line(message: msgspec.Struct) -> bytes:
    """`message` as one line."""
    return msgspec.json.encode(message) + b"\n"
