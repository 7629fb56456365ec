"""A batch from first to last with nothing but the official `openai` client.

    .venv/bin/python -m examples.openai_client --base-url URL --key KEY --model summarize

It runs unchanged against Postern and against the provider itself: only the three options differ. Prints a
line for each step, or with `--json` everything that was answered.
"""

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from openai import APIStatusError, BadRequestError, NotFoundError, OpenAI
from openai.types import Batch

type Json = dict[str, Any]

LINES = 1_000
ENDPOINT: Final = "/v1/chat/completions"
OVER = frozenset({"completed", "failed", "expired", "cancelled"})
PATIENCE = 90.0


def line(custom_id: str, model: str, text: str) -> Json:
    body = {"model": model, "messages": [{"role": "user", "content": text}], "max_completion_tokens": 60}
    return {"custom_id": custom_id, "method": "POST", "url": ENDPOINT, "body": body}


def jsonl(lines: list[Json]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in lines)


def tickets(model: str, count: int = LINES) -> bytes:
    texts = (f"Ticket {n}: the battery is empty after {n % 40} km. It is one year old." for n in range(count))
    lines = [line(f"ticket-{n}", model, text) for n, text in enumerate(texts)]
    return jsonl([*lines[:-1], line("last one", model, "This ticket is unanswerable. Nobody knows why.")])


class Walk:
    """Everything that was answered on the way, under a name for each step."""

    def __init__(self, client: OpenAI, model: str, *, look_every: float = 2.0) -> None:
        self.client = client
        self.model = model
        self.seen: dict[str, Any] = {}
        self._look_every = look_every

    def __call__(self) -> dict[str, Any]:
        batch = self.good_batch()
        self.files_of(batch)
        self.lists(batch)
        self.bad_batch("bad json", jsonl([line("a", self.model, "Fine.")]) + b"{broken\n")
        self.bad_batch("same id twice", jsonl([line("a", self.model, "One.")] * 2))
        self.bad_batch("two models", jsonl([line("a", self.model, "One."), line("b", "gpt-5-nano", "Two.")]))
        self.cancelled()
        self.refusals(batch)
        self.deleted(batch)
        return self.seen

    def upload(self, name: str, content: bytes) -> str:
        file = self.client.files.create(
            file=(f"{name}.jsonl", content),
            purpose="batch",
            expires_after={"anchor": "created_at", "seconds": 1_209_600},
        )
        self.seen[f"upload, {name}"] = file.to_dict()
        return file.id

    def create(self, file: str, **more: Any) -> Batch:
        return self.client.batches.create(
            input_file_id=file, endpoint=ENDPOINT, completion_window="24h", **more
        )

    def finished(self, batch: Batch) -> Batch:
        deadline = time.monotonic() + PATIENCE
        while batch.status not in OVER:
            if time.monotonic() > deadline:
                raise TimeoutError(f"batch {batch.id} is still {batch.status}")
            time.sleep(self._look_every)
            batch = self.client.batches.retrieve(batch.id)
        return batch

    def good_batch(self) -> Batch:
        file = self.upload("tickets", tickets(self.model))
        created = self.create(file, metadata={"project": "tickets", "night": "2026-11-30"})
        self.seen["created"] = created.to_dict()
        batch = self.finished(created)
        self.seen["finished"] = batch.to_dict()
        return batch

    def files_of(self, batch: Batch) -> None:
        for name, file in (("output", batch.output_file_id), ("error", batch.error_file_id)):
            if file is None:
                continue
            self.seen[f"{name} file"] = self.client.files.retrieve(file).to_dict()
            content = self.client.files.content(file)
            rows = _rows(content.content)
            self.seen[f"{name} rows"] = sorted(rows, key=lambda row: str(row["custom_id"]))
            with self.client.files.with_streaming_response.content(file) as streamed:
                same = b"".join(streamed.iter_bytes()) == content.content
            self.seen[f"{name} streamed"] = {"is the same": same}
        self.seen["input again"] = {
            "is the same": self.client.files.content(batch.input_file_id).content == tickets(self.model)
        }

    def lists(self, batch: Batch) -> None:
        others = [self.upload(f"other {n}", jsonl([line("a", self.model, "Hello.")])) for n in range(3)]
        first = self.client.files.list(limit=2, purpose="batch")
        self.seen["a page of files"] = {**first.to_dict(), "data": [f.to_dict() for f in first.data]}
        ids = [file.id for file in self.client.files.list(limit=2, purpose="batch")]
        self.seen["all files"] = {
            "newest first": ids[:3] == others[::-1],
            "all there": batch.input_file_id in ids,
        }
        oldest = [file.id for file in self.client.files.list(limit=100, order="asc", purpose="batch")]
        self.seen["oldest first"] = {"the other way round": oldest == ids[::-1]}
        made = [self.create(file).id for file in others]
        page = self.client.batches.list(limit=2)
        self.seen["a page of batches"] = {
            "has_more": page.has_more,
            "ids": [b.id for b in page.data] == made[:0:-1],
        }
        found = [each.id for each in self.client.batches.list(limit=2)]
        self.seen["all batches"] = {"newest first": found[:3] == made[::-1], "all there": batch.id in found}
        for each in made:
            self.finished(self.client.batches.retrieve(each))

    def bad_batch(self, name: str, content: bytes) -> None:
        created = self.create(self.upload(name, content))
        self.seen[f"created, {name}"] = created.to_dict()
        self.seen[f"failed, {name}"] = self.finished(created).to_dict()

    def cancelled(self) -> None:
        batch = self.create(self.upload("cancelled", tickets(self.model)))
        self.seen["cancelling"] = self.client.batches.cancel(batch.id).to_dict()
        self.seen["cancelled"] = self.finished(batch).to_dict()

    def refusals(self, batch: Batch) -> None:
        client = self.client
        refused: dict[str, Callable[[], object]] = {
            "unknown batch": lambda: client.batches.retrieve("batch_0"),
            "unknown file": lambda: client.files.retrieve("file-0"),
            "content of unknown file": lambda: client.files.content("file-0"),
            "delete unknown file": lambda: client.files.delete("file-0"),
            "batch of unknown file": lambda: self.create("file-0"),
            "batch of an output": lambda: self.create(str(batch.output_file_id)),
            "cancel what is over": lambda: client.batches.cancel(batch.id),
            "other window": lambda: client.batches.create(
                input_file_id=batch.input_file_id,
                endpoint=ENDPOINT,
                completion_window="48h",  # type: ignore[arg-type]
            ),
            "no such endpoint": lambda: client.batches.create(
                input_file_id=batch.input_file_id,
                endpoint="/v1/fine_tuning",  # type: ignore[arg-type]
                completion_window="24h",
            ),
            "too much metadata": lambda: self.create(
                batch.input_file_id, metadata={f"k{n}": "v" for n in range(17)}
            ),
            "kept too short": lambda: client.files.create(
                file=("a.jsonl", b"{}"),
                purpose="batch",
                expires_after={"anchor": "created_at", "seconds": 60},
            ),
        }
        for name, call in refused.items():
            self.seen[f"refused, {name}"] = refusal_of(call)

    def deleted(self, batch: Batch) -> None:
        for name, file in (("input", batch.input_file_id), ("output", batch.output_file_id)):
            self.seen[f"deleted {name}"] = self.client.files.delete(str(file)).to_dict()
            self.seen[f"deleted {name} again"] = refusal_of(partial(self.client.files.delete, str(file)))


def _rows(content: bytes) -> list[Json]:
    """Lines end with `\\n` and nothing else: answers may hold other characters that break lines."""
    return [json.loads(row) for row in content.split(b"\n") if row]


def refusal_of(call: Callable[[], object]) -> Json:
    try:
        call()
    except APIStatusError as error:
        kinds = {NotFoundError: "not found", BadRequestError: "bad request"}
        return {"status": error.status_code, "kind": kinds.get(type(error)), "body": error.body}
    return {"status": 200}


def told(answer: Any) -> str:
    """One answer, or several, in a few words."""
    match answer:
        case list():
            return f"{len(answer)} rows"
        case {"deleted": bool()}:
            return "deleted" if answer["deleted"] else "not deleted"
        case {"object": "batch", "status": str(status)}:
            counts = answer.get("request_counts") or {}
            return ", ".join([status, *(f"{count} {name}" for name, count in counts.items())])
        case {"object": "file", "filename": str(name)}:
            return f"{name}, {answer['bytes']:,} bytes"
        case {"status": int(status)}:
            return f"{status} {answer.get('kind') or ''}".strip()
        case {"data": list(data)}:
            return f"{len(data)} of more" if answer.get("has_more") else f"{len(data)}"
        case _:
            return ", ".join(f"{name}: {'yes' if value else 'no'}" for name, value in answer.items())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--base-url", required=True)
    options.add_argument("--key", required=True)
    options.add_argument("--model", required=True)
    options.add_argument("--json", action="store_true", help="print everything that was answered")
    given = options.parse_args()
    with OpenAI(base_url=given.base_url, api_key=given.key) as client:
        seen = Walk(client, given.model)()
    if given.json:
        print(json.dumps(seen, indent=1))
    else:
        print("\n".join(f"{step:<32} {told(answer)}" for step, answer in seen.items()))


if __name__ == "__main__":
    main()
