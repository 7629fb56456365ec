"""Whatever belongs to another tenant is answered exactly as what does not exist: wherever an id can stand."""

from collections.abc import Callable, Mapping
from typing import Any

import httpx2
import pytest

from tests.integration.described import Described, operations
from tests.integration.postern import Caller, Json
from tests.integration.storage import Storage
from tests.integration.tenants import Belongings

pytestmark = pytest.mark.stack

# They differ from one answer to the next, whatever was asked.
PASSING = frozenset({"date", "x-request-id"})
BATCH = {"endpoint": "/v1/chat/completions", "completion_window": "24h"}
BODIES: Mapping[str, tuple[str, Callable[[str], Json]]] = {
    "a job of an upload": ("/v1/jobs", lambda name: {"alias": "summarize", "upload_id": name}),
    "a batch of a file": ("/openai/v1/batches", lambda name: {**BATCH, "input_file_id": name}),
    "a batch of a file, as Azure": ("/openai/batches", lambda name: {**BATCH, "input_file_id": name}),
}
WITH_AN_ID = [each for each in operations() if each.parameters("path")]
WITH_A_CURSOR = [each for each in operations() if "after" in {p["name"] for p in each.parameters("query")}]
WITH_A_TENANT = [each for each in operations() if "tenant" in {p["name"] for p in each.parameters("query")}]


def nowhere(name: str) -> str:
    """Formed as `name`, and nobody's."""
    end = "o" if name.endswith("o") else ""
    return f"{name[: -6 - len(end)]}{'0' * 6}{end}"


def shown(response: httpx2.Response, name: str) -> tuple[int, str, dict[str, str]]:
    """All that can be told from an answer, the id aside."""
    headers = {key: value for key, value in response.headers.items() if key not in PASSING}
    return response.status_code, response.text.replace(name, "..."), headers


def called(caller: Caller, operation: Described, name: str) -> httpx2.Response:
    [parameter] = operation.parameters("path")
    target = operation.target(**{parameter["name"]: name})
    body: Any = {} if operation.body else None
    return caller.http.request(operation.method, target, json=body)


@pytest.mark.parametrize("operation", WITH_AN_ID, ids=str)
def test_in_a_path(support: Caller, hidden: Belongings, operation: Described) -> None:
    for name in hidden.ids.values():
        theirs, nobodys = called(support, operation, name), called(support, operation, nowhere(name))

        assert shown(theirs, name) == shown(nobodys, nowhere(name))
        assert theirs.status_code in (400, 404) if "rescore" in operation.path else theirs.status_code == 404


@pytest.mark.parametrize(("path", "body"), BODIES.values(), ids=BODIES.keys())
def test_in_a_body(support: Caller, hidden: Belongings, path: str, body: Callable[[str], Json]) -> None:
    for name in hidden.ids.values():
        theirs, nobodys = support.post(path, body(name)), support.post(path, body(nowhere(name)))

        assert shown(theirs, name) == shown(nobodys, nowhere(name))
        assert 400 <= theirs.status_code < 500


@pytest.mark.parametrize("operation", WITH_A_CURSOR, ids=str)
def test_as_a_cursor(support: Caller, hidden: Belongings, operation: Described) -> None:
    for name in (*hidden.ids.values(), *hidden.cursors.values()):
        theirs = support.get(operation.path, after=name, limit=100)
        nobodys = support.get(operation.path, after=nowhere(name), limit=100)

        assert shown(theirs, name) == shown(nobodys, nowhere(name))
        assert hidden.word not in theirs.text


@pytest.mark.parametrize("operation", WITH_A_TENANT, ids=str)
def test_as_a_tenant(support: Caller, hidden: Belongings, operation: Described) -> None:
    theirs = support.get(operation.path, tenant=hidden.tenant)
    nobodys = support.get(operation.path, tenant="nobody")

    assert shown(theirs, hidden.tenant) == shown(nobodys, "nobody")
    assert theirs.status_code == 404


def test_as_a_document_of_a_job(support: Caller, storage: Storage, hidden: Belongings) -> None:
    storage.write(f"inputs/{hidden.tenant}/held.txt", hidden.word.encode())
    answers = []
    for name in ("held", "lost"):
        blob = {"blob": f"inputs/{hidden.tenant}/{name}.txt"}
        body = {"alias": "summarize", "template": {"user": "{text}"}, "inputs": [{"vars": {"text": blob}}]}
        answers.append(shown(support.post("/v1/jobs", body), name))

    assert answers[0] == answers[1]
    assert answers[0][0] == 400


def test_lists_hold_nothing_of_others(support: Caller, hidden: Belongings) -> None:
    for operation in operations():
        if operation.method == "GET" and not operation.parameters("path"):
            text = support.get(operation.path).text
            assert hidden.word not in text, operation
            assert not [name for name in hidden.ids.values() if name in text], operation


def test_all_of_it_is_still_there(retail: Caller, hidden: Belongings) -> None:
    # Whoever runs this file alone has the attempts above behind it.
    for operation in WITH_AN_ID:
        if operation.method == "GET" and operation.path.startswith(("/v1/", "/openai/v1/files")):
            kind = {"job_id": "job", "document_id": "document", "file_id": "file"}
            [parameter] = operation.parameters("path")
            response = called(retail, operation, hidden.ids[kind[parameter["name"]]])
            assert response.status_code == 200, operation
