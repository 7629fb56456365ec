"""The folder of results before and after: nothing of an earlier run, and the logs when this one fails."""

import shutil
from pathlib import Path

from local.demo.documents import sample_documents
from local.demo.minutes_lane import copy_of
from local.demo.samples import SAMPLES

_FILES = ("results.jsonl", "results.csv", "report.json")


def clear(out: Path) -> None:
    """Remove what an earlier demo wrote, and nothing else."""
    for sample in SAMPLES:
        for name in _FILES:
            (out / sample.name / name).unlink(missing_ok=True)
    for document in sample_documents():
        copy_of(document, out).unlink(missing_ok=True)
    for log in (out / "logs").glob("*.log*"):
        log.unlink()


def keep_logs(data: Path, out: Path) -> Path | None:
    """Where the stack's logs are to be read once its own folder is gone; None if it wrote none."""
    logs = data / "logs"
    if not logs.is_dir():
        return None
    kept = out / "logs"
    shutil.copytree(logs, kept, dirs_exist_ok=True)
    return kept
