"""Vertex AI below `/vertex`, and the Cloud Storage that its batches read and write below `/gcs`."""

from aiohttp import web

from local.simulator.dialects.gcs import ObjectRoutes
from local.simulator.dialects.gcs_objects import Objects
from local.simulator.dialects.mounting import Parts, mounted
from local.simulator.dialects.vertex_bodies import error_body
from local.simulator.dialects.vertex_calls import GeminiRoutes
from local.simulator.dialects.vertex_jobs import JobRoutes
from local.simulator.dialects.vertex_lines import VertexLines
from local.simulator.failures import CallRefused

PREFIX, STORAGE = "/vertex", "/gcs"


def routes(parts: Parts) -> list[web.RouteDef]:
    dialect = VertexLines()
    objects = Objects(
        provider=dialect.name,
        database=parts.database,
        files=parts.files,
        batches=parts.batches,
        clock=parts.clock,
    )
    stored = ObjectRoutes(
        objects=objects,
        database=parts.database,
        files=parts.files,
        batches=parts.batches,
        stage=parts.stage,
    )
    jobs = JobRoutes(
        dialect=dialect,
        objects=objects,
        database=parts.database,
        files=parts.files,
        batches=parts.batches,
        clock=parts.clock,
        admission=parts.admission,
        engine=parts.engine,
        stage=parts.stage,
    )
    calls = GeminiRoutes(
        dialect=dialect,
        database=parts.database,
        clock=parts.clock,
        rules=parts.rules,
        stage=parts.stage,
    )
    return mounted(PREFIX, jobs.routes() + calls.routes(), parts, dialect, refuse) + mounted(
        STORAGE, stored.routes(), parts, dialect, refuse
    )


def refuse(refused: CallRefused) -> web.Response:
    """A full quota is a 429 here."""
    status = 429 if refused.code == "token_limit_exceeded" else refused.status
    body = refused.body or error_body(status, refused.code, refused.message)
    return web.json_response(body, status=status)
