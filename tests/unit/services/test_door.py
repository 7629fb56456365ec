"""The door: idempotent calls, uploads, references to documents, erasure, and what was spent."""

import asyncio
import hashlib
from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from shared.adapters.memory.provider_rows import Fate
from shared.domain.errors import NotFound, TryAgainLater
from shared.domain.ids import JobId
from shared.domain.jobs import Job
from shared.services.door.once import HELD, KEPT
from shared.stores.door import Replies
from shared.wire.bodies import read_job
from shared.wire.paths import JobPaths, job_folder, upload
from shared.wire.problems import Clash, InputErrors, Unusable
from shared.wire.views import job_json
from tests.support.streams import stream, whole
from tests.support.world import RETAIL, START, SUPPORT, World, a_body

# Idempotency


class Caller:
    """Counts what is really done, and under which id."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.done: list[JobId] = []
        self.errors: list[Exception] = []
        self.begun = asyncio.Event()
        self.gate: asyncio.Event | None = None

    async def act(self, job_id: JobId) -> str:
        self.done.append(job_id)
        self.begun.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.errors:
            raise self.errors.pop(0)
        return f"answer {job_id}"

    async def call(self, key: str = "key", body: bytes = b"body", tenant: Any = SUPPORT) -> str:
        return await self.world.app.once(tenant.id, key, body, self.world.new_id(), self.act)


async def test_the_same_call_is_done_once_and_answered_the_same() -> None:
    caller = Caller(World())

    answers = {await caller.call() for _ in range(3)}

    assert answers == {f"answer {caller.done[0]}"}
    assert len(caller.done) == 1


async def test_the_same_key_with_another_body_is_refused() -> None:
    caller = Caller(World())
    await caller.call()

    with pytest.raises(Clash) as clash:
        await caller.call(body=b"another")

    assert clash.value.code == "idempotency_key_reused"


async def test_two_tenants_may_use_the_same_key() -> None:
    caller = Caller(World())

    assert await caller.call() != await caller.call(tenant=RETAIL)


async def test_a_call_in_flight_is_not_repeated() -> None:
    caller = Caller(World())
    caller.gate = asyncio.Event()
    first = asyncio.create_task(caller.call())
    await caller.begun.wait()

    with pytest.raises(Clash) as clash:
        await caller.call()

    assert clash.value.code == "in_progress"
    caller.gate.set()
    assert await first == await caller.call()


async def test_two_calls_at_the_same_moment_are_done_once() -> None:
    caller = Caller(World())

    answers = await asyncio.gather(*(caller.call() for _ in range(5)), return_exceptions=True)

    assert len(caller.done) == 1
    told = [a for a in answers if isinstance(a, str)]
    assert told
    assert set(told) == {told[0]}
    assert {a.code for a in answers if isinstance(a, Clash)} == {"in_progress"}


async def test_a_refused_call_leaves_nothing_behind() -> None:
    caller = Caller(World())
    caller.errors = [Unusable("no")]
    with pytest.raises(Unusable):
        await caller.call()

    assert await caller.call(body=b"mended") == f"answer {caller.done[1]}"


@pytest.mark.parametrize(
    "error", [TryAgainLater("storage does not answer"), ValueError("a fault of ours")], ids=str
)
async def test_a_call_whose_end_nobody_knows_goes_on_under_the_same_id(error: Exception) -> None:
    caller = Caller(World())
    caller.errors = [error]
    with pytest.raises(type(error)):
        await caller.call()

    await caller.call()

    assert caller.done[0] == caller.done[1]


async def test_a_call_that_died_half_way_goes_on_under_the_same_id_when_nobody_is_at_it_any_more() -> None:
    caller = Caller(World())
    caller.gate = asyncio.Event()
    dying = asyncio.create_task(caller.call())
    await caller.begun.wait()
    dying.cancel()
    caller.gate.set()
    await asyncio.gather(dying, return_exceptions=True)

    caller.world.clock.advance(HELD)
    await caller.call()

    assert caller.done[0] == caller.done[1]


async def test_a_key_may_be_used_anew_after_seven_days() -> None:
    caller = Caller(World())
    await caller.call()
    caller.world.clock.advance(KEPT - timedelta(seconds=1))
    await caller.call()
    assert len(caller.done) == 1

    caller.world.clock.advance(timedelta(seconds=1))
    await caller.call(body=b"another")

    assert len(caller.done) == 2


async def test_a_lost_answer_of_the_storage_never_buys_a_job_twice() -> None:
    world = World()
    insert = world.tables.insert

    async def insert_and_lose_the_answer(table: str, *args: Any, **more: Any) -> Any:
        entity = await insert(table, *args, **more)
        if table == "jobs":
            world.tables.insert = insert  # type: ignore[method-assign]
            raise TryAgainLater("no answer")
        return entity

    world.tables.insert = insert_and_lose_the_answer  # type: ignore[method-assign]

    async def post() -> str:
        async def act(job_id: JobId) -> str:
            return (await _accept(world, a_body(["a"]), job_id)).id

        return await world.app.once(SUPPORT.id, "key", b"body", world.new_id(), act)

    with pytest.raises(TryAgainLater):
        await post()
    await post()
    await world.run()

    world.clock.advance(timedelta(hours=1))
    await world.sweep()
    await world.run()
    assert len(world.provider.created) == 1
    assert len(await world.ledger()) == 1


async def _accept(world: World, body: dict[str, Any], job_id: JobId) -> Job:
    content = msgspec.json.encode(body)
    return await world.app.accept_job(SUPPORT, read_job(content), len(content), job_id, world.engine)


async def test_only_digests_of_keys_are_kept() -> None:
    caller = Caller(World())
    await caller.call(key="my secret key")

    digest = hashlib.sha256(b"my secret key").hexdigest()
    assert await Replies(caller.world.tables).find(SUPPORT.id, digest) is not None


# Uploads

LINES = (
    b'\xef\xbb\xbf{"custom_id":"x","body":{"messages":[{"role":"user","content":"a"}]}}\r\n\n'
    b'{"custom_id":"y","body":{"messages":[{"role":"user","content":"b"}]}}'
)


async def an_upload(world: World, content: bytes = LINES) -> str:
    made, _ = await world.app.make_upload(SUPPORT.id)
    await world.blobs.write(upload(SUPPORT.id, made.id), stream(content))
    return made.id


async def test_an_upload_becomes_a_job() -> None:
    world = World()
    made = await an_upload(world)

    job = await world.submit({"alias": "summarize", "upload_id": made})
    await world.run()

    assert [r["custom_id"] for r in await world.results(job)] == ["x", "y"]


async def test_what_is_written_after_the_job_was_accepted_changes_nothing() -> None:
    world = World()
    made = await an_upload(world)
    job = await world.submit({"alias": "summarize", "upload_id": made})

    await world.blobs.write(upload(SUPPORT.id, made), stream(b"something else"))
    await world.run()

    assert await world.outcomes(job) == {"succeeded": 2}


async def test_an_upload_is_used_by_one_job() -> None:
    world = World()
    made = await an_upload(world)
    await world.submit({"alias": "summarize", "upload_id": made})

    with pytest.raises(Clash) as clash:
        await world.submit({"alias": "summarize", "upload_id": made})

    assert clash.value.code == "upload_used"


@pytest.mark.parametrize("whose", ["nobody's", "another tenant's"])
async def test_an_upload_that_is_not_there_is_not_found(whose: str) -> None:
    world = World()
    made = "upload_0"
    if whose == "another tenant's":
        made = (await world.app.make_upload(RETAIL.id))[0].id

    with pytest.raises(NotFound):
        await world.submit({"alias": "summarize", "upload_id": made})


async def test_an_upload_without_content_says_what_to_do() -> None:
    world = World()
    made, url = await world.app.make_upload(SUPPORT.id)
    assert url.headers == {"x-ms-blob-type": "BlockBlob"}

    with pytest.raises(Unusable, match="PUT the file"):
        await world.submit({"alias": "summarize", "upload_id": made.id})


async def test_bad_lines_of_an_upload_fail_the_job_with_their_physical_numbers() -> None:
    world = World()
    made = await an_upload(world, LINES + b'\n\n{"custom_id":"x","body":{"messages":[]}}\nnull')

    job = await world.submit({"alias": "summarize", "upload_id": made})
    await world.run()

    seen = await world.see(job)
    assert (seen.job.status, seen.job.reason) == ("failed", "invalid_input")
    assert [error.line for error in seen.errors] == [5, 6]
    assert world.provider.calls == []

    # Storage deletes the list in its time, with the results.
    await world.blobs.delete(JobPaths(job.tenant, job.id).errors)
    assert (await world.see(job)).errors == []


# Documents


def inputs(*references: Any) -> dict[str, Any]:
    return {
        "alias": "summarize",
        "template": {"user": "{text}"},
        "inputs": [
            {"custom_id": f"d-{i}", "vars": {"text": {"blob": r} if isinstance(r, str) else r["text"]}}
            for i, r in enumerate(references)
        ],
    }


async def a_document(world: World, name: str, content: bytes) -> None:
    await world.blobs.write(f"inputs/support/{name}", stream(content))


async def test_documents_are_read_and_sent() -> None:
    world = World()
    await a_document(world, "notes/a.txt", b"hello")

    job = await world.submit(inputs("notes/a.txt", {"text": "inline"}))
    await world.run()

    assert await world.outcomes(job) == {"succeeded": 2}


@pytest.mark.parametrize("what", ["changed", "deleted"])
async def test_a_document_that_changed_after_acceptance_is_gone_and_costs_nothing(what: str) -> None:
    world = World()
    await a_document(world, "a.txt", b"hello")
    await a_document(world, "b.txt", b"world")
    job = await world.submit(inputs("a.txt", "b.txt"))
    if what == "changed":
        await a_document(world, "a.txt", b"something else")
    else:
        await world.blobs.delete("inputs/support/a.txt")

    await world.run()

    assert await world.outcomes(job) == {"failed/gone": 1, "succeeded": 1}
    assert (await world.ledger())[0].requests == 1


async def test_a_document_that_cannot_be_read_is_a_result_with_its_reason() -> None:
    world = World()
    await a_document(world, "empty.txt", b"  ")
    await a_document(world, "image.bin", b"\xff\xfe\xfd")

    job = await world.submit(inputs("empty.txt", "image.bin"))
    await world.run()

    assert await world.outcomes(job) == {"failed/empty": 1, "failed/unsupported_type": 1}
    assert world.provider.calls == []
    assert await world.status(job) == "failed"


async def test_a_document_that_is_not_there_is_refused_with_its_line() -> None:
    world = World()
    await a_document(world, "a.txt", b"hello")

    with pytest.raises(InputErrors) as errors:
        await world.submit(inputs("a.txt", "b.txt"))

    assert [(e.line, e.field) for e in errors.value.errors] == [(2, "vars.text.blob")]


async def test_another_tenants_document_is_not_there() -> None:
    world = World()
    await world.blobs.write("inputs/retail/a.txt", stream(b"secret"))

    for path in ("a.txt", "../retail/a.txt", "/retail/a.txt"):
        with pytest.raises(InputErrors):
            await world.submit(inputs(path))


# Erasure


async def test_content_is_erased_and_figures_stay() -> None:
    world = World()
    made = await an_upload(world)
    job = await world.submit({"alias": "summarize", "upload_id": made})
    await world.run()
    booked = await world.ledger()

    await world.app.erase_job(job.tenant, job.id)

    assert [info.path async for info in world.blobs.list(job_folder(job.tenant, job.id))] == []
    assert [info.path async for info in world.blobs.list("uploads/support/")] == []
    assert world.provider.file_ids == []
    seen = await world.see(job)
    assert seen.job.totals is not None
    assert seen.job.erased_at == world.clock.now()
    assert job_json(seen.job, seen.chunks, base_url="http://here")["results_kept_until"] is None
    assert await world.ledger() == booked
    with pytest.raises(NotFound, match="erased"):
        await world.results(job)


async def test_erasing_takes_what_the_provider_still_keeps() -> None:
    world = World()
    world.provider.fail("delete_file", *[TryAgainLater("503")] * 2)
    job = await world.submit(a_body(["a"]))
    await world.engine.settle(world.app)
    assert await world.status(job) == "completed"
    assert world.provider.file_ids != []

    await world.app.erase_job(job.tenant, job.id)

    assert world.provider.file_ids == []


async def test_a_running_job_is_not_erased() -> None:
    world = World()
    job = await world.submit(a_body(["a"]))

    with pytest.raises(Clash, match="cancel it first"):
        await world.app.erase_job(job.tenant, job.id)


async def test_erasing_twice_is_fine_and_the_first_moment_stays() -> None:
    world = World()
    job = await world.submit(a_body(["a"]))
    await world.run()
    await world.app.erase_job(job.tenant, job.id)
    erased_at = world.clock.now()
    world.clock.advance(timedelta(hours=1))

    await world.app.erase_job(job.tenant, job.id)

    assert (await world.see(job)).job.erased_at == erased_at


async def test_an_erase_that_was_cut_short_is_finished_by_the_next() -> None:
    world = World()
    job = await world.submit(a_body(["a"]))
    await world.run()
    delete = world.blobs.delete

    async def delete_one(path: str, **more: str | None) -> None:
        await delete(path)
        raise TryAgainLater("503")

    world.blobs.delete = delete_one  # type: ignore[method-assign]
    with pytest.raises(TryAgainLater):
        await world.app.erase_job(job.tenant, job.id)
    world.blobs.delete = delete  # type: ignore[method-assign]

    await world.app.erase_job(job.tenant, job.id)

    assert [info.path async for info in world.blobs.list(job_folder(job.tenant, job.id))] == []


# What was spent


async def spent(
    world: World, by: list[str], **window: Any
) -> dict[tuple[str | None, ...], tuple[int, Decimal]]:
    start, end = window.get("start", START), window.get("end", world.clock.now() + timedelta(seconds=1))
    sums = await world.app.report_usage([SUPPORT.id, RETAIL.id], by, start, end)
    return {tuple(s.group.values()): (s.requests, s.spend.amount) for s in sums}


async def test_usage_is_summed_by_any_tag_and_column() -> None:
    world = World()
    for project, tenant in (("tickets", SUPPORT), ("tickets", SUPPORT), ("mails", SUPPORT), ("shop", RETAIL)):
        await world.submit(a_body(["a", "b"], tags={"project": project, "owner": "ana"}), tenant=tenant)
    await world.submit(a_body(["a"]))
    await world.run()

    by_project = await spent(world, ["project"])
    by_both = await spent(world, ["tenant", "project"])
    everything = await spent(world, ["owner", "model"])

    assert {group: n for group, (n, _) in by_project.items()} == {
        ("tickets",): 4,
        ("mails",): 2,
        ("shop",): 2,
        (None,): 1,
    }
    assert by_both[("retail", "shop")][0] == 2
    assert everything[("ana", "gpt-5-mini")][0] == 8
    rows = [*await world.ledger(), *await world.ledger(RETAIL)]
    assert sum(amount for _, amount in by_project.values()) == sum(row.spend.amount for row in rows)


async def test_usage_is_that_of_the_window_to_the_second() -> None:
    world = World()
    await world.submit(a_body(["a"]))
    await world.run()
    booked_at = (await world.ledger())[0].booked_at
    world.clock.advance(timedelta(days=3))
    await world.submit(a_body(["b", "c"]))
    await world.run()

    assert (await spent(world, ["day"])).keys() == {("2026-11-30",), ("2026-12-03",)}
    assert await spent(world, ["model"], start=booked_at, end=booked_at) == {}
    just_before = await spent(world, ["model"], start=START, end=booked_at)
    with_it = await spent(world, ["model"], start=booked_at, end=booked_at + timedelta(seconds=1))
    assert (just_before, with_it[("gpt-5-mini",)][0]) == ({}, 1)


async def test_asking_what_was_spent_books_nothing() -> None:
    world = World()
    world.provider.habits.fates["[filtered]"] = Fate.CONTENT_FILTER
    await world.submit(a_body(["a", "b [filtered]"]))
    await world.run()
    before = await world.ledger()

    for _ in range(20):
        await spent(world, ["project", "model"])

    assert await world.ledger() == before


async def test_the_source_of_a_job_is_kept_line_for_line() -> None:
    world = World()
    job = await world.submit(a_body(["a\nb", "ü"]))

    lines = (await whole(world.blobs.read(job.source.path))).split(b"\n")

    assert [bool(line) for line in lines] == [True, True, False]
