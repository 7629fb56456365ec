"""Manifests as documents with a place, and what is wrong with each."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import yaml

_SCHEMA: Final[dict[str, Any]] = json.loads((Path(__file__).parent / "schemas.json").read_text())


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One document of a file."""

    file: Path
    number: int
    content: Any

    @property
    def kind(self) -> str:
        content = self.content if isinstance(self.content, dict) else {}
        return f"{content.get('apiVersion')}/{content.get('kind')}"

    @property
    def where(self) -> str:
        return f"{self.file}, document {self.number} ({self.kind})"


class _OnceOnly(yaml.SafeLoader):
    """Refuses a key that is given twice: the second one would win without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = sorted({str(key) for key in keys if keys.count(key) > 1})
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"{', '.join(twice)} twice", node.start_mark)
        return super().construct_mapping(node, deep=deep)


def read_manifests(files: Iterable[Path]) -> Iterator[Manifest]:
    """Raise `yaml.YAMLError` with the place for what is no YAML."""
    for file in files:
        with file.open(encoding="utf-8") as text:
            for number, content in enumerate(yaml.load_all(text, Loader=_OnceOnly), start=1):
                yield Manifest(file=file, number=number, content=content)


def faults(manifests: Iterable[Manifest]) -> Iterator[str]:
    """One line for each fault: where, and what."""
    for manifest in manifests:
        if manifest.kind not in _SCHEMA["$defs"]:
            yield f"{manifest.where}: there is no schema for this kind; add one to schemas.json"
            continue
        for error in _validator(manifest.kind).iter_errors(manifest.content):
            path = "/".join(str(part) for part in error.instance_path)
            yield f"{manifest.where}: {path or 'all of it'}: {error.message}"


def _validator(kind: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(
        {"$ref": f"#/$defs/{kind.replace('/', '~1')}", "$defs": _SCHEMA["$defs"]}
    )
