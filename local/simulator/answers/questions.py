"""What a request asks for, in no provider's words: the part of its body that the answer depends on."""

from collections.abc import Iterator
from dataclasses import dataclass

from local.simulator.answers import tokens
from local.simulator.failures import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`instructions` is what system messages say, `text` the user's words, `inputs` what is to be embedded.

    `schema` is the JSON Schema asked for, `wants_json` also true when any object will do.
    """

    instructions: str = ""
    text: str = ""
    messages: int = 1
    inputs: tuple[str, ...] = ()
    dimensions: int | None = None
    schema: Json | None = None
    wants_json: bool = False
    max_tokens: int | None = None
    thinks: bool = False

    @property
    def everything(self) -> str:
        """All text of the request, as rules with `contains` see it."""
        return "\n".join(part for part in (self.instructions, self.text, *self.inputs) if part)

    @property
    def input_tokens(self) -> int:
        said = tokens.count(self.instructions) + tokens.count(self.text)
        return said + sum(map(tokens.count, self.inputs)) + self.messages * tokens.MESSAGE_OVERHEAD


THINKING_MODELS = ("gpt-5", "o1", "o3", "o4")


def thinks(model: str) -> bool:
    return model.startswith(THINKING_MODELS)


def texts_of(content: object) -> Iterator[str]:
    """The texts of a message's content, which is a string or a list of typed parts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, str):
                yield part
            elif isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]


INSTRUCTING_ROLES = frozenset({"system", "developer"})


def said(messages: object, *, instructions: str = "") -> tuple[str, str, int]:
    """Instructions, the rest, and the number of messages, of an OpenAI-shaped list of messages."""
    told = [instructions] if instructions else []
    asked: list[str] = []
    number = 0
    for message in messages if isinstance(messages, list) else []:
        if not isinstance(message, dict):
            continue
        number += 1
        texts = list(texts_of(message.get("content")))
        (told if message.get("role") in INSTRUCTING_ROLES else asked).extend(texts)
    return "\n".join(told), "\n".join(asked), number


def positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
