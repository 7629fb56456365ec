"""How long to wait before the next try."""

from datetime import timedelta

import pytest

from shared.domain.waits import Backoff

CAPACITY = Backoff(first=timedelta(seconds=60), longest=timedelta(hours=1))


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(0, 60), (1, 60), (2, 120), (3, 240), (6, 1920), (7, 3600), (8, 3600), (10_000, 3600)],
)
def test_the_wait_doubles_up_to_the_longest(failures: int, seconds: int) -> None:
    assert CAPACITY.after(failures) == timedelta(seconds=seconds)
