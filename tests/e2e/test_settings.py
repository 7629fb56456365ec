"""What the settings of a stack change: deadlines, attempts, the lapse of outputs, the catalogue that is reloaded."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.stack import Stack, start_stack
from tests.integration.catalogs import KEYS, digest, write_catalog
from tests.integration.postern import Caller, Json, chat
from tests.integration.provider import Provider, eventually

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

HOUR = 3600.0
DAY = 24 * HOUR
SETTINGS = {
    "POSTERN_JOB_DEADLINE_HOURS": "0.002",
    "POSTERN_MAX_ATTEMPTS": "2",
    # Outputs are kept for 30 days, by a clock that tests move: with this every output is about to lapse.
    "POSTERN_LAPSE_DAYS": "40",
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_catalog(tmp_path_factory.mktemp("catalog"))


@pytest.fixture(scope="module")
def stack(catalog: Path) -> Iterator[Stack]:
    with start_stack(settings=SETTINGS, catalog=catalog) as stack:
        yield stack


@pytest.fixture(scope="module")
def support(stack: Stack) -> Iterator[Caller]:
    with Caller(stack.http, KEYS["support"]) as caller:
        yield caller


@pytest.fixture(scope="module")
def operators(stack: Stack) -> Iterator[Caller]:
    with Caller(stack.http, KEYS["operators"]) as caller:
        yield caller


@pytest.fixture
def provider(stack: Stack) -> Iterator[Provider]:
    provider = Provider(stack.simulator)
    provider.clear()
    yield provider
    provider.clear()
    provider.close()


def findings(caller: Caller, text: str) -> list[Json]:
    return [finding for finding in caller.get("/v1/findings").json()["data"] if text in json.dumps(finding)]


def statuses(job: Json) -> list[str]:
    return [chunk["status"] for chunk in job["chunks"]]


def test_a_job_past_its_deadline_is_late_and_goes_on(
    support: Caller, provider: Provider, operators: Caller
) -> None:
    provider.batch("late", "stuck", after_seconds=3600)
    job = support.submitted(chat("late"))

    late = support.until(job, lambda seen: seen["late"], seconds=60)
    alarm = provider.event(f"jobs/{job['id']}", "postern.job.late")
    provider.advance(3600)
    done = support.finished(job, seconds=60)

    assert late["status"] == "running"
    assert alarm["data"]["status"] == "running"
    assert (done["status"], done["late"]) == ("completed", True)
    assert findings(support, job["id"])
    assert findings(operators, job["id"])


def test_a_job_may_have_a_deadline_of_its_own(support: Caller) -> None:
    job = support.submitted(chat("In time."), deadline_hours=1)

    assert support.finished(job)["late"] is False


def test_attempts_are_bounded_by_the_setting(support: Caller, provider: Provider) -> None:
    provider.answer("attempts", "missing")

    job = support.finished(support.submitted(chat("attempts")))

    [row] = support.results(job)
    assert (row["outcome"], row["reason"], row["attempts"]) == ("failed", "missing", 2)


def test_a_batch_may_run_longer_than_its_window(support: Caller, provider: Provider) -> None:
    provider.batch("window", "stuck", after_seconds=40 * HOUR)
    job = support.submitted(chat("window"), deadline_hours=1)
    support.until(job, lambda seen: statuses(seen) == ["submitted"])

    provider.advance(39 * HOUR)
    time.sleep(3)
    overdue = support.job(job)
    provider.advance(HOUR)
    done = support.finished(job)

    assert (overdue["status"], overdue["counts"]["expired"]) == ("running", 0)
    assert (done["status"], done["counts"]["expired"]) == ("completed", 0)


def test_an_output_that_is_about_to_lapse_is_a_finding(
    support: Caller, operators: Caller, provider: Provider
) -> None:
    provider.call("lapsing", "download", status=503)
    job = support.submitted(chat("lapsing"), deadline_hours=1)

    found = eventually(lambda: findings(operators, job["id"]), seconds=60)
    provider.clear()

    assert any("laps" in json.dumps(finding) for finding in found), found
    assert support.finished(job, seconds=60)["status"] == "completed"


def test_an_output_that_lapsed_is_bought_again_and_that_is_told(
    support: Caller, operators: Caller, provider: Provider
) -> None:
    provider.call("lapsed", "download", status=503)
    job = support.until(
        support.submitted(chat("lapsed"), deadline_hours=1),
        lambda seen: statuses(seen) == ["ended"],
    )
    provider.advance(31 * DAY)
    provider.clear()

    done = support.finished(job, seconds=60)

    assert done["status"] == "completed"
    assert [row["attempts"] for row in support.results(done)] == [2]
    assert [chunk["attempt"] for chunk in done["chunks"]] == [1, 2]
    assert any("lapsed" in finding["message"] for finding in findings(operators, job["id"]))


def test_a_tenant_that_is_added_may_call_within_seconds(stack: Stack, catalog: Path) -> None:
    with Caller(stack.http, "a-new-key") as newcomer:
        assert newcomer.get("/v1/jobs").status_code == 401

        write_catalog(catalog.parent, newcomers={"keys": [digest("a-new-key")]})

        eventually(lambda: newcomer.get("/v1/jobs").status_code == 200)


def test_a_catalogue_with_a_mistake_leaves_the_last_good_one(
    stack: Stack, support: Caller, catalog: Path
) -> None:
    good = catalog.read_text()
    catalog.write_text(good.replace('"hours"', '"ours"', 1))
    try:
        # Longer than a change needs to be seen.
        for _ in range(20):
            assert support.get("/v1/aliases").status_code == 200
        assert support.finished(support.submitted(chat("Still here.")))["status"] == "completed"
    finally:
        catalog.write_text(good)
