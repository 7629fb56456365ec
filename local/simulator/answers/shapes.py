"""A value that is valid under a JSON Schema and, where the schema leaves a choice, speaks of the text.

Simple schemas only: types, enum, const, properties, items, local `$ref`, the first useful branch of
`anyOf` and `oneOf`, bounds of numbers, strings and arrays. Patterns are not solved.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from local.simulator.answers.summary import keywords, sentences, summarize, words
from local.simulator.failures import Json

MAX_DEPTH = 12
NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
FORMATS = {
    "date": re.compile(r"\d{4}-\d{2}-\d{2}"),
    "date-time": re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:Z|[+-]\d{2}:\d{2})"),
    "email": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w"),
    "uri": re.compile(r"https?://[^\s\"'<>)]+"),
}
FALLBACKS = {
    "date": "1970-01-01",
    "date-time": "1970-01-01T00:00:00Z",
    "email": "nobody@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-0000-0000-000000000000",
}


def shaped(schema: Json, text: str) -> Any:
    """A value for the whole schema. The result is JSON: its type is as open as the schema."""
    return _value(schema, _Source(root=schema, text=text))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Where a value is taken from. `name` is the property's."""

    root: Json
    text: str
    name: str = ""
    depth: int = 0

    def inside(self, name: str = "") -> "_Source":
        return replace(self, name=name or self.name, depth=self.depth + 1)


def _value(schema: object, source: _Source) -> Any:
    if not isinstance(schema, dict) or source.depth > MAX_DEPTH:
        return None
    schema = _resolved(schema, source.root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return _choose(schema["enum"], source.text)
    kind = _kind(schema)
    if kind == "object":
        return _object(schema, source)
    if kind == "array":
        return _array(schema, source)
    if kind in {"integer", "number"}:
        return _number(schema, source, whole=kind == "integer")
    if kind == "boolean":
        return bool(set(words(source.name.replace("_", " "))) & set(words(source.text)))
    return None if kind == "null" else _string(schema, source)


def _resolved(schema: Json, root: Json) -> Json:
    """Follow references, take the first branch that is not null."""
    for _ in range(MAX_DEPTH):
        if isinstance(schema.get("$ref"), str):
            schema = _pointed(root, schema["$ref"])
            continue
        branches = schema.get("anyOf") or schema.get("oneOf")
        if not branches:
            break
        useful = [branch for branch in branches if isinstance(branch, dict) and branch.get("type") != "null"]
        schema = useful[0] if useful else {"type": "null"}
    for part in schema.get("allOf") or ():
        schema = {**schema, **_resolved(part, root)}
    return schema


def _pointed(root: Json, pointer: str) -> Json:
    found: Any = root
    for step in pointer.removeprefix("#").strip("/").split("/"):
        if step:
            found = (
                found.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(found, dict) else {}
            )
    return found if isinstance(found, dict) else {}


def _kind(schema: Json) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    if kind is None:
        kind = "object" if "properties" in schema else "array" if "items" in schema else "string"
    return str(kind)


def _choose(options: list[Any], text: str) -> Any:
    """The option whose words occur in the text most often; the first where none does."""
    found = words(text)
    lowered = text.lower()

    def score(option: object) -> int:
        named = str(option).lower().replace("_", " ")
        return sum(found.count(word) for word in set(words(named))) * 2 + (named in lowered)

    return max(options, key=score)


def _object(schema: Json, source: _Source) -> Json:
    properties = schema.get("properties") or {}
    made = {name: _value(inner, source.inside(name)) for name, inner in properties.items()}
    for name in schema.get("required") or ():
        made.setdefault(name, summarize(source.text, limit=1))
    return made


def _array(schema: Json, source: _Source) -> list[Any]:
    least, most = int(schema.get("minItems", 0)), int(schema.get("maxItems", 3))
    items = _resolved(schema.get("items") or {"type": "string"}, source.root)
    if _kind(items) == "string" and "enum" not in items:
        made: list[Any] = list(keywords(source.text, limit=max(least, min(most, 3))))
    else:
        made = [_value(items, source.inside())] if most else []
    while len(made) < least:
        made.append(_value(items, source.inside()))
    return made


def _number(schema: Json, source: _Source, *, whole: bool) -> int | float:
    found = NUMBER.search(_near(source))
    value: int | float = float(found[0].replace(",", ".")) if found else 0
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + 1
    if "exclusiveMaximum" in schema:
        high = schema["exclusiveMaximum"] - 1
    if low is not None:
        value = max(value, low)
    if high is not None:
        value = min(value, high)
    step = schema.get("multipleOf")
    if step:
        value = value // step * step
    return int(value) if whole else value


def _near(source: _Source) -> str:
    """The text from where the property is named, else all of it."""
    for word in words(source.name.replace("_", " ")):
        place = source.text.lower().find(word)
        if place >= 0:
            return source.text[place:]
    return source.text


def _string(schema: Json, source: _Source) -> str:
    form = schema.get("format")
    if form in FORMATS:
        found = FORMATS[form].search(source.text)
        return found[0] if found else FALLBACKS[form]
    if form in FALLBACKS:
        return FALLBACKS[form]
    made = summarize(_near(source) if source.depth > 1 else source.text, limit=2 if _is_prose(source) else 1)
    made = made[: int(schema.get("maxLength", len(made)))]
    return made.ljust(int(schema.get("minLength", 0)), ".")


PROSE = frozenset({"summary", "abstract", "description", "text", "zusammenfassung", "answer", "translation"})


def _is_prose(source: _Source) -> bool:
    return source.name.lower() in PROSE or len(sentences(source.text)) <= 2
