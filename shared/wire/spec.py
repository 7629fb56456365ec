"""How the common part of a job's requests is stored."""

from typing import Any

import msgspec


class JobSpec(msgspec.Struct, frozen=True, kw_only=True):
    """`template` holds `system` and `user`; `params` are those of the body, `output_schema` a JSON Schema."""

    schema: str = "spec/1"
    template: dict[str, Any] | None = None
    params: dict[str, Any] = {}
    output_schema: Any = None
    endpoint: str | None = None


def write_spec(spec: JobSpec) -> bytes:
    return msgspec.json.encode(spec)


read_spec = msgspec.json.Decoder(JobSpec).decode
