"""The launcher with real storage, broker and change feed, and the trigger app in place of ours."""

import sys

from local.launcher.layout import Layout
from local.launcher.main import main
from local.launcher.processes import Process, azurite, change_feed, host, servicebus
from tests.local.host.host_process import HERE


def trigger_processes(layout: Layout) -> tuple[Process, ...]:
    return (azurite(layout), servicebus(layout), change_feed(layout), host(layout, HERE / "trigger_app"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], table=trigger_processes))
