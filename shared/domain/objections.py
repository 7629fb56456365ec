"""What a provider would refuse about a request, known before it is sent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from shared.domain.catalog import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """`field` is a dotted path below the body, `message` goes on after it: "is not taken by this model"."""

    field: str
    message: str


# Takes an effective body, without the model.
FindObjection = Callable[[Endpoint, Mapping[str, object]], Objection | None]
