"""The claim check: what a message of the queue `documents` says. A reference, never content."""

from typing import Final

import msgspec

from shared.domain.documents import Document, message_id
from shared.domain.ids import DocumentId, TenantId
from shared.ports.queue import Message

SCHEMA: Final = "claim/1"
MAX_BYTES: Final = 4096


class BadClaim(ValueError):
    """No claim check of a version that is known here. The text repeats nothing of the body."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """`path` is below the container `documents`; with `etag` it names the version that was claimed."""

    schema: str = SCHEMA
    document: str
    tenant: str
    pipeline: str
    path: str
    etag: str
    alias: str | None = None
    generation: int = 1
    correlation_id: str

    @property
    def id(self) -> DocumentId:
        return DocumentId(self.document)

    @property
    def owner(self) -> TenantId:
        return TenantId(self.tenant)


_read: Final = msgspec.json.Decoder(Claim).decode


def claim_of(document: Document) -> Claim:
    return Claim(
        document=document.id,
        tenant=document.tenant,
        pipeline=document.pipeline,
        path=document.path,
        etag=document.etag,
        alias=document.alias,
        generation=document.generation,
        correlation_id=document.id,
    )


def message_of(claim: Claim, *, suffix: str = "") -> Message:
    """The message that carries it. `suffix` sets a repeat apart that duplicate detection must let through.

    Raise `ValueError` beyond `MAX_BYTES`.
    """
    body = msgspec.json.encode(claim)
    if len(body) > MAX_BYTES:
        raise ValueError(f"the claim check of {claim.document} has {len(body)} bytes, more than {MAX_BYTES}")
    return Message(
        id=message_id(claim.path, claim.etag, claim.generation) + suffix,
        body=body,
        correlation_id=claim.correlation_id,
    )


def read_claim(body: bytes) -> Claim:
    if len(body) > MAX_BYTES:
        raise BadClaim(f"the message has {len(body):,} bytes; a claim check has {MAX_BYTES:,} at most")
    try:
        claim = _read(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BadClaim("the message is no claim check: not the JSON that is written here") from None
    if claim.schema != SCHEMA:
        raise BadClaim(f"the message is of another version; this version of the app reads {SCHEMA}")
    return claim
