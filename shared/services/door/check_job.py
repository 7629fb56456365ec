"""Everything that can be told about a posted job before anything is written."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import batched
from typing import Final

import msgspec

from shared.domain.catalog import Alias, Catalog, Deployment, Endpoint, Tenant
from shared.domain.errors import NotAdmitted
from shared.domain.ids import AliasName, TenantId
from shared.domain.jobs import NO_DEPLOYMENT, SourceKind
from shared.ports.blobs import Blobs
from shared.ports.providers import Providers, Traits
from shared.ports.schemas import Schemas
from shared.ports.tokens import Tokens
from shared.services.planning.reading import (
    Oversizes,
    Reading,
    Reference,
    check_endpoint,
    expected_of,
    oversize,
    stored_template,
)
from shared.services.streams import HANDFUL, Pause
from shared.wire.bodies import JobBody
from shared.wire.door import numbered
from shared.wire.jsonl import Line
from shared.wire.paths import referred_input
from shared.wire.problems import InputErrors, LineError, Unusable, invalid
from shared.wire.prompts import prompt_text
from shared.wire.spec import JobSpec

# Larger bodies are checked while they are planned.
CHECKED_AT_ONCE: Final = 8 * 1024 * 1024
# Every reference costs a look-up while the client waits.
MAX_REFERENCES: Final = 20_000
LOOK_UPS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the job will be. `references`: path and version of every document that inputs refer to.

    `window` is what its provider may take.
    """

    deployment: Deployment
    alias: Alias
    spec: JobSpec
    endpoint: Endpoint
    references: dict[str, str]
    in_full: bool
    window: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckJob:
    blobs: Blobs
    providers: Providers
    schemas: Schemas
    tokens: Tokens
    alarm: Callable[[Deployment, NotAdmitted], Awaitable[None]]

    async def __call__(self, tenant: Tenant, body: JobBody, size: int, catalog: Catalog) -> Checked:
        """Raise `InputErrors`, `Unusable`, or `NotFound` for an unknown alias. `size`: bytes of the body."""
        _check_tags(tenant, body)
        if body.batch is not None and not body.alias:
            return _unaddressed(body)
        alias = catalog.alias(body.alias)
        deployment = _deployment(catalog, alias)
        traits = await self._traits(deployment)
        spec = _spec(body)
        if body.output_schema is not None:
            self.schemas.checker(body.output_schema)
        if body.endpoint is not None:
            check_endpoint(body.endpoint, traits, deployment.name, deployment.model)
        in_full = size <= CHECKED_AT_ONCE and body.kind is not SourceKind.UPLOAD
        endpoint, references = await self._check_lines(tenant, body, spec, alias, deployment, in_full)
        return Checked(
            deployment=deployment,
            alias=alias,
            spec=spec,
            endpoint=endpoint,
            references=references,
            in_full=in_full,
            window=traits.window,
        )

    async def _traits(self, deployment: Deployment) -> Traits:
        await self.providers.prepare(deployment)
        try:
            return self.providers.batch(deployment).traits
        except NotAdmitted as why:
            # No job is made that could wait, so nobody else would tell.
            await self.alarm(deployment, why)
            raise

    async def _check_lines(
        self,
        tenant: Tenant,
        body: JobBody,
        spec: JobSpec,
        alias: Alias,
        deployment: Deployment,
        in_full: bool,
    ) -> tuple[Endpoint, dict[str, str]]:
        provider = self.providers.batch(deployment)
        traits = provider.traits
        reading = Reading(
            body.kind,
            expected_of(alias.name, deployment.model, spec, provider, alias.max_output_tokens),
            spec,
            None,
        )
        oversizes, references = Oversizes(), list[Reference]()
        pause = Pause()
        for lines in _handfuls(body.elements, traits):
            references += reading.check(lines)
            if in_full and body.kind is SourceKind.REQUESTS and traits.limits.tokens is not None:
                await self._check_quota(deployment, lines, traits, oversizes)
            await pause()
            if not in_full and body.kind is SourceKind.REQUESTS and reading.is_sound:
                break  # the endpoint is known, and all lines are read again when they are planned
        if len(references) > MAX_REFERENCES:
            raise invalid(
                "inputs", f"refer to {len(references):,} documents; {MAX_REFERENCES:,} are allowed in one job"
            )
        etags, missing = await self._look_up(tenant.id, references)
        if in_full:
            reading.close()
            oversizes.close()
            check_endpoint(reading.endpoint, traits, deployment.name, deployment.model)
            if missing:
                raise InputErrors(missing[:100], total=len(missing))
        return reading.endpoint, etags

    async def _check_quota(
        self, deployment: Deployment, lines: list[Line], traits: Traits, oversizes: Oversizes
    ) -> None:
        """Whether each request fits into the deployment's quota at all. Bad lines count as nothing."""
        texts = [_prompt_of(content) for _, content in lines]
        counts = await asyncio.to_thread(self.tokens.count, deployment.model, texts)
        for (number, content), tokens in zip(lines, counts, strict=True):
            oversizes.note(oversize(number, len(content or b""), tokens, traits.limits))

    async def _look_up(
        self, tenant: TenantId, references: list[Reference]
    ) -> tuple[dict[str, str], list[LineError]]:
        """The version of every document, and an error for each that is not there."""
        etags: dict[str, str] = {}
        left = iter({r.path for r in references})

        async def look_up_some() -> None:
            for path in left:
                if info := await self.blobs.head(referred_input(tenant, path)):
                    etags[path] = info.etag

        # Not in groups that begin together: each call works for two milliseconds before it waits.
        tasks = [asyncio.create_task(look_up_some()) for _ in range(LOOK_UPS)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        missing = [
            LineError(
                line=r.line,
                field=r.field,
                message="there is no such document in your folder of the container inputs; upload it first",
            )
            for r in references
            if r.path not in etags
        ]
        return etags, missing


def _unaddressed(body: JobBody) -> Checked:
    """A batch whose file names no usable alias is accepted; planning says what is wrong with the file."""
    nowhere = Deployment(name=NO_DEPLOYMENT, provider="", model="", deployment="")
    return Checked(
        deployment=nowhere,
        alias=Alias(name=AliasName("")),
        spec=_spec(body),
        endpoint=body.endpoint or Endpoint.CHAT,
        references={},
        in_full=False,
        window=timedelta(0),
    )


def _check_tags(tenant: Tenant, body: JobBody) -> None:
    missing = [name for name in tenant.required_tags if not body.tags.get(name)]
    if missing:
        raise invalid(f"tags.{missing[0]}", f"your team's jobs must carry the tags {', '.join(missing)}")


def _deployment(catalog: Catalog, alias: Alias) -> Deployment:
    if not alias.hours:
        raise Unusable(f"alias {alias.name!r} has no deployment for the hours lane; use another alias")
    return catalog.deployment(alias.hours[0])


def _spec(body: JobBody) -> JobSpec:
    return JobSpec(
        template=stored_template(body.template),
        params=dict(body.params),
        output_schema=body.output_schema,
        endpoint=body.endpoint.value if body.endpoint else None,
        openai=body.batch is not None,
    )


def _handfuls(elements: Iterable[msgspec.Raw], traits: Traits) -> Iterator[list[Line]]:
    lines = numbered(elements, max_line_bytes=traits.limits.line_bytes)
    for some in batched(lines, HANDFUL, strict=False):
        yield list(some)


def _prompt_of(content: bytes | None) -> str:
    try:
        entry = msgspec.json.decode(content or b"null")
    except msgspec.DecodeError:
        return ""
    body = entry.get("body") if isinstance(entry, dict) else None
    return prompt_text(body) if isinstance(body, dict) else ""
