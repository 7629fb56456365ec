"""Seconds of work that processes have done, as Linux tells them. Other systems tell nothing: there it is 0."""

import os
from pathlib import Path


def seconds(pid: int) -> float:
    """Of the process and the children it has waited for, up to now."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    # The name before it is in parentheses and may hold anything.
    fields = stat.rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
