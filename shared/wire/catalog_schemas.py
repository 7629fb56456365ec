"""The schema files that a catalogue names: which they are, and what is in them."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from shared.wire.catalog_entries import Entries
from shared.wire.catalog_models import schema_path
from shared.wire.catalog_yaml import Document, Problem, Unreadable, read_document

MAX_SCHEMA_BYTES: Final = 64 * 1024

type Schema = Mapping[str, object]


def schema_paths(content: bytes) -> frozenset[str]:
    """The files that the pipelines in this text name. What is no path below the catalogue is left out."""
    try:
        root = read_document(content).root
    except Unreadable:
        return frozenset()
    pipelines = root.get("pipelines") if isinstance(root, dict) else None
    if not isinstance(pipelines, dict):
        return frozenset()
    written = (tree.get("schema") for tree in pipelines.values() if isinstance(tree, dict))
    return frozenset(path for text in written if isinstance(text, str) and (path := _safe(text)) is not None)


def read_schemas(
    document: Document, entries: Entries, files: Mapping[str, bytes | None]
) -> tuple[dict[str, Schema], list[Problem]]:
    """The schema of each pipeline that has one, by the pipeline's name; and every one that is no good."""
    schemas, problems = {}, []
    for name, path in _named(entries):
        try:
            schemas[name] = _read(path, files.get(path))
        except ValueError as error:
            problems.append(document.problem(("pipelines", name, "schema"), str(error)))
    return schemas, problems


def _named(entries: Entries) -> Iterator[tuple[str, str]]:
    return ((name, entry.schema_path) for name, entry in entries.pipelines.items() if entry.schema_path)


def _read(path: str, content: bytes | None) -> Schema:
    if content is None:
        raise ValueError(f"there is no file {path!r} beside the catalogue")
    if len(content) > MAX_SCHEMA_BYTES:
        raise ValueError(f"{path!r} has more than {MAX_SCHEMA_BYTES:,} bytes")
    try:
        schema = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path!r} is not JSON: {error}") from None
    if not isinstance(schema, dict):
        raise ValueError(f"{path!r} must hold a JSON object")  # noqa: TRY004 a mistake of the text's, not ours
    return schema


def _safe(text: str) -> str | None:
    try:
        return schema_path(text.strip())
    except ValueError:
        return None
