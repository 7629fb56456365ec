"""Numbers by key, for as many requests as a job may have."""

from shared.domain.digest_numbers import DigestNumbers
from shared.domain.ids import RequestKey
from shared.domain.keys import digest_of


class ByKey:
    """Holds what distinguishes the keys of one run, not the keys. What is no key of a request is never in it."""

    def __init__(self) -> None:
        self._numbers = DigestNumbers()

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.find(key) is not None

    def first(self, key: RequestKey, number: int) -> int:
        """The number that came with this key first: `number` if the key is new."""
        digest = digest_of(key)
        return number if digest is None else self._numbers.first(digest, number)

    def put(self, key: str, number: int) -> None:
        """From now on the key has this number."""
        digest = digest_of(key)
        if digest is not None:
            self._numbers.put(digest, number)

    def find(self, key: str) -> int | None:
        digest = digest_of(key)
        return None if digest is None else self._numbers.find(digest)
