"""When a cron expression has fired last."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.wire.catalog_cron import last_due, normal_cron

NOW = datetime(2026, 11, 30, 8, 30, 15, 123456, tzinfo=UTC)  # a Monday


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("* * * * * *", datetime(2026, 11, 30, 8, 30, 15, tzinfo=UTC)),
        ("*/10 * * * * *", datetime(2026, 11, 30, 8, 30, 10, tzinfo=UTC)),
        ("20 * * * * *", datetime(2026, 11, 30, 8, 29, 20, tzinfo=UTC)),
        ("0 0 * * * *", datetime(2026, 11, 30, 8, 0, tzinfo=UTC)),
        ("0 0 1 * * *", datetime(2026, 11, 30, 1, 0, tzinfo=UTC)),
        ("0 0 9 * * *", datetime(2026, 11, 29, 9, 0, tzinfo=UTC)),
        ("0 45 8 * * *", datetime(2026, 11, 29, 8, 45, tzinfo=UTC)),
        ("0 0 1 * * sun", datetime(2026, 11, 29, 1, 0, tzinfo=UTC)),
        ("0 0 1 * * mon-fri", datetime(2026, 11, 30, 1, 0, tzinfo=UTC)),
        ("0 0 0 31 * *", datetime(2026, 10, 31, tzinfo=UTC)),
        ("0 0 0 29 2 *", datetime(2024, 2, 29, tzinfo=UTC)),
        ("0 0 0 29 2 mon", datetime(2016, 2, 29, tzinfo=UTC)),
        ("59 59 23 31 12 *", datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_the_last_instant_is_found(expression: str, expected: datetime) -> None:
    assert last_due(normal_cron(expression), NOW) == expected


def test_the_very_instant_counts() -> None:
    assert last_due("0 0 8 * * *", datetime(2026, 11, 30, 8, tzinfo=UTC)) == datetime(
        2026, 11, 30, 8, tzinfo=UTC
    )


fields = st.tuples(
    st.sampled_from(["0", "*/7", "5,50"]),
    st.sampled_from(["*", "30", "*/20"]),
    st.sampled_from(["*", "3", "*/5", "22-23"]),
)


@given(fields, st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)))  # noqa: DTZ001 made aware below
def test_nothing_fires_between_it_and_now(given_fields: tuple[str, str, str], moment: datetime) -> None:
    expression, now = " ".join([*given_fields, "*", "*", "*"]), moment.replace(tzinfo=UTC)
    due = last_due(expression, now)

    assert due <= now
    assert last_due(expression, due) == due
    if now - due > timedelta(seconds=1):
        assert last_due(expression, due + timedelta(seconds=1)) == due
    assert last_due(expression, now - (now - due) / 2) == due
