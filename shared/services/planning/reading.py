"""From a job's source to requests that could be sent: the one reading that door and planner share."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any

from shared.domain.catalog import Alias, Endpoint, makes_vectors
from shared.domain.ids import AliasName
from shared.domain.jobs import Job, SourceKind
from shared.domain.planning import Limits
from shared.domain.rows import Judgement
from shared.ports.providers import BatchProvider, Traits
from shared.services.planning.texts import SIDE_BY_SIDE, Texts
from shared.services.streams import HANDFUL
from shared.wire.door import Door, Entry, Expected, input_door, request_door
from shared.wire.dropped import FactsLine
from shared.wire.jsonl import Line
from shared.wire.problems import InputErrors, LineError, Unusable
from shared.wire.spec import JobSpec, TemplateText
from shared.wire.templates import BlobRef, Template, Value, parse_template, render

Body = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One input: its effective body, or the outcome it has without being sent. `position` counts from 0.

    `facts` is what the reading of a dropped document has shown.
    """

    line: int
    position: int
    custom_id: str
    body: Body | None
    decided: Judgement | None = None
    facts: FactsLine | None = None


def expected_of(
    alias: AliasName, model: str, spec: JobSpec, provider: BatchProvider, default_limit: int | None
) -> Expected:
    """What the job says about every line. `default_limit` counts only where the provider needs a limit."""
    traits = provider.traits
    return Expected(
        alias=alias,
        max_line_bytes=traits.limits.line_bytes,
        endpoint=Endpoint(spec.endpoint) if spec.endpoint else None,
        input_means=Endpoint.EMBEDDINGS if makes_vectors(model) else Endpoint.RESPONSES,
        params=spec.params,
        schema=spec.output_schema,
        default_max_output_tokens=default_limit if traits.needs_output_limit else None,
        openai_format=spec.openai,
        objection=provider.objection,
    )


def expected_for(job: Job, alias: Alias, spec: JobSpec, provider: BatchProvider) -> Expected:
    return expected_of(job.alias, job.model, spec, provider, alias.max_output_tokens)


def template_of(spec: JobSpec) -> Template:
    stored = spec.template or TemplateText(user="")
    return parse_template(system=stored.system, user=stored.user)


def stored_template(template: Template | None) -> TemplateText | None:
    if template is None:
        return None
    system = template.system.source if template.system is not None else None
    return TemplateText(system=system, user=template.user.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A document that an input refers to, and where it does so."""

    line: int
    field: str
    path: str


class Reading:
    """Reads the lines of one job in order. `texts` is needed for documents, and only for planning."""

    def __init__(self, kind: SourceKind, expected: Expected, spec: JobSpec, texts: Texts | None) -> None:
        self._expected = expected
        self._texts = texts
        self._template = template_of(spec) if kind is SourceKind.INPUTS else None
        self._requests: Door[Body] | None = None
        self._inputs: Door[Mapping[str, Value]] | None = None
        if self._template is None:
            self._requests = request_door(expected)
        else:
            self._inputs = input_door(expected, self._template)

    @property
    def _door(self) -> Door[Any]:
        door = self._requests or self._inputs
        if door is None:
            raise RuntimeError("a reading has one door")
        return door

    @property
    def endpoint(self) -> Endpoint:
        """What the lines ask for; chat until one of them says otherwise."""
        return self._door.endpoint or Endpoint.CHAT

    @property
    def count(self) -> int:
        return self._door.requests

    @property
    def is_sound(self) -> bool:
        return self._door.is_sound

    def close(self) -> None:
        """Raise `InputErrors` with everything that was wrong with the lines."""
        self._door.close()

    def check(self, lines: Sequence[Line]) -> list[Reference]:
        """Only look at the lines; the documents they refer to."""
        if self._requests is not None:
            self._requests.admit(lines)
        entries = self._inputs.admit(lines) if self._inputs is not None else []
        return [
            Reference(line=entry.line, field=f"vars.{name}.blob", path=value.path)
            for entry in entries
            for name, value in entry.content.items()
            if isinstance(value, BlobRef)
        ]

    async def read(self, lines: Sequence[Line]) -> AsyncIterator[list[Read]]:
        """The good lines, in order, a handful at a time."""
        for some in batched(lines, HANDFUL, strict=False):
            if self._requests is not None:
                yield [_read(entry, entry.content) for entry in self._requests.admit(some)]
            elif self._inputs is not None:
                for few in batched(self._inputs.admit(some), SIDE_BY_SIDE, strict=False):
                    yield list(await asyncio.gather(*(self._render(entry) for entry in few)))

    async def _render(self, entry: Entry[Mapping[str, Value]]) -> Read:
        if self._texts is None or self._template is None:
            raise RuntimeError("rendering needs the texts")
        texts = await self._texts.resolve(entry.content)
        if isinstance(texts, Judgement):
            return _read(entry, None, texts)
        body = render(self._template, texts, self.endpoint)
        return _read(entry, self._expected.shaper(self.endpoint).shape(body))


def _read(entry: Entry[Any], body: Body | None, decided: Judgement | None = None) -> Read:
    return Read(
        line=entry.line,
        position=entry.position - 1,
        custom_id=entry.custom_id,
        body=body,
        decided=decided,
    )


def check_endpoint(endpoint: Endpoint, traits: Traits, deployment: str, model: str) -> None:
    """Raise `Unusable` when the provider has no batches of that kind, or the model no such answers."""
    if makes_vectors(model) and endpoint is not Endpoint.EMBEDDINGS:
        raise Unusable(
            f"deployment {deployment!r} makes embeddings and no {endpoint.value}; use another alias, or send"
            " bodies with an input"
        )
    if endpoint not in traits.endpoints:
        able = ", ".join(sorted(traits.endpoints))
        raise Unusable(
            f"deployment {deployment!r} does {able} in batches and not {endpoint.value}; use another alias"
        )


def oversize(line: int, size: int, tokens: int | None, limits: Limits) -> LineError | None:
    """Why no chunk can hold this request, if that is so."""
    if size > limits.line_bytes:
        message = f"has {size:,} bytes as the provider takes it; {limits.line_bytes:,} are allowed"
        return LineError(line=line, field=None, message=message)
    if tokens is not None and limits.tokens is not None and tokens > limits.tokens:
        message = f"has about {tokens:,} tokens; the deployment's whole quota is {limits.tokens:,}"
        return LineError(line=line, field="body", message=message)
    return None


class Oversizes:
    """Collects requests that no chunk can hold, as the door collects bad lines."""

    def __init__(self) -> None:
        self._errors: list[LineError] = []
        self._total = 0

    def note(self, error: LineError | None) -> bool:
        """True when there was something to note."""
        if error is None:
            return False
        self._total += 1
        if self._total <= 100:
            self._errors.append(error)
        return True

    def close(self) -> None:
        if self._total:
            raise InputErrors(self._errors, total=self._total)
