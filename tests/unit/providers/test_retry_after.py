"""Every way to say how long to wait."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.adapters.providers.common.retry_after import LONGEST, SHORTEST, UNTOLD, retry_after

NOW = datetime(2026, 10, 21, 7, 27, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": " 7 "}, 7),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "60"}, 1.5),
        ({"retry-after-ms": "abc", "retry-after": "60"}, 60),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, 60),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT", "date": "Wed, 21 Oct 2026 07:27:30 GMT"}, 30),
    ],
    ids=str,
)
def test_a_wait_that_is_told(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers, now=NOW) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"retry-after": ""},
        {"retry-after": "abc"},
        {"retry-after": "-5"},
        {"retry-after": "nan"},
        {"retry-after": "inf"},
        {"retry-after": "Wed, 99 Oct 2026 07:28:00 GMT"},
        {"retry-after-ms": "-1"},
        {"retry-after": "Wed, 21 Oct 9999999999 07:28:00 GMT"},
    ],
    ids=str,
)
def test_a_wait_that_makes_no_sense_is_the_usual_one(headers: dict[str, str]) -> None:
    assert retry_after(headers, now=NOW) == UNTOLD


@pytest.mark.parametrize(
    "headers",
    [{"retry-after": "0"}, {"retry-after-ms": "0"}, {"retry-after": "Wed, 21 Oct 2020 07:28:00 GMT"}],
    ids=str,
)
def test_no_wait_is_still_a_short_one(headers: dict[str, str]) -> None:
    assert retry_after(headers, now=NOW) == SHORTEST


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": "86400"},
        {"retry-after": "1e300"},
        {"retry-after-ms": "1e300"},
        {"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"},
    ],
    ids=str,
)
def test_a_very_long_wait_is_capped(headers: dict[str, str]) -> None:
    assert retry_after(headers, now=NOW) == LONGEST
