"""The canary that follows a deployment, against the local stack."""

import pytest

from checks.canary.__main__ import main
from tests.e2e.documents_support import KEYS, Lane

pytestmark = [pytest.mark.stack, pytest.mark.timeout(400)]


def sent(lane: Lane, *more: str, key: str = KEYS["support"]) -> int:
    options = ("--url", lane.stack.http, "--tenant", "support", "--storage-from", "STORAGE", "--minutes", "3")
    return main(
        [*options, "--alias", "batched", *more], {"STORAGE": lane.stack.storage, "POSTERN_CANARY_KEY": key}
    )


def test_it_sees_a_document_and_a_job_through(lane: Lane, capsys: pytest.CaptureFixture[str]) -> None:
    code = sent(lane, "--until-finished")

    told = capsys.readouterr()
    assert (code, told.err) == (0, "")
    assert [line.split()[:2] for line in told.out.splitlines()] == [
        ["ok", "ready:"],
        ["ok", "refused:"],
        ["ok", "document:"],
        ["ok", "job:"],
    ]
    assert "balanced" in told.out


def test_it_is_content_once_the_provider_has_the_batch(
    lane: Lane, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sent(lane) == 0

    assert "is at the provider" in capsys.readouterr().out


def test_it_says_what_became_of_its_document(lane: Lane, capsys: pytest.CaptureFixture[str]) -> None:
    assert sent(lane, "--pipeline", "nowhere") == 1

    assert "BAD the document is failed: unknown_pipeline" in capsys.readouterr().err
