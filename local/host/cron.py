"""When a timer is due: six-field cron expressions (NCRONTAB) and plain intervals. All in UTC."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from local.host.configuration import parse_span

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_DAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("second", 0, 59, {}),
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("weekday", 0, 6, _DAYS),
)
_ITEM = re.compile(r"(?P<first>\*|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d+))?")
# Feb 29 on a given weekday is the rarest thing an expression can ask for; it comes within 40 years.
_HORIZON = timedelta(days=366 * 41)

type Schedule = Callable[[datetime], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """The values that each field allows. Day of month and weekday must both hold, unlike in Unix cron."""

    seconds: frozenset[int]
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]

    def __call__(self, after: datetime) -> datetime:
        """The first due second after `after`. Raises `ValueError` when there is none."""
        moment = after.astimezone(UTC).replace(microsecond=0) + timedelta(seconds=1)
        limit = moment + _HORIZON
        while moment < limit:
            if not self._has_date(moment):
                moment = moment.replace(hour=0, minute=0, second=0) + timedelta(days=1)
            elif moment.hour not in self.hours:
                moment = moment.replace(minute=0, second=0) + timedelta(hours=1)
            elif moment.minute not in self.minutes:
                moment = moment.replace(second=0) + timedelta(minutes=1)
            elif moment.second not in self.seconds:
                moment += timedelta(seconds=1)
            else:
                return moment
        raise ValueError("the schedule names a date that does not exist")

    def _has_date(self, moment: datetime) -> bool:
        return (
            moment.month in self.months
            and moment.day in self.days
            and moment.isoweekday() % 7 in self.weekdays
        )


def parse_schedule(text: str) -> Schedule:
    """`*/5 * * * * *`, the same without seconds, or a span such as `00:00:05`. Raises `ValueError`."""
    if ":" in text:
        span = parse_span(text)
        if span <= timedelta(0):
            raise ValueError(f"the interval {text!r} must be longer than zero")
        return lambda after: after + span
    parts = text.split()
    if len(parts) == 5:
        parts.insert(0, "0")
    if len(parts) != 6:
        raise ValueError(f"the schedule {text!r} has {len(parts)} fields; six are needed")
    values = [_field(part, *field) for part, field in zip(parts, _FIELDS, strict=True)]
    return Cron(
        seconds=values[0],
        minutes=values[1],
        hours=values[2],
        days=values[3],
        months=values[4],
        weekdays=values[5],
    )


def _field(text: str, name: str, low: int, high: int, names: dict[str, int]) -> frozenset[int]:
    return frozenset(
        value for item in text.split(",") for value in _item(item.lower(), name, low, high, names)
    )


def _item(text: str, name: str, low: int, high: int, names: dict[str, int]) -> range:
    match = _ITEM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a value for the {name} of a schedule")
    step = int(match["step"] or 1)
    if match["first"] == "*":
        first, last = low, high
    else:
        first = _number(match["first"], name, low, high, names)
        # `5/15` means: from 5 on, every 15.
        last = high if match["step"] and not match["last"] else first
        if match["last"]:
            last = _number(match["last"], name, low, high, names)
    if step < 1 or last < first:
        raise ValueError(f"{text!r} names no {name} at all")
    return range(first, last + 1, step)


def _number(text: str, name: str, low: int, high: int, names: dict[str, int]) -> int:
    value = names.get(text[:3], int(text) if text.isdigit() else -1)
    if not low <= value <= high:
        raise ValueError(f"{text!r} is not a {name} between {low} and {high}")
    return value
