"""The parts of a conversation, and how OpenAI's contents, chat or responses, are read into them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from shared.domain.objections import Objection

_DATA_URL: Final = re.compile(r"data:(?P<type>image/[A-Za-z0-9.+-]+);base64,(?P<data>[A-Za-z0-9+/=]+)")

_TEXTS: Final = frozenset({"text", "input_text", "output_text"})
_IMAGES: Final = frozenset({"image_url", "input_image"})


class Unaskable(ValueError):
    """The body asks for what a neutral question cannot carry."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field} {message}")
        self.objection = Objection(field=field, message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """Either `url` (http or https), or `media_type` with `data` in base64."""

    url: str | None = None
    media_type: str | None = None
    data: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What the model once asked for. `arguments` are a JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came of the call with this `id`; `name` is that call's."""

    id: str
    name: str
    text: str


Part = Text | Image | ToolCall | ToolResult


def read_content(content: object, field: str) -> list[Part]:
    """Texts and images of one message. An empty text is a part only where there is no other."""
    if isinstance(content, str):
        return [Text(text=content)]
    if not isinstance(content, list):
        raise Unaskable(field, "must be a string or an array of parts")
    parts = [_read_part(part, f"{field}[{n}]") for n, part in enumerate(content)]
    return [part for part in parts if part != Text(text="")] or parts[:1]


def read_text(content: object, field: str) -> str:
    """A content that may be nothing but text."""
    texts = list[str]()
    for part in read_content(content, field):
        if not isinstance(part, Text):
            raise Unaskable(field, "must be text only")
        texts.append(part.text)
    return "".join(texts)


def read_call(id_: object, function: object, field: str) -> ToolCall:
    """A tool call as both endpoints spell its function: a name, and arguments as JSON text."""
    members = an_object(function, field)
    return ToolCall(
        id=a_text(id_, f"{field}.id"),
        name=a_text(members.get("name"), f"{field}.name"),
        arguments=_arguments(members.get("arguments"), f"{field}.arguments"),
    )


def one_of(value: object, words: Collection[str]) -> bool:
    """Anything may be asked about: a list or an object is no word."""
    return isinstance(value, str) and value in words


def an_object(value: object, field: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Unaskable(field, "must be an object")
    return value


def an_array(value: object, field: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise Unaskable(field, "must be an array")
    return value


def a_text(value: object, field: str) -> str:
    if not isinstance(value, str) or not value:
        raise Unaskable(field, "must be a string that is not empty")
    return value


def _read_part(part: object, field: str) -> Part:
    members = an_object(part, field)
    kind = members.get("type")
    if one_of(kind, _TEXTS):
        text = members.get("text")
        if not isinstance(text, str):
            raise Unaskable(f"{field}.text", "must be a string")
        return Text(text=text)
    if kind == "refusal":
        return Text(text=a_text(members.get("refusal"), f"{field}.refusal"))
    if one_of(kind, _IMAGES):
        return _image(members.get("image_url"), f"{field}.image_url")
    raise Unaskable(f"{field}.type", "must be text or an image; nothing else is taken to this provider")


def _image(told: object, field: str) -> Image:
    """Chat wraps the address in an object, responses do not."""
    url = told.get("url") if isinstance(told, Mapping) else told
    if isinstance(url, str) and url.startswith(("https://", "http://")):
        return Image(url=url)
    found = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
    if found is None:
        raise Unaskable(field, "must be an https address, or data:image/...;base64,...")
    return Image(media_type=found["type"], data=found["data"])


def _arguments(told: object, field: str) -> Mapping[str, Any]:
    if told in (None, ""):
        return {}
    try:
        arguments = msgspec.json.decode(told) if isinstance(told, str) else None
    except (msgspec.MsgspecError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise Unaskable(field, "must be a JSON object, as text")
    return arguments
