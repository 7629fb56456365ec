"""The sample documents: where they are dropped, and what must become of each."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from local.demo.samples import EXAMPLES

FOLDER = EXAMPLES / "documents"
# What was done to them is told in a file beside them.
_TROUBLE = FOLDER / "trouble.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """`path` is where it is dropped: tenant, pipeline, and any path. `rule` is for the provider simulator."""

    path: str
    planted: str | None = None
    becomes: str = "succeeded"
    rule: Mapping[str, object] | None = None

    @property
    def pipeline(self) -> str:
        """With its tenant: two parts of the path."""
        return "/".join(self.path.split("/")[:2])

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    def content(self) -> bytes:
        return (FOLDER / self.path).read_bytes()


def sample_documents() -> list[Document]:
    """All of them, in the order of their paths."""
    trouble = {entry["path"]: entry for entry in json.loads(_TROUBLE.read_bytes())}
    files = (file for file in FOLDER.rglob("*") if file.is_file() and file != _TROUBLE)
    paths = sorted(file.relative_to(FOLDER).as_posix() for file in files)
    return [_document(path, trouble.get(path, {})) for path in paths]


def _document(path: str, trouble: Mapping[str, Any]) -> Document:
    if not trouble:
        return Document(path=path)
    return Document(path=path, planted=trouble["planted"], becomes=trouble["becomes"], rule=_rule(trouble))


def _rule(trouble: Mapping[str, Any]) -> Mapping[str, object] | None:
    if "then" not in trouble:
        return None
    match = {"operation": "chat", "contains": trouble["contains"]}
    return {"match": match, "then": trouble["then"], "times": trouble.get("times")}
