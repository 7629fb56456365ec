"""OpenAI below `/openai/v1`, and the parts that Azure OpenAI shares."""

import secrets

from aiohttp import web

from local.simulator.dialects.mounting import Parts, Routes, mounted
from local.simulator.dialects.openai_batches import BatchHabits, BatchRoutes
from local.simulator.dialects.openai_calls import ModelRoutes
from local.simulator.dialects.openai_files import FileHabits, FileRoutes
from local.simulator.dialects.openai_lines import OpenAILines, error_body
from local.simulator.failures import CallRefused

PREFIX = "/openai/v1"
MONTH = 2_592_000
FILES = FileHabits(
    least_seconds=3600, default_seconds=MONTH, max_without_expiry=1_000_000, max_with_expiry=1_000_000
)
BATCHES = BatchHabits(least_output_seconds=3600, is_sparse=False)


def routes(parts: Parts) -> list[web.RouteDef]:
    dialect = OpenAILines()
    operations = file_and_batch_routes(parts, dialect, FILES, BATCHES) + model_routes(parts, dialect)
    return mounted(PREFIX, operations, parts, dialect, refuse)


def file_and_batch_routes(
    parts: Parts, dialect: OpenAILines, files: FileHabits, batches: BatchHabits
) -> Routes:
    file_routes = FileRoutes(
        provider=dialect.name,
        habits=files,
        database=parts.database,
        files=parts.files,
        batches=parts.batches,
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
        admission=parts.admission,
        storage=parts.storage,
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


def refuse(refused: CallRefused) -> web.Response:
    body = refused.body or error_body(refused.status, refused.code, refused.message, refused.param)
    headers = {"x-request-id": secrets.token_hex(16)}
    return web.json_response(body, status=refused.status, headers=headers)
