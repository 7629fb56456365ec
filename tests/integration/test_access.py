"""Who is let in, and that nobody sees what belongs to another tenant."""

from collections.abc import Iterator

import httpx2
import pytest

from local.stack import Stack
from tests.integration.catalogs import KEYS
from tests.integration.postern import Caller, Json, chat, problem

pytestmark = pytest.mark.stack

JOB_ROUTES = [
    ("GET", "/v1/jobs/{id}"),
    ("GET", "/v1/jobs/{id}/results"),
    ("GET", "/v1/jobs/{id}/report"),
    ("POST", "/v1/jobs/{id}/cancel"),
    ("POST", "/v1/jobs/{id}/retry"),
    ("DELETE", "/v1/jobs/{id}"),
]
OTHER_ROUTES = [
    ("POST", "/v1/jobs"),
    ("POST", "/v1/jobs/estimate"),
    ("POST", "/v1/uploads"),
    ("GET", "/v1/jobs"),
    ("GET", "/v1/usage"),
    ("GET", "/v1/findings"),
    ("GET", "/v1/aliases"),
    ("GET", "/v1/nothing"),
]


@pytest.fixture(scope="module")
def theirs(retail: Caller) -> Json:
    """A finished job of another tenant."""
    return retail.finished(retail.submitted(chat("Not for everybody's eyes.")))


@pytest.fixture(scope="module")
def keyless(stack: Stack) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=stack.http, timeout=30) as client:
        yield client


@pytest.mark.parametrize("header", ["authorization", "api-key", "x-api-key"])
def test_a_key_is_taken_from_each_of_three_headers(keyless: httpx2.Client, header: str) -> None:
    key = KEYS["retail"]
    value = f"Bearer {key}" if header == "authorization" else key

    response = keyless.get("/v1/jobs", headers={header: value})

    assert response.status_code == 200


@pytest.mark.parametrize(("method", "route"), JOB_ROUTES + OTHER_ROUTES)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer not-a-key"},
        {"authorization": "Bearer"},
        {"authorization": f"Basic {KEYS['support']}"},
        {"authorization": "Bearer eyJhbGciOiJub25lIn0.eyJhcHBpZCI6Im9wZXJhdG9ycyJ9."},
        {"api-key": ""},
        {"x-api-key": KEYS["support"][:-1]},
    ],
    ids=["none", "unknown key", "no key", "other scheme", "unsigned token", "empty", "cut"],
)
def test_without_credentials_nothing_is_told(
    keyless: httpx2.Client, theirs: Json, method: str, route: str, headers: dict[str, str]
) -> None:
    response = keyless.request(method, route.format(id=theirs["id"]), headers=headers)

    assert response.status_code == 401
    problem(response)


@pytest.mark.parametrize("route", ["/healthz", "/readyz"])
def test_health_is_told_to_everybody(keyless: httpx2.Client, route: str) -> None:
    assert keyless.get(route).status_code == 200


@pytest.mark.parametrize(("method", "route"), JOB_ROUTES)
def test_another_tenants_job_is_answered_as_one_that_does_not_exist(
    support: Caller, theirs: Json, method: str, route: str
) -> None:
    nowhere = theirs["id"][:-6] + "000000"

    hidden = support.http.request(method, route.format(id=theirs["id"]))
    missing = support.http.request(method, route.format(id=nowhere))

    assert hidden.status_code == missing.status_code == 404
    assert problem(hidden) == {
        name: value.replace(nowhere, theirs["id"]) if isinstance(value, str) else value
        for name, value in problem(missing).items()
    }


def test_another_tenants_job_is_still_there_after_others_tried(retail: Caller, theirs: Json) -> None:
    assert retail.job(theirs) == theirs
    assert len(retail.results(theirs)) == 1


def test_another_tenants_upload_is_answered_as_one_that_does_not_exist(
    support: Caller, retail: Caller
) -> None:
    theirs = retail.upload(b'{"body": {"messages": [{"role": "user", "content": "secret"}]}}\n')

    hidden = support.post("/v1/jobs", {"alias": "summarize", "upload_id": theirs})
    missing = support.post("/v1/jobs", {"alias": "summarize", "upload_id": theirs[:-6] + "000000"})

    assert hidden.status_code == missing.status_code == 404
    assert retail.submitted(upload_id=theirs)["status"]


def test_a_list_holds_only_the_callers_own_jobs(support: Caller, theirs: Json) -> None:
    listed = support.get("/v1/jobs", limit=200).json()["data"]

    assert {job["tenant"] for job in listed} <= {"support"}


def test_an_operator_sees_every_tenants_jobs(operators: Caller, support: Caller, theirs: Json) -> None:
    ours = support.submitted(chat("For the operators to see."))

    listed = operators.get("/v1/jobs", limit=200).json()["data"]

    assert {theirs["id"], ours["id"]} <= {job["id"] for job in listed}
    assert operators.job(theirs)["tenant"] == "retail"
    assert operators.results(theirs)[0]["outcome"] == "succeeded"
    assert operators.report(theirs)["balanced"] is True


def test_an_operator_sees_every_tenants_usage(operators: Caller, retail: Caller, theirs: Json) -> None:
    own = retail.get("/v1/usage").json()["total"]

    assert operators.get("/v1/usage").json()["total"]["requests"] >= own["requests"] >= 1
