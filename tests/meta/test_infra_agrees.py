"""What the code uses is in the templates, and what is in the templates is used."""

import ast
import json
import logging
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml
from tree_sitter import Node

import local.change_feed.__main__ as change_feed
from checks.bicep.parameters import read_parameters
from checks.bicep.project import Project
from checks.bicep.syntax import key_of, literal, named, properties, text, walk
from checks.bicep.template import Template
from local.launcher.layout import PORT_NAMES, Layout
from local.launcher.settings import app_settings
from local.servicebus.definitions import Queue
from shared.adapters.logs import WithFields
from shared.bootstrap.parts import DOCUMENTS_QUEUE, STORAGE_EVENTS_QUEUE
from shared.domain.findings import FindingKind
from shared.domain.ids import ChunkKey
from shared.settings import NAMES, Settings
from shared.wire import paths
from tests.meta.test_functions import FUNCTIONS

ROOT = Path(__file__).parents[2]
INFRA = ROOT / "infra"
PROJECT = Project(INFRA)
KEYS = {name for name, known in NAMES.items() if known.secret}
# The issuer's discovery document tells it.
LEFT_OUT = {"POSTERN_ENTRA_JWKS_URL"}
OF_THE_HOST = {
    "APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
    "APPLICATIONINSIGHTS_CONNECTION_STRING",
    "AzureFunctionsJobHost__extensions__serviceBus__maxConcurrentCalls",
    "AzureWebJobsStorage__accountName",
    "AzureWebJobsStorage__clientId",
    "AzureWebJobsStorage__credential",
    "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT",
}
# Containers that no code names: where the setting POSTERN_CATALOG leads, and where Event Grid leaves what it
# could not deliver.
BESIDE_THE_CODE = {"config", "event-dead-letters"}
# Which role the app needs for the SDK that it imports; an SDK without one would come without its right.
ROLES_OF_SDKS = {
    "azure.storage.blob": {"blobContributor", "blobOwner"},
    "azure.data.tables": {"tableContributor"},
    "azure.servicebus": {"busSender", "busReceiver"},
    "azure.eventgrid": {"eventSender"},
}
# What the platform does on the app's behalf: triggers' and the hub's queues, telemetry, counting for KEDA.
ROLES_OF_THE_PLATFORM = {"queueContributor", "metricsPublisher", "busOwner"}
NEEDS_NO_ROLE = {"azure.core", "azure.identity", "azure.durable_functions", "azure.functions"}


@cache
def template(name: str) -> Template:
    return PROJECT.template(INFRA / name)


def variable(file: str, name: str) -> Node:
    value = template(file).variables[name].value
    assert value is not None
    return value


def defaults() -> dict[str, str]:
    return {
        name: str(literal(value))
        for name, value in properties(variable("modules/settings.bicep", "defaults")).items()
    }


def our_settings() -> dict[str, Node]:
    return properties(variable("main.bicep", "ourSettings")) | properties(
        variable("main.bicep", "flexSettings")
    )


def constants(module: object) -> set[str]:
    return {value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}


def tables_of_the_code() -> set[str]:
    """The first argument of every call of the table port, looked up among the constants of its file."""
    found: set[str] = set()
    for file in (ROOT / "shared" / "stores").glob("*.py"):
        tree = ast.parse(file.read_text())
        values = {
            node.target.id: str(node.value.value)
            for node in tree.body
            if isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(node.value, ast.Constant)
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("self._tables."):
                assert isinstance(call.args[0], ast.Name), f"{file}: the table is not named by a constant"
                found.add(values[call.args[0].id])
    return found


def test_every_setting_of_the_app_is_set_and_no_other() -> None:
    in_templates = set(defaults()) | set(our_settings())
    endpoints = set(re.findall(r"\$\{(\w+)\}", (ROOT / "catalog.sample.yaml").read_text())) - {"NAME"}

    assert in_templates == (set(NAMES) - KEYS - LEFT_OUT) | OF_THE_HOST | endpoints


def test_a_setting_s_default_is_the_app_s_own() -> None:
    told = {name: value for name, value in defaults().items() if name not in OF_THE_HOST}

    assert told == {name: NAMES[name].default for name in told}


def test_every_setting_with_a_default_can_be_tuned() -> None:
    tuned = {name for name, known in NAMES.items() if known.default}

    assert tuned - set(our_settings()) == set(defaults()) - OF_THE_HOST


def test_the_settings_of_the_templates_are_accepted() -> None:
    computed = {
        "POSTERN_CATALOG": "https://account.blob.core.windows.net/config/catalog.yaml",
        "POSTERN_STORAGE__blobServiceUri": "https://account.blob.core.windows.net/",
        "POSTERN_STORAGE__tableServiceUri": "https://account.table.core.windows.net/",
        "ServiceBusConnection__fullyQualifiedNamespace": "name.servicebus.windows.net",
        "POSTERN_EVENTS_ENDPOINT": "https://name.region-1.eventgrid.azure.net/api/events",
        "POSTERN_ENTRA_ISSUER": "https://login.microsoftonline.com/tenant/v2.0",
        "POSTERN_ENTRA_AUDIENCE": "api://postern",
    }

    assert Settings.from_env({**defaults(), **computed}).storage.connection_string is None


def test_the_limit_of_a_request_s_body_is_the_same_everywhere() -> None:
    sample = json.loads((ROOT / "local.settings.sample.json").read_text())["Values"]
    local = app_settings(Layout(data=ROOT, ports=dict.fromkeys(PORT_NAMES, 0)))
    name = "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT"

    assert defaults()[name] == sample[name] == local[name]


def test_the_containers_are_those_of_the_code() -> None:
    declared = literal(variable("modules/storage.bicep", "containers"))

    assert isinstance(declared, list)
    assert set(declared) == constants(paths) | BESIDE_THE_CODE
    assert len(set(declared)) == len(declared)


def test_containers_that_no_code_names_are_used_by_the_templates() -> None:
    assert "config/catalog.yaml" in text(our_settings()["POSTERN_CATALOG"])
    for name in ("modules/events.bicep", "subscriptions.bicep"):
        assert "event-dead-letters" in template(name).source.content


def test_the_tables_are_those_of_the_code() -> None:
    declared = literal(variable("modules/storage.bicep", "tables"))

    assert isinstance(declared, list)
    assert sorted(declared) == sorted(tables_of_the_code())


def test_everything_that_lapses_is_a_container_of_ours() -> None:
    rules = literal(variable("modules/storage.bicep", "lapsing"))
    declared = literal(variable("modules/storage.bicep", "containers"))

    assert isinstance(rules, list)
    assert isinstance(declared, list)
    # What teams put there is theirs to take away.
    assert {rule["prefix"].rstrip("/") for rule in rules} == set(declared) - {"config", "documents", "inputs"}


def test_the_queues_are_those_of_the_code() -> None:
    declared = literal(variable("modules/messaging.bicep", "queues"))

    assert declared == [DOCUMENTS_QUEUE, STORAGE_EVENTS_QUEUE]
    assert {called for kind, called, _ in FUNCTIONS.values() if kind == "serviceBusTrigger"} == set(declared)


def test_a_queue_is_as_the_tests_have_it() -> None:
    local = Queue()
    queue = template("modules/messaging.bicep").resources["queue"].properties

    assert literal(queue["lockDuration"]) == "PT5M"
    assert local.lock_duration.total_seconds() == 300
    assert literal(queue["maxDeliveryCount"]) == local.max_delivery_count
    assert literal(queue["requiresDuplicateDetection"]) is local.requires_duplicate_detection
    assert literal(queue["duplicateDetectionHistoryTimeWindow"]) == "PT1H"
    assert local.duplicate_detection_history_time_window.total_seconds() == 3600


def test_event_grid_is_sent_to_the_function_that_the_app_has() -> None:
    (trigger,) = [name for name, (kind, _, _) in FUNCTIONS.items() if kind == "blobTrigger"]
    stage = template("subscriptions.bicep").source.content

    assert f"functionName=Host.Functions.{trigger}&" in stage
    for content in (stage, template("modules/events.bicep").source.content):
        assert f"subjectBeginsWith: '/blobServices/default/containers/{paths.DOCUMENTS}/'" in content


def test_results_of_batches_are_told_from_where_they_lie() -> None:
    container, _, folder = paths.own_batch(ChunkKey("")).rstrip("/").partition("/")
    prefix = f"/blobServices/default/containers/{container}/blobs/{folder}/"

    assert f"subjectBeginsWith: '{prefix}'" in template("modules/events.bicep").source.content
    assert prefix == change_feed.RESULTS


def roles_of_the_app() -> set[str]:
    named_roles = walk(variable("modules/roles.bicep", "appRoles"))
    return {text(node).removeprefix("roles.") for node in named_roles if node.type == "member_expression"}


def test_the_app_has_the_roles_for_its_sdks_and_no_other() -> None:
    imported = {
        name
        for file in (ROOT / "shared").rglob("*.py")
        for name in re.findall(r"^(?:from|import) (azure\.[a-z_.]+)", file.read_text(), re.MULTILINE)
    }
    needed = {
        sdk for sdk in ROLES_OF_SDKS if any(name == sdk or name.startswith(f"{sdk}.") for name in imported)
    }
    others = {
        name for name in imported if not any(name.startswith(sdk) for sdk in (*ROLES_OF_SDKS, *NEEDS_NO_ROLE))
    }

    assert others == set()
    assert needed == set(ROLES_OF_SDKS)
    assert roles_of_the_app() == set().union(*ROLES_OF_SDKS.values()) | ROLES_OF_THE_PLATFORM


def test_every_entry_of_the_role_map_is_used() -> None:
    entries = set(properties(variable("modules/roles.bicep", "roles")))
    used = {
        name
        for each in PROJECT.templates()
        for name in re.findall(r"\broles\.(\w+)", each.source.content)
        if name != "bicep"
    }
    lists = set(properties(variable("modules/roles.bicep", "appRoles")))
    granted = {
        name for each in PROJECT.templates() for name in re.findall(r"\bappRoles\.(\w+)", each.source.content)
    }

    assert entries == used
    assert lists == granted


def test_the_role_for_batches_has_what_the_adapter_calls_and_no_more() -> None:
    role = template("modules/batch-role.bicep").resources["role"].properties
    (permissions,) = named(role["permissions"])
    allowed = literal(properties(permissions)["dataActions"])

    assert isinstance(allowed, list)
    assert {action.partition("/OpenAI/")[2] for action in allowed} == {
        "batch-jobs/read",
        "batch-jobs/write",
        "batches/cancel/action",
        "batches/read",
        "files/delete",
        "files/read",
        "files/write",
    }
    assert literal(properties(permissions)["actions"]) == []


def queries() -> Iterator[tuple[str, str]]:
    """Those of the alerts, and those of the workbook."""
    for file in sorted((INFRA / "queries").glob("*.kql")):
        yield file.name, file.read_text()
    workbook = json.loads((INFRA / "workbooks" / "costs.json").read_text())
    for item in workbook["items"]:
        if "query" in item["content"]:
            yield item["name"], item["content"]["query"]


def logged() -> dict[str, list[str]]:
    """The log events of the app, and the fields of each in their order."""
    found: dict[str, list[str]] = {}
    for file in (ROOT / "shared").rglob("*.py"):
        tree = ast.parse(file.read_text())
        functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for call in ast.walk(tree):
            if not (isinstance(call, ast.Call) and ast.unparse(call.func).startswith("log.") and call.args):
                continue
            event, extra = call.args[0], next((k.value for k in call.keywords if k.arg == "extra"), None)
            if isinstance(event, ast.Constant) and isinstance(event.value, str):
                found.setdefault(event.value, []).extend(fields_of(extra, functions))
    return found


def fields_of(extra: ast.expr | None, functions: dict[str, ast.FunctionDef]) -> list[str]:
    if isinstance(extra, ast.Call) and ast.unparse(extra.func) in functions:
        (returned,) = [
            n.value for n in ast.walk(functions[ast.unparse(extra.func)]) if isinstance(n, ast.Return)
        ]
        return fields_of(returned, functions)
    if isinstance(extra, ast.Dict):
        return [
            key.value for key in extra.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
        ]
    return []


def test_the_queries_look_for_what_the_app_logs() -> None:
    events = logged()
    asked = {
        (name, event) for name, query in queries() for event in re.findall(r'startswith "([\w.]+)"', query)
    }

    assert {event for _, event in asked} >= {"finding.raised", "usage.booked", "document.finished"}
    assert {(name, event) for name, event in asked if event not in events} == set()


def test_the_queries_take_fields_that_the_app_gives() -> None:
    events = logged()
    for name, query in queries():
        taken = set(re.findall(r"[(,] ?(\w+):(?:string|int|long|real)", query)) | set(
            re.findall(r'"\s?(\w+)="', query)
        )
        if not taken:
            continue
        (event,) = set(re.findall(r'startswith "([\w.]+)"', query))
        assert taken <= set(events[event]), name


def test_a_line_of_the_log_is_taken_apart_as_the_queries_do() -> None:
    given = {"kind": "late_job", "subject": "job_1", "tenant": "support"}
    record = logging.makeLogRecord({"name": "shared.services.announce", "msg": "finding.raised", **given})
    WithFields().filter(record)
    line = record.getMessage()

    assert logged()["finding.raised"] == list(given)
    for name, query in queries():
        pattern = re.search(r"parse Message with \* (.*)", query)
        if pattern is None:
            continue
        # "kind=" Kind " subject=" Subject: a name stands for what lies between two texts.
        parts = re.findall(r'"([^"]*)" (\w+)', pattern.group(1))
        expression = ".*?" + "".join(f"{re.escape(text)}(?P<{part}>.*?)" for text, part in parts) + "$"
        found = re.match(expression, line)
        assert found, name
        assert {key.lower(): value for key, value in found.groupdict().items()} == given


def test_the_queries_name_findings_that_there_are() -> None:
    kinds = {kind.value for kind in FindingKind}
    asked = {kind for _, query in queries() for kind in re.findall(r'"([a-z]+_[a-z_]+)"', query)}

    assert asked >= {"late_job", "late_document"}
    assert asked <= kinds


def test_every_query_belongs_to_an_alert() -> None:
    loaded = set(re.findall(r"queries/([\w-]+\.kql)", template("modules/alerts.bicep").source.content))

    assert loaded == {file.name for file in (INFRA / "queries").glob("*.kql")}


def test_every_template_below_modules_is_used() -> None:
    used = {
        (each.path.parent / written).resolve()
        for each in PROJECT.templates()
        for written in [*(m.path for m in each.modules.values()), *(i.path for i in each.imports.values())]
    }

    assert {path.resolve() for path in (INFRA / "modules").glob("*.bicep")} <= used


def test_every_output_is_asked_for() -> None:
    scripts = "".join(file.read_text() for file in (INFRA / "scripts").glob("*.sh"))
    stages = "".join(template(name).source.content for name in ("subscriptions.bicep", "policies.bicep"))
    pages = (INFRA / "container-apps" / "main.bicep").read_text()

    unasked = {
        name
        for name in template("main.bicep").outputs
        if not re.search(rf"\b{name}\b", scripts + stages + pages)
    }

    assert unasked == set()


def test_the_cluster_s_accounts_are_those_of_the_manifests() -> None:
    manifests = INFRA / "kubernetes"
    account = yaml.safe_load((manifests / "identity.yaml").read_text())["metadata"]["name"]
    namespace = yaml.safe_load((manifests / "namespace.yaml").read_text())["metadata"]["name"]
    declared = literal(variable("modules/identity.bicep", "serviceAccounts"))

    assert isinstance(declared, list)
    assert {each["subject"] for each in declared} == {
        f"system:serviceaccount:{namespace}:{account}",
        "system:serviceaccount:kube-system:keda-operator",
    }


def test_production_is_private_and_tells_somebody() -> None:
    _, values = read_parameters(INFRA / "main.prod.bicepparam")
    told = {name: literal(each.value) for name, each in values.variables.items() if each.value is not None}

    assert told["isPrivate"] is True
    assert told["isDoorPublic"] is False
    assert "POSTERN_ALERT_EMAILS" in values.source.content
    assert isinstance(told["monthlyBudget"], int)
    assert told["monthlyBudget"] > 0


def test_nothing_in_the_templates_is_a_setting_nobody_knows() -> None:
    named_settings = {
        key
        for each in PROJECT.templates()
        for node in walk(each.source.root)
        if node.type == "object_property"
        and (key := key_of(node))
        and re.fullmatch(r"[A-Z]{3,}[A-Z_]*_\w+", key)
    }

    # In a container nobody else says which runtime it is.
    assert named_settings <= set(defaults()) | set(our_settings()) | {"FUNCTIONS_WORKER_RUNTIME"}


def test_azd_knows_the_app_and_its_stages() -> None:
    azure = yaml.safe_load((ROOT / "azure.yaml").read_text())

    assert azure["services"]["app"]["language"] == "python"
    assert "'azd-service-name': 'app'" in template("modules/app.bicep").source.content
    for hook in azure["hooks"].values():
        program = ROOT / hook["run"]
        assert program.is_file(), program
        assert program.stat().st_mode & 0o100, f"{program} cannot be run"


def test_every_stage_asks_for_outputs_that_there_are() -> None:
    scripts = "".join(file.read_text() for file in (INFRA / "scripts").glob("*.sh"))
    (asked,) = re.findall(r"for name in ([A-Z_ ]+); do", scripts)

    assert set(asked.split()) <= set(template("main.bicep").outputs)
    assert set(template("subscriptions.bicep").params) == set(re.findall(r'"(\w+)=\$', scripts))
