"""OpenAI below `/openai/v1`, and the parts that Azure OpenAI shares."""

import secrets
from dataclasses import dataclass

from aiohttp import web

from local.simulator.batches import Batches
from local.simulator.clock import Clock
from local.simulator.database import Database
from local.simulator.dialects.openai_batches import BatchHabits, BatchRoutes
from local.simulator.dialects.openai_calls import ModelRoutes
from local.simulator.dialects.openai_files import FileHabits, FileRoutes
from local.simulator.dialects.openai_lines import OpenAILines, error_body
from local.simulator.engine import Engine
from local.simulator.failures import CallRefused
from local.simulator.files import Files
from local.simulator.quotas import Quotas
from local.simulator.rulebook import RuleBook
from local.simulator.stage import Call, Operation, Stage

PREFIX = "/openai/v1"
MONTH = 2_592_000
FILES = FileHabits(
    least_seconds=3600, default_seconds=MONTH, max_without_expiry=1_000_000, max_with_expiry=1_000_000
)
BATCHES = BatchHabits(least_output_seconds=3600, is_sparse=False)

type Routes = list[tuple[str, str, Operation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What every dialect is built from."""

    database: Database
    clock: Clock
    files: Files
    batches: Batches
    rules: RuleBook
    quotas: Quotas
    engine: Engine
    stage: Stage


def routes(parts: Parts) -> list[web.RouteDef]:
    dialect = OpenAILines()
    operations = file_and_batch_routes(parts, dialect, FILES, BATCHES) + model_routes(parts, dialect)
    return mounted(PREFIX, operations, parts, dialect)


def file_and_batch_routes(
    parts: Parts, dialect: OpenAILines, files: FileHabits, batches: BatchHabits
) -> Routes:
    file_routes = FileRoutes(
        provider=dialect.name,
        habits=files,
        database=parts.database,
        files=parts.files,
        clock=parts.clock,
        quotas=parts.quotas,
        stage=parts.stage,
    )
    batch_routes = BatchRoutes(
        dialect=dialect,
        habits=batches,
        database=parts.database,
        files=parts.files,
        batches=parts.batches,
        clock=parts.clock,
        rules=parts.rules,
        quotas=parts.quotas,
        engine=parts.engine,
        stage=parts.stage,
    )
    return file_routes.routes() + batch_routes.routes()


def model_routes(parts: Parts, dialect: OpenAILines) -> Routes:
    calls = ModelRoutes(
        dialect=dialect,
        database=parts.database,
        clock=parts.clock,
        rules=parts.rules,
        stage=parts.stage,
    )
    return calls.routes()


def mounted(prefix: str, operations: Routes, parts: Parts, dialect: OpenAILines) -> list[web.RouteDef]:
    """The operations as routes below a prefix, each of them asking for a key first."""
    return [
        web.route(
            method, prefix + path, parts.stage.handler(dialect.name, _guarded(operation), refuse, dialect)
        )
        for method, path, operation in operations
    ]


def _guarded(operation: Operation) -> Operation:
    async def receive(call: Call) -> None:
        headers = call.request.headers
        bearer = headers.get("Authorization", "").removeprefix("Bearer ").strip()
        if not (bearer or headers.get("api-key")):
            raise CallRefused(401, "invalid_api_key", "You didn't provide an API key.")
        await operation.receive(call)

    return Operation(name=operation.name, receive=receive, perform=operation.perform)


def refuse(refused: CallRefused) -> web.Response:
    body = refused.body or error_body(refused.status, refused.code, refused.message, refused.param)
    headers = {"x-request-id": secrets.token_hex(16)}
    return web.json_response(body, status=refused.status, headers=headers)
