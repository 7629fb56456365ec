"""Which alias a file of OpenAI's batch lines is for: its first line says it, all others must agree."""

from typing import Final

from shared.domain.catalog import Catalog
from shared.domain.errors import NotFound
from shared.domain.ids import AliasName
from shared.domain.jobs import Job
from shared.ports.blobs import Blobs
from shared.wire.door_faults import BAD_JSON, UNKNOWN_MODEL, BadField, kind_of, read_object
from shared.wire.jsonl import Line, Splitter
from shared.wire.problems import InputErrors, LineError, invalid, short

# As much as any provider takes in one line, and more than anybody has needed yet.
MAX_FIRST_LINE: Final = 16 * 1024 * 1024
# Looked at first: few lines are longer. A file may begin with blank lines; nobody has more than the rest.
HEADS: Final = (64 * 1024, 2 * MAX_FIRST_LINE)


async def alias_of_file(blobs: Blobs, path: str, etag: str, catalog: Catalog) -> AliasName:
    """Raise `InputErrors` when the file names no alias that takes batches; `NotFound`, `Conflict` as `read`."""
    for length in HEADS:
        head = b"".join([piece async for piece in blobs.read(path, etag=etag, length=length)])
        if (line := _first_line(head, whole=len(head) < length)) is not None:
            return _usable(*_model_on(*line), catalog)
    raise invalid(None, "there is no request in it")


def _first_line(head: bytes, *, whole: bool) -> Line | None:
    splitter = Splitter(MAX_FIRST_LINE)
    lines = splitter.feed(head)
    if not lines and whole:
        lines = splitter.finish()
    return lines[0] if lines else None


async def why_unaddressed(blobs: Blobs, job: Job, catalog: Catalog) -> InputErrors:
    """Why a batch was accepted without a deployment."""
    info = await blobs.head(job.source.path)
    if info is None:
        raise NotFound(f"the input of {job.id} is gone")
    try:
        alias = await alias_of_file(blobs, job.source.path, info.etag, catalog)
    except InputErrors as why:
        return why
    message = f"{short(alias)} was no alias when the batch was created; create it again"
    return InputErrors([LineError(line=1, field="body.model", message=message, code=UNKNOWN_MODEL)])


def _model_on(number: int, content: bytes | None) -> tuple[int, str]:
    if content is None:
        raise InputErrors([LineError(line=number, field=None, message="is too long", code=BAD_JSON)])
    try:
        body = read_object(content).get("body")
        model = body.get("model") if isinstance(body, dict) else None
        if not isinstance(model, str) or not model:
            raise BadField("body.model", f"must name an alias, and there is {kind_of(model)}")
    except BadField as bad:
        error = LineError(line=number, field=bad.field, message=bad.message, code=bad.code)
        raise InputErrors([error]) from None
    return number, model


def _usable(line: int, model: str, catalog: Catalog) -> AliasName:
    alias = catalog.aliases.get(AliasName(model))
    if alias is not None and alias.hours:
        return alias.name
    what = "has no deployment for batches" if alias is not None else "is no alias"
    known = ", ".join(sorted(name for name, a in catalog.aliases.items() if a.hours)) or "none"
    message = f"{short(model)} {what}; aliases for batches: {known[:500]}"
    raise InputErrors([LineError(line=line, field="body.model", message=message, code=UNKNOWN_MODEL)])
