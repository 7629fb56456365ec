"""Any job, any trouble: every input has one outcome, every token one owner, and nothing is left behind."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters.memory.provider import REFUSED_AT_THE_DOOR, Course
from shared.adapters.memory.provider_rows import Fate
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NotAdmitted, NotFound, PosternError, RateLimited, TryAgainLater, Unknowable
from shared.domain.outcomes import Outcome
from shared.domain.planning import Limits
from shared.domain.usage import Usage
from shared.services.policy import Policy
from shared.stores.pulses import Pulses
from tests.support.world import World, a_body

# Each text is one of these, so that some are equal; a fate hangs on its mark.
MARKS = [f"[{fate.value}]" for fate in Fate]
texts = st.lists(
    st.tuples(st.sampled_from(MARKS), st.integers(0, 3)).map(lambda t: f"{t[0]} {t[1]}"),
    min_size=1,
    max_size=14,
)
codes = st.sampled_from([None, "token_limit_exceeded", "invalid_file"])
courses = (
    st.builds(Course, end=st.sampled_from(BatchEnd), done=st.none() | st.integers(0, 4))
    | st.builds(Course, end=st.just(BatchEnd.FAILED), code=codes)
    | st.just(REFUSED_AT_THE_DOOR)
)
FAULTS: dict[str, list[PosternError]] = {
    "stage": [TryAgainLater("503"), NotAdmitted("401")],
    "staged": [TryAgainLater("503"), NotFound("404")],
    "find": [TryAgainLater("503")],
    "create": [Unknowable("?"), RateLimited("429", retry_after=timedelta(seconds=9)), NotFound("404")],
    "retrieve": [TryAgainLater("503"), NotFound("404")],
    "cancel": [TryAgainLater("503")],
    "download": [TryAgainLater("503")],
    "expiry": [NotFound("404")],
    "delete_file": [TryAgainLater("503")],
}
faults = st.lists(
    st.sampled_from(sorted(FAULTS)).flatmap(
        lambda verb: st.tuples(st.just(verb), st.sampled_from(FAULTS[verb]))
    ),
    max_size=6,
)
worlds = st.fixed_dictionaries(
    {
        "texts": texts,
        "courses": st.lists(courses, max_size=5),
        "faults": faults,
        "per_chunk": st.integers(1, 6),
        "attempts": st.integers(1, 3),
        "lost_answers": st.integers(0, 2),
        "aliens": st.integers(0, 2),
        "shuffle": st.booleans(),
        "dedupe": st.booleans(),
        "cancel_after": st.none() | st.integers(0, 300),
        "crash_after": st.none() | st.integers(0, 300),
        "schema": st.booleans(),
    }
)


def a_world(given: Mapping[str, Any]) -> World:
    world = World(
        limits=Limits(requests=given["per_chunk"], bytes=10**6, line_bytes=10**6),
        policy=Policy(
            poll=timedelta(seconds=60),
            create_timeout=timedelta(seconds=30),
            max_attempts=given["attempts"],
            stuck_after=timedelta(seconds=300),
        ),
    )
    habits = world.provider.habits
    habits.fates = {f"[{fate.value}]": fate for fate in Fate}
    habits.runs_for, habits.shuffle, habits.aliens = timedelta(seconds=90), given["shuffle"], given["aliens"]
    world.provider.courses.extend(given["courses"])
    world.provider.lost_create_answers = given["lost_answers"]
    for verb, error in given["faults"]:
        world.provider.fail(verb, error)
    return world


@settings(max_examples=40, deadline=None, derandomize=True)
@given(worlds)
async def test_every_input_has_one_outcome_and_every_token_one_owner(given: Mapping[str, Any]) -> None:
    world = a_world(given)
    schema = {"output_schema": {"type": "object"}} if given["schema"] else {}
    job = await world.submit(a_body(given["texts"], dedupe=given["dedupe"], **schema))
    moments = sorted((s, what) for what in ("cancel", "crash") if (s := given[f"{what}_after"]) is not None)
    for seconds, what in moments:
        await world.pass_time(seconds=seconds)
        await (world.cancel(job) if what == "cancel" else world.crash())
    for _ in range(400):
        await world.pass_time(minutes=1)
        await world.sweep()
        if not world.engine.live and await Pulses(world.tables).find(job.id) is None:
            break

    seen = await world.see(job)
    assert seen.job.is_finished
    assert seen.job.totals is not None
    results = await world.results(job)
    assert [r["custom_id"] for r in results] == [f"r-{i}" for i in range(len(given["texts"]))]
    assert seen.job.totals.tally.total == len(results)
    assert {o: sum(r["outcome"] == o for r in results) for o in Outcome} == seen.job.totals.tally.by_outcome()
    rows, bill = await world.ledger(), await world.bill()
    assert sum((row.usage + row.unattributed for row in rows), Usage()) == bill
    assert seen.job.totals.usage + seen.job.totals.unattributed == bill
    told = [r["usage"] for r in results if r["usage"]]
    assert sum(u["output_tokens"] for u in told) == seen.job.totals.usage.output
    assert len(world.provider.created) == len(set(world.provider.created))
    assert all(chunk.attempt <= given["attempts"] for chunk in seen.chunks)
    assert "unbalanced" not in {finding.kind.value for finding in await world.findings()}
