"""Counting tokens before they are sent. An estimate, and marked as one wherever it is shown."""

from collections.abc import Sequence
from typing import Protocol


class Tokens(Protocol):
    def count(self, model: str, texts: Sequence[str]) -> list[int]:
        """Tokens of each text. Never less than the model will count, within two per cent.

        CPU-bound; call it off the event loop for more than a few megabytes.
        """
        ...
