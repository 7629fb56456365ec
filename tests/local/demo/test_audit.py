"""The demo complains when an input or a document has no outcome, or another one than it should."""

import json
from dataclasses import replace

import msgspec

from local.demo.audit import complaints
from local.demo.documents import FOLDER, sample_documents
from local.demo.samples import ALIASES, EVERYWHERE, SAMPLES, TICKETS, TRIAGE, planted_trouble
from tests.local.demo.builders import answered, finished

PLANTED = planted_trouble()


def test_nothing_is_said_when_all_is_well() -> None:
    well = [finished(sample, planted=tuple(PLANTED)) for sample in SAMPLES]

    assert complaints(well, PLANTED, [answered(document) for document in sample_documents()]) == []


def test_an_input_without_an_outcome_is_named_by_its_job() -> None:
    whole = finished(TICKETS)
    report = msgspec.structs.replace(whole.report, outcomes={**whole.report.outcomes, "succeeded": 239})

    found = complaints([replace(whole, report=report)], [])

    assert found == ["tickets: 240 inputs were sent, 240 are on record, and 239 have an outcome"]


def test_a_report_that_is_not_balanced_is_not_believed() -> None:
    whole = finished(TICKETS)

    found = complaints([replace(whole, report=msgspec.structs.replace(whole.report, balanced=False))], [])

    assert found == ["tickets: its report is not balanced"]


def test_a_result_in_another_place_is_noticed() -> None:
    whole = finished(TICKETS)
    first, second, *rest = whole.results

    found = complaints([replace(whole, results=(second, first, *rest))], [])

    assert found == ["tickets: results.jsonl does not have one line for each input, in their order"]


def test_trouble_that_became_something_else_is_told_with_both() -> None:
    whole = finished(TRIAGE)  # as if nothing had been planted

    found = complaints([whole], PLANTED)

    assert len(found) == sum(trouble.becomes != "succeeded" for trouble in PLANTED)
    assert "should have become 'refused: content_filter', and became 'succeeded'" in found[0]


def test_nothing_is_said_when_every_provider_gives_the_same() -> None:
    same = [finished(sample, planted=tuple(planted_trouble(sample))) for sample in EVERYWHERE]

    assert complaints([], [], [], same) == []


def test_a_provider_whose_outcome_is_another_is_named() -> None:
    other = finished(EVERYWHERE[-1])  # as if nothing had been planted

    found = complaints([], [], [], [other])

    assert found[0] == (
        "everywhere/openai_compatible: note-04 should have become 'refused', and became 'succeeded'"
    )
    assert len(found) == len(planted_trouble(EVERYWHERE[-1]))


def test_the_job_for_every_provider_is_one_and_the_same_but_for_its_alias() -> None:
    bodies = [sample.body() for sample in EVERYWHERE]

    assert {body.pop("alias") for body in bodies} == set(ALIASES.values())
    assert len({body["tags"].pop("run_id") for body in bodies}) == len(EVERYWHERE)
    assert [sample.inputs() for sample in EVERYWHERE] == [EVERYWHERE[0].inputs()] * len(EVERYWHERE)
    assert bodies == [bodies[0]] * len(EVERYWHERE)


def test_a_document_that_became_something_else_is_told_with_both() -> None:
    scan = next(each for each in sample_documents() if each.path.endswith("scan.pdf"))

    found = complaints([], [], [answered(scan, became="succeeded")])

    assert found == [
        (
            "support/notes/broken/scan.pdf (scanned pages without text) should have become 'failed: no_text',"
            " and became 'succeeded'"
        )
    ]


def test_an_answer_that_is_not_there_is_noticed() -> None:
    sound = next(each for each in sample_documents() if each.planted is None)
    whole = answered(sound)

    found = complaints([], [], [replace(whole, result=msgspec.structs.replace(whole.result, output=None))])

    assert found == [f"{sound.path}: it succeeded, and there is no answer"]


def test_all_planted_trouble_names_a_document_that_is_there() -> None:
    planted = {entry["path"] for entry in json.loads((FOLDER / "trouble.json").read_bytes())}

    assert planted == {each.path for each in sample_documents() if each.planted is not None}
