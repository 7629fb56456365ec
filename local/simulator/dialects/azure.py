"""Azure OpenAI below `/azure`: the v1 paths, and the dated ones with `api-version`."""

from aiohttp import web

from local.simulator.dialects.azure_lines import AzureLines
from local.simulator.dialects.mounting import Parts, Routes, mounted
from local.simulator.dialects.openai import file_and_batch_routes, model_routes, refuse
from local.simulator.dialects.openai_batches import BatchHabits
from local.simulator.dialects.openai_files import FileHabits
from local.simulator.failures import CallRefused
from local.simulator.stage import Call, Operation

V1 = "/azure/openai/v1"
DATED = "/azure/openai"
FORTNIGHT = 1_209_600
FILES = FileHabits(
    least_seconds=FORTNIGHT, default_seconds=None, max_without_expiry=500, max_with_expiry=10_000
)
BATCHES = BatchHabits(least_output_seconds=FORTNIGHT, is_sparse=True, takes_blobs=True)


def routes(parts: Parts) -> list[web.RouteDef]:
    dialect = AzureLines()
    stored = file_and_batch_routes(parts, dialect, FILES, BATCHES)
    calls = model_routes(parts, dialect)
    in_path = [(method, "/deployments/{deployment}" + path, operation) for method, path, operation in calls]
    responses = [each for each in calls if each[1] == "/responses"]
    dated = _with_version(stored + in_path + responses)
    v1 = mounted(V1, stored + calls, parts, dialect, refuse)
    return v1 + mounted(DATED, dated, parts, dialect, refuse)


def _with_version(operations: Routes) -> Routes:
    return [(method, path, _versioned(operation)) for method, path, operation in operations]


def _versioned(operation: Operation) -> Operation:
    async def receive(call: Call) -> None:
        if not call.request.query.get("api-version"):
            raise CallRefused(404, "404", "Resource not found")
        await operation.receive(call)

    return Operation(name=operation.name, receive=receive, perform=operation.perform)
