"""The simulator put together: the only place that knows all its parts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from local.simulator.admission import Admission
from local.simulator.batches import Batches
from local.simulator.clock import Clock
from local.simulator.contents import FileContents
from local.simulator.control import Control
from local.simulator.course import Course
from local.simulator.database import Database
from local.simulator.dialects import anthropic, azure, compatible, mistral, openai, vertex
from local.simulator.dialects.anthropic_lines import AnthropicLines
from local.simulator.dialects.azure_lines import AzureLines
from local.simulator.dialects.mistral_lines import MistralLines
from local.simulator.dialects.mounting import Parts
from local.simulator.dialects.openai_lines import OpenAILines
from local.simulator.dialects.port import BatchDialect
from local.simulator.dialects.vertex_lines import VertexLines
from local.simulator.engine import Engine
from local.simulator.events import Events
from local.simulator.files import Files
from local.simulator.journal import Journal
from local.simulator.quotas import Quotas
from local.simulator.rulebook import RuleBook
from local.simulator.stage import Stage
from local.simulator.storage import Storage

# Of one JSON body; files are streamed and have bounds of their own.
MAX_BODY_BYTES = 64 << 20

DIALECTS: tuple[BatchDialect, ...] = (
    OpenAILines(),
    AzureLines(),
    AnthropicLines(),
    MistralLines(),
    VertexLines(),
)


@asynccontextmanager
async def application(folder: Path, storage: str | None = None) -> AsyncIterator[web.Application]:
    """The whole simulator with its state in `folder`; batches go on as soon as it is entered.

    `storage` is a connection string to where Azure OpenAI is let in.
    """
    folder.mkdir(parents=True, exist_ok=True)
    database = Database(folder / "simulator.db")
    clock = Clock(database)
    files = Files(database, clock, folder / "files")
    batches = Batches(database, clock)
    rules = RuleBook(database)
    quotas = Quotas(database)
    journal = Journal(database, clock)
    blobs = Storage(storage)
    course = Course(
        database=database,
        clock=clock,
        files=files,
        batches=batches,
        rules=rules,
        quotas=quotas,
        storage=blobs,
        dialects={dialect.name: dialect for dialect in DIALECTS},
    )
    engine = Engine(batches, course)
    stage = Stage(database=database, journal=journal, rules=rules, contents=FileContents())
    admission = Admission(
        database=database,
        files=files,
        batches=batches,
        rules=rules,
        quotas=quotas,
        engine=engine,
        stage=stage,
    )
    parts = Parts(
        database=database,
        clock=clock,
        files=files,
        batches=batches,
        rules=rules,
        quotas=quotas,
        engine=engine,
        stage=stage,
        admission=admission,
        storage=blobs,
    )
    control = Control(
        database=database,
        clock=clock,
        files=files,
        rules=rules,
        quotas=quotas,
        journal=journal,
        events=Events(database),
        engine=engine,
        stage=stage,
    )
    web_application = web.Application(client_max_size=MAX_BODY_BYTES)
    web_application.add_routes(
        [
            *control.routes(),
            *azure.routes(parts),
            *openai.routes(parts),
            *compatible.routes(parts),
            *anthropic.routes(parts),
            *mistral.routes(parts),
            *vertex.routes(parts),
        ]
    )
    files.sweep(keep={batch.id for batch in batches.unfinished()})
    engine.resume()
    try:
        yield web_application
    finally:
        await engine.stop()
        database.close()
