"""Templates over a job's inputs: `{name}` is replaced, `{{` and `}}` are braces, and nothing else happens.

Not `str.format`: a placeholder is a name and never an expression.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from shared.domain.catalog import Endpoint
from shared.domain.ids import TenantId
from shared.wire.problems import InputErrors, Unusable, invalid, short

MAX_TEMPLATE_BYTES: Final = 64 * 1024
MAX_BLOB_PATH: Final = 1024

_TOKEN: Final = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_-]{0,63})\}|[{}]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_BRACES: Final = {"{{": "{", "}}": "}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobRef:
    """A document of the tenant's own: `path` is relative to the tenant's folder of the container `inputs`."""

    path: str

    def place(self, tenant: TenantId) -> str:
        """Where it lies, as `container/name`."""
        return f"inputs/{tenant}/{self.path}"


type Value = str | int | float | bool | BlobRef


class BadPath(ValueError):
    """Says what is wrong with a blob reference."""


@dataclass(frozen=True, slots=True)
class Text:
    """A parsed template string. `pieces` alternates literal text and names and begins and ends with text."""

    source: str
    pieces: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.pieces[1::2])

    def fill(self, texts: Mapping[str, str]) -> str:
        """Every name of `names` must be in `texts`. What is filled in is not looked at again."""
        return "".join(texts[p] if n % 2 else p for n, p in enumerate(self.pieces))


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A job's prompt. `names` are the variables that every input must give, and the only ones it may."""

    system: Text | None
    user: Text

    @property
    def names(self) -> frozenset[str]:
        return self.user.names | (self.system.names if self.system else frozenset())


def parse_template(*, system: str | None, user: str, field: str = "template") -> Template:
    """Raise `InputErrors` where braces do not make sense, with the position."""
    size = len(user.encode()) + len((system or "").encode())
    if size > MAX_TEMPLATE_BYTES:
        raise invalid(field, f"has {size:,} bytes; {MAX_TEMPLATE_BYTES:,} are allowed")
    return Template(
        system=None if system is None else parse_text(system, field=f"{field}.system"),
        user=parse_text(user, field=f"{field}.user"),
    )


def parse_text(source: str, *, field: str) -> Text:
    pieces: list[str] = []
    literal: list[str] = []
    end = 0
    for found in _TOKEN.finditer(source):
        literal.append(source[end : found.start()])
        end = found.end()
        if (name := found[1]) is not None:
            pieces += ["".join(literal), name]
            literal = []
        elif found[0] in _BRACES:
            literal.append(_BRACES[found[0]])
        else:
            raise _lone_brace(found[0], found.start(), field)
    return Text(source, (*pieces, "".join([*literal, source[end:]])))


def render(template: Template, texts: Mapping[str, str], endpoint: Endpoint) -> dict[str, object]:
    """The request's body, without what the job adds to all of them."""
    user = template.user.fill(texts)
    system = template.system.fill(texts) if template.system else None
    match endpoint:
        case Endpoint.CHAT:
            first = [{"role": "system", "content": system}] if system else []
            return {"messages": [*first, {"role": "user", "content": user}]}
        case Endpoint.RESPONSES:
            return {"input": user, "instructions": system} if system else {"input": user}
        case Endpoint.EMBEDDINGS:
            return {"input": user}


def check_template(template: Template, endpoint: Endpoint) -> None:
    """Raise `Unusable` if the endpoint has no place for a part of it."""
    if endpoint is Endpoint.EMBEDDINGS and template.system is not None:
        raise Unusable("template.system cannot be used with embeddings; put everything into template.user")


def text_of(value: str | float | bool) -> str:
    """A plain value as it appears in a prompt: numbers and booleans as JSON writes them."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def has_control_characters(text: str) -> bool:
    return _CONTROL.search(text) is not None


def blob_ref(path: str) -> BlobRef:
    """Raise `BadPath` unless `path` can only mean a blob below the tenant's own folder."""
    if not path:
        raise BadPath("must not be empty")
    if len(path) > MAX_BLOB_PATH:
        raise BadPath(f"has {len(path)} characters; {MAX_BLOB_PATH:,} are allowed")
    if has_control_characters(path):
        raise BadPath("must not contain control characters")
    if "\\" in path:
        raise BadPath("must not contain a backslash; folders are separated by /")
    if path.startswith("/"):
        raise BadPath("must be relative to your own folder of inputs/; leave out the first /")
    for segment in path.split("/"):
        if not segment:
            raise BadPath("must not contain an empty folder or file name")
        if segment in (".", ".."):
            raise BadPath(f"must not contain {short(segment)}; write the path out")
    return BlobRef(path=path)


def _lone_brace(brace: str, position: int, field: str) -> InputErrors:
    return invalid(
        field,
        f"lone {brace} at character {position + 1}; a placeholder is {{name}} of letters, digits, _ and -,"
        f" and a literal brace is written twice: {brace}{brace}",
    )
