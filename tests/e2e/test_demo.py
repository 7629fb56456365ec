"""The demo as a newcomer runs it: without a terminal, from a folder with a strange name, ports taken."""

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from local.demo.documents import sample_documents
from local.demo.samples import EVERYWHERE, SAMPLES, Sample, planted_trouble
from tests.support.azurite import PROGRAM

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "local", "demo")
SECONDS = 240

pytestmark = [
    pytest.mark.stack,
    pytest.mark.timeout(SECONDS + 30),
    pytest.mark.skipif(not PROGRAM.exists(), reason="Azurite is not installed; run `make install`"),
]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a demo has filled."""
    folder = tmp_path_factory.mktemp("a folder, with a name") / "démo out"
    with _usual_ports_taken():
        run = subprocess.run(
            [*COMMAND, "--out", str(folder)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Every one of 552 inputs and 38 documents has an outcome" in run.stdout
    assert "\x1b" not in run.stdout
    return folder


def test_every_input_of_every_job_has_an_outcome(out: Path) -> None:
    for sample in (*SAMPLES, *EVERYWHERE):
        report = json.loads((out / sample.name / "report.json").read_bytes())

        assert report["submitted"] == len(sample.inputs()) == sum(report["outcomes"].values())
        assert report["balanced"] is True


def test_results_say_the_same_as_the_report_line_by_line(out: Path) -> None:
    for sample in (*SAMPLES, *EVERYWHERE):
        report = json.loads((out / sample.name / "report.json").read_bytes())
        lines = _results(out, sample)

        assert [line["custom_id"] for line in lines] == [line["custom_id"] for line in sample.inputs()]
        counted = Counter(line["outcome"] for line in lines)
        assert counted == Counter(report["outcomes"])


def test_the_table_has_a_row_for_each_result(out: Path) -> None:
    for sample in (*SAMPLES, *EVERYWHERE):
        with (out / sample.name / "results.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))

        assert [row["outcome"] for row in rows] == [line["outcome"] for line in _results(out, sample)]


def test_planted_trouble_becomes_what_it_should(out: Path) -> None:
    triage = next(sample for sample in SAMPLES if sample.name == "triage")
    results = {line["custom_id"]: line for line in _results(out, triage)}

    for trouble in planted_trouble():
        line = results.pop(trouble.custom_id)
        assert trouble.becomes == (
            f"{line['outcome']}: {line['reason']}" if line["reason"] else line["outcome"]
        )
    assert {line["outcome"] for line in results.values()} == {"succeeded"}


def test_the_same_job_has_the_same_outcomes_on_every_provider(out: Path) -> None:
    becomes = {trouble.custom_id: trouble.becomes for trouble in planted_trouble(EVERYWHERE[0])}
    lines = {sample.provider: _results(out, sample) for sample in EVERYWHERE}

    for provider, results in lines.items():
        assert {line["provider"] for line in results} == {provider}
        assert [line["outcome"] for line in results] == [
            becomes.get(str(line["custom_id"]), "succeeded") for line in results
        ]


def test_every_document_has_the_result_that_is_right_for_it(out: Path) -> None:
    for document in sample_documents():
        result = json.loads((out / "documents" / f"{document.path}.json").read_bytes())

        assert result["document"]["path"] == document.path
        assert document.becomes == (
            f"{result['outcome']}: {result['reason']}" if result["reason"] else result["outcome"]
        )
        assert (result["output"] is not None) == (result["outcome"] == "succeeded")


def test_the_same_run_once_more_costs_nothing(out: Path) -> None:
    again = json.loads((out / "re-run" / "report.json").read_bytes())

    assert again["reused"] == again["submitted"]
    assert again["cost"]["amount"] == "0"
    assert again["chunks"] == []


def test_a_demo_that_is_told_to_end_takes_its_stack_with_it(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    demo = subprocess.Popen(
        [*COMMAND, "--out", str(tmp_path / "out")], cwd=ROOT, env=environment, stdout=subprocess.PIPE
    )
    with demo:
        pids = _pids_of_the_stack(tmp_path)
        demo.send_signal(signal.SIGTERM)

        assert demo.wait(60) == 130
    assert pids
    assert [pid for pid in pids if _is_alive(pid)] == []


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _pids_of_the_stack(folder: Path) -> list[int]:
    """Once it is up; its data is in a temporary folder below `folder`."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        for published in folder.glob("postern-demo-*/stack.json"):
            return list(json.loads(published.read_bytes())["pids"].values())
        time.sleep(0.1)
    return []


def _results(out: Path, sample: Sample) -> list[dict[str, object]]:
    with (out / sample.name / "results.jsonl").open("rb") as lines:
        return [json.loads(line) for line in lines]


def _usual_ports_taken() -> ExitStack:
    """Whoever looks for the stack's default ports finds somebody else there."""
    taken = ExitStack()
    for port in (7071, 7081):
        listener = taken.enter_context(socket.socket())
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen()
        except OSError:
            # Taken already, which is what is wanted.
            listener.close()
    return taken
