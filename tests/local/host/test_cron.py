"""When schedules are due."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from local.host.cron import parse_schedule

MONDAY_NOON = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "due"),
    [
        ("*/5 * * * * *", "2026-11-30 12:00:05"),
        ("* * * * * *", "2026-11-30 12:00:01"),
        ("0 */5 * * * *", "2026-11-30 12:05:00"),
        ("0 0 1 * * *", "2026-12-01 01:00:00"),
        ("30 59 11 * * *", "2026-12-01 11:59:30"),
        ("0 0 12 * * 1-5", "2026-12-01 12:00:00"),
        ("0 0 0 * * sun", "2026-12-06 00:00:00"),
        ("0 0 0 1 jan *", "2027-01-01 00:00:00"),
        ("0 0 0 29 2 *", "2028-02-29 00:00:00"),
        ("0 0 0 13 * 5", "2027-08-13 00:00:00"),
        ("0 0 9-17/4 * * *", "2026-11-30 13:00:00"),
        ("0 5/20 * * * *", "2026-11-30 12:05:00"),
        ("15,45 0 12 * * *", "2026-11-30 12:00:15"),
        ("*/10 * * * *", "2026-11-30 12:10:00"),
        ("00:00:30", "2026-11-30 12:00:30"),
        ("1.00:00:00", "2026-12-01 12:00:00"),
    ],
)
def test_the_next_due_moment(schedule: str, due: str) -> None:
    assert parse_schedule(schedule)(MONDAY_NOON) == datetime.fromisoformat(f"{due}+00:00")


def test_a_schedule_is_in_utc_wherever_the_moment_comes_from() -> None:
    in_tokyo = MONDAY_NOON.astimezone(timezone(timedelta(hours=9)))

    assert parse_schedule("0 0 13 * * *")(in_tokyo) == MONDAY_NOON + timedelta(hours=1)


def test_a_fraction_of_a_second_does_not_make_it_due_twice() -> None:
    schedule = parse_schedule("*/5 * * * * *")

    assert schedule(MONDAY_NOON + timedelta(milliseconds=3)) == MONDAY_NOON + timedelta(seconds=5)


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        ("", "has 0 fields"),
        ("* * * *", "has 4 fields"),
        ("60 * * * * *", "is not a second between 0 and 59"),
        ("* * * * * 7", "is not a weekday between 0 and 6"),
        ("*/0 * * * * *", "names no second"),
        ("5-1 * * * * *", "names no second"),
        ("x * * * * *", "is not a second"),
        ("1,,2 * * * * *", "is not a value for the second"),
        ("00:00:00", "longer than zero"),
    ],
)
def test_nonsense_is_refused(schedule: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_schedule(schedule)


def test_a_date_that_never_comes_is_refused() -> None:
    with pytest.raises(ValueError, match="does not exist"):
        parse_schedule("0 0 0 31 2 *")(MONDAY_NOON)
