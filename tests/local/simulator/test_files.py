"""Files: upload, look, list, download, delete, lapse."""

import json
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from openai import AsyncAzureOpenAI, AsyncOpenAI, BadRequestError, NotFoundError

from tests.local.simulator import batching
from tests.local.simulator.process import Simulator

pytestmark = pytest.mark.stack

FORTNIGHT = 1_209_600


async def test_a_file_comes_back_byte_for_byte(openai: AsyncOpenAI) -> None:
    sent = "\u2028 é \r\n--boundary\r\n\x00".encode() * 50_000

    file = await openai.files.create(file=("input.jsonl", sent), purpose="batch")

    assert (file.bytes, file.filename, file.purpose, file.status) == (
        len(sent),
        "input.jsonl",
        "batch",
        "processed",
    )
    assert await batching.content(openai, file.id) == sent


async def test_azure_keeps_a_file_for_ever_unless_told_otherwise(azure: AsyncAzureOpenAI) -> None:
    plain = await azure.files.create(file=("a.jsonl", b"{}"), purpose="batch")
    bounded = await azure.files.create(
        file=("a.jsonl", b"{}"),
        purpose="batch",
        expires_after={"anchor": "created_at", "seconds": FORTNIGHT},
    )

    assert plain.expires_at is None
    assert bounded.expires_at == bounded.created_at + FORTNIGHT


async def test_openai_keeps_a_file_for_thirty_days(openai: AsyncOpenAI) -> None:
    file = await openai.files.create(file=("a.jsonl", b"{}"), purpose="batch")

    assert file.expires_at == file.created_at + 2_592_000


async def test_azure_refuses_an_expiry_below_a_fortnight(azure: AsyncAzureOpenAI) -> None:
    with pytest.raises(BadRequestError) as refused:
        await azure.files.create(
            file=("a.jsonl", b"{}"),
            purpose="batch",
            expires_after={"anchor": "created_at", "seconds": 3600},
        )

    assert refused.value.param == "expires_after.seconds"


def test_the_dotted_form_fields_are_understood(simulator: Simulator) -> None:
    fields = {
        "purpose": "batch",
        "expires_after.seconds": str(FORTNIGHT),
        "expires_after.anchor": "created_at",
    }
    parts = [f'--B\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n' for n, v in fields.items()]
    parts.append(
        '--B\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n{}\r\n--B--\r\n'
    )
    request = urllib.request.Request(
        f"{simulator.url}/azure/openai/v1/files",
        data="".join(parts).encode(),
        headers={"api-key": "k", "Content-Type": "multipart/form-data; boundary=B"},
    )

    with urllib.request.urlopen(request, timeout=10) as answer:
        file = json.load(answer)

    assert file["expires_at"] == file["created_at"] + FORTNIGHT


async def test_files_are_listed_page_by_page(openai: AsyncOpenAI) -> None:
    made = [await batching.upload(openai, b"{}\n") for _ in range(5)]

    listed = [file.id async for file in openai.files.list(limit=2, purpose="batch")][:5]

    assert listed == made[::-1]


async def test_a_deleted_file_is_gone(azure: AsyncAzureOpenAI) -> None:
    file_id = await batching.upload(azure, b"{}\n")

    assert (await azure.files.delete(file_id)).deleted
    with pytest.raises(NotFoundError):
        await azure.files.retrieve(file_id)
    with pytest.raises(NotFoundError):
        await azure.files.content(file_id)


async def test_a_file_lapses_when_its_time_is_over(simulator: Simulator, openai: AsyncOpenAI) -> None:
    file_id = await batching.upload(openai, b"{}\n")

    simulator.advance(days=29)
    assert (await openai.files.retrieve(file_id)).id == file_id
    simulator.advance(days=2)

    with pytest.raises(NotFoundError):
        await openai.files.retrieve(file_id)


async def test_one_provider_never_sees_the_files_of_another(
    azure: AsyncAzureOpenAI, openai: AsyncOpenAI
) -> None:
    file_id = await batching.upload(azure, b"{}\n")

    with pytest.raises(NotFoundError):
        await openai.files.retrieve(file_id)


async def test_a_file_may_be_pending_for_some_reads_and_no_batch_starts_before(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={"operation": "upload"}, then={"pending_reads": 2}, times=1)
    file_id = await batching.upload(azure, batching.some_lines(1))

    with pytest.raises(BadRequestError) as refused:
        await azure.batches.create(
            input_file_id=file_id, endpoint="/v1/chat/completions", completion_window="24h"
        )
    seen = [(await azure.files.retrieve(file_id)).status for _ in range(3)]

    assert "not processed" in refused.value.message
    assert seen == ["pending", "pending", "processed"]


async def test_a_resource_full_of_files_takes_no_more(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.send("POST", "quota", {"provider": "azure_openai", "files": 0})

    with pytest.raises(BadRequestError) as refused:
        await batching.upload(azure, b"{}\n")

    assert refused.value.code == "quotaExceeded"


async def test_an_asked_for_expiry_may_be_lost(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={"operation": "upload"}, then={"no_expiry": True})

    file = await azure.files.create(
        file=("a.jsonl", b"{}"),
        purpose="batch",
        expires_after={"anchor": "created_at", "seconds": FORTNIGHT},
    )

    assert file.expires_at is None


def peak_bytes(simulator: Simulator) -> int:
    assert simulator.process is not None
    status = Path(f"/proc/{simulator.process.pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak memory from /proc")
async def test_memory_stays_flat_while_a_large_file_goes_in_and_out(
    simulator: Simulator, openai: AsyncOpenAI, tmp_path: Path
) -> None:
    large = tmp_path / "large.jsonl"
    large.write_bytes(b'{"custom_id": "..........................."}\n' * 2_000_000)
    before = peak_bytes(simulator)

    file = await openai.files.create(file=large, purpose="batch")
    received = 0
    async with openai.files.with_streaming_response.content(file.id) as answer:
        async for piece in answer.iter_bytes():
            received += len(piece)

    assert received == file.bytes == large.stat().st_size > 80_000_000
    assert peak_bytes(simulator) - before < 20_000_000


def test_a_form_that_cannot_be_read_is_refused(simulator: Simulator) -> None:
    request = urllib.request.Request(
        f"{simulator.url}/openai/v1/files",
        data=b"--B\r\nnonsense",
        headers={"api-key": "k", "Content-Type": "multipart/form-data; boundary=B"},
    )

    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(request, timeout=10).close()


async def test_an_upload_that_breaks_off_leaves_nothing(simulator: Simulator, openai: AsyncOpenAI) -> None:
    head = (
        "POST /openai/v1/files HTTP/1.1\r\nHost: x\r\napi-key: k\r\nContent-Length: 100000\r\n"
        "Content-Type: multipart/form-data; boundary=B\r\n\r\n"
        '--B\r\nContent-Disposition: form-data; name="file"; filename="broken.jsonl"\r\n\r\n{}\r\n'
    )
    with socket.create_connection(("127.0.0.1", simulator.port)) as connection:
        connection.sendall(head.encode())

    names = [file.filename async for file in openai.files.list()]

    assert "broken.jsonl" not in names
