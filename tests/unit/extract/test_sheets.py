"""How the cells of a workbook look in its text."""

from datetime import UTC, date, datetime, time, timedelta

import pytest

from shared.adapters.extract.readers.sheets import Cell, shown


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (3.0, "3"),
        (0.1, "0.1"),
        (1234567890123.25, "1234567890123.25"),
        (7, "7"),
        (True, "TRUE"),
        (False, "FALSE"),
        ("two\nlines\tand a tab ", "two lines and a tab"),
        ("", ""),
        (date(2026, 11, 30), "2026-11-30"),
        (datetime(2026, 11, 30, 8, 15, tzinfo=UTC).replace(tzinfo=None), "2026-11-30T08:15:00"),
        (time(8, 15), "08:15:00"),
        (timedelta(hours=30), "1 day, 6:00:00"),
    ],
)
def test_a_cell_is_shown_on_one_line(cell: Cell, text: str) -> None:
    assert shown(cell) == text
