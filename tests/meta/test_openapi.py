"""The OpenAPI document names exactly the routes there are, and tells the truth about answers."""

import ast
from pathlib import Path

import jsonschema_rs
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from shared.triggers import edge
from shared.triggers.openai_edge import VERSION
from shared.wire.document_views import document_json
from shared.wire.openapi.document import openapi_document
from shared.wire.openapi.operations import OPERATIONS
from shared.wire.views import job_json, page_json, report_json
from tests.support.dropping import DocumentWorld
from tests.support.openai_world import OpenAIWorld, lines_of
from tests.support.world import World, a_body

TRIGGERS = Path(__file__).parents[2] / "shared" / "triggers"
EVERYTHING_ELSE = "/{*path}"


def routes() -> set[tuple[str, str]]:
    found = set()
    for file in TRIGGERS.glob("*.py"):
        found |= _routes_of(ast.parse(file.read_text()))
    # HEAD is GET without its body.
    return {(method, path) for method, path in found if path != EVERYTHING_ELSE and method != "HEAD"}


def _routes_of(tree: ast.AST) -> set[tuple[str, str]]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "route":
            named = {k.arg: ast.literal_eval(k.value) for k in node.keywords if k.arg}
            found |= {(method, f"/{named['route']}") for method in named["methods"]}
    return found


def asked_for() -> dict[str, set[str]]:
    """The query parameters that the functions take, by method and path; without those that take none."""
    found = {}
    for file in TRIGGERS.glob("http_*.py"):
        tree = ast.parse(file.read_text())
        named = {ast.unparse(t): n.value for n in tree.body if isinstance(n, ast.Assign) for t in n.targets}
        for function in (n for n in tree.body if isinstance(n, ast.AsyncFunctionDef)):
            text = ast.unparse(function)
            takes = [
                k.value
                for n in ast.walk(function)
                if isinstance(n, ast.Call)
                for k in n.keywords
                if k.arg == "takes"
            ]
            names = (
                set(ast.literal_eval(named.get(ast.unparse(takes[0]), takes[0])) or ()) if takes else set()
            )
            if "openai_answer(" in text:
                names.add(VERSION)
            for method, path in _routes_of(function):
                if names:
                    found[f"{method} {path}"] = names
    return found


def test_every_route_is_described_and_every_description_has_a_route() -> None:
    assert {(operation.method, operation.path) for operation in OPERATIONS} == routes()


def test_the_document_is_sound() -> None:
    faults = [
        f"{fault.json_path}: {fault.message}"
        for fault in OpenAPIV31SpecValidator(openapi_document()).iter_errors()
    ]

    assert faults == []


def test_what_a_call_may_ask_for_is_what_the_document_names() -> None:
    told = {f"{o.method} {o.path}": {q.name for q in o.query} for o in OPERATIONS if o.query}

    assert told == asked_for()


def test_operation_ids_are_unique() -> None:
    document = openapi_document()

    ids = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]

    assert len(ids) == len(set(ids))


def checker(name: str) -> jsonschema_rs.Validator:
    components = openapi_document()["components"]
    schema = {"$ref": f"#/components/schemas/{name}", "components": components}
    return jsonschema_rs.validator_for(schema)


@pytest.mark.parametrize("finished", [False, True], ids=["accepted", "finished"])
async def test_a_job_and_its_report_look_as_described(*, finished: bool) -> None:
    world = World()
    job = await world.submit(a_body(["one", "two"]))
    if finished:
        await world.run()
    seen = await world.see(job)

    shown = job_json(seen.job, seen.chunks, base_url="http://postern")

    checker("Job").validate(shown)
    checker("JobPage").validate(page_json([shown], next_cursor=None))
    checker("Report").validate(report_json(seen.job, seen.chunks))
    assert set(shown) == set(openapi_document()["components"]["schemas"]["Job"]["properties"])


@pytest.mark.parametrize("finished", [False, True], ids=["created", "finished"])
async def test_a_batch_and_its_files_look_as_described(
    monkeypatch: pytest.MonkeyPatch, *, finished: bool
) -> None:
    world = OpenAIWorld()
    monkeypatch.setattr(edge, "application", lambda: world.app)
    client = world.client()
    content = lines_of(["one"]) + (b"" if finished else b"{broken")
    file = await client.files.create(file=("a.jsonl", content), purpose="batch")
    made = await client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
    )
    await world.run()

    async with world.http() as http:
        shown = [(await http.get(f"/openai/v1/batches/{made.id}")).json(), made.to_dict()]
        pages = {
            name: (await http.get(f"/openai/v1/{path}")).json()
            for name, path in (("BatchPage", "batches"), ("FilePage", "files"), ("ModelPage", "models"))
        }
        refused = (await http.get("/openai/v1/files/nowhere")).json()

    assert shown[0]["status"] == ("completed" if finished else "failed")
    for batch in shown:
        checker("Batch").validate(batch)
        assert set(batch) == set(openapi_document()["components"]["schemas"]["Batch"]["properties"])
    for name, page in pages.items():
        checker(name).validate(page)
    checker("File").validate(file.to_dict())
    checker("DeletedFile").validate((await client.files.delete(file.id)).to_dict())
    checker("OpenAIError").validate(refused)


@pytest.mark.parametrize("finished", [False, True], ids=["queued", "finished"])
async def test_a_dropped_document_looks_as_described(*, finished: bool) -> None:
    world = DocumentWorld()
    await world.claim("support/notes/a.txt")
    if finished:
        await world.deliver()

    shown = document_json(await world.one(), base_url="http://postern")

    checker("DroppedDocument").validate(shown)
    checker("DroppedDocumentPage").validate(page_json([shown], next_cursor=None))
    assert set(shown) == set(openapi_document()["components"]["schemas"]["DroppedDocument"]["properties"])
