"""Following a log that grows, is cut and is read again after a restart."""

import os
import shutil
from pathlib import Path

import pytest

from local.change_feed.follower import Line, LogFollower, Position
from local.change_feed.progress import Progress


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "access.log"


def append(log: Path, *lines: str, end: str = "\n") -> None:
    with log.open("a") as file:
        file.writelines(f"{line}{end}" for line in lines)


def begin_anew(log: Path) -> None:
    """As the launcher does it."""
    shutil.copyfile(log, log.with_name(f"{log.name}.1"))
    os.truncate(log, 0)


def texts(lines: list[Line]) -> list[str]:
    return [line.text.decode() for line in lines]


def test_lines_come_once_and_only_when_they_are_whole(log: Path) -> None:
    follower = LogFollower(log, Position())
    assert follower.read() == []

    append(log, "first", "second")
    append(log, "half", end="")
    assert texts(follower.read()) == ["first", "second"]
    assert follower.read() == []

    append(log, " and half")
    assert texts(follower.read()) == ["half and half"]


def test_a_cut_log_is_read_to_its_end_and_then_from_its_new_beginning(log: Path) -> None:
    follower = LogFollower(log, Position())
    append(log, "line one", "line two")
    assert texts(follower.read()) == ["line one", "line two"]

    append(log, "just before")
    begin_anew(log)
    append(log, "a new line that is longer than everything before it", "and one more")

    read = [line for _ in range(3) for line in follower.read()]
    assert texts(read) == [
        "just before",
        "a new line that is longer than everything before it",
        "and one more",
    ]
    begun = [(line.begins.generation, line.begins.offset) for line in read]
    assert begun == sorted(begun)


def test_a_cut_log_with_nothing_left_to_read_goes_on(log: Path) -> None:
    follower = LogFollower(log, Position())
    append(log, "line one")
    assert len(follower.read()) == 1

    begin_anew(log)
    assert follower.read() == []
    append(log, "line two")

    assert texts(follower.read()) == ["line two"]


def test_another_follower_goes_on_where_the_first_one_was(log: Path) -> None:
    append(log, *(f"line {number}" for number in range(100)))
    after = LogFollower(log, Position()).read()[49].after

    assert texts(LogFollower(log, after).read())[0] == "line 50"

    begin_anew(log)
    append(log, "new")
    follower = LogFollower(log, after)
    assert texts([line for _ in range(2) for line in follower.read()])[-2:] == ["line 99", "new"]


def test_a_log_that_is_somebody_elses_is_read_from_its_beginning(log: Path) -> None:
    append(log, "line one", "line two")
    after = LogFollower(log, Position()).read()[-1].after
    log.unlink()
    append(log, "other", "quite another line")

    assert texts(LogFollower(log, after).read()) == ["other", "quite another line"]


def test_progress_is_what_lies_behind_no_unfinished_line(log: Path, tmp_path: Path) -> None:
    append(log, "a", "b", "c")
    lines = LogFollower(log, Position()).read()
    progress = Progress(tmp_path / "position.json")
    first, second, third = [progress.begin(line) for line in lines]

    progress.finish(third)
    progress.finish(first)
    assert progress.position == lines[0].after
    progress.finish(second)
    assert progress.position == lines[2].after

    progress.save()
    assert Progress(tmp_path / "position.json").position == lines[2].after
