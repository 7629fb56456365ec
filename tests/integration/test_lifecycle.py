"""Cancel, retry, erase."""

import pytest

from tests.integration.postern import FINISHED, Caller, Json, chat, jsonl, problem
from tests.integration.provider import Provider, eventually
from tests.integration.storage import Storage

pytestmark = pytest.mark.stack


def act(caller: Caller, job: Json, verb: str, body: Json | None = None) -> Json:
    response = caller.post(f"/v1/jobs/{job['id']}/{verb}", body)
    assert response.status_code == 202, response.text
    return dict(response.json())


def running(caller: Caller, *texts: str) -> Json:
    """A job whose batch is with the provider."""
    job = caller.submitted(*(chat(text, text.split()[-1]) for text in texts))
    return caller.until(job, lambda seen: any(c["status"] == "submitted" for c in seen["chunks"]))


def test_what_was_finished_before_a_cancel_is_delivered(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.batch(word, "stuck", completed=2)
    job = running(support, *(f"{word} {n}" for n in range(5)))

    answered = act(support, job, "cancel")
    done = support.finished(job)

    counts, found = done["counts"], support.results(done)
    assert answered["id"] == job["id"]
    assert (done["status"], counts["succeeded"], counts["cancelled"]) == ("cancelled", 2, 3)
    assert [row["outcome"] for row in found].count("cancelled") == 3
    assert float(done["cost"]["amount"]) > 0
    assert support.report(done)["balanced"] is True
    assert provider.journal(operation="cancel", batch_id=done["chunks"][0]["batch_id"])
    assert provider.event(f"jobs/{job['id']}", "postern.job.cancelled")


def test_nothing_is_sent_again_after_a_cancel(support: Caller, provider: Provider, word: str) -> None:
    provider.batch(word, "stuck")
    job = running(support, f"{word} a")

    act(support, job, "cancel")
    done = support.finished(job)

    assert len(done["chunks"]) == 1
    assert done["counts"]["cancelled"] == 1


def test_a_cancel_may_be_repeated_and_comes_too_late_when_all_is_done(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.batch(word, "stuck")
    job = running(support, word)
    act(support, job, "cancel")
    act(support, job, "cancel")
    done = support.finished(job)

    response = support.post(f"/v1/jobs/{job['id']}/cancel")

    assert response.status_code in {202, 409}
    assert support.job(job) == done


def test_a_job_cancelled_at_once_ends_cancelled(support: Caller, provider: Provider, word: str) -> None:
    provider.batch(word, "stuck")
    job = support.submitted(chat(word))

    act(support, job, "cancel")

    done = support.finished(job)
    assert done["status"] == "cancelled"
    assert [row["outcome"] for row in support.results(done)] == ["cancelled"]


@pytest.fixture(scope="module")
def troubled(support: Caller, simulator: Provider) -> Json:
    """A finished job: one succeeded, one refused, one truncated, two failed, of which one transiently."""
    simulator.clear()
    simulator.answer("troubled-refused", "refusal")
    simulator.answer("troubled-truncated", "truncated")
    simulator.answer("troubled-permanent", "error", status=400, error_code="invalid_prompt")
    simulator.answer("troubled-transient", "error", status=500)
    words = ("fine", "refused", "truncated", "permanent", "transient")
    job = support.finished(
        support.submitted(*(chat(f"troubled-{word}", word) for word in words), tags={"project": "troubled"})
    )
    simulator.clear()
    return job


def test_a_retry_is_a_new_job_of_what_is_not_final(support: Caller, troubled: Json) -> None:
    response = support.post(f"/v1/jobs/{troubled['id']}/retry")

    job = response.json()
    assert response.status_code == 202
    assert response.headers["location"] == job["links"]["self"]
    assert job["id"] != troubled["id"]
    assert (job["alias"], job["tags"]) == (troubled["alias"], troubled["tags"])
    done = support.finished(job)
    assert [(row["custom_id"], row["outcome"]) for row in support.results(done)] == [
        ("transient", "succeeded")
    ]
    assert support.job(troubled) == troubled


def test_a_retry_may_include_what_is_final(support: Caller, troubled: Json) -> None:
    job = act(support, troubled, "retry", {"include": ["refused", "truncated", "failed"]})

    done = support.finished(job)
    assert done["status"] == "completed"
    assert [row["custom_id"] for row in support.results(done)] == [
        "refused",
        "truncated",
        "permanent",
        "transient",
    ]


def test_a_retry_may_change_parameters(support: Caller, provider: Provider) -> None:
    long = "Words follow words and words. " * 300
    cut = support.finished(support.submitted(chat(long), params={"max_output_tokens": 5}))
    assert cut["counts"]["truncated"] == 1

    job = act(support, cut, "retry", {"include": ["truncated"], "params": {"max_output_tokens": 4000}})

    assert support.finished(job)["status"] == "completed"


def test_there_may_be_nothing_to_retry(support: Caller) -> None:
    job = support.finished(support.submitted(chat("All is well.")))

    assert problem(support.post(f"/v1/jobs/{job['id']}/retry"))["status"] in {409, 422}


@pytest.mark.parametrize(
    "body",
    [{"include": ["succeeded"]}, {"include": "refused"}, {"include": ["lost"]}, {"params": 7}, [], {"x": 1}],
)
def test_a_retry_that_makes_no_sense_is_refused(support: Caller, troubled: Json, body: object) -> None:
    assert problem(support.post(f"/v1/jobs/{troubled['id']}/retry", body))["status"] in {400, 422}


def test_what_still_runs_is_neither_retried_nor_erased(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.batch(word, "stuck")
    job = running(support, word)

    assert problem(support.post(f"/v1/jobs/{job['id']}/retry"))["status"] == 409
    assert problem(support.delete(f"/v1/jobs/{job['id']}"))["status"] == 409
    assert support.job(job)["status"] not in FINISHED
    act(support, job, "cancel")
    support.finished(job)


def test_erasing_leaves_the_record_and_the_ledger_without_content(
    support: Caller, provider: Provider, storage: Storage, word: str
) -> None:
    upload = support.upload(jsonl(chat(f"{word} first"), chat(f"{word} second")))
    job = support.finished(support.submitted(upload_id=upload, tags={"project": word}))
    before = usage_of(support, word)
    assert storage.holding(word), "the test looks in the wrong place"

    response = support.delete(f"/v1/jobs/{job['id']}")

    assert (response.status_code, response.content) == (204, b"")
    eventually(lambda: not storage.holding(word))
    record = support.job(job)
    assert (record["status"], record["counts"], record["cost"]) == (job["status"], job["counts"], job["cost"])
    assert problem(support.get(f"/v1/jobs/{job['id']}/results"))["status"] in {404, 410}
    assert support.report(job)["balanced"] is True
    assert usage_of(support, word) == before
    assert support.delete(f"/v1/jobs/{job['id']}").status_code == 204


def test_erasing_reaches_the_providers_files(support: Caller, provider: Provider, word: str) -> None:
    job = support.finished(support.submitted(chat(word)))
    batch = job["chunks"][0]["batch_id"]

    support.delete(f"/v1/jobs/{job['id']}")

    [uploaded] = {e["file_id"] for e in provider.journal(operation="create", batch_id=batch)}
    eventually(lambda: uploaded in {e["file_id"] for e in provider.journal(operation="delete")})


def usage_of(caller: Caller, project: str) -> list[Json]:
    return [row for row in caller.get("/v1/usage", by="project").json()["rows"] if row["project"] == project]
