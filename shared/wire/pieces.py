"""A document's pieces with their vectors as JSONL, a line each, as a search index loads them."""

from collections.abc import Iterator

import msgspec

from shared.domain.documents import Document


class _Piece(msgspec.Struct):
    n: int
    start: int
    end: int
    tokens: int
    text: str
    vector: msgspec.Raw


class _Line(msgspec.Struct):
    """`id` has letters, digits, `_` and `-` only, as search services want the keys of their documents."""

    id: str
    document_id: str
    tenant: str
    pipeline: str
    path: str
    etag: str
    n: int
    start: int
    end: int
    tokens: int
    text: str
    vector: msgspec.Raw


_read = msgspec.json.Decoder(list[_Piece]).decode


def piece_lines(document: Document, output: bytes) -> Iterator[bytes]:
    """`output` is what the task `embed` answers. Every line ends with a line feed."""
    for piece in _read(output):
        line = _Line(
            id=f"{document.id}-{piece.n}",
            document_id=document.id,
            tenant=document.tenant,
            pipeline=document.pipeline,
            path=document.path,
            etag=document.etag,
            n=piece.n,
            start=piece.start,
            end=piece.end,
            tokens=piece.tokens,
            text=piece.text,
            vector=piece.vector,
        )
        yield msgspec.json.encode(line) + b"\n"
