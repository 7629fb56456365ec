"""A number for each of a million digests, in some fifty bytes each: less than half of what a dict takes."""

import struct
from array import array
from typing import Final

_HALVES: Final = struct.Struct("<QQ").unpack
# Digests are spread over so many tables that none takes long to grow.
_TABLES: Final = 256
_FIRST_SLOTS: Final = 8


class DigestNumbers:
    """Maps digests of 16 bytes to numbers from 0. Nothing is ever removed."""

    def __init__(self) -> None:
        self._tables = [_Table(_FIRST_SLOTS) for _ in range(_TABLES)]

    def __len__(self) -> int:
        return sum(table.used for table in self._tables)

    def first(self, digest: bytes, number: int) -> int:
        """The number that this digest came with first: `number` if it is new."""
        earlier = self.find(digest)
        if earlier is not None:
            return earlier
        self.put(digest, number)
        return number

    def put(self, digest: bytes, number: int) -> None:
        """Whatever number it had before."""
        table = self._tables[digest[-1]]
        low, high = _HALVES(digest)
        table.put(low, high, number + 1)
        if table.is_full:
            self._tables[digest[-1]] = table.grown()

    def find(self, digest: bytes) -> int | None:
        number = self._tables[digest[-1]].get(*_HALVES(digest))
        return number - 1 if number else None


class _Table:
    """Open addressing in flat arrays: a digest lies in the first free slot from its own on. 0: free."""

    __slots__ = ("_highs", "_lows", "_mask", "_numbers", "used")

    def __init__(self, slots: int) -> None:
        self._mask = slots - 1
        self._lows, self._highs, self._numbers = (array("Q", bytes(8 * slots)) for _ in range(3))
        self.used = 0

    @property
    def is_full(self) -> bool:
        return 3 * self.used > 2 * self._mask

    def get(self, low: int, high: int) -> int:
        return self._numbers[self._slot(low, high)]

    def put(self, low: int, high: int, number: int) -> None:
        slot = self._slot(low, high)
        self.used += not self._numbers[slot]
        self._lows[slot], self._highs[slot], self._numbers[slot] = low, high, number

    def grown(self) -> "_Table":
        """Twice as large, with the same content."""
        larger = _Table(2 * (self._mask + 1))
        for low, high, number in zip(self._lows, self._highs, self._numbers, strict=True):
            if number:
                larger.put(low, high, number)
        return larger

    def _slot(self, low: int, high: int) -> int:
        """Where this digest is, or would be."""
        lows, numbers, mask = self._lows, self._numbers, self._mask
        slot = low & mask
        while numbers[slot] and not (lows[slot] == low and self._highs[slot] == high):
            slot = (slot + 1) & mask
        return slot
