"""Accepting a job: refused before anything is written, or on record with everything it needs."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import msgspec
import pytest

from shared.bootstrap import App
from shared.domain.catalog import Deployment, Endpoint, Tenant
from shared.domain.errors import Conflict, NotAdmitted, NotFound, Rejected, TryAgainLater
from shared.domain.findings import FindingKind
from shared.domain.ids import JobId, TenantId
from shared.domain.jobs import Job, JobStatus
from shared.domain.objections import Objection
from shared.domain.planning import Limits
from shared.domain.pulses import Pulse
from shared.ports.providers import BatchProvider
from shared.services.sweeping.sweep import STILLBORN
from shared.stores.pulses import Pulses
from shared.wire.bodies import read_job
from shared.wire.problems import InputErrors, Unusable, problem
from tests.support.turns import race
from tests.support.world import START, SUPPORT, World, a_body


async def accept(
    world: World, app: App, body: dict[str, Any], job_id: JobId, tenant: Tenant = SUPPORT
) -> Job:
    content = msgspec.json.encode(body)
    return await app.accept_job(tenant, read_job(content), len(content), job_id, world.engine)


def nothing_was_written(world: World) -> bool:
    return not world.blobs._blobs and not any(p.rows for p in world.tables._partitions.values())


async def test_an_accepted_job_is_on_record_with_all_that_was_decided() -> None:
    world = World()

    job = await world.submit(a_body(["a"], tags={"project": "p", "run_id": "night"}, deadline_hours=2.5))

    assert (await world.see(job)).job == job
    assert (job.status, job.run_id, job.model) == (JobStatus.ACCEPTED, "night", "gpt-5-mini")
    assert job.deadline_at == START + timedelta(hours=2.5)
    assert job.tags == {"project": "p", "run_id": "night"}
    assert job.source.checked
    assert world.engine.instances.keys() == {(job.id, 1)}


async def test_without_a_run_and_a_deadline_the_job_is_its_own_run_and_has_thirty_hours() -> None:
    job = await World().submit(a_body(["a"]))

    assert job.run_id == job.id
    assert job.deadline_at == START + timedelta(hours=30)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"alias": "nobody"}, NotFound, "known aliases: summarize"),
        ({"endpoint": "embeddings"}, InputErrors, "line 1: body"),
        ({"output_schema": {"type": "nonsense"}}, Rejected, "schema"),
    ],
    ids=["unknown alias", "another endpoint's bodies", "no schema"],
)
async def test_a_refused_job_leaves_nothing_behind(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    world = World()

    with pytest.raises(error, match=message):
        await world.submit({**a_body(["a"]), **change})

    assert nothing_was_written(world)
    assert world.engine.instances == {}


async def test_every_bad_line_is_named_and_nothing_is_written() -> None:
    world = World()
    body = a_body(["a", "b", "c", "d"])
    body["requests"][1] = [1, 2, 3]
    body["requests"][3]["custom_id"] = "r-0"

    with pytest.raises(InputErrors) as errors:
        await world.submit(body)

    assert [error.line for error in errors.value.errors] == [2, 4]
    assert nothing_was_written(world)


async def test_a_request_larger_than_the_whole_quota_is_refused_by_its_line() -> None:
    world = World(limits=Limits(requests=10, bytes=10**6, line_bytes=10**6, tokens=50))

    with pytest.raises(InputErrors) as errors:
        await world.submit(a_body(["short", "word " * 100]))

    assert [error.line for error in errors.value.errors] == [2]
    assert "quota" in errors.value.errors[0].message


async def test_a_line_larger_than_the_provider_takes_is_refused_by_its_line() -> None:
    world = World(limits=Limits(requests=10, bytes=10**6, line_bytes=500))

    with pytest.raises(InputErrors) as errors:
        await world.submit(a_body(["short", "x" * 600]))

    assert [error.line for error in errors.value.errors] == [2]


def a_world_of_vectors() -> World:
    """Its deployment's model makes embeddings."""
    world = World()
    catalog = world.catalog.catalog
    deployments = {
        name: replace(deployment, model="text-embedding-3-small")
        for name, deployment in catalog.deployments.items()
    }
    world.catalog.catalog = replace(catalog, deployments=MappingProxyType(deployments))
    return world


async def test_an_input_for_a_model_that_makes_vectors_is_to_be_embedded() -> None:
    body = {**a_body([]), "requests": [{"body": {"input": "a heater"}}]}

    assert (await a_world_of_vectors().submit(body)).endpoint is Endpoint.EMBEDDINGS
    assert (await World().submit(body)).endpoint is Endpoint.RESPONSES


async def test_a_model_that_makes_vectors_is_not_asked_for_a_chat() -> None:
    world = a_world_of_vectors()

    with pytest.raises(Unusable, match="makes embeddings and no chat"):
        await world.submit(a_body(["a"]))

    assert nothing_was_written(world)


def no_temperature(endpoint: Endpoint, body: Mapping[str, object]) -> Objection | None:
    return (
        Objection(field="temperature", message="is not taken by this model")
        if "temperature" in body
        else None
    )


async def test_what_the_provider_would_refuse_is_refused_by_its_line() -> None:
    world = World()
    world.provider.habits.objection = no_temperature
    body = a_body(["fine", "too warm"])
    body["requests"][1]["body"]["temperature"] = 1

    with pytest.raises(InputErrors) as refused:
        await world.submit(body)

    assert [(e.line, e.field, e.message) for e in refused.value.errors] == [
        (2, "body.temperature", "is not taken by this model")
    ]


async def test_what_the_provider_would_refuse_of_all_inputs_is_refused_once() -> None:
    world = World()
    world.provider.habits.objection = no_temperature
    body = {
        "alias": "summarize",
        "template": {"user": "{text}"},
        "inputs": [{"vars": {"text": "a"}}, {"vars": {"text": "b"}}],
        "params": {"temperature": 1},
    }

    with pytest.raises(InputErrors) as refused:
        await world.submit(body)

    assert [(e.line, e.field) for e in refused.value.errors] == [(None, "params.temperature")]


async def test_required_tags_must_be_there() -> None:
    world = World()
    strict = Tenant(id=TenantId("strict"), required_tags=("project", "owner"))

    with pytest.raises(InputErrors, match=r"tags\.project"):
        await world.submit(a_body(["a"], tags={"owner": "ana"}), tenant=strict)


async def test_an_alias_without_a_deployment_for_the_hours_lane_cannot_be_used() -> None:
    world = World()
    catalog = world.catalog.catalog
    (alias,) = catalog.aliases.values()
    minutes_only = replace(alias, minutes=alias.hours, hours=())
    world.catalog.catalog = replace(catalog, aliases=MappingProxyType({alias.name: minutes_only}))

    with pytest.raises(Unusable, match="hours lane"):
        await world.submit(a_body(["a"]))


async def test_accepting_again_under_the_same_id_gives_the_same_job_and_starts_it() -> None:
    world = World()
    job_id = world.new_id()
    world.engine.refusals.append(TryAgainLater("the engine does not answer"))
    first = await accept(world, world.app, a_body(["a"]), job_id)
    assert world.engine.instances == {}
    world.clock.advance(timedelta(seconds=5))

    again = await accept(world, world.app, a_body(["a"]), job_id)

    assert again == first
    assert world.engine.instances.keys() == {(job_id, 1)}


async def test_a_job_that_is_well_on_its_way_is_not_started_again() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=1)
    job = await world.submit(a_body(["a"]))
    await world.pass_time(minutes=1)
    await world.engine.lose_everything()

    await accept(world, world.app, a_body(["a"]), job.id)

    assert world.engine.instances == {}


@pytest.mark.parametrize("turns", range(1, 30))
async def test_a_job_accepted_while_the_sweep_buries_the_pulse_of_its_first_try_keeps_one(turns: int) -> None:
    world = World()
    job_id = world.new_id()
    await Pulses(world.tables).add(
        Pulse(tenant=SUPPORT.id, job_id=job_id, run=1, due_at=START, deadline_at=START + timedelta(hours=30))
    )
    world.clock.advance(STILLBORN + timedelta(seconds=1))

    async def sweep(app: App) -> object:
        await app.sweep(world.engine)
        return None

    async def post(app: App) -> object:
        return await accept(world, app, a_body(["a"]), job_id)

    await race(world, [0] * turns + [1] * 60 + [0] * 60, sweep, post)

    found = await world.app.read_job.jobs.find(SUPPORT.id, job_id)
    assert (found is None) or (await Pulses(world.tables).find(job_id) is not None)


async def test_a_pulse_that_was_written_since_it_was_read_is_not_buried() -> None:
    world = World()
    pulses = Pulses(world.tables)
    await pulses.add(Pulse(tenant=SUPPORT.id, job_id=JobId("job_1"), run=1, due_at=START, deadline_at=START))
    read = await pulses.find(JobId("job_1"))
    assert read is not None
    await pulses.replace(read, replace(read.value, run=2))

    with pytest.raises(Conflict):
        await pulses.bury(read)


@pytest.mark.parametrize(
    ("window", "asked", "hours"), [(24, None, 30), (96, None, 102), (96, 50, 50), (1, None, 30)]
)
async def test_a_job_is_late_when_its_provider_has_had_its_time(
    window: int, asked: float | None, hours: float
) -> None:
    world = World()
    world.provider.habits.window = timedelta(hours=window)

    job = await world.submit(a_body(["a"], **({} if asked is None else {"deadline_hours": asked})))

    assert job.deadline_at - job.created_at == timedelta(hours=hours)


class Shut:
    """Every deployment's key is missing."""

    async def prepare(self, deployment: Deployment) -> None:
        return None

    def batch(self, deployment: Deployment) -> BatchProvider:
        raise NotAdmitted("app setting 'MISTRAL_API_KEY' is missing")


async def test_a_deployment_that_cannot_be_reached_for_want_of_a_key_is_told_to_operators() -> None:
    world = World()

    check = replace(world.app.accept_job.check, providers=Shut())
    app = replace(world.app, accept_job=replace(world.app.accept_job, check=check))

    with pytest.raises(NotAdmitted) as refused:
        await accept(world, app, a_body(["a"]), JobId("job_1"))

    status, document = problem(refused.value)
    assert (status, document["code"]) == (503, "not_admitted")
    assert "MISTRAL_API_KEY" not in str(document)
    [finding] = await world.findings(None)
    assert finding.kind is FindingKind.NOT_ADMITTED
    assert "MISTRAL_API_KEY" in finding.message
