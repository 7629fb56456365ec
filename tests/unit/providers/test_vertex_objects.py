"""Jobs of Vertex AI in our words: one mapping for all who ask."""

from typing import Any

import pytest
from google.genai import types

from shared.adapters.providers.google.vertex_objects import read_job
from shared.domain.chunks import BatchEnd
from shared.ports.providers import RemoteBatch, RemoteState

ENDS = {
    "SUCCEEDED": BatchEnd.COMPLETED,
    "PARTIALLY_SUCCEEDED": BatchEnd.COMPLETED,
    "FAILED": BatchEnd.FAILED,
    "CANCELLED": BatchEnd.CANCELLED,
    "EXPIRED": BatchEnd.EXPIRED,
}


def job(state: str = "SUCCEEDED", **more: Any) -> RemoteBatch:
    told = {
        "name": "projects/1/locations/l/batchPredictionJobs/123",
        "display_name": "job_1-0-1-1",
        "state": f"JOB_STATE_{state}",
        "output_info": {"gcs_output_directory": "gs://b/postern/job_1-0-1-1/out/prediction-model-x"},
        **more,
    }
    return read_job(types.BatchJob.model_validate(told))


@pytest.mark.parametrize("state", [each.name.removeprefix("JOB_STATE_") for each in types.JobState])
def test_every_state_that_the_sdk_knows_is_known(state: str) -> None:
    found = job(state)

    assert found.recognised
    assert found.end == ENDS.get(state)
    assert found.state is (RemoteState.ENDED if state in ENDS else RemoteState.RUNNING)


def test_a_state_that_nobody_knows_goes_on() -> None:
    found = job("HIBERNATING")

    assert (found.state, found.end, found.recognised) == (RemoteState.RUNNING, None, False)
    assert found.raw_state == "JOB_STATE_HIBERNATING"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("job_01J-12-3-4", "job_01J-12-3-4"),
        ("batch_ab12-0-1-1", "batch_ab12-0-1-1"),
        ("genai_batch_job_20261130120000_x1", None),
        ("nightly evaluation", None),
        (None, None),
    ],
)
def test_a_display_name_is_ours_only_if_it_is_a_key(name: str | None, key: str | None) -> None:
    assert job(display_name=name).key == key


@pytest.mark.parametrize(
    ("code", "named", "out_of_capacity"),
    [
        (3, "invalid_request", False),
        (8, None, True),
        (13, "internal_error", False),
        # The bucket is not there, or may not be written: no tenant's fault.
        (7, None, False),
        (9, None, False),
    ],
)
def test_a_failed_job_says_why_without_blaming_the_tenant_for_the_account(
    code: int, named: str | None, out_of_capacity: bool
) -> None:
    found = job("FAILED", error={"code": code, "message": "It failed."})

    assert (found.code, found.out_of_capacity, found.message) == (named, out_of_capacity, "It failed.")


def test_the_output_is_all_that_lies_in_its_directory() -> None:
    assert job().output_file == "gs://b/postern/job_1-0-1-1/out/prediction-model-x/"
    assert job("RUNNING").output_file is None


@pytest.mark.parametrize(
    ("stats", "counts", "has_output"),
    [
        ({"successful_count": 2, "failed_count": 1}, (2, 1), True),
        ({"successful_count": -1, "failed_count": 0}, (None, 0), True),
        ({"incomplete_count": -1}, (None, None), True),
        (None, (None, None), True),
        # A directory is named, and nothing lies in it: nothing is lost.
        ({"successful_count": 0, "failed_count": 0}, (0, 0), False),
    ],
)
def test_counters_that_are_not_told_are_unknown(
    stats: dict[str, int] | None, counts: tuple[int | None, int | None], has_output: bool
) -> None:
    found = job("CANCELLED", completion_stats=stats)

    assert (found.completed, found.failed) == counts
    assert (found.output_file is not None) is has_output


@pytest.mark.parametrize("told", [{}, {"name": "x"}, {"state": "JOB_STATE_RUNNING"}])
def test_what_is_no_job_is_none(told: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="job"):
        read_job(types.BatchJob.model_validate(told))
