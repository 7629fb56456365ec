"""Make a job of the hours lane over documents of the drop zone."""

import contextlib
from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from shared.domain.catalog import Alias, Catalog, Pipeline
from shared.domain.errors import Conflict, Rejected
from shared.domain.ids import JobId, TenantId
from shared.domain.jobs import Job, JobStatus, Source, SourceKind
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.ports.orchestrations import Orchestrations
from shared.ports.providers import Providers
from shared.ports.schemas import Schemas
from shared.services.door.accept_job import AcceptJob
from shared.services.jobs.job_spec import save_spec
from shared.services.planning.dropped import order_of
from shared.services.planning.reading import check_endpoint
from shared.services.policy import Policy
from shared.services.tasks.prompts import endpoint_of, schema_for
from shared.wire.paths import JobPaths
from shared.wire.problems import Unusable
from shared.wire.spec import DocumentsSpec, JobSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentJob:
    """What is to be done with which documents. `lines` are those of `shared.wire.dropped`."""

    id: JobId
    tenant: TenantId
    pipeline: Pipeline
    alias: Alias
    lines: AsyncIterable[bytes]
    deliver: bool
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class StartDocumentJob:
    blobs: Blobs
    providers: Providers
    schemas: Schemas
    accept: AcceptJob
    clock: Clock
    policy: Policy

    async def __call__(self, asked: DocumentJob, catalog: Catalog, orchestrations: Orchestrations) -> Job:
        """Safe to repeat under the same id: the first input that was stored is the job's.

        Raise `Unusable` when no such job can be made.
        """
        job = self._job(asked, catalog)
        spec = self._spec(asked, job)
        with contextlib.suppress(Conflict):
            await self.blobs.write(
                job.source.path, asked.lines, content_type="application/jsonl", overwrite=False
            )
        await save_spec(self.blobs, job, spec)
        return await self.accept.begin(job, orchestrations)

    def _job(self, asked: DocumentJob, catalog: Catalog) -> Job:
        alias, pipeline, now = asked.alias, asked.pipeline, self.clock.now()
        if not alias.hours:
            raise Unusable(f"alias {alias.name!r} has no deployment for the hours lane; use another alias")
        deployment, endpoint = catalog.deployment(alias.hours[0]), endpoint_of(pipeline.task)
        traits = self.providers.batch(deployment).traits
        check_endpoint(endpoint, traits, deployment.name, deployment.model)
        allowed = self.policy.deadline(pipeline.deadline_hours, traits.window)
        return Job(
            id=asked.id,
            tenant=asked.tenant,
            status=JobStatus.ACCEPTED,
            created_at=now,
            deadline_at=now + allowed,
            alias=alias.name,
            endpoint=endpoint,
            deployment=deployment.name,
            provider=deployment.provider,
            model=deployment.model,
            run_id=asked.tags.get("run_id") or asked.id,
            source=Source(
                kind=SourceKind.DOCUMENTS, path=JobPaths(asked.tenant, asked.id).source, checked=True
            ),
            tags=asked.tags,
        )

    def _spec(self, asked: DocumentJob, job: Job) -> JobSpec:
        pipeline = asked.pipeline
        documents = DocumentsSpec(
            pipeline=pipeline.name,
            task=pipeline.task,
            prompt=pipeline.prompt,
            schema=pipeline.schema_content,
            languages=pipeline.languages,
            deliver=asked.deliver,
        )
        try:
            schema = schema_for(order_of(documents, job, asked.alias))
        except Rejected as lacking:
            raise Unusable(str(lacking)) from lacking
        if schema is not None:
            self.schemas.checker(schema)
        return JobSpec(output_schema=schema, endpoint=job.endpoint.value, documents=documents)


def with_prompt(pipeline: Pipeline, prompt: str | None) -> Pipeline:
    return pipeline if prompt is None else replace(pipeline, prompt=prompt)
