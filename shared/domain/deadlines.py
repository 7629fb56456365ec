"""When a job is late: what its provider may take, and some patience beyond. Pure."""

from datetime import timedelta
from typing import Final

_DAY: Final = timedelta(hours=24)


def default_deadline(window: timedelta, *, of_a_day: timedelta) -> timedelta:
    """How long a job may take that brings no deadline of its own.

    `of_a_day` is what is allowed where batches have a day. A longer `window` makes it longer by as much, a
    shorter one leaves it: further rounds need their time too.
    """
    return of_a_day + max(window - _DAY, timedelta(0))
