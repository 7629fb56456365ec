"""Lists that come in pages, from services that may turn in circles."""

from collections.abc import Iterable

from shared.domain.errors import TryAgainLater


class Progress:
    """Of one walk through a list. One that ends where it began proves nobody's absence.

    Both verbs raise `TryAgainLater` when the walk is where it has been before.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._seen: set[str] = set()

    def follow(self, cursor: str) -> str:
        self.met([cursor])
        return cursor

    def met(self, ids: Iterable[str]) -> None:
        """A page's ids, of which one at least must be new: some may have moved here meanwhile."""
        before = len(self._seen)
        self._seen.update(ids)
        if len(self._seen) == before:
            raise TryAgainLater(f"the {self._what} goes round in circles")
