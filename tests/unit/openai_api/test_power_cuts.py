"""The power is cut before and after every effect of an upload, a create and all that follows."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import msgspec
import pytest

from shared.adapters.memory.provider_rows import Fate
from shared.domain.ids import FileId
from shared.domain.jobs import Job
from shared.services.policy import Policy
from shared.wire.batch_calls import read_batch_call
from shared.wire.batch_views import BatchStatus, status_of
from shared.wire.file_form import FileForm
from tests.support.openai_world import lines_of
from tests.support.power import Mains, PowerCut, PoweredOrchestrations, powered
from tests.support.world import SUPPORT, World

POLICY = Policy(poll=timedelta(seconds=60), create_timeout=timedelta(seconds=30), max_attempts=2)
HEAD = 'Content-Disposition: form-data; name="{}"\r\n\r\n'
EFFECTS = 58


async def a_form() -> AsyncIterator[bytes]:
    for name, content in (("purpose", b"batch"), ("file", lines_of(["One.", "Bad."]))):
        yield b"--x\r\n" + HEAD.format(name).encode() + content + b"\r\n"
    yield b"--x--\r\n"


@dataclass
class Client:
    """Knows only what it was answered, and asks again where it was not."""

    world: World = field(default_factory=lambda: World(policy=POLICY))
    file: FileId | None = None
    asked: bool = False
    job: Job | None = None

    def __post_init__(self) -> None:
        self.world.provider.habits.fates = {"Bad": Fate.REJECTED}

    async def live(self, mains: Mains) -> None:
        self.world.app = self.world.power_up(partial(powered, mains=mains))
        await self._ask(mains)
        await self.world.run()
        mains.check()

    async def recover(self) -> None:
        await self.world.crash()
        await self._ask(Mains())
        for _ in range(12):
            self.world.clock.advance(timedelta(minutes=20))
            await self.world.sweep()
            await self.world.run()

    async def _ask(self, mains: Mains) -> None:
        app, engine = self.world.app, PoweredOrchestrations(self.world.engine, mains)
        if self.file is None:
            form = FileForm("multipart/form-data; boundary=x")
            self.file = (await app.keep_file(SUPPORT.id, form, a_form())).id
        if self.job is None:
            again, self.asked = self.asked, True
            wish = {
                "input_file_id": self.file,
                "endpoint": "/v1/chat/completions",
                "completion_window": "24h",
            }
            call = read_batch_call(msgspec.json.encode(wish))
            self.job = await app.create_batch(SUPPORT, call, engine, again=again)

    async def check(self) -> None:
        app = self.world.app
        jobs = [job async for job in self.world.app.show_batch.jobs.newest_first([SUPPORT.id])]
        assert self.job is not None
        assert [job.id for job in jobs] == [self.job.id]
        batch = jobs[0].batch
        assert batch is not None
        assert (status_of(jobs[0]), batch.completed, batch.failed) == (BatchStatus.COMPLETED, 1, 1)
        for file in (batch.output, batch.errors):
            found = await app.read_files.one_of([SUPPORT.id], str(file))
            pieces = await app.read_files.content(found, offset=0, length=found.bytes)
            assert b"".join([piece async for piece in pieces]).count(b"\n") == 1
        await self._check_that_all_lapses(len([1 async for _ in self.world.blobs.list("files/")]))

    async def _check_that_all_lapses(self, there: int) -> None:
        """Also what nobody knows of: an upload that was cut off, and then sent again."""
        assert there >= 3
        self.world.clock.advance(timedelta(days=31))
        await self.world.sweep()
        assert [info.path async for info in self.world.blobs.list("files/")] == []


async def test_the_number_of_effects_is_known() -> None:
    client, mains = Client(), Mains()

    await client.live(mains)

    assert mains.effects == EFFECTS
    await client.check()


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_cut_loses_nothing_makes_nothing_twice_and_leaves_nothing(when: str) -> None:
    for effect in range(1, EFFECTS + 1):
        client = Client()
        mains = Mains(cut_before=effect) if when == "before" else Mains(cut_after=effect)
        with pytest.raises(PowerCut):
            await client.live(mains)

        await client.recover()

        await client.check()
