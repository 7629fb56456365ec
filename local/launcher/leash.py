"""Ties a child process to the life of this one, even when this one is killed hard."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def follow_parent(number: signal.Signals) -> None:
    """Be sent `number` when the thread that started this process ends, on Linux."""
    library = ctypes.CDLL(None)
    if hasattr(library, "prctl"):
        library.prctl(_PR_SET_PDEATHSIG, int(number))


def leash(number: signal.Signals) -> Callable[[], None]:
    """What a child must run between fork and exec to be sent `number` when its parent dies.

    It is the kernel that sends it (Linux). Elsewhere only an orderly end of the parent ends the child.
    The child must be started from the main thread: the kernel watches the thread that forked.
    """
    parent = os.getpid()
    library = ctypes.CDLL(None)

    def bind() -> None:
        if hasattr(library, "prctl"):
            library.prctl(_PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:
            # The parent died before the leash was on.
            os._exit(1)

    return bind
