"""The official client does the same against Postern as against the provider, and gets the same."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from openai import AzureOpenAI, OpenAI

from examples.openai_client import OVER, Walk, jsonl, line
from local.stack import Stack
from tests.integration.catalogs import KEYS
from tests.integration.postern import Caller
from tests.integration.provider import Provider

pytestmark = pytest.mark.stack

type Json = dict[str, Any]

ID = re.compile(r"\b(file-|batch_req_|batch_|chatcmpl-)[0-9a-f]{12,}(?:[oe]\b)?")
# Where the two may differ, and docs/reference/openai-api.md says why.
EXPLAINED = (
    r"/(model|bytes)",  # the alias instead of the provider's name
    r"/message",  # the wording of errors
    r"/request_id",  # as ids
    r"/cancelled/(error_file_id|in_progress_at|request_counts)",  # cancelled while it was validated
    r"/failed, [\w ]+/errors/data/0/(message|param)",
)
EXPLAINED_PATH = re.compile("|".join(f"(?:.*{path}(?:/.*)?)" for path in EXPLAINED))


@pytest.fixture
def clients(stack: Stack) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{stack.http}/openai/v1", api_key=KEYS["clients"], max_retries=0) as client:
        yield client


def walked(client: OpenAI, model: str) -> dict[str, Any]:
    return Walk(client, model, look_every=0.1)()


def plain(value: Any, name: str = "") -> Any:
    """The same without ids and times."""
    if isinstance(value, dict):
        return {key: plain(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, int) and (name.endswith("_at") or name == "created"):
        return "a time"
    return ID.sub(r"\1...", value) if isinstance(value, str) else value


def differences(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            yield from differences(ours.get(key, "nothing"), theirs.get(key, "nothing"), f"{path}/{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for n, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(*pair, f"{path}/{n}")
    elif ours != theirs and not EXPLAINED_PATH.fullmatch(path):
        yield f"{path}: {str(ours)[:200]} here, {str(theirs)[:200]} there"


def test_postern_answers_as_the_provider_does(stack: Stack, provider: Provider, clients: OpenAI) -> None:
    provider.answer("unanswerable", "error")
    with OpenAI(base_url=f"{stack.simulator}/openai/v1", api_key="any", max_retries=0) as theirs:
        there = walked(theirs, "gpt-4.1-mini")

    here = walked(clients, "openai")

    assert len(here) > 40
    assert {row["response"]["status_code"] for row in here["output rows"]} == {200}
    assert len(here["output rows"]) == 999
    assert list(here) == list(there)
    assert list(differences(plain(here), plain(there))) == []


def test_a_batch_is_a_job_for_the_native_api(clients: OpenAI, stack: Stack) -> None:
    file = clients.files.create(
        file=("a.jsonl", jsonl([line(f"r-{n}", "openai", "Hello.") for n in range(2)])), purpose="batch"
    )
    batch = clients.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"project": "p"},
    )

    with Caller(stack.http, KEYS["clients"]) as caller:
        job = caller.finished(batch.id)
        results = caller.results(batch.id)

    assert (job["id"], job["tags"], job["alias"]) == (batch.id, {"project": "p"}, "openai")
    assert job["counts"]["succeeded"] == job["counts"]["unique"] == 2
    assert [row["custom_id"] for row in results] == ["r-0", "r-1"]


@pytest.mark.parametrize(
    ("endpoint", "alias", "body", "kind"),
    [
        ("/v1/responses", "openai", {"input": "Hello."}, "response"),
        ("/v1/embeddings", "openai", {"input": "Hello."}, "list"),
        (
            "/v1/chat/completions",
            "anthropic",
            {"messages": [{"role": "user", "content": "Hi."}]},
            "chat.completion",
        ),
    ],
)
def test_every_endpoint_and_provider_answers_in_openais_shape(
    clients: OpenAI, stack: Stack, endpoint: Any, alias: str, body: Json, kind: str
) -> None:
    asked = {"custom_id": "a", "method": "POST", "url": endpoint, "body": {**body, "model": alias}}
    file = clients.files.create(file=("a.jsonl", jsonl([asked])), purpose="batch")
    batch = clients.batches.create(input_file_id=file.id, endpoint=endpoint, completion_window="24h")

    with Caller(stack.http, KEYS["clients"]) as caller:
        caller.finished(batch.id)
    done = clients.batches.retrieve(batch.id)
    row = json.loads(clients.files.content(str(done.output_file_id)).text)

    assert (done.endpoint, done.status) == (endpoint, "completed")
    assert (row["custom_id"], row["response"]["body"]["object"]) == ("a", kind)


def test_azures_client_finds_the_same_below_its_own_paths(clients: OpenAI, stack: Stack) -> None:
    azure = AzureOpenAI(
        azure_endpoint=stack.http, api_version="2024-10-21", api_key=KEYS["clients"], max_retries=0
    )
    with azure:
        file = azure.files.create(
            file=("a.jsonl", jsonl([line("r-0", "summarize", "Hello.")])),
            purpose="batch",
            extra_body={"expires_after": {"seconds": 1_209_600, "anchor": "created_at"}},
        )
        batch = azure.batches.create(
            input_file_id=file.id,
            endpoint="/chat/completions",  # type: ignore[arg-type]
            completion_window="24h",
        )
        with Caller(stack.http, KEYS["clients"]) as caller:
            caller.finished(batch.id)
        batch = azure.batches.retrieve(batch.id)

        assert batch.status in OVER
        assert azure.files.content(str(batch.output_file_id)).text.count("\n") == 1
        assert file.expires_at == file.created_at + 1_209_600
        assert batch.id in {each.id for each in azure.batches.list(limit=1)}
        assert "summarize" in {model.id for model in azure.models.list()}
        assert azure.files.delete(file.id).deleted
    assert clients.batches.retrieve(batch.id).to_dict() == batch.to_dict()


def test_a_path_that_is_none_is_refused_in_openais_shape(clients: OpenAI, stack: Stack) -> None:
    with Caller(stack.http, KEYS["clients"]) as caller:
        answer = caller.post("/openai/v1/chat/completions", {})

    assert answer.status_code == 404
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
    assert answer.headers["content-type"] == "application/json"
