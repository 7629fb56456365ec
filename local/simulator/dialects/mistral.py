"""Mistral below `/mistral`: files, batch jobs, chat completions, embeddings."""

from aiohttp import web

from local.simulator.dialects.mistral_bodies import COMPLAINTS, detail_of, error_body, invalid
from local.simulator.dialects.mistral_files import HABITS, MistralFileRoutes
from local.simulator.dialects.mistral_jobs import JobRoutes
from local.simulator.dialects.mistral_lines import MistralLines
from local.simulator.dialects.mounting import Parts, mounted
from local.simulator.dialects.openai import model_routes
from local.simulator.failures import CallRefused

PREFIX = "/mistral/v1"


def routes(parts: Parts) -> list[web.RouteDef]:
    dialect = MistralLines()
    files = MistralFileRoutes(
        provider=dialect.name,
        habits=HABITS,
        database=parts.database,
        files=parts.files,
        batches=parts.batches,
        clock=parts.clock,
        quotas=parts.quotas,
        stage=parts.stage,
    )
    jobs = JobRoutes(
        dialect=dialect,
        database=parts.database,
        files=parts.files,
        batches=parts.batches,
        clock=parts.clock,
        admission=parts.admission,
        engine=parts.engine,
        stage=parts.stage,
    )
    # It has no responses API.
    calls = [each for each in model_routes(parts, dialect) if each[1] != "/responses"]
    method, path, download = files.signed_route()
    return [
        *mounted(PREFIX, [*files.routes(), *jobs.routes(), *calls], parts, dialect, refuse),
        web.route(method, path, parts.stage.handler(dialect.name, download, refuse, dialect)),
    ]


def refuse(refused: CallRefused) -> web.Response:
    if refused.body is not None:
        return web.json_response(refused.body, status=refused.status)
    if refused.status == 401:
        return web.json_response({"detail": "Invalid API Key"}, status=401)
    if refused.code in COMPLAINTS:
        return web.json_response(invalid(detail_of(refused.code, refused.param)), status=422)
    body = error_body(refused.status, refused.code, refused.message)
    return web.json_response(body, status=refused.status)
