"""One place decides what a refusal looks like, and nothing of ours leaks through it."""

from datetime import timedelta

import pytest

from shared.domain.errors import (
    Conflict,
    IllegalMove,
    NotAdmitted,
    NotFound,
    RateLimited,
    Rejected,
    TryAgainLater,
    Unauthenticated,
)
from shared.wire.problems import (
    Clash,
    InputErrors,
    LineError,
    NotAvailable,
    TooLarge,
    Unusable,
    headers,
    invalid,
    problem,
    short,
)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (invalid("alias", "is missing"), 400, "invalid_input"),
        (Unauthenticated("send a key"), 401, "not_authenticated"),
        (NotFound("no job 'x'"), 404, "not_found"),
        (Clash("the first call is still running", code="in_progress"), 409, "in_progress"),
        (Conflict("etag"), 409, "conflict"),
        (IllegalMove("job x"), 409, "conflict"),
        (TooLarge("upload it instead"), 413, "too_large"),
        (Unusable("no"), 422, "unusable_combination"),
        (NotAvailable("no"), 422, "not_available"),
        (Rejected("no", code="invalid_schema"), 422, "invalid_schema"),
        (TryAgainLater("table x"), 503, "try_again"),
        (NotAdmitted("the key is missing"), 503, "not_admitted"),
        (ValueError("secret"), 500, "internal"),
    ],
)
def test_every_error_has_its_status_and_its_name(error: Exception, status: int, code: str) -> None:
    found, document = problem(error)
    assert (found, document["status"], document["code"]) == (status, status, code)
    assert document["type"] == f"tag:postern,2026:problems/{code}"
    assert {"type", "title", "status", "detail"} <= document.keys()


@pytest.mark.parametrize("error", [ValueError("secret"), TryAgainLater("secret"), Conflict("secret")])
def test_inner_workings_are_told_to_nobody(error: Exception) -> None:
    assert "secret" not in str(problem(error))


def test_input_errors_are_listed_up_to_a_hundred() -> None:
    errors = [LineError(line=n, field="body", message="is missing") for n in range(1, 151)]
    _, document = problem(InputErrors(errors))
    assert document["errors"] == [
        {"line": n, "field": "body", "message": "is missing"} for n in range(1, 101)
    ]
    assert document["total_errors"] == 150
    assert document["detail"] == "line 1: body: is missing (and 149 more)"


def test_a_client_learns_how_to_go_on() -> None:
    assert headers(Unauthenticated("x"))["www-authenticate"] == "Bearer"
    assert headers(TryAgainLater("x"))["retry-after"] == "5"
    assert headers(RateLimited("x", retry_after=timedelta(seconds=17.5)))["retry-after"] == "17"
    assert headers(NotFound("x")) == {"content-type": "application/problem+json"}


def test_a_clients_name_is_repeated_only_in_part() -> None:
    assert short("a\nb\x1b") == "'a\ufffdb\ufffd'"
    assert short("x" * 64) == f"'{'x' * 64}'"
    assert short("x" * 65) == f"'{'x' * 64}...'"
