"""Cron expressions as Azure's timers write them: second, minute, hour, day, month, day of the week; UTC."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
# The 29th of February that is a certain day of the week comes every 28 years, and rarer across a century.
_LONGEST_GAP_DAYS: Final = 41 * 366
_DAYS_OF_MONTH: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    name: str
    least: int
    most: int
    words: tuple[str, ...] = ()


_FIELDS: Final = (
    _Field(name="second", least=0, most=59),
    _Field(name="minute", least=0, most=59),
    _Field(name="hour", least=0, most=23),
    _Field(name="day", least=1, most=31),
    _Field(name="month", least=1, most=12, words=_MONTHS),
    _Field(name="day of the week", least=0, most=6, words=_WEEKDAYS),
)


def normal_cron(expression: str) -> str:
    """The expression with six fields, one blank between them; five fields start at second 0.

    Raise `ValueError` with a reason if it is none, or if it can never fire.
    """
    parts = expression.split()
    if len(parts) == len(_FIELDS) - 1:
        parts.insert(0, "0")
    if len(parts) != len(_FIELDS):
        raise ValueError("needs six fields: second minute hour day month day-of-week")
    _, _, _, days, months, _ = (_values(field, part) for field, part in zip(_FIELDS, parts, strict=True))
    if min(days) > max(_DAYS_OF_MONTH[month - 1] for month in months):
        raise ValueError("never fires: no such day in these months")
    return " ".join(parts)


def last_due(expression: str, now: datetime) -> datetime:
    """The last instant, `now` included, at which a normal expression has fired. Look back a leap cycle."""
    second, minute, hour, day, month, weekday = (
        _values(field, part) for field, part in zip(_FIELDS, expression.split(), strict=True)
    )
    at = now.astimezone(UTC).replace(microsecond=0)
    date = at.replace(hour=0, minute=0, second=0)
    for _ in range(_LONGEST_GAP_DAYS):
        # Azure's timers fire where day and day of the week both fit; Sunday is 0.
        if date.month in month and date.day in day and date.isoweekday() % 7 in weekday:
            latest = at if date.date() == at.date() else date + timedelta(hours=23, minutes=59, seconds=59)
            found = _last_of_day(latest, hour, minute, second)
            if found is not None:
                return found
        date -= timedelta(days=1)
    raise ValueError(f"{expression!r} has not fired for {_LONGEST_GAP_DAYS} days")


def _last_of_day(
    latest: datetime, hours: frozenset[int], minutes: frozenset[int], seconds: frozenset[int]
) -> datetime | None:
    """The last instant of that day up to `latest` whose time fits."""
    for hour in sorted((h for h in hours if h <= latest.hour), reverse=True):
        last_minute = latest.minute if hour == latest.hour else 59
        for minute in sorted((m for m in minutes if m <= last_minute), reverse=True):
            here = (hour, minute) == (latest.hour, latest.minute)
            fitting = [s for s in seconds if not here or s <= latest.second]
            if fitting:
                return latest.replace(hour=hour, minute=minute, second=max(fitting))
    return None


def _values(field: _Field, text: str) -> frozenset[int]:
    """Every value that the field's text stands for."""
    return frozenset(value for part in text.split(",") for value in _range(field, part))


def _range(field: _Field, text: str) -> range:
    span, slash, step_text = text.partition("/")
    step = _number(step_text, field) if slash else 1
    if step < 1:
        raise ValueError(f"{field.name}: the step must be at least 1")
    if span == "*":
        return range(field.least, field.most + 1, step)
    first_text, dash, last_text = span.partition("-")
    first = _value(field, first_text)
    last = _value(field, last_text) if dash else (field.most if slash else first)
    if first > last:
        raise ValueError(f"{field.name}: {first_text}-{last_text} runs backwards")
    return range(first, last + 1, step)


def _value(field: _Field, text: str) -> int:
    if text.lower() in field.words:
        return field.words.index(text.lower()) + field.least
    number = _number(text, field)
    if not field.least <= number <= field.most:
        raise ValueError(f"{field.name}: {number} is not between {field.least} and {field.most}")
    return number


def _number(text: str, field: _Field) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 2):
        raise ValueError(f"{field.name}: {text[:20]!r} is not a value, a range or a step")
    return int(text)
