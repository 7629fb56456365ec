"""Inputs with a template, and documents that they refer to."""

import pytest

from tests.integration.postern import Caller, Json, lines
from tests.integration.storage import Storage

pytestmark = pytest.mark.stack

TEMPLATE = {"system": "Summarize the ticket.", "user": "{text}"}


def ticket(value: object, custom_id: str = "t") -> Json:
    return {"custom_id": custom_id, "vars": {"text": value}}


def blob(path: str) -> Json:
    return {"blob": path}


def test_a_template_is_filled_for_every_input(support: Caller) -> None:
    template = {"system": "You write in {language}.", "user": "A {{literal}} brace. {text} The end."}
    inputs = [
        {"custom_id": "one", "vars": {"language": "German", "text": "Rain fell."}},
        {"vars": {"language": "{text}", "text": "Snow {fell}."}},
    ]

    job = support.finished(support.submitted(template=template, inputs=inputs))

    first, second = support.results(job)
    assert (first["custom_id"], second["custom_id"]) == ("one", "2")
    assert "A {literal} brace. Rain fell." in first["output"]
    assert "Snow {fell}." in second["output"]


def test_a_missing_variable_is_told_by_position(support: Caller) -> None:
    inputs = [ticket("Fine."), {"vars": {}}, {"vars": {"text": []}}, "no object"]

    refusal = support.refused(alias="summarize", template=TEMPLATE, inputs=inputs)

    assert refusal["status"] == 400
    assert lines(refusal).keys() == {2, 3, 4}
    assert lines(refusal)[2] == "vars.text"


@pytest.mark.parametrize(
    "template",
    [
        {"user": "x" * 65_537},
        {"user": "{unclosed"},
        {"system": "only"},
        {"user": ""},
        {"user": "{text!r}"},
        {"user": "{text.__class__}"},
        {"user": "{0}"},
        {"user": 7},
        "text",
    ],
)
def test_a_template_that_cannot_be_filled_is_refused(support: Caller, template: object) -> None:
    assert support.refused(alias="summarize", template=template, inputs=[ticket("x")])["status"] == 400


def test_a_document_is_read_from_the_tenants_own_folder(support: Caller, storage: Storage, word: str) -> None:
    storage.write(f"inputs/support/{word}/a.txt", b"The pump in hall four leaks. It was mended.")

    job = support.finished(
        support.submitted(template=TEMPLATE, inputs=[ticket(blob(f"{word}/a.txt")), ticket("Short.", "s")])
    )

    assert job["status"] == "completed"
    assert "pump in hall four" in support.results(job)[0]["output"]


def test_a_document_that_cannot_be_read_fails_alone(support: Caller, storage: Storage, word: str) -> None:
    storage.write(f"inputs/support/{word}/a.pdf", b"%PDF-1.7\nnothing like one")
    storage.write(f"inputs/support/{word}/b.txt", b"")
    storage.write(f"inputs/support/{word}/c.txt", b"A sound document.")
    inputs = [ticket(blob(f"{word}/{name}"), name) for name in ("a.pdf", "b.txt", "c.txt")]

    job = support.finished(support.submitted(template=TEMPLATE, inputs=inputs))

    outcomes = [(row["outcome"], row["reason"]) for row in support.results(job)]
    assert job["status"] == "partial"
    assert outcomes == [("failed", "corrupt"), ("failed", "empty"), ("succeeded", None)]
    assert job["chunks"][0]["requests"] == 1


@pytest.mark.parametrize(
    "path",
    [
        "nowhere.txt",
        "../retail/secret.txt",
        "a/../../retail/secret.txt",
        "/retail/secret.txt",
        "inputs/retail/secret.txt",
        "..\\retail\\secret.txt",
        "%2e%2e/retail/secret.txt",
        "",
        ".",
        "x" * 2000,
        "a\u0000b",
    ],
)
def test_only_the_own_folder_can_be_named(support: Caller, storage: Storage, path: str) -> None:
    storage.write("inputs/retail/secret.txt", b"The secret of another team.")

    refusal = support.refused(
        alias="summarize", template=TEMPLATE, inputs=[ticket("Fine."), ticket(blob(path), "b")]
    )

    assert refusal["status"] == 400
    assert lines(refusal).keys() == {2}
    assert "text" in lines(refusal)[2]


def test_a_document_changed_after_acceptance_is_not_read_as_if_it_had_been_accepted(
    support: Caller, storage: Storage, word: str
) -> None:
    storage.write(f"inputs/support/{word}/a.txt", b"The first version of the text.")
    job = support.submitted(template=TEMPLATE, inputs=[ticket(blob(f"{word}/a.txt"))])
    storage.write(f"inputs/support/{word}/a.txt", b"The second version of the text.")

    done = support.finished(job)

    [row] = support.results(done)
    assert row["outcome"] == "succeeded" or row["reason"] == "gone"
    assert "second" not in (row["output"] or "")
