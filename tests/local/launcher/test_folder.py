"""The data folder: one user at a time, the same ports every time, files that are never half written."""

import json
import os
import socket
from pathlib import Path

import pytest

from local.launcher.folder import DataFolder, FolderInUse, PortInUse, until_free


async def test_a_folder_has_one_user_at_a_time(tmp_path: Path) -> None:
    lock = await DataFolder(tmp_path).lock(patience_seconds=0.1)

    with pytest.raises(FolderInUse, match="another stack is using"):
        await DataFolder(tmp_path).lock(patience_seconds=0.2)

    os.close(lock)
    os.close(await DataFolder(tmp_path).lock(patience_seconds=0.2))


def test_ports_are_chosen_once_and_kept(tmp_path: Path) -> None:
    names = ("http", "simulator")

    first = DataFolder(tmp_path).ports(names, fixed={})
    again = DataFolder(tmp_path).ports((*names, "new"), fixed={})

    assert len(set(again.values())) == 3
    assert {name: again[name] for name in names} == first


def test_a_given_port_is_taken_and_kept(tmp_path: Path) -> None:
    assert DataFolder(tmp_path).ports(("http",), fixed={"http": 7071}) == {"http": 7071}
    assert DataFolder(tmp_path).ports(("http",), fixed={}) == {"http": 7071}


def test_a_wanted_port_is_taken_if_it_is_free_and_nothing_is_kept(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        busy = int(other.getsockname()[1])
        first = DataFolder(tmp_path).ports(["http"], fixed={}, wanted={"http": busy})
    again = DataFolder(tmp_path).ports(["http"], fixed={}, wanted={"http": busy})

    assert first["http"] != busy
    assert again == first
    assert DataFolder(tmp_path / "new").ports(["http"], fixed={}, wanted={"http": busy}) == {"http": busy}


async def test_a_port_in_other_hands_is_named(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortInUse, match=f"port {port}, which belongs to http"):
            await until_free({"http": port}, patience_seconds=0.2)

    await until_free({"http": port}, patience_seconds=0.2)


async def test_whoever_gave_the_port_is_asked_for_another() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        ports = {"http": int(other.getsockname()[1])}
        with pytest.raises(PortInUse, match=r"or delete ports\.json"):
            await until_free(ports, patience_seconds=0.2, given=["simulator"])
        with pytest.raises(PortInUse, match=r"or give another --port$"):
            await until_free(ports, patience_seconds=0.2, given=["http"])


def test_what_is_published_replaces_what_was(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)

    folder.publish({"ready": True, "pids": {"host": 1}})
    folder.publish({"ready": True, "pids": {"host": 2}})

    assert json.loads(folder.published.read_bytes())["pids"] == {"host": 2}
    assert not list(tmp_path.glob("stack.json?*"))
