"""Cron expressions, as Azure's timers take them."""

import re

import pytest

from shared.wire.catalog_cron import normal_cron


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("0 0 1 * * *", "0 0 1 * * *"),
        ("  0   0 1 * * *  ", "0 0 1 * * *"),
        ("*/5 * * * *", "0 */5 * * * *"),
        ("*/5 * * * * *", "*/5 * * * * *"),
        ("0 0 8-18/2 * * mon-FRI", "0 0 8-18/2 * * mon-FRI"),
        ("0 0,15,30,45 * 29 2 *", "0 0,15,30,45 * 29 2 *"),
        ("59 59 23 31 dec 6", "59 59 23 31 dec 6"),
        ("0 30 1/6 1-7 jan,jul sun", "0 30 1/6 1-7 jan,jul sun"),
        ("0 0 0 31 2,3 *", "0 0 0 31 2,3 *"),
    ],
)
def test_an_expression_is_brought_to_six_fields(written: str, normal: str) -> None:
    assert normal_cron(written) == normal


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "needs six fields"),
        ("@daily", "needs six fields"),
        ("* * * *", "needs six fields"),
        ("* * * * * * *", "needs six fields"),
        ("60 * * * * *", "second: 60 is not between 0 and 59"),
        ("0 60 * * * *", "minute: 60 is not between 0 and 59"),
        ("0 0 24 * * *", "hour: 24 is not between 0 and 23"),
        ("0 0 0 0 * *", "day: 0 is not between 1 and 31"),
        ("0 0 0 1 13 *", "month: 13 is not between 1 and 12"),
        ("0 0 0 1 * 7", "day of the week: 7 is not between 0 and 6"),
        ("0 0 0 1 * monday", "day of the week: 'monday' is not a value, a range or a step"),
        ("0 */0 * * * *", "minute: the step must be at least 1"),
        ("0 */ * * * *", "minute: '' is not a value, a range or a step"),
        ("0 1,,2 * * * *", "minute: '' is not a value, a range or a step"),
        ("0 -5 * * * *", "minute: '' is not a value, a range or a step"),
        ("0 30-10 * * * *", "minute: 30-10 runs backwards"),
        ("0 1-2-3 * * * *", "minute: '2-3' is not a value, a range or a step"),
        ("0 0 0 30 2 *", "never fires: no such day in these months"),
        ("0 0 0 31 apr,jun *", "never fires: no such day in these months"),
        ("0 ٣ * * * *", "minute: '٣' is not a value, a range or a step"),
    ],
)
def test_what_is_no_expression_is_refused_with_a_reason(written: str, reason: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(reason)):
        normal_cron(written)
