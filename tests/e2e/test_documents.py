"""A person drops a file and finds the answer beside it."""

import re
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from examples.generator.formats import office, pdf
from tests.documents import hostile
from tests.e2e.documents_support import Lane, a_folder, answered, document_url, once, texts
from tests.integration.postern import Json, problem

pytestmark = [pytest.mark.stack, pytest.mark.timeout(400)]

NAMES = (
    "a file with spaces.txt",
    "a+b.txt",
    "100%20.txt",
    "100%.txt",
    "number #7.txt",
    "scan [1].txt",
    "question?.txt",
    "Übergröße é ñ 文書.txt",
    "quote ' and \" and &.txt",
    "deep/er and/deep+er/still/a/b/c/d/file.txt",
    "COAG+ 1 [a] 100%20.txt",
)


def test_a_result_has_every_promised_field(lane: Lane) -> None:
    folder = a_folder()
    content = pdf.pdf(["The first page tells of a leak.", None, "The third page tells who mended it."])
    began = datetime.now(UTC)
    etag = lane.drop(f"{folder}leak.pdf", content, project="plumbing", owner="ana")

    record = lane.finished(f"{folder}leak.pdf")

    result = lane.result(f"{folder}leak.pdf")
    assert result is not None
    assert result.pop("document") == {
        "id": record["id"],
        "path": f"{folder}leak.pdf",
        # As Event Grid tells it: without the quotes that HTTP puts around it.
        "etag": etag.strip('"'),
        "content_type": "application/octet-stream",
        "bytes": len(content),
        "pages": 3,
        "pages_without_text": [2],
    }
    finished = datetime.fromisoformat(result.pop("finished_at"))
    # Told in whole seconds.
    assert began.replace(microsecond=0) <= finished <= datetime.now(UTC)
    output, usage, cost = result.pop("output"), result.pop("usage"), result.pop("cost")
    assert "leak" in output
    assert usage["input_tokens"] > 0
    assert usage["output_tokens"] > 0
    assert set(usage) == {
        "input_tokens",
        "cached_input_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
    }
    assert Decimal(cost.pop("amount")) > 0
    assert cost == {"currency": "USD"}
    assert result == {
        "outcome": "succeeded",
        "reason": None,
        "message": None,
        "parts": None,
        "provider": "azure_openai",
        "model": "gpt-5-mini",
        "attempts": 1,
    }
    # The parts of an answer are content: they are in the result, and never in the record.
    assert result.pop("parts") is None
    assert_same(record, {**result, "usage": usage, "tags": {"project": "plumbing", "owner": "ana"}})
    booked = lane.booked("plumbing")
    assert (booked["requests"], booked["output_tokens"]) == (1, usage["output_tokens"])


def test_the_end_of_a_document_is_published(lane: Lane) -> None:
    folder = a_folder()
    lane.drop(f"{folder}good.txt", b"A good note.")
    lane.drop(f"{folder}empty.txt", b"")

    by_path = {record["path"]: record for record in lane.all_finished(folder, 2)}

    for name, kind in (("good.txt", "completed"), ("empty.txt", "failed")):
        record = by_path[f"{folder}{name}"]
        [event] = lane.published(record)
        assert event["type"] == f"postern.document.{kind}"
        assert event["subject"] == f"tenants/support/documents/{record['id']}"
        assert event["specversion"] == "1.0"
        assert (event["data"]["outcome"], event["data"]["reason"]) == (record["outcome"], record["reason"])
        assert event["data"]["usage"] == record["usage"]
        assert event["data"]["cost"] == record["cost"]
        assert event["data"]["links"]["self"].endswith(document_url(record))
        assert "good note" not in str(event).lower()


def test_the_gateway_is_told_whose_call_it_is(lane: Lane) -> None:
    folder = a_folder("retail")
    lane.drop(f"{folder}a.txt", b"A note of retail.")

    record = lane.finished(f"{folder}a.txt")

    [call] = [e for e in lane.provider.journal(operation="chat") if e["correlation_id"] == record["id"]]
    assert call["tenant"] == "retail"


def test_names_come_back_as_they_were_given(lane: Lane) -> None:
    folder = a_folder()
    lane.drop_all({f"{folder}{name}": f"The content of {n}.".encode() for n, name in enumerate(NAMES)})

    records = lane.all_finished(folder, len(NAMES))

    assert {record["path"] for record in records} == {f"{folder}{name}" for name in NAMES}
    assert {record["outcome"] for record in records} == {"succeeded"}
    assert lane.results(folder) == {f"{folder}{name}" for name in NAMES}
    for n, name in enumerate(NAMES):
        result = lane.result(f"{folder}{name}")
        assert result is not None
        assert result["document"]["path"] == f"{folder}{name}"
        assert f"content of {n}" in result["output"]


def test_what_cannot_be_answered_ends_with_its_reason_on_the_first_delivery(lane: Lane) -> None:
    folder = a_folder()
    expected: dict[str, tuple[bytes, str, str]] = {
        "filtered.txt": (b"filterword in a note.", "refused", "content_filter"),
        "refused.txt": (b"refusalword in a note.", "refused", "refusal"),
        "cut.txt": (b"cutword in a note.", "truncated", "max_tokens"),
        "encrypted.pdf": (
            pdf.encrypted_pdf(["Secret."], algorithm="AES-256", user_password="secret"),
            "failed",
            "encrypted",
        ),
        "scan.pdf": (pdf.pdf([None, None]), "failed", "no_text"),
        "corrupt.pdf": (b"%PDF-1.7\n" + bytes(range(256)) * 8, "failed", "corrupt"),
        "corrupt.docx": (office.docx(["x" * 1000])[:-200], "failed", "corrupt"),
        "empty.txt": (b"", "failed", "empty"),
        "film.mp4": (b"\x00\x00\x00\x18ftypmp42" + bytes(1000), "failed", "unsupported_type"),
        "scan.png": (b"\x89PNG\r\n\x1a\n" + bytes(1000), "failed", "no_text"),
        "entities.xlsx": (hostile.entity_workbook(), "failed", "corrupt"),
    }
    lane.provider.answer("filterword", "content_filter")
    lane.provider.answer("refusalword", "refusal")
    lane.provider.answer("cutword", "truncated")
    lane.drop_all({f"{folder}{name}": content for name, (content, _, _) in expected.items()})

    records = {r["path"].removeprefix(folder): r for r in lane.all_finished(folder, len(expected))}

    ends = {name: (r["outcome"], r["reason"]) for name, r in records.items()}
    assert ends == {name: (outcome, reason) for name, (_, outcome, reason) in expected.items()}
    for name, record in records.items():
        result = lane.result(f"{folder}{name}")
        assert result is not None
        assert_same(record, {field: result[field] for field in ("outcome", "reason", "message", "attempts")})
        if record["outcome"] == "failed":
            assert record["message"]
    asked = {name for name, record in records.items() if lane.calls([record])}
    assert asked == {"filtered.txt", "refused.txt", "cut.txt"}
    assert lane.called_for(records.values()) == 3
    assert lane.counts()["dead_letter"] == 0


def test_what_has_no_owner_is_shown_to_operators_only(lane: Lane) -> None:
    stranger, lost = a_folder("nobody"), a_folder("support", "nowhere")
    lane.drop(f"{stranger}a.txt", b"Whose is this?")
    lane.drop(f"{lost}a.txt", b"What is this for?")

    ends = [lane.finished(f"{stranger}a.txt"), lane.finished(f"{lost}a.txt")]

    assert [end["reason"] for end in ends] == ["unknown_tenant", "unknown_pipeline"]
    for end in ends:
        assert end["message"]
        assert problem(lane.support.get(document_url(end)))["status"] == 404
        assert lane.operators.get(document_url(end)).status_code == 200
    assert lane.records(lost, caller=lane.support) == []
    assert lane.called_for(ends) == 0


def test_a_schema_is_kept_to_and_an_invalid_answer_is_repaired_once(lane: Lane) -> None:
    folder = a_folder(pipeline="invoices")
    good, bad = {"number": "R-7", "total": 12.5}, {"number": "R-7"}
    lane.provider.answer("goodword", "success", text=good)
    lane.provider.answer("mendword", "success", text=bad, times=1)
    lane.provider.answer("mendword", "success", text=good)
    lane.provider.answer("brokenword", "success", text=bad)
    lane.drop_all({f"{folder}{word}.txt": f"{word}word".encode() for word in ("good", "mend", "broken")})

    records = {r["path"].removeprefix(folder)[:-4]: r for r in lane.all_finished(folder, 3)}

    ends = {word: (r["outcome"], r["reason"], r["attempts"]) for word, r in records.items()}
    assert ends == {
        "good": ("succeeded", None, 1),
        "mend": ("succeeded", None, 2),
        "broken": ("invalid", "schema", 2),
    }
    for word in ("good", "mend"):
        result = lane.result(f"{folder}{word}.txt")
        assert result is not None
        assert result["output"] == good
    assert lane.calls([records["mend"]]).total() == lane.calls([records["broken"]]).total() == 2


def test_vectors_lie_beside_the_result_as_lines_and_go_with_the_document(lane: Lane) -> None:
    path = f"{a_folder(pipeline='knowledge')}a manual #1.txt"
    lane.drop(path, b"The pump is on the left. The valve is behind the pump, and it is red. " * 4)
    record = lane.finished(path)

    result, lines = lane.result(path), lane.lines(path)
    assert result is not None
    assert lines is not None
    assert result["parts"] == [{"path": f"results/{path}.jsonl", "content_type": "application/jsonl"}]
    assert [line["id"] for line in lines] == [f"{record['id']}-{n}" for n in range(len(lines))]
    assert [(line["text"], line["vector"]) for line in lines] == [
        (piece["text"], piece["vector"]) for piece in result["output"]
    ]
    assert {line["path"] for line in lines} == {path}
    assert len(lines) > 1

    assert lane.support.delete(document_url(record)).status_code == 204
    assert lane.result(path) is None
    assert lane.lines(path) is None


def test_the_newest_version_stands(lane: Lane) -> None:
    folder = a_folder()
    path = f"{folder}versions.txt"
    lane.provider.rule({"operation": "chat", "contains": "slowword"}, {"delay_ms": 4000})
    lane.drop(path, b"slowword first version.")
    first = once(lambda: lane.calls(lane.records(path)) and lane.record(path))
    lane.drop(path, b"The second version.")

    records = lane.all_finished(path, 2)

    result = lane.result(path)
    assert result is not None
    assert "second version" in result["output"]
    by_id = {record["id"]: record for record in records}
    assert by_id[first["id"]]["outcome"] == "succeeded"
    assert result["document"]["id"] != first["id"]
    assert result["document"]["etag"] != by_id[first["id"]]["etag"]


def test_a_document_deleted_before_its_turn_is_gone(lane: Lane) -> None:
    path = f"{a_folder(pipeline='shaky')}late.txt"
    # No call for it is ever answered, whenever it is made.
    lane.provider.rule({"operation": "chat", "contains": "goes before its turn"}, {"status": 503})
    lane.drop(path, b"This one goes before its turn.")
    lane.record(path)
    lane.remove(path)

    record = lane.finished(path)

    lane.provider.clear()
    assert (record["outcome"], record["reason"]) == ("failed", "gone")
    assert set(record["usage"].values()) <= {0, None}


def test_a_tenant_sees_its_own_documents_and_no_others(lane: Lane) -> None:
    mine, theirs = a_folder("support"), a_folder("retail")
    lane.drop(f"{mine}a.txt", b"A note of support.")
    lane.drop(f"{theirs}a.txt", b"A note of retail.")
    own, foreign = lane.finished(f"{mine}a.txt"), lane.finished(f"{theirs}a.txt")

    assert answered(lane.support, document_url(own))["id"] == own["id"]
    listed = {each["tenant"] for each in answered(lane.support, "/v1/documents", limit=200)["data"]}
    assert listed == {"support"}
    nowhere = problem(lane.support.get("/v1/documents/doc_0123456789ab0123456789abcdef"))
    for response in (
        lane.support.get(document_url(foreign)),
        lane.support.post(f"{document_url(foreign)}/retry"),
        lane.support.delete(document_url(foreign)),
    ):
        refusal = problem(response)
        assert (refusal["status"], refusal["title"]) == (404, nowhere["title"])
    assert lane.lies_there(f"{theirs}a.txt")


def test_a_list_is_read_page_by_page(lane: Lane) -> None:
    folder = a_folder("retail")
    lane.drop_all(texts(folder, 5))
    lane.all_finished(folder, 5)

    seen: list[Json] = []
    query: dict[str, str | int] = {"pipeline": "notes", "status": "completed", "limit": 2}
    while True:
        page = answered(lane.retail, "/v1/documents", **query)
        assert len(page["data"]) <= 2
        seen += page["data"]
        if not page["has_more"]:
            break
        query["after"] = page["next"]

    moments = [datetime.fromisoformat(each["modified_at"]) for each in seen]
    assert moments == sorted(moments, reverse=True)
    assert len({each["id"] for each in seen}) == len(seen)
    assert len([each for each in seen if each["path"].startswith(folder)]) == 5


def test_a_failed_document_can_be_retried_when_its_file_is_mended(lane: Lane) -> None:
    folder = a_folder()
    path = f"{folder}refused.txt"
    lane.provider.answer("refusalword", "refusal")
    lane.drop(path, b"refusalword")
    refused = lane.finished(path)
    assert problem(lane.support.post(f"{document_url(refused)}/retry"))["status"] == 422
    lane.provider.clear()

    again = lane.support.post(f"{document_url(refused)}/retry", {"include": ["refused"]})

    assert again.status_code == 202, again.text
    assert again.json()["id"] == refused["id"]
    answer = lane.finished(path)
    assert (answer["outcome"], answer["id"]) == ("succeeded", refused["id"])
    result = lane.result(path)
    assert result is not None
    assert result["outcome"] == "succeeded"
    assert lane.called_for([answer]) == 2


def test_an_erased_document_leaves_its_record(lane: Lane) -> None:
    folder = a_folder()
    path = f"{folder}secret.txt"
    lane.drop(path, b"A secret that must go.", project=re.sub(r"\W", "", folder))
    record = lane.finished(path)

    assert lane.support.delete(document_url(record)).status_code == 204

    assert not lane.lies_there(path)
    assert lane.result(path) is None
    kept = answered(lane.support, document_url(record))
    assert kept["erased_at"]
    assert kept["usage"] == record["usage"]
    assert lane.booked(re.sub(r"\W", "", folder))["requests"] == 1
    assert problem(lane.support.post(f"{document_url(record)}/retry"))["status"] == 404


def assert_same(record: Json, facts: Json) -> None:
    assert {name: record[name] for name in facts} == facts
