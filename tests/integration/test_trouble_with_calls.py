"""What the provider may do to single calls: nothing of it loses a request or makes a second batch.

Every kind of trouble that passes by itself is a job of its own. All are submitted before the first is looked at.
"""

import pytest

from tests.integration.postern import FINISHED, Caller, Json, chat
from tests.integration.provider import Provider, eventually

pytestmark = pytest.mark.stack

# Operation, how often, and what is played.
PASSING: dict[str, tuple[str, int, Json]] = {
    "answer to a create lost five times": ("create", 5, {"drop": "after"}),
    "create lost, and in no list at first": ("create", 1, {"drop": "after", "list_lag_seconds": 6}),
    "create done and answered with an error": ("create", 2, {"status": 500, "applied": True}),
    "batch not to be retrieved at first": ("create", 1, {"retrieve_lag_seconds": 3}),
    "file not ready": ("upload", 1, {"pending_reads": 3}),
    "file without expiry": ("upload", 1, {"no_expiry": True}),
    "upload fails": ("upload", 2, {"status": 500}),
    "upload limited": ("upload", 2, {"status": 429, "headers": {"retry-after": "1"}}),
    "upload cut": ("upload", 2, {"drop": "before"}),
    "answer to an upload lost": ("upload", 2, {"drop": "after"}),
    "look at a file fails": ("file_retrieve", 2, {"status": 503}),
    "create fails": ("create", 1, {"status": 500}),
    "create limited": ("create", 2, {"status": 429, "headers": {"retry-after-ms": "500"}}),
    "create cut": ("create", 1, {"drop": "before"}),
    "create answered by a gateway": ("create", 1, {"status": 200, "body": "<html>a gateway's page</html>"}),
    "create slower than we wait": ("create", 1, {"delay_ms": 7000}),
    "retrieve fails": ("retrieve", 2, {"status": 502, "body": "<html>"}),
    "retrieve limited": ("retrieve", 2, {"status": 429, "headers": {"retry-after": "1"}}),
    "retrieve cut": ("retrieve", 2, {"drop": "before"}),
    "retrieve answered with nonsense": ("retrieve", 2, {"status": 200, "body": "nonsense"}),
    "retrieve tells an unknown state": ("retrieve", 2, {"status": 200, "body": {"status": "unheard_of"}}),
    "download fails": ("download", 2, {"status": 500}),
    "download cut half way": ("download", 2, {"drop": "after"}),
    "download cut": ("download", 2, {"drop": "before"}),
    "delete fails": ("delete", 2, {"status": 500}),
}


def submitted(caller: Caller, word: str, **fields: str) -> Json:
    return caller.submitted(*(chat(f"{word} {n}.", f"r{n}") for n in range(4)), **fields)


def batches(job: Json) -> list[str]:
    return [chunk["batch_id"] for chunk in job["chunks"]]


def word_of(place: int) -> str:
    return f"passing{place:02d}x"


@pytest.fixture(scope="module")
def played(support: Caller, simulator: Provider) -> dict[str, Json]:
    """A job for every trouble that passes, all on their way."""
    simulator.clear()
    jobs = {}
    for place, (name, (operation, times, then)) in enumerate(PASSING.items()):
        word = word_of(place)
        simulator.call(word, operation, times, **then)
        jobs[name] = submitted(support, word)
    return jobs


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_costs_time_and_nothing_else(
    support: Caller, simulator: Provider, played: dict[str, Json], name: str
) -> None:
    operation, times, _ = PASSING[name]

    job = support.finished(played[name], seconds=90)

    # Deleting comes after the end. A create that took effect is found, not repeated.
    if operation not in {"create", "delete"}:
        assert simulator.played(word_of(list(PASSING).index(name))) == times
    assert (job["status"], job["counts"]["succeeded"]) == ("completed", 4)
    assert {row["attempts"] for row in support.results(job)} == {1}
    assert len(job["chunks"]) == 1
    assert simulator.made_for(job) == batches(job)


def test_a_batch_that_is_refused_for_good_fails_its_requests(
    support: Caller, provider: Provider, word: str
) -> None:
    body = {
        "error": {
            "code": "invalid_model",
            "message": "There is no such model.",
            "type": "invalid_request_error",
        }
    }
    provider.call(word, "create", status=400, body=body)

    job = support.finished(submitted(support, word))

    assert (job["status"], job["counts"]["failed"]) == ("failed", 4)
    assert {row["reason"] for row in support.results(job)} == {"invalid_model"}


def test_refused_credentials_make_the_job_wait_and_operators_know(
    support: Caller, operators: Caller, provider: Provider, word: str
) -> None:
    provider.call(word, "upload", status=401, body={"error": {"code": "401", "message": "Access denied."}})
    job = submitted(support, word, alias="locked")

    found = eventually(
        lambda: [f for f in operators.get("/v1/findings").json()["data"] if "locked" in str(f)]
    )
    seen = support.job(job)
    assert seen["status"] not in FINISHED
    assert not [f for f in support.get("/v1/findings").json()["data"] if f in found and f["tenant"] is None]

    provider.clear()
    assert support.finished(job)["status"] == "completed"


def test_files_are_deleted_at_the_provider_after_harvest_and_not_before(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.answer(f"{word} 1", "error", status=400, error_code="x")
    job = support.finished(submitted(support, word))
    [batch] = batches(job)

    calls = provider.journal()
    [created] = [call for call in calls if call["operation"] == "create" and call["batch_id"] == batch]
    first = created["seq"]
    read = eventually(lambda: deletions(provider, created["file_id"]))
    later = provider.journal(after=str(first))
    downloads = [call for call in later if call["operation"] == "download" and is_of(call, batch)]
    deleted = {call["file_id"]: call["seq"] for call in later if call["operation"] == "delete"}
    assert read
    assert downloads, "the batch's files are known by their batch"
    assert all(call["seq"] < deleted[call["file_id"]] for call in downloads)
    assert deleted[created["file_id"]] > max(call["seq"] for call in downloads)


def deletions(provider: Provider, file_id: str) -> list[Json]:
    return [call for call in provider.journal(operation="delete") if call["file_id"] == file_id]


def is_of(call: Json, batch: str) -> bool:
    return bool(call["batch_id"] == batch)


def test_a_failed_delete_is_made_up_for(support: Caller, provider: Provider, word: str) -> None:
    provider.call(word, "delete", times=2, status=500)

    job = support.finished(submitted(support, word))

    [created] = provider.journal(operation="create", batch_id=batches(job)[0])
    eventually(lambda: any(d["rule"] is None for d in deletions(provider, created["file_id"])), seconds=40)
