"""A record that nobody can read hides no other."""

from shared.services.jobs.read_job import JobFilter
from shared.stores.jobs import JOBS
from tests.support.world import SUPPORT, World, a_body


async def test_a_damaged_job_record_leaves_the_list_of_jobs_whole() -> None:
    world = World()
    good = await world.submit(a_body(["a"]))
    bad = await world.submit(a_body(["b"]))
    rows = [entity.row async for entity in world.tables.scan(JOBS, SUPPORT.id)]
    damaged = next(row for row in rows if row.endswith(bad.id))
    await world.tables.put(JOBS, SUPPORT.id, damaged, {"Data": "?"})

    page, more = await world.app.read_job.page([SUPPORT.id], JobFilter(), limit=10, after=None)

    assert [seen.job.id for seen in page] == [good.id]
    assert not more
