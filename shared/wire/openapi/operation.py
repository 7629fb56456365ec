"""How an HTTP operation is described."""

from dataclasses import dataclass

from pydantic import BaseModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """`most`: it is a whole number from 1 to this."""

    name: str
    meaning: str
    values: tuple[str, ...] = ()
    most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`answers` maps a status to what its body is: the name of a schema, a media type, or nothing.

    `media` is what the body comes as. `formats`: media types that a caller may have instead at 200.
    """

    method: str
    path: str
    summary: str
    answers: dict[int, str | None]
    body: type[BaseModel] | None = None
    media: str = "application/json"
    may_lack_body: bool = False
    formats: tuple[str, ...] = ()
    query: tuple[Query, ...] = ()
    idempotent: bool = False
    public: bool = False
