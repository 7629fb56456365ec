"""How an HTTP operation is described."""

from dataclasses import dataclass

from pydantic import BaseModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    name: str
    meaning: str
    values: tuple[str, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`answers` maps a status to what its body is: the name of a schema, a media type, or nothing.

    `media` is what the body comes as.
    """

    method: str
    path: str
    summary: str
    answers: dict[int, str | None]
    body: type[BaseModel] | None = None
    media: str = "application/json"
    query: tuple[Query, ...] = ()
    idempotent: bool = False
    public: bool = False
