"""The extractor: plain text in place, everything else by a child process that may die of it."""

import asyncio
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from shared.adapters.extract.fork_client import ForkClient, ServerGone
from shared.adapters.extract.inspection import inspect
from shared.adapters.extract.limits import ChildLimits
from shared.adapters.extract.media import WITH_SECOND_READER, Kind
from shared.adapters.extract.messages import Answer, Died, Done, Failed, Order, Refused
from shared.domain.extraction import (
    Extraction,
    ExtractionLimits,
    ExtractorUnavailable,
    Unreadable,
    UnreadableReason,
)

_OUT_OF_TIME = frozenset({signal.SIGXCPU, signal.SIGALRM})


class ForkExtractor:
    """Reads documents in child processes, at most `children` at once."""

    def __init__(
        self,
        *,
        limits: ExtractionLimits | None = None,
        child_limits: ChildLimits | None = None,
        children: int = 2,
        directory: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`environment` is what the interpreter needs to start, if anything: readers get nothing else."""
        self._limits = limits or ExtractionLimits()
        self._child_limits = child_limits or ChildLimits()
        self._slots = asyncio.Semaphore(children)
        self._client = ForkClient(
            directory=str(directory or tempfile.gettempdir()), environment=environment or {}
        )

    @property
    def limits(self) -> ExtractionLimits:
        """The bounds every document is held to."""
        return self._limits

    @property
    def server_pid(self) -> int | None:
        """The process id of the fork server, while it runs."""
        return self._client.server_pid

    async def extract(self, source: Path, *, name: str, content_type: str | None) -> Extraction | Unreadable:
        """The text of `source`, or why there is none; see the port."""
        found = await asyncio.to_thread(
            inspect, source, name=name, content_type=content_type, limits=self._limits
        )
        if not isinstance(found, Kind):
            return found
        async with self._slots:
            return await self._read(source, found, content_type)

    async def close(self) -> None:
        """End the fork server and all children."""
        await self._client.close()

    async def _read(self, source: Path, kind: Kind, content_type: str | None) -> Extraction | Unreadable:
        order = self._order(source, kind, content_type)
        answer = await self._ask(order)
        if _is_killed(answer):
            # Somebody else ended the child, short of memory perhaps; that says nothing about the document.
            answer = await self._ask(order)
        if isinstance(answer, Died) and answer.media_type in WITH_SECOND_READER:
            answer = await self._ask(msgspec.structs.replace(order, is_second=True))
        match answer:
            case Done():
                return await asyncio.to_thread(_collect, answer)
            case Refused():
                return Unreadable(reason=answer.reason, message=answer.message)
            case Died():
                return _epitaph(answer, self._child_limits)
            case Failed():
                raise ExtractorUnavailable(answer.message)

    def _order(self, source: Path, kind: Kind, content_type: str | None) -> Order:
        return Order(
            id=self._client.next_id(),
            source=str(source.absolute()),
            kind=kind,
            content_type=content_type,
            limits=self._limits,
            child_limits=self._child_limits,
        )

    async def _ask(self, order: Order) -> Answer:
        try:
            return await self._client.ask(order)
        except ServerGone:
            return await self._client.ask(order)


def _is_killed(answer: Answer) -> bool:
    return isinstance(answer, Died) and answer.signal == signal.SIGKILL


def _collect(done: Done) -> Extraction:
    """Take the text out of its file, which goes."""
    output = Path(done.output)
    try:
        text = output.read_text(encoding="utf-8", newline="")
    finally:
        output.unlink(missing_ok=True)
    return Extraction(
        text=text,
        media_type=done.media_type,
        pages=done.pages,
        pages_without_text=done.pages_without_text,
    )


def _epitaph(death: Died, limits: ChildLimits) -> Unreadable:
    """What a death says about the document."""
    if death.signal in _OUT_OF_TIME:
        message = f"Reading the document took longer than {limits.cpu_seconds} seconds."
        return Unreadable(reason=UnreadableReason.TOO_LARGE, message=message)
    # Readers in C and Rust abort when they are denied memory; a stray pointer has other signals.
    if death.signal in {signal.SIGABRT, signal.SIGKILL, signal.SIGTRAP}:
        most = limits.memory_bytes // 2**20
        message = f"The document needs more than the {most:,} MiB of memory a reader may use."
        return Unreadable(reason=UnreadableReason.TOO_LARGE, message=message)
    message = "The document is damaged in a way that ends its reader; save it again and drop the new file."
    return Unreadable(reason=UnreadableReason.CORRUPT, message=message)
