"""What is said about a file before any child sees it."""

from pathlib import Path

import pytest

from shared.adapters.extract.inspection import inspect
from shared.adapters.extract.media import Family, Kind
from shared.domain.extraction import Extraction, ExtractionLimits, Unreadable, UnreadableReason

LIMITS = ExtractionLimits(max_source_bytes=100_000_000, max_text_bytes=10_000_000)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "downloaded"


def inspected(source: Path, *, limits: ExtractionLimits = LIMITS) -> Extraction | Unreadable | Kind:
    return inspect(source, name="a.txt", content_type=None, limits=limits)


def hole(source: Path, size: int) -> Path:
    """A file of `size` zeros that takes no room on the disk."""
    with source.open("wb") as file:
        file.truncate(size)
    return source


def test_a_source_beyond_the_bound_is_refused_by_its_size_alone(source: Path) -> None:
    found = inspected(hole(source, LIMITS.max_source_bytes + 1))

    assert isinstance(found, Unreadable)
    assert found.reason is UnreadableReason.TOO_LARGE
    assert "100,000,001 bytes" in found.message


def test_text_that_no_encoding_makes_small_enough_is_refused_unread(source: Path) -> None:
    found = inspected(hole(source, 4 * LIMITS.max_text_bytes + 1))

    assert isinstance(found, Unreadable)
    assert found.reason is UnreadableReason.TOO_LARGE


def test_long_text_is_left_to_a_child(source: Path) -> None:
    source.write_bytes(b"x" * 5_000_000)

    assert inspected(source) == Kind(family=Family.TEXT, media_type="text/plain")


def test_text_of_an_uncertain_encoding_is_left_to_a_child(source: Path) -> None:
    source.write_bytes("Grüße".encode("cp1252"))

    assert inspected(source) == Kind(family=Family.TEXT, media_type="text/plain")


def test_the_bound_of_text_counts_bytes_of_utf8(source: Path) -> None:
    source.write_text("€" * 40, encoding="utf-16")

    assert isinstance(inspected(source, limits=ExtractionLimits(max_text_bytes=120)), Extraction)
    assert isinstance(inspected(source, limits=ExtractionLimits(max_text_bytes=119)), Unreadable)
