"""How a dialect's operations become routes, and what dialects are built from."""

from dataclasses import dataclass

from aiohttp import web

from local.simulator.admission import Admission
from local.simulator.batches import Batches
from local.simulator.clock import Clock
from local.simulator.database import Database
from local.simulator.dialects.port import BatchDialect
from local.simulator.engine import Engine
from local.simulator.failures import CallRefused
from local.simulator.files import Files
from local.simulator.quotas import Quotas
from local.simulator.rulebook import RuleBook
from local.simulator.stage import Call, Operation, Stage, WriteError
from local.simulator.storage import Storage

# Azure's, Anthropic's, Google's; all others use bearer tokens.
KEY_HEADERS = ("api-key", "x-api-key", "x-goog-api-key")

# Method, path below the prefix, operation.
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
    admission: Admission
    storage: Storage


def mounted(
    prefix: str, operations: Routes, parts: Parts, dialect: BatchDialect, write_error: WriteError
) -> list[web.RouteDef]:
    """The operations as routes below a prefix, each of them asking for a key first."""
    return [
        web.route(
            method,
            prefix + path,
            parts.stage.handler(dialect.name, _guarded(operation), write_error, dialect),
        )
        for method, path, operation in operations
    ]


def _guarded(operation: Operation) -> Operation:
    async def receive(call: Call) -> None:
        headers = call.request.headers
        bearer = headers.get("Authorization", "").removeprefix("Bearer ").strip()
        if not (bearer or any(headers.get(name) for name in KEY_HEADERS)):
            raise CallRefused(401, "invalid_api_key", "You didn't provide an API key.")
        await operation.receive(call)

    return Operation(name=operation.name, receive=receive, perform=operation.perform)
