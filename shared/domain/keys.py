"""Deterministic names: the same input always has the same key, and nobody else's ever."""

import hashlib
import re
from collections.abc import Iterable
from typing import Final

from shared.domain.ids import RequestKey, TenantId

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_]+")
MAX_LABEL: Final = 20


def label(run_id: str) -> str:
    """The run's safe characters, at most 20: for people who read a provider's console."""
    return _UNSAFE.sub("-", run_id).strip("-")[:MAX_LABEL].strip("-") or "run"


def digest(parts: Iterable[bytes], *, person: bytes) -> str:
    """32 hex digits over the parts, each delimited by its length so that no two lists collide."""
    hashed = hashlib.blake2b(digest_size=16, person=person)
    for part in parts:
        hashed.update(len(part).to_bytes(8, "big"))
        hashed.update(part)
    return hashed.hexdigest()


def digest_of(key: str) -> bytes | None:
    """The 16 bytes that tell a key from all others of its run. None: it is no key of a request."""
    try:
        found = bytes.fromhex(key[-32:])
    except ValueError:
        return None
    return found if len(found) == 16 else None


class KeyMaker:
    """Keys of one job's requests. What all of them share is hashed once."""

    def __init__(self, *, tenant: TenantId, run_id: str, endpoint: str, model: str) -> None:
        self._label = label(run_id)
        self._shared = hashlib.blake2b(digest_size=16, person=b"postern-request")
        for part in (tenant, run_id, endpoint, model):
            self._add(self._shared, part.encode())

    def key(self, canonical_body: bytes, *, salt: str = "") -> RequestKey:
        """At most 53 characters of `[A-Za-z0-9_-]`.

        `canonical_body` holds prompt, parameters and schema. `salt` tells apart requests that must not be
        taken for one another although they are equal (a job without dedupe).
        """
        hashed = self._shared.copy()
        self._add(hashed, canonical_body)
        self._add(hashed, salt.encode())
        return RequestKey(f"{self._label}-{hashed.hexdigest()}")

    @staticmethod
    def _add(hashed: "hashlib.blake2b", part: bytes) -> None:
        hashed.update(len(part).to_bytes(8, "big"))
        hashed.update(part)
