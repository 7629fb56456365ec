"""`Idempotency-Key`: one answer, however often and however soon it is asked for."""

from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from tests.integration.postern import Caller, Json, chat, problem

pytestmark = pytest.mark.stack


def body(text: str) -> Json:
    return {"alias": "summarize", "requests": [chat(text)]}


def keyed(caller: Caller, content: Json, key: str) -> httpx2.Response:
    return caller.post("/v1/jobs", content, idempotency_key=key)


def test_the_same_body_gets_the_first_answer_again(support: Caller, word: str) -> None:
    first = keyed(support, body(word), word)
    support.finished(first.json())

    again = keyed(support, body(word), word)

    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["location"] == first.headers["location"]


def test_another_body_under_the_same_key_is_a_conflict(support: Caller, word: str) -> None:
    keyed(support, body(word), word)

    assert problem(keyed(support, body("Other."), word))["status"] == 409


def test_keys_of_tenants_do_not_meet(support: Caller, retail: Caller, word: str) -> None:
    ours = keyed(support, body(word), word).json()
    theirs = keyed(retail, body(word), word).json()

    assert ours["id"] != theirs["id"]
    assert theirs["tenant"] == "retail"


def test_calls_at_the_same_time_make_one_job(support: Caller, word: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: keyed(support, body(word), word), range(8)))

    accepted = [answer for answer in answers if answer.status_code == 202]
    others = [problem(answer) for answer in answers if answer.status_code != 202]
    assert len({answer.json()["id"] for answer in accepted}) == 1
    assert all(other["status"] == 409 and "in_progress" in str(other) for other in others)
    assert keyed(support, body(word), word).content == accepted[0].content


def test_a_refused_first_call_may_be_mended_under_the_same_key(support: Caller, word: str) -> None:
    bad = {"alias": "summarize", "requests": [{"body": 1}]}
    assert problem(keyed(support, bad, word))["status"] == 400

    again = keyed(support, bad, word)
    mended = keyed(support, body(word), word)

    assert problem(again)["status"] == 400
    assert mended.status_code in {202, 409}
    if mended.status_code == 409:
        pytest.fail(f"a refusal took the key for good: {mended.text}")


@pytest.mark.parametrize("key", ["", "x" * 256], ids=["empty", "long"])
def test_a_key_that_is_none_is_refused(support: Caller, key: str) -> None:
    assert problem(keyed(support, body("Text."), key))["status"] == 400


@pytest.mark.parametrize("key", ["x" * 255, "a/b#c?d\\e", "..", "%2F"])
def test_a_key_may_have_any_visible_characters(support: Caller, key: str, word: str) -> None:
    name = (key + word)[-255:]
    first = keyed(support, body(word), name)

    assert first.status_code == 202
    assert keyed(support, body(word), name).json()["id"] == first.json()["id"]


def test_a_retry_is_made_once_under_its_key(support: Caller, word: str) -> None:
    job = support.finished(support.submitted(chat(word)))
    path = f"/v1/jobs/{job['id']}/retry"

    first = support.post(path, {"include": ["failed"]}, idempotency_key=word)
    again = support.post(path, {"include": ["failed"]}, idempotency_key=word)

    assert (again.status_code, again.text) == (first.status_code, first.text)
