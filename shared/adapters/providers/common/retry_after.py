"""How long a provider asks us to wait, however it says so."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

SHORTEST: Final = timedelta(seconds=1)
LONGEST: Final = timedelta(hours=1)
UNTOLD: Final = timedelta(seconds=30)


def retry_after(headers: Mapping[str, str], *, now: datetime) -> timedelta:
    """Between `SHORTEST` and `LONGEST`; `UNTOLD` when the headers do not say or make no sense.

    `headers` finds names in lower case. A date is measured against the answer's own `date`, so that clocks
    may differ, else against `now`.
    """
    wait = _from_number(headers.get("retry-after-ms"), unit=timedelta(milliseconds=1))
    if wait is None:
        told = headers.get("retry-after")
        wait = _from_number(told, unit=timedelta(seconds=1))
        if wait is None:
            wait = _from_date(told, since=_date(headers.get("date")) or now)
    return UNTOLD if wait is None else min(max(wait, SHORTEST), LONGEST)


def _from_number(text: str | None, *, unit: timedelta) -> timedelta | None:
    """None for what is no number of units that one could wait: a negative one is a fault, not a request."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    if not math.isfinite(number) or number < 0:
        return None
    return LONGEST if number > LONGEST / unit else number * unit


def _from_date(text: str | None, *, since: datetime) -> timedelta | None:
    date = _date(text)
    return None if date is None else date - since


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):
        return None
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date
