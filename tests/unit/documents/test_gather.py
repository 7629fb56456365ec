"""Pipelines of the hours lane: documents gather until the cron fires, and go out as one job."""

import itertools
from dataclasses import replace
from datetime import timedelta
from functools import partial
from types import MappingProxyType

import pytest

from shared.adapters.memory.provider_rows import Fate
from shared.bootstrap import App
from shared.domain.documents import DocumentStatus
from shared.domain.errors import NotFound
from shared.domain.extraction import Extraction, Unreadable, UnreadableReason
from shared.domain.ids import JobId
from shared.domain.jobs import Job
from shared.domain.outcomes import Outcome
from shared.domain.planning import Limits
from shared.wire.bodies import RescoreBody
from shared.wire.problems import Unusable
from tests.support.dropping import DocumentWorld
from tests.support.power import Mains, PowerCut, powered
from tests.support.world import SUPPORT

NIGHT = timedelta(hours=17)  # from eight in the morning to one at night


@pytest.fixture
async def world() -> DocumentWorld:
    world = DocumentWorld()
    await world.app.gather_documents(world.engine)
    return world


async def night(world: DocumentWorld) -> None:
    """The cron fires, and the jobs run to their end."""
    world.clock.advance(NIGHT)
    await world.app.gather_documents(world.engine)
    await world.run()


async def jobs(world: DocumentWorld) -> list[Job]:
    return [job async for job in world.app.finish_job.jobs.newest_first([SUPPORT.id])]


def with_pipeline(world: DocumentWorld, **changes: object) -> None:
    catalog = world.catalog.catalog
    tickets = replace(catalog.pipelines["tickets"], **changes)  # type: ignore[arg-type]
    world.catalog.catalog = replace(
        catalog, pipelines=MappingProxyType({**catalog.pipelines, "tickets": tickets})
    )


async def test_gathered_documents_go_out_as_one_job_and_end_as_in_the_minutes_lane(
    world: DocumentWorld,
) -> None:
    world.extractor.answers["1.txt"] = Extraction(
        text="Scanned in part.", media_type="application/pdf", pages=3, pages_without_text=(2,)
    )
    for n in range(5):
        await world.claim(f"support/tickets/{n}.txt", b"Ticket %d." % n)
    await world.app.gather_documents(world.engine)
    assert await jobs(world) == []
    await night(world)

    [job] = await jobs(world)
    assert (job.status.value, job.plan.submitted if job.plan else 0) == ("completed", 5)
    assert job.deadline_at - job.created_at == timedelta(hours=6)
    documents = await world.all()
    assert {document.status for document in documents} == {DocumentStatus.COMPLETED}
    assert {document.job_id for document in documents} == {job.id}
    result = await world.result("support/tickets/1.txt")
    assert result is not None
    assert (result["document"]["pages"], result["document"]["pages_without_text"]) == (3, [2])
    assert (result["outcome"], result["attempts"], result["provider"]) == ("succeeded", 1, "azure_openai")
    assert result["usage"]["input_tokens"] > 0
    assert float(result["cost"]["amount"]) > 0
    told = [event for event in world.events.published if event.type == "postern.document.completed"]
    assert len(told) == 5
    [row] = await world.ledger()
    assert row.source.startswith(job.id)
    assert world.model.asked == []


async def test_documents_that_cannot_be_read_or_are_refused_have_their_own_end(world: DocumentWorld) -> None:
    world.extractor.answers["locked.pdf"] = Unreadable(reason=UnreadableReason.ENCRYPTED, message="Locked.")
    world.provider.habits.fates["bad ticket"] = Fate.CONTENT_FILTER
    for name in ("good.txt", "locked.pdf", "bad.txt", "gone.txt"):
        await world.claim(f"support/tickets/{name}", f"{name[:-4]} ticket".encode())
    await world.blobs.delete("documents/support/tickets/gone.txt")
    await night(world)

    ends = {document.name: (document.outcome, document.reason) for document in await world.all()}
    assert ends == {
        "good.txt": ("succeeded", None),
        "locked.pdf": ("failed", "encrypted"),
        "bad.txt": ("refused", "content_filter"),
        "gone.txt": ("failed", "gone"),
    }
    for name in ends:
        assert await world.result(f"support/tickets/{name}") is not None


async def test_one_document_that_is_too_long_does_not_stop_the_others() -> None:
    world = DocumentWorld(limits=Limits(requests=100, bytes=1_000_000, line_bytes=2000))
    await world.app.gather_documents(world.engine)
    await world.claim("support/tickets/long.txt", b"long " * 1000)
    await world.claim("support/tickets/short.txt", b"short")
    await night(world)

    ends = {document.name: (document.outcome, document.reason) for document in await world.all()}
    assert ends == {
        "long.txt": ("failed", "context_length_exceeded"),
        "short.txt": ("succeeded", None),
    }


async def test_equal_documents_are_bought_once(world: DocumentWorld) -> None:
    for n in range(3):
        await world.claim(f"support/tickets/{n}.txt", b"The same ticket.")
    await night(world)

    results = [await world.result(f"support/tickets/{n}.txt") for n in range(3)]
    assert [result["usage"]["input_tokens"] > 0 for result in results if result] == [True, False, False]
    assert {document.outcome for document in await world.all()} == {"succeeded"}


async def test_each_firing_makes_a_job_of_what_has_come_since(world: DocumentWorld) -> None:
    await world.claim("support/tickets/1.txt", b"one")
    await night(world)
    await world.app.gather_documents(world.engine)
    await world.claim("support/tickets/2.txt", b"two")
    await night(world)
    await night(world)

    assert [job.plan.submitted if job.plan else 0 for job in await jobs(world)] == [1, 1]
    assert {document.outcome for document in await world.all()} == {"succeeded"}


async def test_tenants_aliases_and_projects_have_jobs_of_their_own(world: DocumentWorld) -> None:
    await world.claim("support/tickets/1.txt", b"one", project="red", run_id="r1")
    await world.claim("support/tickets/2.txt", b"two", project="red", run_id="r2")
    await world.claim("support/tickets/3.txt", b"three", project="blue", run_id="r3")
    await world.claim("support/tickets/4.txt", b"four", alias="nightly")
    await world.claim("retail/tickets/5.txt", b"five")
    await night(world)

    seen = {
        (job.alias, *sorted(job.tags.items())): job.plan.submitted if job.plan else 0
        for job in await jobs(world)
    }
    assert seen == {
        ("summarize", ("project", "red")): 2,
        ("summarize", ("project", "blue"), ("run_id", "r3")): 1,
        ("nightly",): 1,
    }
    assert {document.outcome for document in await world.all("retail")} == {"succeeded"}


async def test_a_cancelled_job_ends_its_documents_and_they_may_be_retried(world: DocumentWorld) -> None:
    await world.claim("support/tickets/1.txt", b"one")
    world.clock.advance(NIGHT)
    await world.app.gather_documents(world.engine)
    [job] = await jobs(world)
    await world.app.cancel_job(SUPPORT.id, job.id, world.engine)
    await world.run()

    document = await world.one()
    assert (document.status, document.outcome) == ("failed", "cancelled")
    stored = await world.documents.load(SUPPORT.id, document.id)
    await world.app.retry_document(stored, frozenset())
    assert (await world.one()).status is DocumentStatus.GATHERED
    world.clock.advance(timedelta(days=1))
    await world.app.gather_documents(world.engine)
    await world.run()
    document = await world.one()
    assert (document.outcome, document.retries) == ("succeeded", 1)
    assert document.job_id != job.id


async def test_answers_are_checked_against_the_pipeline_s_schema(world: DocumentWorld) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    with_pipeline(world, task="extract", schema_content=schema)
    world.provider.habits.answer = lambda text: '{"n": 1}' if "fine ticket" in text else '{"n": "one"}'
    await world.claim("support/tickets/1.txt", b"A fine ticket.")
    await world.claim("support/tickets/2.txt", b"A wrong ticket.")
    await night(world)

    ends = {document.name: (document.outcome, document.reason) for document in await world.all()}
    assert ends == {"1.txt": ("succeeded", None), "2.txt": ("invalid", "schema")}
    result = await world.result("support/tickets/1.txt")
    assert result is not None
    assert result["output"] == {"n": 1}


async def test_power_may_fail_between_any_two_effects_of_a_gathering() -> None:
    for number, after in itertools.product(range(1, 60), (False, True)):
        world = DocumentWorld()
        await world.app.gather_documents(world.engine)
        for n in range(2):
            await world.claim(f"support/tickets/{n}.txt", b"Ticket %d." % n)
        world.clock.advance(NIGHT)
        mains = Mains(cut_after=number) if after else Mains(cut_before=number)
        app = world.power_up(partial(powered, mains=mains))
        try:
            await app.gather_documents(world.engine)
        except PowerCut:
            await world.app.gather_documents(world.engine)
            await world.run()
            # A job on record that nobody started is started by the sweep.
            world.clock.advance(timedelta(minutes=16))
            await world.sweep()
            await world.run()
        else:
            assert number > 6, "there was something to cut"
            return
        assert len(await jobs(world)) == 1, f"cut at {number}"
        assert {document.outcome for document in await world.all()} == {"succeeded"}
        assert [name async for name in app.gather_documents.gathering.of(SUPPORT.id, "tickets")] == []


async def test_power_may_fail_between_any_two_effects_of_delivering() -> None:
    for number, after in itertools.product(range(1, 60), (False, True)):
        world = DocumentWorld()
        await world.app.gather_documents(world.engine)
        for n in range(2):
            await world.claim(f"support/tickets/{n}.txt", b"Ticket %d." % n)
        world.clock.advance(NIGHT)
        await world.app.gather_documents(world.engine)
        await world.engine.run(without_delivery(world.app))
        [job] = await jobs(world)
        assert job.is_finished
        assert {document.status for document in await world.all()} == {DocumentStatus.GATHERED}
        mains = Mains(cut_after=number) if after else Mains(cut_before=number)
        try:
            await world.power_up(partial(powered, mains=mains)).finish_job.deliver(job)
        except PowerCut:
            await world.app.finish_job.deliver(job)
        else:
            assert number > 8, "there was something to cut"
            return
        assert {document.outcome for document in await world.all()} == {"succeeded"}
        assert await world.result("support/tickets/1.txt") is not None


def without_delivery(app: App) -> App:
    """As if the process had died between the job's end and what follows from it."""

    async def nothing(job: Job) -> None:
        return None

    return replace(app, finish_job=replace(app.finish_job, deliver=nothing))  # type: ignore[arg-type]


# Rescoring


def body(prefix: str = "", prompt: str | None = None, alias: str | None = None) -> RescoreBody:
    return RescoreBody(prefix=prefix, prompt=prompt, alias=alias)


async def rescore(world: DocumentWorld, wanted: RescoreBody, name: str = "notes") -> Job:
    return await world.app.rescore_pipeline(SUPPORT, name, wanted, JobId(world.new_id()), world.engine)


async def test_a_corpus_is_gone_over_again_under_a_new_prompt(world: DocumentWorld) -> None:
    for n in range(3):
        await world.claim(f"support/notes/2026/{n}.txt", b"Note %d." % n)
    await world.claim("support/notes/2025/0.txt", b"Old.")
    await world.drop("support/notes/2026/folder", b"", metadata={"hdi_isfolder": "true"})
    await world.deliver()
    before = await world.all()
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "calm"

    world.provider.habits.answer = answer
    job = await rescore(world, body("2026/", prompt="How angry is the writer?"))
    await world.run()

    results = await world.results(job)
    assert sorted(result["custom_id"] for result in results) == ["2026/0.txt", "2026/1.txt", "2026/2.txt"]
    assert {result["outcome"] for result in results} == {"succeeded"}
    assert all("How angry is the writer?" in prompt for prompt in asked)
    assert await world.all() == before


async def test_a_rescore_may_be_cancelled_like_any_job(world: DocumentWorld) -> None:
    await world.claim("support/notes/a.txt")
    job = await rescore(world, body())
    await world.app.cancel_job(SUPPORT.id, job.id, world.engine)
    await world.run()

    assert [result["outcome"] for result in await world.results(job)] == [Outcome.CANCELLED]


async def test_a_rescore_sees_its_own_tenant_s_documents_only(world: DocumentWorld) -> None:
    await world.claim("retail/notes/a.txt")
    with pytest.raises(Unusable, match="no document was dropped"):
        await rescore(world, body())
    with pytest.raises(Unusable, match="no document was dropped"):
        await rescore(world, body("../../retail/notes/"))


async def test_a_rescore_of_what_is_not_there_is_refused(world: DocumentWorld) -> None:
    await world.claim("support/notes/a.txt")
    with pytest.raises(NotFound, match="no pipeline"):
        await rescore(world, body(), name="nothing")
    with pytest.raises(NotFound, match="unknown alias"):
        await rescore(world, body(alias="nothing"))
    with pytest.raises(Unusable, match="no deployment for the hours lane"):
        await rescore(world, body(alias="careful"))
