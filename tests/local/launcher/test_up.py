"""`python -m local up` with real processes: what it says, what it keeps alive, how it ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from azure.storage.blob import BlobServiceClient

from local.launcher.development_keys import ADMIN_KEY, TENANT_KEYS
from local.stack import Stack, start_stack

pytestmark = pytest.mark.stack

STUB_STACK = (sys.executable, "-m", "tests.local.launcher.stub_stack")
BROKEN_STACK = (sys.executable, "-m", "tests.local.launcher.broken_stack")
SERVERS = {"host", "azurite", "simulator", "servicebus"}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One stack for the tests of this file, in their order; started from a hostile environment."""
    data = tmp_path_factory.mktemp("stack")
    settings = {
        "SAMPLE_LOG": str(data / "timers.jsonl"),
        "SAMPLE_SCHEDULE": "*/1 * * * * *",
        "POSTERN_POLL_SECONDS": "7",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POSTERN_STORAGE", "somewhere else")
        patch.setenv("POSTERN_HOSTILE", "yes")
        patch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
        patch.setenv("AzureWebJobs.echo.Disabled", "true")
        with start_stack(data, settings, sweep=False, command=STUB_STACK) as started:
            yield started


def fetch(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as response:
        return json.loads(response.read())


def setting(stack: Stack, name: str) -> str | None:
    return fetch(f"{stack.http}/settings/{name}")["value"]  # type: ignore[no-any-return]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def all_end(pids: dict[str, int], *, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while any(is_alive(pid) for pid in pids.values()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def ask_again_and_again_to_end(pid: int, *, times: int = 50) -> None:
    """As the kernel may: once for each thread of the launcher that dies."""
    for _ in range(times):
        if not is_alive(pid):
            break
        os.kill(pid, signal.SIGTERM)
        time.sleep(0.01)


def said(stack: Stack) -> Any:
    return json.loads((stack.data / "stack.json").read_bytes())


def test_it_says_where_everything_is(stack: Stack) -> None:
    published = said(stack)

    assert set(published) == {
        *("ready", "http", "console", "storage", "servicebus", "simulator", "events", "feed"),
        *("keys", "admin_key", "data", "pids"),
    }
    assert published["ready"] is True
    assert published["console"] == f"{stack.http}/console"
    assert published["events"] == f"{stack.simulator}/_sim/events"
    assert published["servicebus"].endswith("UseDevelopmentEmulator=true")
    assert (published["keys"], published["admin_key"]) == (TENANT_KEYS, ADMIN_KEY)
    assert Path(published["data"]) == stack.data


def test_every_process_runs_in_the_group_of_the_launcher(stack: Stack) -> None:
    pids = stack.pids()

    assert set(pids) == {"launcher", *SERVERS}
    assert {os.getpgid(pid) for pid in pids.values()} == {os.getpgid(pids["launcher"])}


def test_nothing_but_the_one_line_is_written_to_stdout(stack: Stack) -> None:
    assert stack.stdout_so_far().count(b"\n") == 1
    assert json.loads(stack.stdout_so_far()) == said(stack)


def test_the_host_gets_its_settings_and_nothing_from_the_caller(stack: Stack) -> None:
    assert setting(stack, "POSTERN_STORAGE") == stack.storage
    assert setting(stack, "ServiceBusConnection") == stack.servicebus
    assert setting(stack, "POSTERN_EVENTS_ENDPOINT") == f"{stack.simulator}/_sim/events/publish"
    assert setting(stack, "POSTERN_POLL_SECONDS") == "7"
    assert setting(stack, "POSTERN_STUCK_SECONDS") == "10"
    assert setting(stack, "POSTERN_HOSTILE") is None
    assert setting(stack, "HTTPS_PROXY") is None


def test_no_sweep_disables_the_sweep(stack: Stack) -> None:
    assert fetch(f"{stack.http}/admin/host/status")["disabled"] == ["sweep"]


def test_processes_that_are_killed_together_come_back_on_their_ports(stack: Stack) -> None:
    killed = {name: stack.kill(name) for name in ("host", "simulator", "servicebus")}

    for name, pid in killed.items():
        assert stack.wait_for_restart(name, pid) != pid

    assert said(stack)["http"] == stack.http
    with socket.create_connection(("127.0.0.1", int(stack.servicebus.split(";")[0].rpartition(":")[2]))):
        assert stack.pids()["launcher"] == said(stack)["pids"]["launcher"]


def test_a_restart_keeps_addresses_and_data(stack: Stack) -> None:
    before, pids = said(stack), stack.pids()
    container(stack, "kept", create=True).upload_blob("note", b"kept")

    stack.restart()

    assert all_end(pids)
    assert {**said(stack), "pids": {}} == {**before, "pids": {}}
    assert container(stack, "kept").download_blob("note").readall() == b"kept"


def test_a_launcher_that_is_killed_takes_everything_along_and_storage_saves_its_state(stack: Stack) -> None:
    before, pids = said(stack), stack.pids()
    container(stack, "kept").upload_blob("last words", b"just now")

    os.kill(pids["launcher"], signal.SIGKILL)
    ask_again_and_again_to_end(pids["azurite"])
    assert all_end(pids)
    stack.restart()

    assert said(stack)["http"] == before["http"]
    assert container(stack, "kept").download_blob("last words").readall() == b"just now"


def test_it_ends_on_interrupt_and_leaves_nothing_running(stack: Stack) -> None:
    pids = stack.pids()

    os.kill(pids["launcher"], signal.SIGINT)

    assert all_end(pids)


def test_a_process_that_cannot_start_fails_the_launcher_with_its_log(tmp_path: Path) -> None:
    result = subprocess.run(
        [*BROKEN_STACK, "up", "--data", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert (result.returncode, result.stdout) == (1, "")
    assert "simulator does not start" in result.stderr
    assert "No module named tests.local.launcher.no_such_module" in result.stderr


def test_it_ends_with_the_program_that_started_it_if_it_is_told_to(tmp_path: Path) -> None:
    starter = (
        "import subprocess, sys, time\n"
        "started = subprocess.Popen(sys.argv[1:])\n"
        "print(started.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    up = [*STUB_STACK, "up", "--follow-parent", "--data", str(tmp_path)]
    with subprocess.Popen([sys.executable, "-c", starter, *up], stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        launcher = int(started.stdout.readline())
        pids = json.loads(started.stdout.readline())["pids"]
        started.kill()

    assert pids["launcher"] == launcher
    assert all_end(pids)


def test_a_file_in_place_of_the_folder_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a folder")

    result = subprocess.run(
        [*STUB_STACK, "up", "--data", str(tmp_path / "notes.txt")],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert result.returncode == 2
    assert "notes.txt is a file; name a folder" in result.stderr


def container(stack: Stack, name: str, *, create: bool = False) -> Any:
    service = BlobServiceClient.from_connection_string(stack.storage)
    return service.create_container(name) if create else service.get_container_client(name)
