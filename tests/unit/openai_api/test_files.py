"""Files: what goes in comes out, belongs to one tenant, and is gone when its time has come."""

from collections.abc import AsyncIterator
from datetime import timedelta

import httpx2
import pytest
from openai import BadRequestError, NotFoundError

from shared.services.files.keep_file import STILLBORN
from shared.wire import file_form
from tests.support.openai_world import OpenAIWorld, key_of, lines_of

CONTENT = lines_of(["One.", "Two."])
FORM = "multipart/form-data; boundary=xyz"


async def uploaded(world: OpenAIWorld, content: bytes = CONTENT, *, tenant: str = "support") -> str:
    file = await world.client(tenant).files.create(file=("a.jsonl", content), purpose="batch")
    return file.id


async def stored(world: OpenAIWorld) -> list[str]:
    return [info.path async for info in world.blobs.list("files/")]


def form(*parts: tuple[str, str, bytes]) -> bytes:
    """Parts of a form: what stands behind `form-data; `, more headers, content."""
    blocks = (
        b"--xyz\r\nContent-Disposition: form-data; "
        + head.encode()
        + b"\r\n"
        + more.encode()
        + b"\r\n"
        + content
        for head, more, content in parts
    )
    return b"\r\n".join(blocks) + b"\r\n--xyz--\r\n"


PURPOSE = ('name="purpose"', "", b"batch")
FILE = ('name="file"; filename="a.jsonl"', "Content-Type: application/jsonl\r\n", CONTENT)


async def posted(world: OpenAIWorld, body: bytes, content_type: str = FORM) -> httpx2.Response:
    return await world.http().post("/openai/v1/files", content=body, headers={"content-type": content_type})


async def test_a_file_comes_back_as_it_was_sent(world: OpenAIWorld) -> None:
    client = world.client()

    file = await client.files.create(
        file=("tickets.jsonl", CONTENT),
        purpose="batch",
        expires_after={"anchor": "created_at", "seconds": 3600},
    )

    assert (file.object, file.purpose, file.status) == ("file", "batch", "processed")
    assert (file.filename, file.bytes) == ("tickets.jsonl", len(CONTENT))
    assert (file.created_at, file.expires_at) == (int(world.clock.now().timestamp()), file.created_at + 3600)
    assert (await client.files.retrieve(file.id)).to_dict() == file.to_dict()
    assert (await client.files.content(file.id)).content == CONTENT


async def test_a_file_is_kept_for_thirty_days_where_nothing_else_is_said(world: OpenAIWorld) -> None:
    file = await world.client().files.retrieve(await uploaded(world))

    assert file.expires_at is not None
    assert file.expires_at - file.created_at == 30 * 24 * 3600


@pytest.mark.parametrize("notation", ["expires_after[{}]", "expires_after.{}"])
async def test_both_notations_of_the_expiry_are_read(world: OpenAIWorld, notation: str) -> None:
    anchor = (f'name="{notation.format("anchor")}"', "", b"created_at")
    seconds = (f'name="{notation.format("seconds")}"', "", b"7200")

    # The file first, as some clients send it.
    file = (await posted(world, form(FILE, seconds, anchor, PURPOSE))).json()

    assert file["expires_at"] - file["created_at"] == 7200


@pytest.mark.parametrize(
    ("parts", "param"),
    [
        ([FILE], "purpose"),
        ([PURPOSE], "file"),
        ([FILE, ('name="purpose"', "", b"assistants")], "purpose"),
        ([PURPOSE, FILE, FILE], "file"),
        ([PURPOSE, FILE, ('name="expires_after[seconds]"', "", b"3599")], "expires_after.seconds"),
        ([PURPOSE, FILE, ('name="expires_after[seconds]"', "", b"2592001")], "expires_after.seconds"),
        ([PURPOSE, FILE, ('name="expires_after[seconds]"', "", "\u0663".encode())], "expires_after.seconds"),
        ([PURPOSE, FILE, ('name="expires_after[anchor]"', "", b"tomorrow")], "expires_after.anchor"),
        ([PURPOSE, FILE, ('name="expires_after[anchor]"', "", b"created_at")], "expires_after.seconds"),
        ([('name="purpose"', "", b"batch" * 4000), FILE], "purpose"),
        ([*[(f'name="f{n}"', "", b"") for n in range(21)], PURPOSE, FILE], None),
    ],
)
async def test_a_form_that_cannot_be_is_refused_and_leaves_nothing(
    world: OpenAIWorld, parts: list[tuple[str, str, bytes]], param: str | None
) -> None:
    answer = await posted(world, form(*parts))

    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == param
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert await stored(world) == []
    assert (await world.client().files.list()).data == []


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", FORM),
        (b"{}", "application/json"),
        (b"--xyz", "multipart/form-data"),
        (b"nothing of the kind", FORM),
        (form(PURPOSE, FILE)[:-20], FORM),
        (form(PURPOSE, FILE), "multipart/form-data; boundary=abc"),
        (form(PURPOSE, FILE), "multipart/form-data; boundary=" + "x" * 1000),
        (form(PURPOSE, ("x" * 10_000, "", b"")), FORM),
        (b"\xff" * 1000, FORM),
    ],
)
async def test_what_is_no_form_is_refused(world: OpenAIWorld, body: bytes, content_type: str) -> None:
    answer = await posted(world, body, content_type)

    assert answer.status_code == 400
    assert await stored(world) == []


async def test_a_file_that_is_too_large_is_refused_and_leaves_nothing(
    world: OpenAIWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_form, "MAX_FILE", 100)

    exactly = await posted(world, form(PURPOSE, (*FILE[:2], b"x" * 100)))
    more = await posted(world, form(PURPOSE, (*FILE[:2], b"x" * 101)))

    assert (exactly.status_code, more.status_code) == (200, 413)
    assert more.json()["error"]["code"] == "too_large"
    assert len(await stored(world)) == 1


async def test_a_length_beyond_the_limit_is_refused_before_it_is_read(world: OpenAIWorld) -> None:
    async def endless() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    answer = await world.http().post(
        "/openai/v1/files",
        content=endless(),
        headers={"content-type": FORM, "content-length": str(300 * 1024 * 1024)},
    )

    assert answer.status_code == 413


async def test_a_name_that_cannot_be_shown_is_mended(world: OpenAIWorld) -> None:
    named = ('name="file"; filename="a\tb.jsonl"', "", CONTENT)

    assert (await posted(world, form(PURPOSE, named))).json()["filename"] == "a\ufffdb.jsonl"


async def test_lists_turn_pages_in_both_directions(world: OpenAIWorld) -> None:
    ids = []
    for _ in range(5):
        ids.append(await uploaded(world))
        world.clock.advance(timedelta(seconds=1))
    client = world.client()

    first = await client.files.list(limit=2)
    newest = [file.id async for file in client.files.list(limit=2)]
    oldest = [file.id async for file in client.files.list(limit=2, order="asc")]

    assert ([f.id for f in first.data], first.has_more) == (ids[:-3:-1], True)
    assert newest == ids[::-1]
    assert oldest == ids
    assert [f.id for f in (await client.files.list(purpose="batch_output")).data] == []
    assert [f.id for f in (await client.files.list(after=ids[3], purpose="batch")).data] == ids[2::-1]


async def test_a_page_says_where_it_begins_and_ends(world: OpenAIWorld) -> None:
    empty = (await world.http().get("/openai/v1/files")).json()
    ids = [await uploaded(world) for _ in range(2)]
    page = (await world.http().get("/openai/v1/files")).json()

    assert empty == {"object": "list", "data": [], "first_id": None, "last_id": None, "has_more": False}
    assert {page["first_id"], page["last_id"]} == set(ids)
    assert (page["object"], page["has_more"]) == ("list", False)


@pytest.mark.parametrize(
    ("asked", "status", "part"),
    [
        ("bytes=0-9", 206, slice(0, 10)),
        ("bytes=5-", 206, slice(5, None)),
        ("bytes=-7", 206, slice(-7, None)),
        ("bytes=10-999999", 206, slice(10, None)),
        ("bytes=-999999", 206, slice(0, None)),
        ("bytes=9-5", 200, slice(None)),
        ("bytes=0-1,4-5", 200, slice(None)),
        ("lines=0-1", 200, slice(None)),
        ("bytes=-", 200, slice(None)),
        ("bytes=" + "9" * 40 + "-", 200, slice(None)),
        ("bytes=\u0661-", 200, slice(None)),
    ],
)
async def test_a_range_is_answered_as_the_rfc_has_it(
    world: OpenAIWorld, asked: str, status: int, part: slice
) -> None:
    file = await uploaded(world)

    answer = await world.http().get(f"/openai/v1/files/{file}/content", headers={b"range": asked.encode()})

    assert (answer.status_code, answer.content) == (status, CONTENT[part])
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert answer.headers["accept-ranges"] == "bytes"
    if status == 206:
        first = len(CONTENT[: part.start]) if (part.start or 0) >= 0 else len(CONTENT) + part.start
        last = first + len(answer.content) - 1
        assert answer.headers["content-range"] == f"bytes {first}-{last}/{len(CONTENT)}"


@pytest.mark.parametrize("asked", [f"bytes={len(CONTENT)}-", "bytes=-0", "bytes=999999-9999999"])
async def test_a_range_behind_the_end_is_refused(world: OpenAIWorld, asked: str) -> None:
    file = await uploaded(world)

    answer = await world.http().get(f"/openai/v1/files/{file}/content", headers={"range": asked})

    assert (answer.status_code, answer.json()["error"]["code"]) == (416, "invalid_range")
    assert answer.headers["content-range"] == f"bytes */{len(CONTENT)}"


async def test_a_range_of_another_version_gets_all(world: OpenAIWorld) -> None:
    path = f"/openai/v1/files/{await uploaded(world)}/content"
    etag = (await world.http().get(path)).headers["etag"]

    same = await world.http().get(path, headers={"range": "bytes=0-1", "if-range": etag})
    other = await world.http().get(path, headers={"range": "bytes=0-1", "if-range": '"other"'})

    assert (same.status_code, other.status_code) == (206, 200)


async def test_a_deleted_file_is_gone_with_its_content(world: OpenAIWorld) -> None:
    client, file = world.client(), await uploaded(world)

    deleted = await client.files.delete(file)

    assert (deleted.id, deleted.object, deleted.deleted) == (file, "file", True)
    assert await stored(world) == []
    with pytest.raises(NotFoundError):
        await client.files.retrieve(file)
    with pytest.raises(NotFoundError):
        await client.files.delete(file)


async def test_a_lapsed_file_is_gone_at_once_and_erased_by_the_sweep(world: OpenAIWorld) -> None:
    client = world.client()
    short = await client.files.create(
        file=("a.jsonl", CONTENT),
        purpose="batch",
        expires_after={"anchor": "created_at", "seconds": 7200},
    )
    long = await uploaded(world)

    world.clock.advance(timedelta(seconds=7200))
    with pytest.raises(NotFoundError):
        await client.files.content(short.id)
    for order in ("asc", "desc"):
        assert [f.id async for f in client.files.list(order=order)] == [long]
    assert len(await stored(world)) == 2
    world.clock.advance(timedelta(seconds=1))
    await world.sweep()

    assert await stored(world) == [f"files/support/{long}"]
    assert (await client.files.content(long)).content == CONTENT


async def test_what_an_upload_that_died_has_left_is_swept(
    world: OpenAIWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Everything is stored but the record when the process dies.
    with monkeypatch.context() as patch:
        patch.setattr(world.app.keep_file.files, "add", _dead)
        with pytest.raises(_Dead):
            await world.http().post(
                "/openai/v1/files", content=form(PURPOSE, FILE), headers={"content-type": FORM}
            )
    assert len(await stored(world)) == 1
    world.clock.advance(STILLBORN + timedelta(seconds=1))

    await world.sweep()

    assert await stored(world) == []


class _Dead(BaseException):
    """The process is gone."""


async def _dead(*_: object) -> None:
    raise _Dead


async def test_another_tenants_file_is_not_there(world: OpenAIWorld) -> None:
    mine, theirs = await uploaded(world), world.client("retail")

    for call in (theirs.files.retrieve, theirs.files.content, theirs.files.delete):
        with pytest.raises(NotFoundError) as refused:
            await call(mine)
        assert refused.value.body == {
            "message": f"No such File object: {mine}",
            "type": "invalid_request_error",
            "param": "id",
            "code": "not_found",
        }
    assert (await theirs.files.list()).data == []
    assert [f.id for f in (await theirs.files.list(after=mine)).data] == []
    with pytest.raises(BadRequestError):
        await theirs.batches.create(
            input_file_id=mine, endpoint="/v1/chat/completions", completion_window="24h"
        )


async def test_an_operator_sees_everybodys(world: OpenAIWorld) -> None:
    files = {await uploaded(world), await uploaded(world, tenant="retail")}

    operators = world.client("operators")

    assert {file.id async for file in operators.files.list(limit=1)} == files
    for file in files:
        assert (await operators.files.content(file)).content == CONTENT


async def test_without_a_key_nothing_is_told(world: OpenAIWorld) -> None:
    file = await uploaded(world)

    for key in (None, "nobody"):
        async with world.http(key) as http:
            answer = await http.get(f"/openai/v1/files/{file}")
            assert answer.status_code == 401
            assert answer.json()["error"]["code"] == "invalid_api_key"
            assert key_of("support") not in answer.text
