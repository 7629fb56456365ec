"""What clients post: read once, bounded, and turned into values.

Raise `InputErrors` (400) for what is wrong in itself, `Unusable` (422) for what cannot go together, and
`NotAvailable` (422) for what is not built yet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import msgspec

from shared.domain.catalog import Endpoint
from shared.domain.ids import FileId
from shared.domain.jobs import SourceKind
from shared.domain.outcomes import Outcome
from shared.wire.bodies_json import (
    read_elements,
    read_members,
    read_values,
    refuse_unknown_members,
    validated,
)
from shared.wire.bodies_models import (
    MAX_TAG_KEY,
    MAX_TAG_VALUE,
    MAX_TAGS,
    JobSettings,
    JobSubmission,
    RescoreSubmission,
    RetrySubmission,
    TemplateBody,
    UploadSubmission,
)
from shared.wire.door import MAX_REQUESTS
from shared.wire.door_shape import TOKEN_LIMITS
from shared.wire.problems import NotAvailable, Unusable, invalid
from shared.wire.templates import MAX_TEMPLATE_BYTES, Template, parse_template

MAX_SCHEMA_BYTES: Final = 64 * 1024
MAX_PARAMS_BYTES: Final = 64 * 1024

# Parts of the contract that are not built: whoever asks for them must learn that, never be ignored.
LATER: Final = frozenset({"max_cost", "pilot", "at_deadline"})

_SOURCES: Final = (SourceKind.REQUESTS, SourceKind.INPUTS, SourceKind.UPLOAD)
_FIELD_OF_SOURCE: Final = {
    SourceKind.REQUESTS: "requests",
    SourceKind.INPUTS: "inputs",
    SourceKind.UPLOAD: "upload_id",
}
# JSON may take six bytes to write one: where characters are counted, their own bound is checked later.
_LIMITS: Final = {
    "output_schema": MAX_SCHEMA_BYTES,
    "params": MAX_PARAMS_BYTES,
    "template": 6 * MAX_TEMPLATE_BYTES,
    "prompt": 6 * MAX_TEMPLATE_BYTES,
    "tags": 12 * MAX_TAGS * (MAX_TAG_KEY + MAX_TAG_VALUE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchInput:
    """What only a batch of the OpenAI-compatible API has: a file, and how many seconds its results are kept."""

    file: FileId
    output_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobBody:
    """`POST /v1/jobs`. `elements` are the raw requests or inputs, unread; empty for an upload.

    With `batch` it stands for `POST /batches`, where an empty `alias` means that the file names none.
    """

    alias: str
    kind: SourceKind
    elements: Sequence[msgspec.Raw] = ()
    upload_id: str | None = None
    template: Template | None = None
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    output_schema: Mapping[str, object] | None = None
    params: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    endpoint: Endpoint | None = None
    dedupe: bool = True
    deadline_hours: float | None = None
    batch: BatchInput | None = None

    @property
    def run_id(self) -> str | None:
        """None: the job is its own run. A batch always is: every line of it is asked."""
        return self.tags.get("run_id") if self.batch is None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryBody:
    """`POST /v1/jobs/{id}/retry`."""

    include: frozenset[Outcome]
    params: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoreBody:
    """`POST /v1/pipelines/{name}/rescore`."""

    prefix: str
    prompt: str | None
    alias: str | None


def read_job(body: bytes) -> JobBody:
    known = frozenset(JobSubmission.model_fields)
    members = read_members(body, known | LATER)
    if asked := sorted(LATER.intersection(members)):
        raise NotAvailable(f"{', '.join(asked)} is not available yet; leave it out")
    refuse_unknown_members(members, known)
    kind = _source(members)
    name = _FIELD_OF_SOURCE[kind]
    elements = [] if kind is SourceKind.UPLOAD else _elements(name, members.pop(name))
    values = read_values(members, _LIMITS)
    settings = validated(JobSettings, values)
    params = _params(values)
    _refuse_two_formats(settings, params)
    return JobBody(
        alias=settings.alias,
        kind=kind,
        elements=elements,
        upload_id=settings.upload_id,
        template=_template(settings.template),
        tags=MappingProxyType(settings.tags),
        output_schema=settings.output_schema,
        params=params,
        endpoint=Endpoint(settings.endpoint) if settings.endpoint else None,
        dedupe=settings.dedupe,
        deadline_hours=settings.deadline_hours,
    )


def read_retry(body: bytes) -> RetryBody:
    """An empty body asks for what is not final, unchanged."""
    known = frozenset(RetrySubmission.model_fields)
    members = read_members(body or b"{}", known)
    refuse_unknown_members(members, known)
    values = read_values(members, _LIMITS)
    read = validated(RetrySubmission, values)
    return RetryBody(include=frozenset(map(Outcome, read.include)), params=_params(values))


def read_upload(body: bytes) -> str:
    """The file's name."""
    known = frozenset(UploadSubmission.model_fields)
    members = read_members(body, known)
    refuse_unknown_members(members, known)
    return validated(UploadSubmission, read_values(members, _LIMITS)).filename


def read_rescore(body: bytes) -> RescoreBody:
    known = frozenset(RescoreSubmission.model_fields)
    members = read_members(body, known)
    refuse_unknown_members(members, known)
    read = validated(RescoreSubmission, read_values(members, _LIMITS))
    return RescoreBody(prefix=read.prefix, prompt=read.prompt, alias=read.alias)


def _source(members: Mapping[str, object]) -> SourceKind:
    given = [kind for kind in _SOURCES if _FIELD_OF_SOURCE[kind] in members]
    if len(given) != 1:
        names = " and ".join(_FIELD_OF_SOURCE[kind] for kind in given) or "none of them"
        raise Unusable(f"give exactly one of requests, inputs with template, or upload_id; there is {names}")
    if (given[0] is SourceKind.INPUTS) != ("template" in members):
        raise Unusable("template and inputs go together: give both or neither")
    return given[0]


def _elements(name: str, raw: msgspec.Raw) -> Sequence[msgspec.Raw]:
    elements = read_elements(name, raw, most=MAX_REQUESTS)
    if not elements:
        raise invalid(name, "must not be empty")
    return elements


def _template(given: TemplateBody | None) -> Template | None:
    return None if given is None else parse_template(system=given.system, user=given.user)


def _params(values: Mapping[str, object]) -> Mapping[str, object]:
    """What was validated as `params`, as it came; a null sets nothing."""
    given = values.get("params")
    params = {name: v for name, v in given.items() if v is not None} if isinstance(given, dict) else {}
    limits = [name for name in TOKEN_LIMITS if name in params]
    if len(limits) > 1:
        raise invalid("params", f"{' and '.join(limits)} mean the same; give one of them")
    return MappingProxyType(params)


def _refuse_two_formats(settings: JobSettings, params: Mapping[str, object]) -> None:
    if settings.output_schema is not None and "response_format" in params:
        raise Unusable("output_schema already decides the format; leave params.response_format out")
