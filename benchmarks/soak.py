"""Long trials of the minutes lane on a local stack: `python -m benchmarks.soak [flood] [outage]`.

`flood`: 500 documents at once, each event three times in random order and 5 % of them lost.
`outage`: ten minutes in which every model call is answered with 503.
The tests have both in small; this is for before a release. Prints what was seen; fails where something is wrong.
"""

import argparse
import json
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks.documents import KEY, a_stack, control
from local.stack import Stack

FOLDER: Final = "support/notes/soak/"
FINISHED: Final = frozenset({"completed", "failed"})
SETTINGS: Final = {
    "POSTERN_STUCK_SECONDS": "20",
    "POSTERN_SWEEP_SCHEDULE": "*/5 * * * * *",
    "POSTERN_DOCUMENT_BACKOFF_MAX_SECONDS": "30",
}
_LONGEST_SECONDS: Final = 3600.0
_DROPPERS: Final = 8


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    options.add_argument("trials", nargs="*", metavar="TRIAL", help="flood, outage; both if none is named")
    options.add_argument("--documents", type=int, default=500)
    options.add_argument("--minutes", type=float, default=10)
    given = options.parse_args()
    known: dict[str, Callable[[Stack], dict[str, Any]]] = {
        "flood": lambda stack: flood(stack, given.documents),
        "outage": lambda stack: outage(stack, given.documents, given.minutes * 60),
    }
    if unknown := set(given.trials) - set(known):
        options.error(f"no trial {', '.join(sorted(unknown))}; there is {', '.join(known)}")
    good = True
    for name in given.trials or known:
        with a_stack(**SETTINGS) as stack:
            seen = known[name](stack)
        print(json.dumps({"trial": name, **seen}, indent=1), flush=True)
        good = good and not seen["wrong"]
    sys.exit(0 if good else 1)


def flood(stack: Stack, count: int) -> dict[str, Any]:
    stack.turn_knobs(duplicates=2, jitter_seconds=5, loss=0.05, seed=11)
    begun = time.monotonic()
    drop(stack, count)
    records = finished(stack, count)
    return {
        "seconds": round(time.monotonic() - begun),
        "feed": stack.feed_counts(),
        **judged(stack, records, count),
    }


def outage(stack: Stack, count: int, seconds: float) -> dict[str, Any]:
    control(stack, "POST", "rules", [{"match": {"operation": "chat"}, "then": {"status": 503}}])
    drop(stack, count)
    most_dead, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(5)
        most_dead = max(most_dead, queue(stack)["dead_letter"])
    refused = len(calls(stack))
    early = sum(1 for each in records_of(stack) if each["status"] in FINISHED)
    control(stack, "DELETE", "rules")
    begun = time.monotonic()
    records = finished(stack, count)
    seen = judged(stack, records, count, beside=refused)
    wrong = [
        *seen.pop("wrong"),
        *(["dead letters"] if most_dead else []),
        *(["ended early"] if early else []),
    ]
    return {
        "outage_seconds": seconds,
        "calls_refused": refused,
        "seconds_to_the_last_end": round(time.monotonic() - begun),
        **seen,
        "wrong": wrong,
    }


def judged(stack: Stack, records: list[dict[str, Any]], count: int, *, beside: int = 0) -> dict[str, Any]:
    """What came of `count` documents; `wrong` names what is not as it must be."""
    asked = Counter(entry["correlation_id"] for entry in calls(stack))
    results = names(stack, "results")
    seen: dict[str, Any] = {
        "records": len(records),
        "outcomes": dict(Counter(record["outcome"] for record in records)),
        "results": len(results),
        "model_calls": sum(asked.values()) - beside,
        "dead_letters": queue(stack)["dead_letter"],
    }
    expected = {
        "records": count,
        "outcomes": {"succeeded": count},
        "results": count,
        "model_calls": count,
        "dead_letters": 0,
    }
    seen["wrong"] = [name for name, value in expected.items() if seen[name] != value]
    return seen


def drop(stack: Stack, count: int) -> None:
    with stack.container("documents") as documents, ThreadPoolExecutor(_DROPPERS) as pool:
        list(
            pool.map(
                lambda n: documents.upload_blob(
                    f"{FOLDER}{n}.txt", f"Note {n}. It has two sentences.".encode()
                ),
                range(count),
            )
        )


def finished(stack: Stack, count: int) -> list[dict[str, Any]]:
    """The records, once so many versions have their end."""
    end = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < end:
        if len(names(stack, "results")) >= count:
            records = records_of(stack)
            if len(records) >= count and all(record["status"] in FINISHED for record in records):
                return records
        time.sleep(1)
    raise RuntimeError(f"after {_LONGEST_SECONDS:.0f} s: {Counter(r['status'] for r in records_of(stack))}")


def names(stack: Stack, container: str) -> list[str]:
    with stack.container(container) as blobs:
        return list(blobs.list_blob_names(name_starts_with=FOLDER))


def records_of(stack: Stack) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after = ""
    while True:
        page = got(f"{stack.http}/v1/documents?limit=200{after}", key=KEY)
        found += page["data"]
        if not page["has_more"]:
            return found
        after = f"&after={page['next']}"


def calls(stack: Stack) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = got(f"{stack.simulator}/_sim/journal?operation=chat")
    return found


def queue(stack: Stack) -> dict[str, int]:
    port = urlsplit(stack.servicebus.split(";")[0].removeprefix("Endpoint=")).port
    counts: dict[str, int] = got(f"http://127.0.0.1:{port}/queues/documents")
    return counts


def got(url: str, *, key: str | None = None) -> Any:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as response:
        return json.loads(response.read())


if __name__ == "__main__":
    main()
