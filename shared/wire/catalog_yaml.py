"""YAML as the catalogue uses it: text, lists and mappings, each with its line.

Every scalar stays text (or None when empty); what it means is for the models to say. So `no` is a language,
`2024-10-21` a version and `0.125` exactly that. Anchors, aliases, tags and several documents are refused, and
size, depth and number of values are bounded: a catalogue cannot grow while it is read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import yaml

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 8
MAX_VALUES: Final = 50_000
_EMPTY: Final = frozenset({"", "~", "null", "Null", "NULL"})

type Tree = str | list[Tree] | dict[str, Tree] | None
type Where = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong, and where. `line` counts from 1; `reason` repeats no value that may be a secret."""

    line: int
    field: str
    reason: str

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}" if self.field else self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    root: Tree
    lines: Mapping[Where, int]
    repeated: tuple[Problem, ...]

    def problem(self, where: Where, reason: str) -> Problem:
        """A problem at the nearest place that the text has."""
        known = next(w for end in range(len(where), -1, -1) if (w := where[:end]) in self.lines)
        return Problem(line=self.lines[known], field=dotted(where), reason=reason)


class Unreadable(ValueError):
    """The text is no such YAML. Nothing beyond `problem` can be said."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def dotted(where: Where) -> str:
    """`tenants.support.keys[0]`"""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part[:80]}" for part in where)
    return text.removeprefix(".")


def read_document(content: bytes) -> Document:
    """Raise `Unreadable` at the first thing that keeps the rest from being understood."""
    if len(content) > MAX_BYTES:
        raise _unreadable(1, f"larger than {MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(content[: error.start].count(b"\n") + 1, "not UTF-8 text") from error
    if "\x00" in text:
        raise _unreadable(text[: text.index("\x00")].count("\n") + 1, "holds a NUL character")
    return _Builder(text).document()


class _Builder:
    """Builds the tree from the parser's events; only that deep, and only that many."""

    def __init__(self, text: str) -> None:
        self._events = _events(text)
        self._lines: dict[Where, int] = {(): 1}
        self._repeated: list[Problem] = []
        self._values = 0

    def document(self) -> Document:
        self._expect(yaml.StreamStartEvent)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            raise _unreadable(1, "is empty")
        root = self._value(next(self._events), ())
        self._expect(yaml.DocumentEndEvent)
        following = next(self._events)
        if not isinstance(following, yaml.StreamEndEvent):
            raise _unreadable(_line(following), "a second document begins here; one file holds one catalogue")
        return Document(root=root, lines=self._lines, repeated=tuple(self._repeated))

    def _expect(self, kind: type[yaml.Event]) -> None:
        event = next(self._events)
        if not isinstance(event, kind):
            raise _unreadable(_line(event), "is not one YAML document")

    def _value(self, event: yaml.Event, where: Where) -> Tree:
        self._check(event, where)
        if isinstance(event, yaml.ScalarEvent):
            plain = event.style is None or event.style == ""
            return None if plain and event.value in _EMPTY else str(event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(where)
        return self._mapping(where)

    def _check(self, event: yaml.Event, where: Where) -> None:
        self._values += 1
        line = _line(event)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _unreadable(line, "anchors and aliases are not accepted; write the value out", where)
        if getattr(event, "tag", None) is not None:
            raise _unreadable(line, "tags (!) are not accepted; put the value in quotes", where)
        if len(where) > MAX_DEPTH:
            raise _unreadable(line, f"nested deeper than {MAX_DEPTH} levels", where)
        if self._values > MAX_VALUES:
            raise _unreadable(line, f"more than {MAX_VALUES} values", where)

    def _list(self, where: Where) -> list[Tree]:
        items: list[Tree] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            place = (*where, len(items))
            self._lines.setdefault(place, _line(event))
            items.append(self._value(event, place))
        return items

    def _mapping(self, where: Where) -> dict[str, Tree]:
        entries: dict[str, Tree] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            self._check(event, where)
            if not isinstance(event, yaml.ScalarEvent):
                raise _unreadable(_line(event), "a field's name must be text", where)
            place = (*where, str(event.value))
            first = self._lines.setdefault(place, _line(event))
            value = self._value(next(self._events), place)
            if event.value in entries:
                reason = f"given a second time; first on line {first}"
                self._repeated.append(Problem(line=_line(event), field=dotted(place), reason=reason))
            else:
                entries[event.value] = value
        return entries


def _events(text: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # What is missing at the end is reported on a line of its own.
        line = min(mark.line, text.count("\n")) + 1 if mark else 1
        raise _unreadable(line, f"not YAML: {error.problem or error.context}") from error
    except yaml.reader.ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        raise _unreadable(line, f"not YAML: {error.reason}") from error


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _unreadable(line: int, reason: str, where: Where = ()) -> Unreadable:
    return Unreadable(Problem(line=line, field=dotted(where), reason=reason))
