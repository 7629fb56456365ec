"""Deadlines follow from what providers may take."""

from datetime import timedelta

import pytest

from shared.domain.deadlines import default_deadline


@pytest.mark.parametrize(
    ("window", "of_a_day", "hours"),
    [
        (24, 30, 30),
        (72 + 24, 30, 102),
        (48, 30, 54),
        (1, 30, 30),
        (168, 30, 174),
        (24, 0.001, 0.001),
        (96, 48, 120),
    ],
)
def test_a_longer_window_moves_the_deadline_by_as_much(window: int, of_a_day: float, hours: float) -> None:
    found = default_deadline(timedelta(hours=window), of_a_day=timedelta(hours=of_a_day))

    assert found == timedelta(hours=hours)


@pytest.mark.parametrize("window", range(24, 169, 12))
def test_nobody_is_late_before_the_window_has_ended(window: int) -> None:
    assert default_deadline(timedelta(hours=window), of_a_day=timedelta(hours=30)) > timedelta(hours=window)
