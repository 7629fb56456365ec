"""The launcher with the sample app, real storage, and stubs in place of our own servers."""

import sys
from pathlib import Path

from local.launcher.layout import Layout
from local.launcher.main import main
from local.launcher.processes import Process, azurite, host, python_module

SAMPLE_APP = Path(__file__).parent.parent / "host" / "sample_app"
STUB = "tests.local.launcher.stub_server"


def stub_processes(layout: Layout) -> tuple[Process, ...]:
    return (
        azurite(layout),
        python_module(layout, "simulator", module=STUB, url=f"{layout.simulator}/_sim/health"),
        python_module(layout, "servicebus", module=STUB),
        host(layout, SAMPLE_APP),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], table=stub_processes))
