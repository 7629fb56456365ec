"""JSONL that goes straight to blob storage, and the job made of it."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import httpx2
import pytest

from tests.integration.postern import Caller, Json, chat, jsonl, lines, problem, put

pytestmark = pytest.mark.stack


def one_line(text: str, custom_id: str) -> bytes:
    return json.dumps(chat(text, custom_id), ensure_ascii=False).encode()


def ids(caller: Caller, job: Json) -> list[str]:
    return [row["custom_id"] for row in caller.results(job)]


def test_an_upload_is_a_place_to_put_a_file(support: Caller) -> None:
    response = support.post("/v1/uploads", {"filename": "tickets.jsonl"})

    upload = response.json()
    assert response.status_code == 201
    assert set(upload) >= {"upload_id", "url", "method", "headers", "max_bytes", "expires_at"}
    assert upload["method"] == "PUT"
    assert upload["headers"] == {"x-ms-blob-type": "BlockBlob"}
    assert upload["max_bytes"] == 4 * 1024**3
    assert datetime.fromisoformat(upload["expires_at"]).timestamp() > time.time()


@pytest.mark.parametrize("body", [[], "x", {"filename": 7}, {"filename": ""}, {"filename": "x" * 5000}, {}])
def test_an_upload_without_a_sensible_filename_is_refused(support: Caller, body: object) -> None:
    assert problem(support.post("/v1/uploads", body))["status"] == 400


def test_a_job_is_made_of_an_upload(support: Caller) -> None:
    upload = support.upload(jsonl(chat("One.", "a"), chat("Two.", "b")))

    job = support.finished(support.submitted(upload_id=upload))

    assert (job["status"], job["counts"]["submitted"]) == ("completed", 2)
    assert ids(support, job) == ["a", "b"]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + one_line("One.", "a") + b"\n" + one_line("Two.", "b") + b"\n",
        one_line("One.", "a") + b"\r\n" + one_line("Two.", "b") + b"\r\n",
        b"\n\n" + one_line("One.", "a") + b"\n  \n\r\n" + one_line("Two.", "b") + b"\n\n",
        one_line("One.", "a") + b"\n" + one_line("Two.", "b"),
        b"  " + one_line("One\u2028and\u0085more.", "a") + b" \t\n\t" + one_line("Two.", "b"),
    ],
    ids=["byte order mark", "carriage returns", "blank lines", "no last newline", "odd spaces"],
)
def test_a_file_may_be_written_in_many_ways(support: Caller, content: bytes) -> None:
    job = support.finished(support.submitted(upload_id=support.upload(content)))

    assert job["status"] == "completed"
    assert ids(support, job) == ["a", "b"]


def test_bad_lines_are_told_by_physical_line(support: Caller) -> None:
    content = b"\n".join(
        [
            one_line("Good.", "a"),
            b"",
            b"{not json",
            b'"text"',
            one_line("Not UTF-8.", "x").replace(b"UTF", b"\xff\xfe"),
            one_line("Again.", "a"),
            b"",
            json.dumps(chat("Foreign.", "f", model="gpt-4o")).encode(),
            json.dumps({"custom_id": "e", "url": "/v1/embeddings", "body": {"input": "x"}}).encode(),
            b'{"custom_id": "cut", "body": {"mess',
        ]
    )

    job = support.finished(support.submitted(upload_id=support.upload(content)))

    assert (job["status"], job["reason"]) == ("failed", "invalid_input")
    found = lines(job)
    assert set(found) == {3, 4, 5, 6, 8, 9, 10}
    assert (found[6], found[8]) == ("custom_id", "body.model")
    assert job["chunks"] == []
    assert float(job["cost"]["amount"]) == 0


@pytest.mark.parametrize("content", [b"", b"\n\n \n", b"\xef\xbb\xbf"], ids=["empty", "blank", "mark only"])
def test_a_file_without_requests_is_no_job(support: Caller, content: bytes) -> None:
    response = support.post("/v1/jobs", {"alias": "summarize", "upload_id": support.upload(content)})

    if response.status_code == 202:
        job = support.finished(response.json())
        assert (job["status"], job["reason"]) == ("failed", "invalid_input")
        assert job["errors"]
    else:
        assert problem(response)["status"] in {400, 422}


def test_an_upload_that_was_never_written_is_refused(support: Caller) -> None:
    made = support.post("/v1/uploads", {"filename": "late.jsonl"}).json()
    body = {"alias": "summarize", "upload_id": made["upload_id"]}

    assert problem(support.post("/v1/jobs", body))["status"] in {404, 409, 422}

    put(made, jsonl(chat("Now it is there.")))
    assert support.post("/v1/jobs", body).status_code == 202


@pytest.mark.parametrize("upload", ["upload_0", "", "../secret", "x" * 3000, "upload_\u0000"])
def test_an_upload_nobody_made_is_refused(support: Caller, upload: str) -> None:
    assert support.refused(alias="summarize", upload_id=upload)["status"] in {400, 404}


def test_an_upload_is_used_by_one_job(support: Caller) -> None:
    upload = support.upload(jsonl(chat("Once.")))
    support.submitted(upload_id=upload)

    again = support.refused(alias="summarize", upload_id=upload)

    assert again["status"] == 409


def test_jobs_at_the_same_time_do_not_share_an_upload(support: Caller) -> None:
    upload = support.upload(jsonl(chat("Once only.")))
    body = {"alias": "summarize", "upload_id": upload}

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: support.post("/v1/jobs", body), range(8)))

    refusals = [problem(answer)["status"] for answer in answers if answer.status_code != 202]
    assert refusals == [409] * 7


def test_a_write_after_acceptance_changes_nothing(support: Caller) -> None:
    made = support.post("/v1/uploads", {"filename": "a.jsonl"}).json()
    put(made, jsonl(chat("The first version.", "first")))
    job = support.submitted(upload_id=made["upload_id"])

    put(made, jsonl(chat("Another version.", "second"), chat("And more.", "third")))

    assert ids(support, support.finished(job)) == ["first"]


def test_the_place_can_be_written_and_not_read(support: Caller) -> None:
    made = support.post("/v1/uploads", {"filename": "a.jsonl"}).json()
    put(made, jsonl(chat("Mine.")))

    assert httpx2.get(made["url"]).status_code == 403


def test_what_is_refused_leaves_the_upload_for_another_try(support: Caller) -> None:
    upload = support.upload(jsonl(chat("Once.")))
    support.refused(alias="nowhere", upload_id=upload)

    assert support.finished(support.submitted(upload_id=upload))["status"] == "completed"
