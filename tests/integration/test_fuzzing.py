"""Every operation of the document, called with what fits it and what does not: no server error, no surprise.

The same calls at every run. `FUZZ_EXAMPLES=1000` makes many others, a thousand an operation.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from local.stack import Stack
from tests.integration.catalogs import KEYS
from tests.integration.described import SCHEMAS, Described, contradictions, operations
from tests.integration.tenants import Belongings
from tests.support.from_schema import ANY_JSON, NAMES, ODD, Values

pytestmark = pytest.mark.stack

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
PER_OPERATION = EXAMPLES or 12
LONG = httpx2.Timeout(60)
# What a header may hold on its way; anything else is refused by the sender itself.
HEADER_VALUES = st.text(
    st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=40
).map(str.strip)
ODD_RANGES = st.sampled_from(
    [
        "bytes=0-0",
        "bytes=9-1",
        "bytes=-0",
        "bytes=a-b",
        "bytes=-",
        "bytes=0-,5-",
        f"bytes={'9' * 30}-",
        "x=1",
        "bytes=1-",
    ]
)
FREE_HEADERS: Mapping[str, SearchStrategy[str]] = {
    "range": ODD_RANGES,
    "if-range": HEADER_VALUES,
    "accept": HEADER_VALUES,
    "content-type": HEADER_VALUES
    | st.sampled_from(["multipart/form-data", "application/json; charset=utf-16"]),
    "content-encoding": st.sampled_from(["gzip", "br", "identity", "x"]),
    "x-stainless-retry-count": st.sampled_from(["0", "1", "-1", "٣".encode().decode("latin-1"), "9" * 50]),
    "x-forwarded-proto": HEADER_VALUES,
    "traceparent": HEADER_VALUES,
    "cookie": HEADER_VALUES,
    "authorization": HEADER_VALUES,
    "x-http-method-override": st.just("DELETE"),
}
ODD_IDS = (
    NAMES.filter(lambda text: text not in ("", ".", ".."))
    | st.sampled_from(["\0", "job_" + "f" * 28, "batch_" + "0" * 28, "file-" + "g" * 28, "doc_" + "f" * 28, "a/b",
                       "x" * 300, "job_01a22d473d8b5b68e4613e3e401c\n", "..;", "💩"])
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    target: str
    query: tuple[tuple[str, str], ...]
    headers: dict[str, str]
    content: bytes | None


def tries(operation: Described, ids: list[str]) -> SearchStrategy[Try]:
    """Calls of the operation: some as described, some nearly so, some not at all."""

    @st.composite
    def draw_one(draw: DrawFn) -> Try:
        an_id = st.sampled_from(ids) | ODD_IDS
        named = {each["name"]: draw(an_id) for each in operation.parameters("path")}
        query = draw(_query(operation, an_id))
        headers = draw(_headers(operation))
        content = None
        if operation.body is not None:
            media, content = draw(_body(*operation.body, an_id))
            headers = {"content-type": media} | headers
        return Try(target=operation.target(**named), query=tuple(query), headers=headers, content=content)

    return draw_one()


@st.composite
def _query(draw: DrawFn, operation: Described, an_id: SearchStrategy[str]) -> list[tuple[str, str]]:
    values = Values(SCHEMAS, {})
    pairs = []
    for each in operation.parameters("query"):
        if draw(st.booleans()):
            value = draw(
                values.of(each["schema"]) | an_id | st.sampled_from(["0", "2026-11-30T00:00:00Z", "support"])
            )
            pairs.append((each["name"], str(value)))
    # One in a few is not known, or comes twice.
    return pairs + draw(st.just([]) | st.just(pairs) | st.lists(st.tuples(NAMES, NAMES), max_size=1))


@st.composite
def _headers(draw: DrawFn, operation: Described) -> dict[str, str]:
    own = {each["name"]: HEADER_VALUES for each in operation.parameters("header")}
    key = draw(st.sampled_from([KEYS["support"]] * 9 + ["no key"]))
    return {"authorization": f"Bearer {key}"} | draw(
        st.fixed_dictionaries({}, optional=own)
        | st.just({})
        | st.sampled_from(sorted(FREE_HEADERS)).flatmap(
            lambda name: st.fixed_dictionaries({name: FREE_HEADERS[name]})
        )
    )


@st.composite
def _body(
    draw: DrawFn, media: str, schema: Mapping[str, Any], an_id: SearchStrategy[str]
) -> tuple[str, bytes]:
    aliases = st.sampled_from(["summarize", "summarize", "embed", "nobody"])
    hints = {
        "alias": aliases,
        "upload_id": an_id,
        "input_file_id": an_id,
        "requests": st.just([{"body": {}}]),
    }
    values = Values(SCHEMAS, hints)
    value = draw(values.of(schema) | Values(SCHEMAS, {}).of(schema) | values.almost(schema) | ODD | ANY_JSON)
    if media == "multipart/form-data":
        return draw(_form(value))
    sound = msgspec.json.encode(value) if not _is_huge(value) else repr(value).encode()
    cut = st.integers(0, len(sound)).map(lambda n: sound[:n])
    return media, draw(st.just(sound) | st.just(sound) | cut | st.binary(max_size=40))


def _is_huge(value: object) -> bool:
    """Whether a part is a number that msgspec does not write."""
    match value:
        case dict():
            return any(_is_huge(each) for each in value.values())
        case list():
            return any(_is_huge(each) for each in value)
        case _:
            return isinstance(value, int) and not -(2**63) <= value < 2**64


@st.composite
def _form(draw: DrawFn, value: object) -> tuple[str, bytes]:
    """The value as a form, often without its end, or with a part that is none."""
    fields = value if isinstance(value, dict) else {"file": value}
    parts = []
    for name, inner in fields.items():
        inner_fields = (
            {f"{name}[{key}]": each for key, each in inner.items()}
            if isinstance(inner, dict)
            else {name: inner}
        )
        for key, each in inner_fields.items():
            filename = draw(
                st.sampled_from(["", '; filename="a.jsonl"', "; filename", f'; filename="{key}"'])
            )
            parts.append(
                f'--edge\r\nContent-Disposition: form-data; name="{key}"{filename}\r\n\r\n{each}\r\n'
            )
    end = draw(st.sampled_from(["--edge--\r\n", "--edge--\r\n", "--edge--", "--edge\r\n", ""]))
    content = "".join([*parts, end]).encode("utf-8", "surrogatepass")
    cut = draw(st.just(len(content)) | st.integers(0, len(content)))
    media = draw(
        st.sampled_from(["multipart/form-data; boundary=edge"] * 4 + ["multipart/form-data; boundary="])
    )
    return media, content[:cut]


@pytest.mark.parametrize("operation", operations(), ids=str)
def test_an_operation_keeps_its_word(
    stack: Stack, ours: Belongings, hidden: Belongings, operation: Described
) -> None:
    ids = [*ours.ids.values(), *hidden.ids.values(), *ours.cursors.values(), *hidden.cursors.values()]

    @settings(
        max_examples=PER_OPERATION,
        derandomize=not EXAMPLES,
        database=None,
        # What hangs would hang a hundred times more before it is made smaller.
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(tries(operation, ids))
    def keeps_its_word(call: Try) -> None:
        # Sent as they are: the client would not send odd values of some headers otherwise.
        headers = [(name.encode(), value.encode("latin-1")) for name, value in call.headers.items()]
        response = client.request(
            operation.method,
            call.target,
            params=httpx2.QueryParams(call.query),
            headers=headers,
            content=call.content,
        )

        assert response.status_code < 500, response.text
        assert hidden.word not in response.text
        assert list(contradictions(operation, response)) == []

    with httpx2.Client(base_url=stack.http, timeout=LONG) as client:
        keeps_its_word()
        assert client.get("/healthz").status_code == 200
