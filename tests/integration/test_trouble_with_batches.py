"""What the provider may do to a whole batch, or to a call about one."""

import pytest

from tests.integration.postern import FINISHED, Caller, Json, chat
from tests.integration.provider import Provider, eventually

pytestmark = pytest.mark.stack


def submitted(caller: Caller, word: str, count: int = 4, **fields: str) -> Json:
    return caller.submitted(*(chat(f"{word} {n}.", f"r{n}") for n in range(count)), **fields)


def batches(job: Json) -> list[str]:
    return [chunk["batch_id"] for chunk in job["chunks"]]


def made_for(provider: Provider, job: Json) -> list[str]:
    """Every batch that came into being for the job, by the journal."""
    keys = {
        entry["key"]
        for batch in batches(job)
        for entry in provider.journal(operation="create", batch_id=batch)
    }
    return [entry["batch_id"] for entry in provider.created() if entry["key"] in keys]


def waits(job: Json) -> bool:
    return bool(job["status"] == "waiting")


# A whole batch


def test_a_batch_that_fails_with_a_permanent_code_fails_its_requests(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.batch(word, "failed", error_code="model_mismatch", message="Another model.")

    job = support.finished(submitted(support, word))

    assert (job["status"], job["counts"]["failed"]) == ("failed", 4)
    assert {row["reason"] for row in support.results(job)} == {"model_mismatch"}
    assert len(job["chunks"]) == 1
    assert float(job["cost"]["amount"]) == 0


def test_a_batch_that_expires_half_way_keeps_its_rows_and_the_rest_is_sent_again(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.batch(word, "expired", times=1, completed=3)

    job = support.finished(submitted(support, word, 5))

    attempts = [row["attempts"] for row in support.results(job)]
    assert (job["status"], sorted(attempts)) == ("completed", [1, 1, 1, 2, 2])
    assert [chunk["requests"] for chunk in job["chunks"]] == [5, 2]


def test_a_batch_that_always_expires_leaves_expired_requests(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.batch(word, "expired", completed=0)

    job = support.finished(submitted(support, word))

    assert (job["status"], job["counts"]["expired"]) == ("failed", 4)
    assert {(row["outcome"], row["reason"]) for row in support.results(job)} == {("expired", None)}
    assert len(job["chunks"]) == 3


def test_a_batch_that_somebody_cancels_at_the_provider_is_sent_again(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.batch(word, "cancelled", times=1, completed=1)

    job = support.finished(submitted(support, word))

    assert (job["status"], job["counts"]["succeeded"]) == ("completed", 4)
    assert [chunk["requests"] for chunk in job["chunks"]] == [4, 3]


@pytest.mark.parametrize("state", ["validating", "in_progress", "finalizing"])
def test_a_batch_that_is_stuck_anywhere_can_be_cancelled(
    support: Caller, provider: Provider, word: str, state: str
) -> None:
    provider.batch(word, "stuck", state=state)
    job = support.until(submitted(support, word), lambda seen: batches(seen)[:1] not in ([], [None]))

    support.post(f"/v1/jobs/{job['id']}/cancel")

    done = support.finished(job)
    assert done["status"] in FINISHED
    assert support.report(done)["balanced"] is True


def test_a_cancelled_batch_may_lose_its_rows(support: Caller, provider: Provider, word: str) -> None:
    provider.batch(word, "stuck", completed=2, lost_output=True, cancel_seconds=2)
    job = support.until(submitted(support, word), lambda seen: seen["status"] == "running")

    support.post(f"/v1/jobs/{job['id']}/cancel")

    done = support.finished(job)
    assert (done["status"], done["counts"]["cancelled"]) == ("cancelled", 4)


def test_progress_is_shown_while_a_batch_runs(support: Caller, provider: Provider, word: str) -> None:
    provider.batch(word, "stuck", completed=2)
    job = submitted(support, word)

    seen = support.until(
        job, lambda seen: bool(seen["chunks"]) and seen["chunks"][0]["progress"]["completed"] == 2
    )

    assert seen["status"] == "running"
    assert seen["counts"]["pending"] == 4
    support.post(f"/v1/jobs/{job['id']}/cancel")
    support.finished(job)


# Capacity


@pytest.mark.parametrize(("alias", "refusal"), [("crowded", "create"), ("overfull", "failed")])
def test_a_full_quota_makes_the_job_wait_and_then_run(
    support: Caller, provider: Provider, word: str, alias: str, refusal: str
) -> None:
    """Both forms of `token_limit_exceeded`: the create is refused, or the batch fails with it."""
    provider.quota(f"{alias}-batch", 1, refusal)
    job = submitted(support, word, alias=alias)

    waiting = support.until(job, waits)
    provider.no_quota()
    done = support.finished(job)

    assert set(waiting["waiting"]) >= {"reason", "position", "eta"}
    assert waiting["waiting"]["reason"]
    assert (done["status"], done["waiting"]) == ("completed", None)
    assert {row["attempts"] for row in support.results(done)} == {1}
    assert [chunk["requests"] for chunk in done["chunks"]] == [4]


def test_a_job_larger_than_the_quota_runs_in_turns(support: Caller, provider: Provider, word: str) -> None:
    provider.quota("narrow-batch", 8_000, "create")
    texts = [f"{word} {n}. " + "Several words more. " * 200 for n in range(8)]

    job = support.finished(support.submitted(*(chat(text) for text in texts), alias="narrow"))

    provider.no_quota()
    assert job["status"] == "completed"
    assert len(job["chunks"]) > 1
    assert sum(chunk["requests"] for chunk in job["chunks"]) == 8
    assert len(made_for(provider, job)) == len(job["chunks"])


def test_jobs_wait_for_each_other_at_a_full_deployment(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.batch(word, "stuck")
    long = " Several words more." * 400
    first = support.until(
        support.submitted(chat(word + long), alias="queued"), lambda seen: seen["status"] == "running"
    )
    second = support.until(support.submitted(chat("The next one." + long), alias="queued"), waits)

    assert provider.created(), "the first one has a batch"
    assert batches(second) in ([], [None])
    support.post(f"/v1/jobs/{first['id']}/cancel")

    assert support.finished(second)["status"] == "completed"
    assert support.finished(first)["status"] == "cancelled"


# Calls


def test_a_create_whose_answer_is_lost_again_and_again_makes_one_batch(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.call(word, "create", times=5, drop="after")

    job = support.finished(submitted(support, word))

    assert (job["status"], len(job["chunks"])) == ("completed", 1)
    assert made_for(provider, job) == batches(job)


def test_a_batch_that_no_list_shows_at_first_is_not_created_again(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.call(word, "create", times=1, drop="after", list_lag_seconds=6)

    job = support.finished(submitted(support, word), seconds=60)

    assert job["status"] == "completed"
    assert made_for(provider, job) == batches(job)


def test_a_create_that_fails_after_it_took_effect_makes_one_batch(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.call(word, "create", times=2, status=500, applied=True)

    job = support.finished(submitted(support, word))

    assert job["status"] == "completed"
    assert made_for(provider, job) == batches(job)


def test_a_batch_that_cannot_be_retrieved_at_first_is_waited_for(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.call(word, "create", times=1, retrieve_lag_seconds=3)

    job = support.finished(submitted(support, word))

    assert job["status"] == "completed"
    assert made_for(provider, job) == batches(job)


def test_a_file_that_is_not_ready_is_waited_for(support: Caller, provider: Provider, word: str) -> None:
    provider.call(word, "upload", times=1, pending_reads=3)

    assert support.finished(submitted(support, word))["status"] == "completed"


@pytest.mark.parametrize(
    ("operation", "then"),
    [
        ("upload", {"status": 500}),
        ("upload", {"status": 429, "headers": {"retry-after": "1"}}),
        ("upload", {"drop": "before"}),
        ("upload", {"drop": "after"}),
        ("file_retrieve", {"status": 503}),
        ("create", {"status": 500}),
        ("create", {"status": 429, "headers": {"retry-after-ms": "500"}}),
        ("create", {"drop": "before"}),
        ("create", {"status": 200, "body": "<html>a gateway's page</html>"}),
        ("retrieve", {"status": 502, "body": "<html>"}),
        ("retrieve", {"status": 429}),
        ("retrieve", {"drop": "before"}),
        ("retrieve", {"status": 200, "body": {"status": "unheard_of"}}),
        ("download", {"status": 500}),
        ("download", {"drop": "after"}),
        ("download", {"drop": "before"}),
        ("delete", {"status": 500}),
    ],
    ids=lambda value: (
        value if isinstance(value, str) else " ".join(f"{k} {v}" for k, v in value.items())[:40]
    ),
)
def test_a_call_that_fails_for_a_while_costs_time_and_nothing_else(
    support: Caller, provider: Provider, word: str, operation: str, then: Json
) -> None:
    provider.call(word, operation, times=2, **then)

    job = support.finished(submitted(support, word))

    assert (job["status"], job["counts"]["succeeded"]) == ("completed", 4)
    assert made_for(provider, job) == batches(job)
    assert {row["attempts"] for row in support.results(job)} == {1}


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


# Files at the provider


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
