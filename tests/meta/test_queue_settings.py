"""What host.json promises about the queues: one layer of retries, locks that outlast the work."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def host() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((ROOT / "host.json").read_text())
    return read


def duration(text: str) -> timedelta:
    hours, minutes, seconds = map(int, text.split(":"))
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def test_a_lock_is_renewed_for_longer_than_a_function_may_run() -> None:
    bus = host()["extensions"]["serviceBus"]

    assert duration(bus["maxAutoLockRenewalDuration"]) > duration(host()["functionTimeout"])


def test_no_message_waits_under_a_lock_for_its_turn() -> None:
    assert host()["extensions"]["serviceBus"]["prefetchCount"] == 0


def test_the_host_completes_what_a_function_has_returned_from() -> None:
    assert host()["extensions"]["serviceBus"]["autoCompleteMessages"] is True


def test_the_queue_s_deliveries_are_the_only_layer_of_retries() -> None:
    assert "retry" not in host()
    triggers = [path.read_text() for path in (ROOT / "shared" / "triggers").glob("*.py")]

    assert not [text for text in triggers if re.search(r"\.retry\(|retry_policy", text)]
