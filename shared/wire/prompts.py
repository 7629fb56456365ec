"""What of a request's body the model will read."""

from collections.abc import Iterator, Mapping
from typing import Final

# What else may hold text is a setting, not something to read.
_READ: Final = ("messages", "input", "instructions", "tools", "functions", "response_format", "text")


def prompt_text(body: Mapping[str, object]) -> str:
    """All strings of the parts that are read, names of fields included: what a count may not undercount."""
    return "\n".join(text for name in _READ if name in body for text in _strings(body[name]))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
