"""Makes a schema of this folder from a dump of a resource's Bicep types: `python -m checks.bicep.compact FILE`.

A dump is what `azmcp bicepschema get --resource-type TYPE` prints. Descriptions and functions are left out. Of a
property its type stays, with `!` behind it if it must be given and `-` if it can only be read.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

SCHEMAS: Final = Path(__file__).parent / "schemas"


def compact(dump: dict[str, Any]) -> dict[str, Any]:
    entries = dump["results"]["BicepSchemaResult"]
    resource = next(entry for entry in entries if entry["$type"] == "Resource")
    kind, _, version = resource["name"].partition("@")
    every = {entry["name"]: entry for entry in entries if entry["$type"] in ("Object", "DiscriminatedObject")}
    body = _shape(resource["bodyType"])
    types = {name: _shape(every[name]) for name in sorted(_reached(body, every))}
    return {"resource": kind, "apiVersion": version, "body": body, "types": types}


def _shape(entry: dict[str, Any]) -> dict[str, Any]:
    if entry["$type"] == "DiscriminatedObject":
        elements = [_fields(element) for element in entry["elements"]]
        return {"base": _fields({"properties": entry.get("baseProperties") or []}), "oneOf": elements}
    return _fields(entry)


def _fields(entry: dict[str, Any]) -> dict[str, str]:
    shape = {
        each["name"]: each["type"] + _mark(each.get("flags") or "") for each in entry.get("properties") or []
    }
    if more := entry.get("additionalPropertiesType"):
        shape["*"] = more
    return shape


def _mark(flags: str) -> str:
    return "-" if "ReadOnly" in flags else "!" if "Required" in flags else ""


def _reached(body: dict[str, Any], every: dict[str, Any]) -> set[str]:
    reached: set[str] = set()
    waiting = _named(body)
    while waiting:
        name = waiting.pop()
        if name in every and name not in reached:
            reached.add(name)
            waiting |= _named(_shape(every[name]))
    return reached


def _named(shape: dict[str, Any]) -> set[str]:
    groups = [shape["base"], *shape["oneOf"]] if "oneOf" in shape else [shape]
    written = (type_.rstrip("!-") for group in groups for type_ in group.values())
    return {part.removesuffix("[]") for type_ in written for part in type_.split(" | ")}


def write(schema: dict[str, Any]) -> Path:
    path = SCHEMAS / f"{schema['resource'].replace('/', '_')}.json"
    path.write_text(json.dumps(schema, indent=1) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(write(compact(json.loads(Path(name).read_text(encoding="utf-8")))))
