"""What `POST /v1/jobs` takes, and what it refuses and why."""

import pytest

from tests.integration.postern import Caller, Json, chat, jsonl, lines, problem, put

pytestmark = pytest.mark.stack

JOB_FIELDS = {
    "id", "tenant", "status", "reason", "late", "alias", "tags", "created_at", "finished_at", "deadline_at",
    "errors", "counts", "reasons", "usage", "cost", "chunks", "waiting", "results_kept_until", "links",
}  # fmt: skip
COUNTS = {
    "submitted", "unique", "reused", "pending",
    "succeeded", "refused", "truncated", "invalid", "failed", "expired", "cancelled",
}  # fmt: skip
USAGE = {
    "input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens",
}  # fmt: skip
RESULT_FIELDS = {
    "custom_id", "outcome", "reason", "message", "output", "response",
    "usage", "cost", "provider", "model", "attempts", "reused",
}  # fmt: skip
ONE = [chat("One sentence.")]


def test_a_job_is_accepted_and_says_where_it_is(support: Caller) -> None:
    body = {"alias": "summarize", "requests": ONE, "tags": {"project": "tickets", "owner": "ana"}}

    response = support.post("/v1/jobs", body)

    job = response.json()
    assert response.status_code == 202
    assert response.headers["location"] == job["links"]["self"]
    assert support.http.get(response.headers["location"]).json()["id"] == job["id"]
    assert set(job) >= JOB_FIELDS
    assert set(job["counts"]) == COUNTS
    assert job["id"].startswith("job_")
    assert (job["tenant"], job["alias"], job["late"]) == ("support", "summarize", False)
    assert job["tags"] == {"project": "tickets", "owner": "ana"}
    assert set(job["links"]) >= {"self", "results", "report", "cancel"}


def test_a_finished_job_has_all_that_is_promised(support: Caller) -> None:
    job = support.finished(support.submitted(chat("Apples fall. Pears too.", "a"), chat("Rain wets.", "b")))

    assert set(job) >= JOB_FIELDS
    assert (job["status"], job["reason"], job["errors"], job["waiting"]) == ("completed", None, [], None)
    assert job["counts"] == dict.fromkeys(COUNTS, 0) | {"submitted": 2, "unique": 2, "succeeded": 2}
    assert job["created_at"] <= job["finished_at"] <= job["deadline_at"]
    assert job["finished_at"] < job["results_kept_until"]
    assert set(job["usage"]) >= USAGE
    assert job["usage"]["input_tokens"] > 0
    assert job["usage"]["output_tokens"] > 0
    assert float(job["cost"]["amount"]) > 0
    assert float(job["cost"]["saved"]) > 0
    assert (job["cost"]["currency"], job["cost"]["unpriced_requests"]) == ("USD", 0)
    [chunk] = job["chunks"]
    assert (chunk["n"], chunk["attempt"], chunk["status"], chunk["requests"]) == (0, 1, "settled", 2)
    assert (chunk["provider"], chunk["progress"]) == ("azure_openai", {"completed": 2, "failed": 0})
    assert chunk["batch_id"].startswith("batch_")


def test_results_come_in_input_order_with_every_field(support: Caller) -> None:
    asked = [chat(f"Sentence number {n}.", f"id-{n}") for n in (5, 3, 9, 1)]

    found = support.results(support.finished(support.submitted(*asked)))

    assert [row["custom_id"] for row in found] == ["id-5", "id-3", "id-9", "id-1"]
    for row in found:
        assert set(row) >= RESULT_FIELDS
        assert (row["outcome"], row["reason"], row["message"]) == ("succeeded", None, None)
        assert row["output"] == row["response"]["choices"][0]["message"]["content"]
        assert (row["provider"], row["attempts"], row["reused"]) == ("azure_openai", 1, False)
        assert set(row["usage"]) >= USAGE
    assert "number 9" in found[2]["output"]


def test_without_a_custom_id_the_position_is_used(support: Caller) -> None:
    job = support.finished(support.submitted(chat("First."), chat("Second.", "mine"), chat("Third.")))

    assert [row["custom_id"] for row in support.results(job)] == ["1", "mine", "3"]


def test_a_custom_id_may_be_512_characters_of_any_language(support: Caller) -> None:
    names = ["ö" * 512, "票 \u2028 \N{PILE OF POO}", "a/b\\c\"d'e", " ", "\u0000\u0001"]

    job = support.finished(support.submitted(*(chat(f"Text {n}.", name) for n, name in enumerate(names))))

    assert [row["custom_id"] for row in support.results(job)] == names


def test_lines_in_openais_batch_format_are_taken_as_they_are(support: Caller) -> None:
    line = {"method": "POST", "url": "/v1/chat/completions", **chat("A line of a batch file.", "x")}

    job = support.finished(support.submitted(line))

    assert job["status"] == "completed"


def test_the_jobs_alias_may_stand_in_the_body(support: Caller) -> None:
    assert support.finished(support.submitted(chat("Text.", model="summarize")))["status"] == "completed"


def test_identical_requests_are_bought_once_and_answered_everywhere(support: Caller) -> None:
    job = support.finished(support.submitted(*[chat("The very same text.")] * 4, chat("Another text.")))

    found = support.results(job)
    assert (job["counts"]["submitted"], job["counts"]["unique"], job["counts"]["succeeded"]) == (5, 2, 5)
    assert job["chunks"][0]["requests"] == 2
    assert [row["reused"] for row in found] == [False, True, True, True, False]
    assert len({row["output"] for row in found[:4]}) == 1
    assert all(set(row["usage"].values()) == {0} for row in found[1:4])
    assert sum(row["usage"]["output_tokens"] for row in found) == job["usage"]["output_tokens"]


def test_without_dedupe_identical_requests_are_each_sent(support: Caller) -> None:
    job = support.finished(support.submitted(*[chat("The same text once more.")] * 3, dedupe=False))

    assert job["chunks"][0]["requests"] == 3
    assert [row["reused"] for row in support.results(job)] == [False] * 3


def test_a_run_is_not_bought_twice(support: Caller, word: str) -> None:
    tags = {"run_id": word}
    support.finished(support.submitted(chat("Bought."), tags=tags))

    again = support.finished(support.submitted(chat("Bought."), chat("New."), tags=tags))

    first, second = support.results(again)
    assert (again["counts"]["reused"], again["counts"]["succeeded"]) == (1, 2)
    assert [chunk["requests"] for chunk in again["chunks"]] == [1]
    assert (first["reused"], second["reused"]) == (True, False)
    assert set(first["usage"].values()) == {0}


def test_another_tenant_reuses_nothing(support: Caller, retail: Caller, word: str) -> None:
    support.finished(support.submitted(chat("Bought by one."), tags={"run_id": word}))

    theirs = retail.finished(retail.submitted(chat("Bought by one."), tags={"run_id": word}))

    assert theirs["counts"]["reused"] == 0


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"alias": "nowhere", "requests": ONE}, 404),
        ({"requests": ONE}, 400),
        ({"alias": None, "requests": ONE}, 400),
        ({"alias": 7, "requests": ONE}, 400),
        ({"alias": "summarize"}, 400),
        ({"alias": "summarize", "requests": []}, 400),
        ({"alias": "summarize", "requests": "text"}, 400),
        ({"alias": "summarize", "requests": {"body": {}}}, 400),
        ({"alias": "summarize", "requests": ONE, "upload_id": "upload_1"}, 400),
        ({"alias": "summarize", "requests": ONE, "inputs": []}, 400),
        ({"alias": "summarize", "inputs": [{"vars": {}}]}, 400),
        ({"alias": "summarize", "template": {"user": "x"}}, 400),
        ({"alias": "summarize", "requests": ONE, "tags": {"a": 1}}, 400),
        ({"alias": "summarize", "requests": ONE, "tags": {str(n): "x" for n in range(17)}}, 400),
        ({"alias": "summarize", "requests": ONE, "tags": {"a" * 65: "x"}}, 400),
        ({"alias": "summarize", "requests": ONE, "tags": {"a": "x" * 257}}, 400),
        ({"alias": "summarize", "requests": ONE, "output_schema": {"description": "x" * 65_536}}, 400),
        ({"alias": "summarize", "requests": ONE, "output_schema": {"type": 7}}, 400),
        ({"alias": "summarize", "requests": ONE, "output_schema": "object"}, 400),
        ({"alias": "summarize", "requests": ONE, "deadline_hours": -1}, 400),
        ({"alias": "summarize", "requests": ONE, "deadline_hours": "soon"}, 400),
        ({"alias": "summarize", "requests": ONE, "endpoint": "images"}, 400),
        ({"alias": "summarize", "requests": ONE, "dedupe": "perhaps"}, 400),
        ({"alias": "summarize", "requests": ONE, "params": []}, 400),
        ({"alias": "summarize", "requests": ONE, "params": {"max_output_tokens": 0}}, 400),
        ({"alias": "summarize", "requests": ONE, "unheard_of": 1}, 400),
    ],
)
def test_a_body_that_makes_no_sense_is_refused(support: Caller, fields: Json, status: int) -> None:
    # Whether a wrong value is a bad line or an unusable combination is not told apart by the contract.
    assert support.refused(**fields)["status"] in ({400, 422} if status == 400 else {status})


@pytest.mark.parametrize(
    "fields",
    [{"max_cost": "1.00"}, {"pilot": 10}, {"at_deadline": "cancel"}],
    ids=lambda fields: next(iter(fields)),
)
def test_what_is_not_built_yet_is_refused_by_name(support: Caller, fields: Json) -> None:
    refusal = support.refused(alias="summarize", requests=ONE, **fields)

    assert refusal["status"] == 422
    assert "not_available" in str(refusal)


def test_an_estimate_is_not_built_yet(support: Caller) -> None:
    refusal = problem(support.post("/v1/jobs/estimate", {"alias": "summarize", "requests": ONE}))

    assert refusal["status"] == 422
    assert "not_available" in str(refusal)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b"\xff\xfe",
        b'{"alias": "summ\xff", "requests": [{"body": {}}]}',
    ],
)
def test_a_body_that_is_no_json_object_is_refused(support: Caller, body: bytes) -> None:
    assert problem(support.http.post("/v1/jobs", content=body))["status"] == 400


def test_required_tags_are_asked_for_by_name(strict: Caller) -> None:
    refusal = strict.refused(alias="summarize", requests=ONE, tags={"project": "p"})

    assert refusal["status"] in {400, 422}
    assert "owner" in str(refusal)
    assert strict.submitted(*ONE, tags={"project": "p", "owner": "o"})["tags"] == {
        "project": "p",
        "owner": "o",
    }


BAD_LINES: list[tuple[object, str]] = [
    ("text", ""),
    (None, ""),
    ([], ""),
    ({"custom_id": "no-body"}, "body"),
    ({"custom_id": "body-text", "body": "text"}, "body"),
    (chat("Foreign.", "foreign", model="gpt-5-mini-batch"), "body.model"),
    (chat("Long.", "x" * 513), "custom_id"),
    ({**chat("Number."), "custom_id": 7}, "custom_id"),
    (chat("Duplicate.", "good-0"), "custom_id"),
    ({"custom_id": "m", "body": {}}, "body.messages"),
    ({"custom_id": "u", **chat("Mixed."), "url": "/v1/embeddings"}, "url"),
    ({"custom_id": "g", **chat("Get."), "method": "GET"}, "method"),
]


def test_every_bad_line_is_told_with_its_field(support: Caller) -> None:
    asked: list[object] = [chat("Good.", "good-0")]
    for bad, _ in BAD_LINES:
        asked += [bad, chat("Good too.", f"good-{len(asked)}")]

    refusal = support.refused(alias="summarize", requests=asked)

    assert refusal["status"] == 400
    expected = {2 * n + 2: field for n, (_, field) in enumerate(BAD_LINES)}
    found = lines(refusal)
    assert set(found) == set(expected)
    assert {line: field for line, field in found.items() if expected[line]} == {
        line: field for line, field in expected.items() if field
    }


def test_at_most_a_hundred_bad_lines_are_told(support: Caller) -> None:
    refusal = support.refused(alias="summarize", requests=[{"body": 1}] * 250)

    assert [error["line"] for error in refusal["errors"]] == list(range(1, 101))


def test_nothing_of_a_refused_job_reaches_the_provider(support: Caller, word: str) -> None:
    before = support.get("/v1/jobs").json()["data"]

    support.refused(alias="summarize", requests=[chat(word), {"body": 1}])

    assert support.get("/v1/jobs").json()["data"][:1] == before[:1]


def test_a_request_larger_than_the_deployments_quota_is_refused(support: Caller) -> None:
    refusal = support.refused(alias="narrow", requests=[chat("Short."), chat("Long words. " * 5_000)])

    assert refusal["status"] == 400
    assert set(lines(refusal)) == {2}


def test_embeddings_are_refused_where_the_deployment_cannot(support: Caller) -> None:
    body = {"input": "Embed me."}

    assert (
        support.refused(alias="summarize", endpoint="embeddings", requests=[{"body": body}])["status"] == 422
    )
    assert support.refused(alias="embed", endpoint="embeddings", requests=[{"body": body}])["status"] == 422


def test_an_upload_of_another_tenants_blob_url_is_not_writable(support: Caller, retail: Caller) -> None:
    ours = support.post("/v1/uploads", {"filename": "a.jsonl"}).json()
    theirs = retail.post("/v1/uploads", {"filename": "a.jsonl"}).json()
    forged = {**ours, "url": theirs["url"].split("?")[0] + "?" + ours["url"].split("?")[1]}

    with pytest.raises(AssertionError, match=r"403|AuthorizationFailure|AuthenticationFailed"):
        put(forged, jsonl(chat("x")))
