"""What a line costs on its way through us: pure work, no storage. Lines a second, the median of three."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Final

from benchmarks import samples
from benchmarks.figures import Figures
from shared.adapters.providers.openai.lines import read_row, write_line
from shared.adapters.text.tokens import ToktokTokens
from shared.domain.catalog import Endpoint
from shared.domain.ids import RequestKey, TenantId
from shared.domain.keys import KeyMaker
from shared.domain.prices import UNPRICED
from shared.domain.rows import judge
from shared.wire import results
from shared.wire.door import Door, Expected, canonical, request_door
from shared.wire.jsonl import Splitter

_GROUP: Final = "lines"
_RUNS: Final = 3
_SLICE: Final = 256 * 1024


def measure(figures: Figures, *, count: int) -> None:
    lines = list(samples.requests(count))
    answers = [samples.answer(f"run-{n:032x}", n).rstrip() for n in range(count)]
    numbered = [(n, line.rstrip()) for n, line in enumerate(lines, 1)]
    bodies = [entry.content for entry in _door().admit(numbered)]
    rows = [read_row(Endpoint.CHAT, line) for line in answers]
    keys = KeyMaker(tenant=TenantId("t"), run_id="run", endpoint="chat", model="gpt-5-mini")
    key = RequestKey("run-00000000000000000000000000000000")

    def settle() -> None:
        for n, row in enumerate(rows):
            results.settled_line(
                position=n,
                key=key,
                judgement=judge(row, None),
                response=row.body,
                usage=row.usage,
                spend=UNPRICED.spend(row.usage) if row.usage else None,
                provider="azure_openai",
                model="gpt-5-mini",
                attempts=1,
            )

    def each[Item](items: Sequence[Item], work: Callable[[Item], object]) -> Callable[[], None]:
        def run() -> None:
            for item in items:
                work(item)

        return run

    texts = [str(body) for body in bodies]
    tokens = ToktokTokens()
    tokens.count("gpt-5-mini", ["loads the vocabulary"])
    for name, run in {
        "split": lambda: _split(b"".join(lines)),
        "door": lambda: _door().admit(numbered),
        "key": each(bodies, lambda body: keys.key(canonical(body))),
        "write_line": each(
            bodies, lambda body: write_line(key, url="/v1/chat/completions", model="m", body=body)
        ),
        "count tokens": lambda: tokens.count("gpt-5-mini", texts),
        "read_row": each(answers, lambda line: read_row(Endpoint.CHAT, line)),
        "settled line": settle,
    }.items():
        figures.add(_GROUP, name, count / _median_seconds(run), "lines/s")


def _median_seconds(run: Callable[[], object]) -> float:
    return statistics.median(_seconds(run) for _ in range(_RUNS))


def _seconds(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def _door() -> Door[dict[str, object]]:
    return request_door(Expected(alias="summarize", max_line_bytes=200_000_000))


def _split(content: bytes) -> None:
    splitter = Splitter(200_000_000)
    for start in range(0, len(content), _SLICE):
        splitter.feed(content[start : start + _SLICE])
    splitter.finish()
