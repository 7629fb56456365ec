"""Logs stay small while somebody writes into them."""

import asyncio
import os
from pathlib import Path

import pytest

from local.launcher import logs


async def test_a_log_that_grows_too_large_is_begun_anew_under_its_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "MAX_BYTES", 100)
    file = tmp_path / "host.log"
    writer = logs.open_log(file)
    os.write(writer, b"old\n" * 50)

    keeper = asyncio.create_task(logs.keep_small(tmp_path))
    for _ in range(500):
        if not file.stat().st_size:
            break
        await asyncio.sleep(0.01)
    os.write(writer, b"new\n")
    keeper.cancel()
    os.close(writer)

    assert file.read_bytes() == b"new\n"
    assert (tmp_path / "host.log.1").read_bytes() == b"old\n" * 50
