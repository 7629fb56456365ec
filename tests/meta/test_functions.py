"""The functions that the host indexes are exactly the ones we mean, and each of them is thin."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import function_app

ROOT = Path(__file__).resolve().parents[2]
TRIGGERS = ROOT / "shared" / "triggers"
ORCHESTRATION, ACTIVITY, TIMER = "orchestrationTrigger", "activityTrigger", "timerTrigger"
MOST_STATEMENTS = 6
DECISIONS = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.AsyncFor, ast.While, ast.comprehension),
    *(ast.Try, ast.Match, ast.Lambda),
)

Indexed = tuple[str, str, bool]
# What it is called, what calls it, and whether it may speak to the durable engine.
FUNCTIONS: dict[str, Indexed] = {
    "run_job": (ORCHESTRATION, "", False),
    "plan_round": (ACTIVITY, "", False),
    "advance_chunk": (ACTIVITY, "", False),
    "finish_job": (ACTIVITY, "", False),
    "claim_document": ("blobTrigger", "documents/{name}", False),
    "process_document": ("serviceBusTrigger", "documents", False),
    "storage_event": ("serviceBusTrigger", "storage-events", True),
    "gather_documents": (TIMER, "%POSTERN_GATHER_SCHEDULE%", True),
    "sweep": (TIMER, "%POSTERN_SWEEP_SCHEDULE%", True),
    "healthz": ("httpTrigger", "GET|HEAD healthz", False),
    "readyz": ("httpTrigger", "GET|HEAD readyz", False),
    "submit_job": ("httpTrigger", "POST v1/jobs", True),
    "estimate_job": ("httpTrigger", "POST v1/jobs/estimate", False),
    "list_jobs": ("httpTrigger", "GET v1/jobs", False),
    "show_job": ("httpTrigger", "GET v1/jobs/{job_id}", False),
    "fetch_results": ("httpTrigger", "GET v1/jobs/{job_id}/results", False),
    "fetch_report": ("httpTrigger", "GET v1/jobs/{job_id}/report", False),
    "cancel_job": ("httpTrigger", "POST v1/jobs/{job_id}/cancel", True),
    "retry_job": ("httpTrigger", "POST v1/jobs/{job_id}/retry", True),
    "erase_job": ("httpTrigger", "DELETE v1/jobs/{job_id}", False),
    "list_documents": ("httpTrigger", "GET v1/documents", False),
    "show_document": ("httpTrigger", "GET v1/documents/{document_id}", False),
    "retry_document": ("httpTrigger", "POST v1/documents/{document_id}/retry", False),
    "erase_document": ("httpTrigger", "DELETE v1/documents/{document_id}", False),
    "rescore_pipeline": ("httpTrigger", "POST v1/pipelines/{name}/rescore", True),
    "make_upload": ("httpTrigger", "POST v1/uploads", False),
    "report_usage": ("httpTrigger", "GET v1/usage", False),
    "list_findings": ("httpTrigger", "GET v1/findings", False),
    "list_aliases": ("httpTrigger", "GET v1/aliases", False),
    "openapi": ("httpTrigger", "GET v1/openapi.json", False),
    "console": ("httpTrigger", "GET console", False),
    "openai_upload_file": ("httpTrigger", "POST openai/v1/files", False),
    "openai_list_files": ("httpTrigger", "GET openai/v1/files", False),
    "openai_show_file": ("httpTrigger", "GET openai/v1/files/{file_id}", False),
    "openai_delete_file": ("httpTrigger", "DELETE openai/v1/files/{file_id}", False),
    "openai_file_content": ("httpTrigger", "GET openai/v1/files/{file_id}/content", False),
    "openai_create_batch": ("httpTrigger", "POST openai/v1/batches", True),
    "openai_list_batches": ("httpTrigger", "GET openai/v1/batches", False),
    "openai_show_batch": ("httpTrigger", "GET openai/v1/batches/{batch_id}", False),
    "openai_cancel_batch": ("httpTrigger", "POST openai/v1/batches/{batch_id}/cancel", True),
    "openai_list_models": ("httpTrigger", "GET openai/v1/models", False),
    "openai_show_model": ("httpTrigger", "GET openai/v1/models/{model}", False),
    "azure_upload_file": ("httpTrigger", "POST openai/files", False),
    "azure_list_files": ("httpTrigger", "GET openai/files", False),
    "azure_show_file": ("httpTrigger", "GET openai/files/{file_id}", False),
    "azure_delete_file": ("httpTrigger", "DELETE openai/files/{file_id}", False),
    "azure_file_content": ("httpTrigger", "GET openai/files/{file_id}/content", False),
    "azure_create_batch": ("httpTrigger", "POST openai/batches", True),
    "azure_list_batches": ("httpTrigger", "GET openai/batches", False),
    "azure_show_batch": ("httpTrigger", "GET openai/batches/{batch_id}", False),
    "azure_cancel_batch": ("httpTrigger", "POST openai/batches/{batch_id}/cancel", True),
    "azure_list_models": ("httpTrigger", "GET openai/models", False),
    "azure_show_model": ("httpTrigger", "GET openai/models/{model}", False),
    "nowhere": ("httpTrigger", "GET|HEAD|POST|PUT|PATCH|DELETE {*path}", False),
}


@pytest.fixture(scope="module")
def indexed() -> dict[str, Indexed]:
    """As the host sees them. An app can be indexed once."""
    found: dict[str, Indexed] = {}
    for function in function_app.app.get_functions():
        name, called = function.get_function_name(), function.get_trigger()
        assert name is not None
        assert called is not None
        trigger = called.get_dict_repr()
        client = any(b.get_dict_repr()["type"] == "durableClient" for b in function.get_bindings())
        assert name not in found, f"two functions are called {name}"
        found[name] = (trigger["type"], called_by(trigger), client)
        # Callers are checked by our own code; keys of the platform would refuse Event Grid and our clients.
        assert str(trigger.get("authLevel", "ANONYMOUS")) == "ANONYMOUS", name
    return found


def called_by(trigger: dict[str, object]) -> str:
    if trigger["type"] == "httpTrigger":
        methods = trigger["methods"]
        assert isinstance(methods, list)
        return f"{'|'.join(str(method) for method in methods)} {trigger['route']}"
    called = (trigger.get(name) for name in ("schedule", "path", "queueName"))
    return next((str(value) for value in called if value is not None), "")


def test_the_host_finds_exactly_these_functions_and_none_of_a_library(indexed: dict[str, Indexed]) -> None:
    assert indexed == FUNCTIONS


Function = ast.FunctionDef | ast.AsyncFunctionDef


def triggers() -> Iterator[tuple[str, Function]]:
    for file in sorted(TRIGGERS.glob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, Function) and any(
                "blueprint." in ast.unparse(d) for d in node.decorator_list
            ):
                yield node.name, node


def test_every_function_is_a_trigger_of_a_blueprint() -> None:
    assert sorted(name for name, _ in triggers()) == sorted(FUNCTIONS)


@pytest.mark.parametrize(("name", "function"), list(triggers()), ids=[name for name, _ in triggers()])
def test_a_trigger_reads_calls_and_answers_and_decides_nothing(name: str, function: Function) -> None:
    statements = sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1
    decisions = {type(node).__name__ for node in ast.walk(function) if isinstance(node, DECISIONS)}

    assert statements <= MOST_STATEMENTS, f"{name} has {statements} statements"
    assert not decisions, f"{name} decides: {', '.join(sorted(decisions))}"


def test_function_app_registers_blueprints_and_does_nothing_else() -> None:
    tree = ast.parse((ROOT / "function_app.py").read_text())

    allowed = (ast.Expr, ast.Import, ast.ImportFrom, ast.Assign, ast.For)
    assert all(isinstance(node, allowed) for node in tree.body)
    (loop,) = [node for node in tree.body if isinstance(node, ast.For)]
    assert [ast.unparse(node) for node in loop.body] == ["app.register_functions(blueprint)"]


# What is posted and brings no work: it plans, keeps bytes, or ends something.
BRINGS_NO_WORK = {
    *("estimate_job", "cancel_job", "make_upload"),
    *("openai_upload_file", "openai_cancel_batch", "azure_upload_file", "azure_cancel_batch"),
}


def test_whoever_drains_switches_off_every_function_that_lets_work_in() -> None:
    page = (ROOT / "docs/how-to/upgrade.md").read_text()
    posted = {name for name, (_, called, _) in FUNCTIONS.items() if called.startswith("POST ")}

    [step] = re.findall(r"^1\. Switch off what lets work in: (.+?)\. ", page, re.MULTILINE)

    assert posted >= BRINGS_NO_WORK
    assert set(re.findall(r"`(\w+)`", step)) == posted - BRINGS_NO_WORK | {"gather_documents"}
