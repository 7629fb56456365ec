"""From the command line to an exit code: 0 only if every input and every document has its outcome."""

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from rich.console import Console

from local.demo.audit import complaints
from local.demo.finale import finale, verdict
from local.demo.leftovers import clear, keep_logs
from local.demo.parts import missing_parts
from local.demo.progress import display_for
from local.demo.run import run_on_a_stack
from local.demo.trouble import DemoFailed
from local.stack import StackFailed

WIDEST = 110
PLAIN_WIDTH = 100
INTERRUPTED = 130


def main(arguments: Sequence[str]) -> int:
    """Run the demo and tell how it went."""
    out = _parse(arguments)
    console = make_console()
    # Left to itself it would end this process and leave the stack behind.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _demo(console, out)
    except KeyboardInterrupt:
        console.print("\nStopped before the end. `make demo` starts it anew.", highlight=False)
        return INTERRUPTED


def make_console() -> Console:
    """As wide as the terminal, within reason; the same width wherever there is none."""
    console = Console(highlight=False)
    return Console(highlight=False, width=min(console.width, WIDEST) if console.is_terminal else PLAIN_WIDTH)


def _demo(console: Console, out: Path) -> int:
    began = time.monotonic()
    console.print(
        "\n[bold]Postern[/]: sample jobs and documents on a local stack, with a simulated provider\n"
    )
    clear(out)
    if missing := missing_parts():
        return _fail(console, missing)
    with tempfile.TemporaryDirectory(prefix="postern-demo-", ignore_cleanup_errors=True) as data:
        try:
            run = run_on_a_stack(Path(data), out, display_for(console))
        except (DemoFailed, StackFailed) as exc:
            return _fail(console, [str(exc)], logs=keep_logs(Path(data), out))
        console.print(finale(run, out))
        if wrong := complaints(run.finished, run.planted, run.answered, run.everywhere):
            return _fail(console, wrong, logs=keep_logs(Path(data), out))
    console.print(verdict(run, time.monotonic() - began))
    return 0


def _fail(console: Console, reasons: Sequence[str], *, logs: Path | None = None) -> int:
    console.print("\n[bold red]The demo did not work.[/]")
    for reason in reasons:
        console.print(f"  {reason}", markup=False)
    if logs is not None:
        console.print(f"\nEach process has its log in {logs}/; the app's own is host.log.", markup=False)
        console.print("`make up` starts a stack that stays, to look around in.")
    return 1


def _parse(arguments: Sequence[str]) -> Path:
    parser = argparse.ArgumentParser(prog="python -m local demo", description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("demo-out"), help="folder for results (default: %(default)s)"
    )
    return Path(parser.parse_args(arguments).out)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
