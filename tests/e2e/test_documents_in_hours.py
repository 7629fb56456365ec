"""Pipelines that gather, and corpora that are gone over once more: documents of the hours lane, on the stack."""

import pytest

from examples.generator.formats import pdf
from tests.e2e.documents_support import Lane, a_folder, answered, texts
from tests.integration.postern import problem

pytestmark = [pytest.mark.stack, pytest.mark.timeout(400)]


def test_gathered_documents_go_out_as_a_job_and_end_as_in_the_minutes_lane(lane: Lane) -> None:
    folder = a_folder(pipeline="nightly")
    lane.provider.answer("filterword", "content_filter")
    lane.drop_all(
        {
            **texts(folder, 4),
            f"{folder}filtered.txt": b"A note with filterword in it.",
            f"{folder}scan.pdf": pdf.pdf([None]),
            f"{folder}empty.txt": b"",
        }
    )

    records = {r["path"].removeprefix(folder): r for r in lane.all_finished(folder, 7)}

    ends = {name: (r["outcome"], r["reason"]) for name, r in records.items()}
    assert ends == {
        **{f"{n}.txt": ("succeeded", None) for n in range(4)},
        "filtered.txt": ("refused", "content_filter"),
        "scan.pdf": ("failed", "no_text"),
        "empty.txt": ("failed", "empty"),
    }
    # What is empty is told so at once; all others went out in jobs, and none as a call of its own.
    assert records["empty.txt"]["job_id"] is None
    jobs = {r["job_id"] for name, r in records.items() if name != "empty.txt"}
    assert None not in jobs
    assert lane.called_for(records.values()) == 0
    for name, record in records.items():
        result = lane.result(f"{folder}{name}")
        assert result is not None
        assert (result["outcome"], result["document"]["id"]) == (record["outcome"], record["id"])
        assert lane.published(record)[0]["type"] == f"postern.document.{record['status']}"
    for job in jobs:
        seen = lane.support.finished(job)
        assert seen["counts"]["submitted"] == sum(
            seen["counts"][outcome] for outcome in ("succeeded", "refused", "failed")
        )


def test_a_corpus_is_gone_over_again_as_a_job_under_a_new_prompt(lane: Lane) -> None:
    folder = a_folder()
    lane.drop_all({f"{folder}deep/{n} b#.txt": b"Rider %d likes the bell." % n for n in range(3)})
    before = {r["id"]: r for r in lane.all_finished(folder, 3)}
    prefix = folder.split("/", 2)[2]

    nowhere = lane.support.post("/v1/pipelines/corpus/rescore", {"prefix": prefix})
    assert problem(nowhere)["status"] == 404
    response = lane.support.post(
        "/v1/pipelines/notes/rescore",
        {"prefix": prefix, "prompt": "How happy is the rider?", "alias": "batched"},
    )

    assert response.status_code == 202, response.text
    job = lane.support.finished(response.json())
    assert (job["status"], job["counts"]["submitted"]) == ("completed", 3)
    results = lane.support.results(job)
    assert [r["custom_id"] for r in results] == [f"{prefix}deep/{n} b#.txt" for n in range(3)]
    assert {r["outcome"] for r in results} == {"succeeded"}
    # Records and results of the documents stay as they are.
    after = {r["id"]: r for r in lane.records(folder)}
    assert after == before


def test_a_rescore_can_be_cancelled(lane: Lane) -> None:
    folder = a_folder()
    lane.drop_all({f"{folder}{n}.txt": b"A hanging note %d." % n for n in range(2)})
    lane.all_finished(folder, 2)
    lane.provider.batch("hanging", "completed", after_seconds=3600)

    response = lane.support.post(
        "/v1/pipelines/notes/rescore", {"prefix": folder.split("/", 2)[2], "alias": "batched"}
    )
    assert response.status_code == 202, response.text
    job = response.json()
    lane.support.until(job, lambda seen: seen["status"] == "running")
    assert lane.support.post(f"/v1/jobs/{job['id']}/cancel").status_code in {200, 202}

    ended = lane.support.finished(job)
    assert ended["status"] == "cancelled"
    assert ended["counts"]["cancelled"] == 2
    assert answered(lane.support, f"/v1/jobs/{job['id']}")["counts"]["succeeded"] == 0
