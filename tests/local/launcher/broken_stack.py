"""A launcher whose only process ends as soon as it is started."""

import sys

from local.launcher.layout import Layout
from local.launcher.main import main
from local.launcher.processes import Process, python_module


def broken_processes(layout: Layout) -> tuple[Process, ...]:
    return (python_module(layout, "simulator", module="tests.local.launcher.no_such_module"),)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], table=broken_processes))
