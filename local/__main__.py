"""`python -m local up` and `python -m local demo`; each knows `--help`."""

import sys

from local.launcher.main import main


def _demo() -> int:
    # What the demo draws with is of no use to a stack, and would slow down its start.
    from local.demo.main import main as demo  # noqa: PLC0415

    return demo(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(_demo() if sys.argv[1:2] == ["demo"] else main(sys.argv[1:]))
