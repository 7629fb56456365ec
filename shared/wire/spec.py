"""How the common part of a job's requests is stored."""

from typing import Any

import msgspec


class TemplateText(msgspec.Struct, frozen=True, kw_only=True):
    user: str
    system: str | None = None


class DocumentsSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked about every document, as the pipeline said when the job was made.

    `schema` is the pipeline's. `deliver`: each answer is also the end of its document's record.
    """

    pipeline: str
    task: str
    prompt: str | None = None
    schema: Any = None
    languages: tuple[str, ...] = ()
    deliver: bool = False


class JobSpec(msgspec.Struct, frozen=True, kw_only=True):
    """`params` as they were given for the whole job; `output_schema` is a JSON Schema.

    `openai`: lines must be complete, as OpenAI's batch format wants them.
    """

    schema: str = "spec/1"
    template: TemplateText | None = None
    params: dict[str, Any] = {}
    output_schema: Any = None
    endpoint: str | None = None
    documents: DocumentsSpec | None = None
    openai: bool = False


def write_spec(spec: JobSpec) -> bytes:
    return msgspec.json.encode(spec)


read_spec = msgspec.json.Decoder(JobSpec).decode
