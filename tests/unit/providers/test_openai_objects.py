"""Batch and file objects as services really write them."""

import json
from datetime import UTC, datetime

import msgspec
import pytest

from shared.adapters.providers.openai.objects import read_batch, read_file, read_page
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NotFound, Rejected
from shared.domain.usage import Usage
from shared.ports.providers import RemoteBatch, RemoteState

CREATED = datetime(2026, 5, 28, 20, 26, 40, tzinfo=UTC)


def batch(**fields: object) -> RemoteBatch:
    told = {"id": "batch_1", "object": "batch", "status": "in_progress", "created_at": 1_780_000_000}
    return read_batch(json.dumps({**told, **fields}).encode())


@pytest.mark.parametrize(
    ("status", "end"),
    [
        ("completed", BatchEnd.COMPLETED),
        ("Completed", BatchEnd.COMPLETED),
        ("FAILED", BatchEnd.FAILED),
        ("expired", BatchEnd.EXPIRED),
        ("cancelled", BatchEnd.CANCELLED),
        ("canceled", BatchEnd.CANCELLED),
    ],
)
def test_states_that_are_the_end(status: str, end: BatchEnd) -> None:
    told = batch(status=status)

    assert (told.state, told.end, told.raw_state) == (RemoteState.ENDED, end, status)


@pytest.mark.parametrize(
    "status", ["Validating", "in_progress", "finalizing", "cancelling", "", "postponed_by_cosmic_rays"]
)
def test_every_other_state_is_running_and_keeps_its_name(status: str) -> None:
    told = batch(status=status)

    assert (told.state, told.end, told.raw_state) == (RemoteState.RUNNING, None, status)


@pytest.mark.parametrize(
    "created",
    [
        1_780_000_000,
        1_780_000_000.0,
        1_780_000_000_000,
        "1780000000",
        "2026-05-28T20:26:40Z",
        "2026-05-28T22:26:40+02:00",
        "2026-05-28T20:26:40",
    ],
    ids=repr,
)
def test_times_of_every_form(created: object) -> None:
    assert batch(created_at=created).created_at == CREATED


@pytest.mark.parametrize("time", [None, 0, -1, "", "soon", {}, [], 10**30, 1e308], ids=repr)
def test_a_time_that_is_none(time: object) -> None:
    assert batch(created_at=time, expires_at=time).created_at is None


def test_empty_ids_are_no_ids() -> None:
    told = batch(output_file_id="", error_file_id=None, input_file_id="file-1")

    assert (told.input_file, told.output_file, told.error_file) == ("file-1", None, None)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (None, (None, None)),
        ({}, (None, None)),
        ({"total": 3, "completed": None, "failed": 2}, (None, 2)),
        ({"completed": "3", "failed": -1}, (None, None)),
    ],
    ids=repr,
)
def test_counters_that_are_not_told_are_unknown(counts: object, expected: tuple[object, object]) -> None:
    told = batch(request_counts=counts)

    assert (told.completed, told.failed) == expected


@pytest.mark.parametrize(
    "metadata", [None, {}, {"postern_key": ""}, {"postern_key": 7}, {"other": "x"}], ids=repr
)
def test_a_batch_without_our_key_is_not_ours(metadata: object) -> None:
    assert batch(metadata=metadata).key is None


def test_our_key_is_found_in_the_metadata() -> None:
    assert batch(metadata={"postern_key": "job_1-0-1-1", "other": "x"}).key == "job_1-0-1-1"


@pytest.mark.parametrize(
    "errors",
    [
        {
            "object": "list",
            "data": [{"code": "token_limit_exceeded", "message": "limit of 30K", "line": None}],
        },
        {"data": [{"code": "Token_Limit_Exceeded", "message": "limit of 30K"}]},
        [{"code": "token_limit_exceeded", "message": "limit of 30K"}],
    ],
    ids=repr,
)
def test_a_batch_that_failed_for_want_of_quota_never_ran(errors: object) -> None:
    told = batch(status="failed", errors=errors, failed_at=None, output_file_id="", completed_at=1)

    assert told.out_of_capacity
    assert told.message == "limit of 30K"


def test_prose_in_place_of_a_code_is_no_code() -> None:
    assert batch(status="failed", errors={"data": [{"code": "Something went wrong"}]}).code is None


def test_a_batch_that_failed_for_its_input_says_why() -> None:
    told = batch(status="failed", errors={"data": [{"code": "invalid_json_line", "message": "m" * 9999}]})

    assert (told.out_of_capacity, told.code, told.message) == (False, "invalid_json_line", "m" * 500)


@pytest.mark.parametrize("errors", [None, {}, {"data": None}, {"data": []}, [], {"data": [{"code": None}]}])
def test_a_batch_may_fail_without_a_word(errors: object) -> None:
    told = batch(status="failed", errors=errors)

    assert (told.end, told.out_of_capacity, told.code, told.message) == (BatchEnd.FAILED, False, None, None)


USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 40},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 3},
    "total_tokens": 107,
}
NOTHING = {"input_tokens": 0, "output_tokens": 0}


@pytest.mark.parametrize(
    ("status", "usage", "expected"),
    [
        ("completed", USAGE, Usage(uncached_input=60, cached_input=40, output=7, reasoning=3)),
        ("in_progress", USAGE, None),
        ("completed", NOTHING, None),
        ("completed", None, None),
        ("completed", "a lot", None),
    ],
    ids=["ended", "still running", "zeros", "null", "prose"],
)
def test_the_bill_is_read_once_it_is_final(status: str, usage: object, expected: Usage | None) -> None:
    assert batch(status=status, usage=usage).usage == expected


@pytest.mark.parametrize(
    "content", [b"", b"<html>", b"null", b"[]", b"{}", b'{"id": "b"}', b'{"id": 1, "status": "x"}']
)
def test_what_is_no_batch_is_not_taken_for_one(content: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        read_batch(content)


@pytest.mark.parametrize(
    ("has_more", "count", "after"),
    [(True, 2, "batch_1"), (False, 2, None), (True, 0, None), (None, 100, "batch_99"), (None, 99, None)],
)
def test_where_the_next_page_begins(has_more: bool | None, count: int, after: str | None) -> None:
    data = [{"id": f"batch_{n}", "status": "completed"} for n in range(count)]

    page = read_page(json.dumps({"data": data, "has_more": has_more}).encode())

    assert len(page.batches) == count
    assert page.after == after


@pytest.mark.parametrize(
    ("status", "ready"),
    [
        ("processed", True),
        ("Processed", True),
        (None, True),
        ("uploaded", False),
        ("pending", False),
        ("running", False),
        ("notRunning", False),
    ],
)
def test_when_a_file_is_ready(status: str | None, ready: bool) -> None:
    assert read_file(json.dumps({"id": "f", "status": status}).encode()).ready is ready


@pytest.mark.parametrize("status", ["error", "failed"])
def test_a_file_the_provider_could_not_process_is_rejected(status: str) -> None:
    with pytest.raises(Rejected) as rejected:
        read_file(json.dumps({"id": "f", "status": status}).encode())

    assert rejected.value.code == "invalid_file"


def test_a_file_that_is_being_deleted_is_gone() -> None:
    with pytest.raises(NotFound):
        read_file(b'{"id": "f", "status": "deleting"}')


def test_a_file_that_tells_no_expiry_has_none() -> None:
    assert read_file(b'{"id": "f", "status": "processed", "expires_at": null}').expires_at is None


@pytest.mark.parametrize(
    ("blob", "key"),
    [
        ("https://a.blob.core.windows.net/jobs/_batches/job_1-0-1-1/x.jsonl", "job_1-0-1-1"),
        ("http://127.0.0.1:10000/devstoreaccount1/jobs/_batches/job_1-0-1-1/x.jsonl", "job_1-0-1-1"),
        ("https://a.blob.core.windows.net/jobs/support/job_1/chunks/0.1.jsonl", None),
        ("https://a.blob.core.windows.net/other/x.jsonl", None),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_a_batch_of_blobs_is_known_by_the_folder_of_its_input(blob: object, key: str | None) -> None:
    told = {"id": "batch_1", "status": "in_progress", "input_blob": blob, "output_blob": ""}

    seen = read_batch(json.dumps(told).encode())

    assert (seen.key, seen.output_file) == (key, None)
    assert seen.input_file == (blob if isinstance(blob, str) and blob else None)
