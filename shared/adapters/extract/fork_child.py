"""A child process: bound itself, read one document, answer, vanish."""

import ctypes
import errno
import os
import resource
import signal
import sys
from pathlib import Path

from shared.adapters.extract.document import Document, Pages
from shared.adapters.extract.limits import ChildLimits
from shared.adapters.extract.messages import Done, Failed, Opened, Order, Refused, line
from shared.adapters.extract.readers import choose
from shared.adapters.extract.refusal import Refusal
from shared.adapters.extract.sink import TextSink
from shared.domain.extraction import UnreadableReason

_OUTPUT_SLACK_BYTES = 2**16
_MAX_OPEN_FILES = 64
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def read_and_vanish(order: Order, output: str, answers: int) -> None:
    """Answer `order` on the descriptor `answers` and end the process. Never returns."""
    try:
        os.write(answers, line(_confined_answer(order, output, answers)))
    finally:
        # No clean-up of inherited state: it belongs to the server.
        os._exit(0)


def _confined_answer(order: Order, output: str, answers: int) -> Done | Refused | Failed:
    try:
        confine(order.child_limits, output_bytes=order.limits.max_text_bytes + _OUTPUT_SLACK_BYTES)
    except (OSError, ValueError) as error:
        return Failed(id=order.id, message=f"no reader runs unbounded, and bounds cannot be set: {error}")
    return _answer(order, output, answers)


def confine(limits: ChildLimits, *, output_bytes: int) -> None:
    """Give the kernel every bound, clock included: the child ends even when nobody watches it."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # macOS refuses this bound; there the other ones have to do.
        _bound(resource.RLIMIT_AS, limits.memory_bytes)
    _bound_time(limits.cpu_seconds)
    _bound(resource.RLIMIT_FSIZE, output_bytes)
    _bound(resource.RLIMIT_NOFILE, _MAX_OPEN_FILES)
    _bound(resource.RLIMIT_CORE, 0)
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limits.wall_seconds)


def _bound(what: int, most: int, *, slack: int = 0) -> None:
    _, ceiling = resource.getrlimit(what)
    hard = most + slack if ceiling == resource.RLIM_INFINITY else min(most + slack, ceiling)
    resource.setrlimit(what, (min(most, hard), hard))


def _bound_time(seconds: int) -> None:
    # At the hard bound the kernel kills; the signal that names the cause comes at a lower, soft one.
    _bound(resource.RLIMIT_CPU, seconds, slack=1)


def _answer(order: Order, output: str, answers: int) -> Done | Refused | Failed:
    try:
        return _read(order, output, answers)
    except Refusal as verdict:
        return Refused(id=order.id, reason=verdict.reason, message=verdict.message)
    except MemoryError:
        return _out_of_memory(order)
    except OSError as error:
        return _out_of_space(order, error)
    # This process exists to take whatever a parser throws; the panics of Rust are no `Exception`.
    except BaseException as error:  # noqa: BLE001
        what = f"The document is damaged: its reader stopped with {type(error).__name__}."
        return Refused(id=order.id, reason=UnreadableReason.CORRUPT, message=what)


def _read(order: Order, output: str, answers: int) -> Done:
    document = Document(
        source=Path(order.source),
        kind=order.kind,
        content_type=order.content_type,
        limits=order.limits,
        child_limits=order.child_limits,
    )
    choice = choose(document, is_second=order.is_second)
    _bound_time(max(1, round(choice.share_of_time * order.child_limits.cpu_seconds)))
    os.write(answers, line(Opened(media_type=choice.media_type)))
    sink = TextSink.to(output, max_bytes=order.limits.max_text_bytes)
    pages = choice.reader(document, sink) or Pages(count=0, without_text=())
    sink.close()
    return Done(
        id=order.id,
        output=output,
        media_type=choice.media_type,
        pages=pages.count or None,
        pages_without_text=pages.without_text,
    )


def _out_of_memory(order: Order) -> Refused:
    most = order.child_limits.memory_bytes // 2**20
    message = f"The document needs more than the {most:,} MiB of memory a reader may use."
    return Refused(id=order.id, reason=UnreadableReason.TOO_LARGE, message=message)


def _out_of_space(order: Order, error: OSError) -> Refused | Failed:
    if error.errno == errno.ENOMEM:
        return _out_of_memory(order)
    if error.errno == errno.EFBIG:
        message = f"The document holds more than {order.limits.max_text_bytes:,} bytes of text."
        return Refused(id=order.id, reason=UnreadableReason.TOO_LARGE, message=message)
    return Failed(id=order.id, message=f"reading stopped with {type(error).__name__}: {error.strerror}")
