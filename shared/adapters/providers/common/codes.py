"""Error codes of providers: names that become reasons, so prose and bare numbers are none."""

import re
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


def code_name(told: object) -> str | None:
    """The code, if it is a name; None for anything else a service puts in its place."""
    return told if isinstance(told, str) and _NAME.fullmatch(told) else None
