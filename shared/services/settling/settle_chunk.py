"""Settle one chunk: read what came back, rule on every request, book what it cost.

settled lines -> lines for the next round -> ledger row -> the record. Every effect is a repeatable write.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Final

from shared.domain.catalog import Deployment, Lane
from shared.domain.chunks import Chunk, ChunkEvent, Settlement
from shared.domain.errors import NotAdmitted, NotFound
from shared.domain.findings import Finding, FindingKind
from shared.domain.ids import RequestKey
from shared.domain.jobs import Job
from shared.domain.ledger import LedgerRow
from shared.domain.prices import PriceCard
from shared.domain.rows import CheckAnswer, Row
from shared.domain.usage import NOTHING_SPENT, NOTHING_USED
from shared.ports.blobs import Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.prices import Prices
from shared.ports.providers import BatchProvider
from shared.ports.schemas import Schemas
from shared.services.announce import Notice
from shared.services.jobs.job_spec import load_spec
from shared.services.policy import Policy
from shared.services.settling.members import Members, load_members
from shared.services.settling.verdicts import Fate, Ruling, Verdicts
from shared.services.spool import Spool
from shared.services.streams import Outlet, Pause, lines_of
from shared.stores.jobs import Chunks
from shared.stores.ledger import Ledger
from shared.stores.stored import Stored
from shared.wire import results
from shared.wire.members import Member, line, spent_of
from shared.wire.paths import JobPaths

TOO_LONG: Final = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleChunk:
    chunks: Chunks
    blobs: Blobs
    ledger: Ledger
    catalog: CatalogSource
    prices: Prices
    schemas: Schemas
    notice: Notice
    policy: Policy

    async def __call__(self, job: Job, stored: Stored[Chunk], provider: BatchProvider) -> Stored[Chunk]:
        chunk = stored.value
        deployment = (await self.catalog.current()).deployment(chunk.deployment)
        # The first look at the price list loads it.
        card = await asyncio.to_thread(self.prices.card, deployment, Lane.HOURS)
        members = await load_members(self.blobs, job, chunk)
        verdicts = Verdicts(
            chunk=chunk,
            members=members,
            card=card,
            check=await self._check(job),
            policy=self.policy,
        )
        writer = _Writer(job, chunk, members)
        with Spool(len(members)) as settled, Spool(len(members)) as again:
            writer.spools(settled, again)
            async for rows in self._rows(job, chunk, provider):
                for row in rows:
                    writer.note(verdicts.take(row), row)
            pause = Pause()
            for place in range(len(members)):
                writer.note(verdicts.rule_the_rest(place), None)
                await pause()
            handed_on = await self._write(writer, verdicts)
        settlement = verdicts.settlement(handed_on)
        await self._book(job, chunk, deployment, card, settlement)
        await self._note_unpriced(job, settlement, chunk)
        await self._note_account(chunk, verdicts.account_fault)
        return await self.chunks.replace(
            stored, replace(chunk.after(ChunkEvent.SETTLE), settlement=settlement)
        )

    async def _check(self, job: Job) -> CheckAnswer | None:
        spec = await load_spec(self.blobs, job)
        return self.schemas.checker(spec.output_schema) if spec.output_schema is not None else None

    async def _rows(self, job: Job, chunk: Chunk, provider: BatchProvider) -> AsyncIterator[list[Row]]:
        paths = JobPaths(job.tenant, job.id)
        for path in (paths.raw_output(chunk.n), paths.raw_errors(chunk.n)):
            try:
                async for handful in lines_of(self.blobs, path):
                    yield [provider.read_row(job.endpoint, content or TOO_LONG) for content in handful]
            except NotFound:
                continue  # nothing was written there

    async def _write(self, writer: "_Writer", verdicts: Verdicts) -> int:
        """Both files; how many members are handed on."""
        paths, n, pause = writer.paths, verdicts.chunk.n, Pause()
        async with Outlet(self.blobs, paths.settled(n)) as outlet:
            for position, place, repeated in verdicts.members.by_position():
                if verdicts.fates[place] == Fate.FINAL:
                    await outlet.write(writer.settled_line(position, place, repeated=repeated))
                await pause()
        places = [p for p, fate in enumerate(verdicts.fates) if fate == Fate.AGAIN]
        if places:
            async with Outlet(self.blobs, paths.again(n)) as outlet:
                for place in places:
                    await outlet.write(writer.again.get(place))
                    await pause()
        return len(places)

    async def _book(
        self, job: Job, chunk: Chunk, deployment: Deployment, card: PriceCard, settlement: Settlement
    ) -> None:
        if chunk.remote.batch is None or chunk.booked_at is None:
            return  # nothing was ever sent, so nothing was spent
        await self.ledger.book(
            LedgerRow(
                tenant=job.tenant,
                booked_at=chunk.booked_at,
                source=f"{job.id}|{chunk.n}",
                attempt=chunk.attempt,
                lane=Lane.HOURS.value,
                tags=job.tags,
                run_id=job.run_id,
                alias=job.alias,
                deployment=chunk.deployment,
                provider=chunk.provider,
                model=deployment.model,
                requests=chunk.requests,
                outcomes={o.value: n for o, n in settlement.tally.by_outcome().items() if n},
                usage=settlement.usage,
                unattributed=settlement.unattributed,
                spend=settlement.spend,
                price_source=card.source,
                price_as_of=card.as_of,
            )
        )

    async def _note_account(self, chunk: Chunk, row: Row | None) -> None:
        if row is None or chunk.booked_at is None:
            return
        told = f"{row.status} {row.code or ''}".rstrip()
        why = NotAdmitted(f"requests of batch {chunk.remote.batch} were answered with {told}")
        await self.notice.not_admitted(chunk.deployment, why, chunk.booked_at)

    async def _note_unpriced(self, job: Job, settlement: Settlement, chunk: Chunk) -> None:
        if not settlement.spend.unpriced or chunk.booked_at is None:
            return
        await self.notice(
            Finding(
                kind=FindingKind.UNPRICED_MODEL,
                subject=chunk.deployment,
                tenant=None,
                message=f"no batch price is known for deployment {chunk.deployment!r} (model {job.model!r}): its"
                " requests are counted as unpriced; add its rates under prices: in the catalogue",
                found_at=chunk.booked_at,
            )
        )


class _Writer:
    """Turns rulings into lines: settled ones for people, others for the next round."""

    def __init__(self, job: Job, chunk: Chunk, members: Members) -> None:
        self.paths = JobPaths(job.tenant, job.id)
        self._chunk = chunk
        self._model = job.model
        self._members = members
        self._keys = list(members.number)

    def spools(self, settled: Spool, again: Spool) -> None:
        self._settled, self.again = settled, again

    def note(self, ruling: Ruling | None, row: Row | None) -> None:
        if ruling is None:
            return
        if ruling.final:
            self._settled.put(ruling.place, self._result(ruling, row))
        else:
            self.again.put(ruling.place, self._member(ruling))

    def settled_line(self, position: int, place: int, *, repeated: bool) -> bytes:
        settled = self._settled.get(place)
        if repeated:
            settled = results.repeated(results.at_position(settled, position))
        return settled + b"\n"

    def _result(self, ruling: Ruling, row: Row | None) -> bytes:
        return results.settled_line(
            position=self._members.positions[ruling.place],
            key=RequestKey(self._keys[ruling.place]),
            judgement=ruling.judgement,
            response=row.body if row else None,
            usage=ruling.usage,
            spend=ruling.spend,
            provider=self._chunk.provider,
            model=self._model,
            attempts=self._chunk.attempt,
        )

    def _member(self, ruling: Ruling) -> bytes:
        spent = None
        if ruling.usage is not None or ruling.spend is not None:
            spent = spent_of(ruling.usage or NOTHING_USED, ruling.spend or NOTHING_SPENT)
        place = ruling.place
        return line(Member(k=self._keys[place], p=self._members.positions[place], spent=spent))
