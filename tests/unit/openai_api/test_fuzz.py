"""Whatever a client sends: an answer of OpenAI's shape, no 5xx, and nothing of another tenant."""

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.openai_world import OpenAIWorld, lines_of

SECRET = "the other team's secret"
PATHS = ["/files/{}", "/files/{}/content", "/batches/{}", "/models/{}"]
LISTS = ["/files", "/batches"]

segments = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80),
    st.from_regex(r"\A(file-|batch_|job_)[0-9a-f]{0,40}\Z"),
    st.from_regex(r"\A(file-|batch_|job_)[0-9a-f]{28}\Z"),
    st.sampled_from(["..", "%2e%2e", "file-" + "f" * 28, "batch_" + "0" * 28, "file-\u0661" + "0" * 27]),
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
headers = st.dictionaries(
    st.sampled_from(
        [
            "range",
            "if-range",
            "x-stainless-retry-count",
            "content-type",
            "content-length",
            "x-forwarded-proto",
        ]
    ),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60),
    max_size=3,
)
fuzzed = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


async def ask(world: OpenAIWorld, method: str, path: str, **more: Any) -> None:
    async with world.http() as http:
        answer = await http.request(method, f"/openai/v1{path}", **more)
    assert answer.status_code < 500, answer.text
    assert SECRET not in answer.text
    if answer.status_code >= 400 and answer.headers.get("content-type") == "application/json":
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


@pytest.fixture
async def crowded(world: OpenAIWorld) -> OpenAIWorld:
    """Another tenant has a file and a batch, and so has the one that asks."""
    for tenant in ("retail", "support"):
        client = world.client(tenant)
        text = SECRET if tenant == "retail" else "nothing special"
        file = await client.files.create(file=(f"{text}.jsonl", lines_of([text])), purpose="batch")
        await client.batches.create(
            input_file_id=file.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={"what": text},
        )
    await world.run()
    return world


@fuzzed
@given(
    path=st.sampled_from(PATHS), segment=segments, named=headers, method=st.sampled_from(["GET", "DELETE"])
)
async def test_ids_and_headers(
    crowded: OpenAIWorld, path: str, segment: str, named: dict[str, str], method: str
) -> None:
    await ask(crowded, method, path.format(quote(segment, safe="")), headers=named)


@fuzzed
@given(
    path=st.sampled_from(LISTS),
    query=st.dictionaries(
        st.sampled_from(["after", "limit", "order", "purpose", "api-version", "tenant", "x"]),
        segments | texts | st.integers().map(str),
        max_size=4,
    ),
)
async def test_cursors_and_limits(crowded: OpenAIWorld, path: str, query: dict[str, str]) -> None:
    await ask(crowded, "GET", path, params=query)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@fuzzed
@given(
    body=st.dictionaries(
        st.sampled_from(
            ["input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after"]
        )
        | texts,
        json_values
        | st.sampled_from(
            ["24h", "/v1/responses", "file-" + "0" * 28, {"anchor": "created_at", "seconds": 3600}]
        ),
        max_size=6,
    ),
    named=headers,
)
async def test_wishes(crowded: OpenAIWorld, body: dict[str, Any], named: dict[str, str]) -> None:
    await ask(crowded, "POST", "/batches", json=body, headers=named)


@fuzzed
@given(
    pieces=st.lists(
        st.sampled_from(
            [
                b"--xyz\r\n",
                b"--xyz--\r\n",
                b"\r\n",
                b'Content-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n',
                b'Content-Disposition: form-data; name="file"; filename="a"\r\n\r\n{}\r\n',
                b"Content-Disposition: form-data\r\n\r\n",
                b"name",
            ]
        )
        | st.binary(max_size=40),
        max_size=8,
    ),
    content_type=st.sampled_from(["multipart/form-data; boundary=xyz", "multipart/form-data", "text/plain"])
    | texts,
)
async def test_forms(crowded: OpenAIWorld, pieces: list[bytes], content_type: str) -> None:
    named = {"content-type": content_type.encode("ascii", "ignore").decode()}
    if named["content-type"].isprintable():
        await ask(crowded, "POST", "/files", content=b"".join(pieces), headers=named)


@fuzzed
@given(content=st.binary(max_size=200) | texts.map(str.encode) | json_values.map(lambda v: repr(v).encode()))
async def test_files_of_anything(crowded: OpenAIWorld, content: bytes) -> None:
    client = crowded.client()
    file = await client.files.create(file=("a.jsonl", content), purpose="batch")

    batch = await client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
    )
    await crowded.run()

    assert (await client.batches.retrieve(batch.id)).status == "failed"
