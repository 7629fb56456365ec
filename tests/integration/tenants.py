"""One tenant's things of every kind, and how to tell when another one gets to see them."""

import uuid
from dataclasses import dataclass
from typing import Self

from local.stack import Stack
from tests.integration.postern import Caller, Json, chat, jsonl
from tests.integration.provider import eventually

# The only one of the catalogue.
PIPELINE = "notes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Belongings:
    """`ids` by kind. `word` stands in every content, name and tag, and in none of the ids."""

    tenant: str
    word: str
    ids: dict[str, str]
    cursors: dict[str, str]

    @classmethod
    def of(cls, stack: Stack, caller: Caller, tenant: str) -> Self:
        """Two jobs and documents each, so that there is a second page."""
        word = f"hidden{uuid.uuid4().hex[:12]}"
        paths = [f"{tenant}/{PIPELINE}/{word}-{n}.txt" for n in range(2)]
        for path in paths:
            stack.drop(path, f"The word is {word}.".encode())
        native = caller.submitted(chat(f"The word is {word}."), tags={"project": word})
        upload = caller.upload(jsonl(chat(f"The word is {word}.")))
        file = _file(caller, word)
        made = caller.post(
            "/openai/v1/batches",
            {
                "input_file_id": file["id"],
                "endpoint": "/v1/chat/completions",
                "completion_window": "24h",
                "metadata": {"project": word},
            },
        )
        assert made.status_code == 200, made.text
        caller.finished(native)
        caller.finished(made.json()["id"])
        batch = caller.get(f"/openai/v1/batches/{made.json()['id']}").json()
        documents = eventually(lambda: _documents(caller, word))
        ids = {
            "job": native["id"],
            "batch": batch["id"],
            "file": file["id"],
            "output file": batch["output_file_id"],
            "document": documents[0]["id"],
            "upload": upload,
        }
        lists = ("/v1/jobs", "/v1/documents")
        cursors = {path: caller.get(path, limit=1).json()["next"] for path in lists}
        return cls(tenant=tenant, word=word, ids=ids, cursors=cursors)


def _file(caller: Caller, word: str) -> Json:
    line = {
        "custom_id": "one",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "summarize", **chat(f"The word is {word}.")["body"]},
    }
    response = caller.http.post(
        "/openai/v1/files", data={"purpose": "batch"}, files={"file": (f"{word}.jsonl", jsonl(line))}
    )
    assert response.status_code == 200, response.text
    return dict(response.json())


def _documents(caller: Caller, word: str) -> list[Json]:
    """Both, once they are finished."""
    listed = caller.get("/v1/documents", limit=200).json()["data"]
    found = [each for each in listed if word in each["path"] and each["status"] == "completed"]
    return found if len(found) == 2 else []
