"""Batches of a server that has none: we ask its lines ourselves, one call each.

The work is done while the batch is looked at: each `retrieve` takes the lease in the batch's record and asks for
a slice of time. Several workers may look at once; the lease lets one of them ask. The input stays where the
chunk has it; rows lie in our storage from the moment they are there. A batch is called by its chunk's key, so
that a second create finds the first.
"""

import uuid
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Final

import msgspec
from msgspec import structs

from shared.adapters.providers.self_run.pace import Turnstile
from shared.adapters.providers.self_run.rows import Rows
from shared.adapters.providers.self_run.slice import Ask, Asked, Slice, Terms
from shared.adapters.providers.self_run.state import State, States, StoredState
from shared.domain.chunks import BatchEnd, read_chunk_key
from shared.domain.errors import Conflict
from shared.domain.ids import BatchId, ChunkKey, FileId
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.ports.providers import ChunkInput, RemoteBatch, RemoteState, StagedFile
from shared.wire.jsonl import split

_ROWS: Final = "/rows"
_UNRUN: Final = "/unrun"
_UNRUN_CODES: Final = {
    BatchEnd.EXPIRED: ("batch_expired", "the window ended before this request was answered"),
    BatchEnd.CANCELLED: ("batch_cancelled", "it was cancelled before this request was answered"),
}
_AT_ONCE: Final = timedelta(0)
_encode: Final = msgspec.json.Encoder().encode
_read: Final = msgspec.json.Decoder(Asked).decode


def is_own(name: BatchId | FileId) -> bool:
    """Whether a batch or file is one of these."""
    return read_chunk_key(name.removesuffix(_ROWS).removesuffix(_UNRUN)) is not None


class SelfRunBatches:
    """`window` is how long after its create a batch is worked on."""

    def __init__(
        self, *, blobs: Blobs, ask: Ask, clock: Clock, turnstile: Turnstile, terms: Terms, window: timedelta
    ) -> None:
        self.terms = terms
        self._blobs = blobs
        self._states = States(blobs)
        self._ask = ask
        self._clock = clock
        self.turnstile = turnstile
        self._window = window

    def staged(self, key: ChunkKey) -> StagedFile:
        """The input stays in our storage: nothing is handed over."""
        return StagedFile(id=FileId(key), ready=True, expires_at=None, is_ours=True)

    async def find(self, key: ChunkKey) -> RemoteBatch | None:
        found = await self._states.find(key)
        return None if found is None else self._view(found.state)

    async def create(self, chunk: ChunkInput) -> RemoteBatch:
        now = self._clock.now()
        state = State(
            key=chunk.key,
            endpoint=chunk.endpoint.value,
            requests=chunk.requests,
            path=chunk.path,
            created_at=now,
            expires_at=now + self._window,
        )
        try:
            return self._view((await self._states.add(state)).state)
        except Conflict:
            return self._view((await self._states.load(chunk.key)).state)

    async def retrieve(self, batch: BatchId) -> RemoteBatch:
        """Goes on with the batch, if nobody else does."""
        stored = await self._states.load(ChunkKey(batch))
        if stored.state.end is not None or stored.state.is_held(self._clock.now()):
            return self._view(stored.state)
        holder = uuid.uuid4().hex
        try:
            held = await self._states.replace(
                stored,
                structs.replace(stored.state, holder=holder, held_until=self._clock.now() + self.terms.lease),
            )
        except Conflict:
            return self._view((await self._states.load(ChunkKey(batch))).state)
        return self._view(await self._go_on(held, holder))

    async def cancel(self, batch: BatchId) -> None:
        """Whoever works on it stops; whoever looks next ends it."""
        await self._states.change(
            ChunkKey(batch), lambda s: s if s.end is not None else structs.replace(s, cancelled=True)
        )

    async def download(self, file: FileId) -> AsyncIterator[bytes]:
        key = ChunkKey(file.removesuffix(_ROWS).removesuffix(_UNRUN))
        stored = await self._states.load(key)
        rows = Rows(self._blobs, key)
        pieces = rows.read() if file.endswith(_ROWS) else self._unrun(stored.state, rows)
        async for piece in pieces:
            yield piece

    async def check(self, file: FileId) -> None:
        """Raise `NotFound` if its batch is gone."""
        await self._states.load(ChunkKey(file.removesuffix(_ROWS).removesuffix(_UNRUN)))

    async def delete(self, file: FileId) -> None:
        """The rows take the batch's record with them; the input is the chunk's, and what never ran is no blob."""
        if file.endswith(_ROWS):
            key = ChunkKey(file.removesuffix(_ROWS))
            await Rows(self._blobs, key).delete()
            await self._states.delete(key)

    async def _go_on(self, held: StoredState, holder: str) -> State:
        rows = Rows(self._blobs, ChunkKey(held.state.key))
        work = Slice(
            held=held,
            holder=holder,
            blobs=self._blobs,
            states=self._states,
            rows=rows,
            ask=self._ask,
            turnstile=self.turnstile,
            clock=self._clock,
            terms=self.terms,
        )
        try:
            if self._clock.now() < held.state.expires_at:
                await work.work()
            else:
                await rows.look()
        finally:
            end = self._end(work.held.state, rows)
            await work.note(holder=None, held_until=None, end=end)
        return work.held.state

    def _end(self, state: State, rows: Rows) -> str | None:
        if len(rows.done) >= state.requests:
            return BatchEnd.COMPLETED.value
        if state.cancelled:
            return BatchEnd.CANCELLED.value
        return BatchEnd.EXPIRED.value if self._clock.now() >= state.expires_at else None

    async def _unrun(self, state: State, rows: Rows) -> AsyncIterator[bytes]:
        await rows.look()
        code, message = _UNRUN_CODES[BatchEnd(state.end or BatchEnd.EXPIRED.value)]
        place = 0
        async for lines in split(self._blobs.read(state.path), max_line_bytes=self.terms.max_line_bytes):
            for _, line in lines:
                if line is not None and place not in rows.done:
                    error = {"code": code, "message": message}
                    yield _encode({"custom_id": _read(line).custom_id, "error": error}) + b"\n"
                place += 1

    def _view(self, state: State) -> RemoteBatch:
        end = BatchEnd(state.end) if state.end else None
        key = ChunkKey(state.key)
        held = state.is_held(self._clock.now())
        wait = max(self.turnstile.shut_for, self.terms.renew if held else _AT_ONCE)
        return RemoteBatch(
            id=BatchId(key),
            key=key,
            state=RemoteState.ENDED if end else RemoteState.RUNNING,
            raw_state="cancelling" if state.cancelled and not end else (state.end or "in_progress"),
            created_at=state.created_at,
            end=end,
            output_file=FileId(f"{key}{_ROWS}") if end else None,
            error_file=FileId(f"{key}{_UNRUN}") if end in _UNRUN_CODES else None,
            completed=state.completed,
            failed=state.failed,
            expires_at=state.expires_at,
            again_in=None if end else wait,
        )
