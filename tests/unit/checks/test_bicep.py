"""The checks find what is planted, and nothing in what is shipped."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from checks.bicep.compact import compact
from checks.bicep.run import check
from checks.bicep.schema import SCHEMAS

INFRA = Path(__file__).parents[3] / "infra"
TEMPLATES = ("*.bicep", "*.bicepparam", "modules/*.bicep", "queries/*.kql", "workbooks/*.json")


@dataclass(frozen=True, slots=True)
class Fault:
    """In `file`, `right` is replaced by `wrong`; then a problem in that file must say `told`."""

    name: str
    file: str
    right: str
    wrong: str
    told: str


FAULTS = (
    Fault(
        "a bracket too few",
        "modules/storage.bicep",
        "accessTier: 'Hot'",
        "accessTier: {'Hot'",
        "syntax error",
    ),
    Fault(
        "an undeclared name",
        "main.bicep",
        "location: location",
        "location: lokation",
        "lokation is not declared",
    ),
    Fault(
        "an unknown function", "main.bicep", "uniqueString(", "uniqString(", "there is no function uniqString"
    ),
    Fault("an unknown decorator", "main.bicep", "@minLength(3)", "@minLenght(3)", "no decorator minLenght"),
    Fault("an unknown type", "main.bicep", "param prefix string", "param prefix strnig", "type strnig"),
    Fault(
        "a name twice", "main.bicep", "param tuning object", "param prefix object", "prefix is declared twice"
    ),
    Fault(
        "an unused parameter", "main.bicep", "alertEmails\n", "[]\n", "parameter alertEmails is never used"
    ),
    Fault(
        "an unused import",
        "modules/monitoring.bicep",
        "in appRoles.telemetry",
        "in []",
        "import appRoles is never used",
    ),
    Fault(
        "a misspelt property",
        "modules/storage.bicep",
        "allowSharedKeyAccess:",
        "alowSharedKeyAccess:",
        "there is no property account.properties.alowSharedKeyAccess",
    ),
    Fault(
        "a misspelt property deep inside",
        "modules/model-account.bicep",
        "bypass: 'None'",
        "bypas: 'None'",
        "no property account.properties.networkAcls.bypas",
    ),
    Fault(
        "a misspelt property in an array",
        "modules/network.bicep",
        "serviceName: 'Microsoft",
        "servceName: 'Microsoft",
        "no property network.properties.subnets[].properties.delegations[].properties.servceName",
    ),
    Fault(
        "a property that can only be read",
        "modules/messaging.bicep",
        "disableLocalAuth: true",
        "disableLocalAuth: true\n    status: 'Active'",
        "bus.properties.status can only be read",
    ),
    Fault(
        "a property too few",
        "modules/alerts.bicep",
        "groupShortName: take(prefix, 12)",
        "",
        "groupShortName is missing",
    ),
    Fault(
        "a property twice",
        "modules/app.bicep",
        "httpsOnly: true",
        "httpsOnly: true\n    httpsOnly: true",
        "twice",
    ),
    Fault(
        "a text for a number",
        "modules/messaging.bicep",
        "maxDeliveryCount: 5",
        "maxDeliveryCount: '5'",
        "must be int",
    ),
    Fault(
        "a parameter's text for a number",
        "modules/messaging.bicep",
        "maxDeliveryCount: 5",
        "maxDeliveryCount: name",
        "must be int, not a value of type string",
    ),
    Fault("a number for a truth", "modules/storage.bicep", "enabled: true", "enabled: 1", "must be bool"),
    Fault(
        "a text for an object",
        "modules/app.bicep",
        "runtime: {",
        "runtime: 'x'\n      other: {",
        "runtime must be",
    ),
    Fault(
        "a value that is not among them",
        "modules/storage.bicep",
        "'Standard_ZRS'",
        "'Standard_ZSR'",
        "not 'Standard_ZSR'",
    ),
    Fault(
        "the wrong variant",
        "modules/events.bicep",
        "resourceId: storageEvents.id",
        "endpointUrl: storageEvents.id",
        "destination.properties.endpointUrl",
    ),
    Fault(
        "an unknown resource type",
        "modules/app.bicep",
        "Microsoft.Web/sites@",
        "Microsoft.Web/site@",
        "known types",
    ),
    Fault("another api-version", "modules/app.bicep", "sites@2024-11-01", "sites@2031-01-01", "api-version"),
    Fault(
        "a module that is not there", "main.bicep", "modules/app.bicep", "modules/App.bicep", "does not exist"
    ),
    Fault(
        "an import that is not there",
        "modules/app.bicep",
        "var always",
        "import { x } from 'y.bicep'\nvar always",
        "y",
    ),
    Fault("nothing to import", "main.bicep", "import { roles }", "import { rolls }", "does not export rolls"),
    Fault(
        "a loaded file that is not there", "modules/costs.bicep", "costs.json", "Costs.json", "does not exist"
    ),
    Fault(
        "a parameter that a module has not",
        "main.bicep",
        "resultDays: r",
        "resultDay: r",
        "no parameter resultDay",
    ),
    Fault(
        "a parameter that a module lacks",
        "main.bicep",
        "    recoveryDays: recoveryDays\n",
        "",
        "needs the parameter",
    ),
    Fault(
        "a parameter of another type",
        "main.bicep",
        "resultDays: resultDays",
        "resultDays: 'ninety'",
        "resultDays must be of type int, not string",
    ),
    Fault(
        "an output that is not there", "main.bicep", "outputs.packageUrl", "outputs.packageURL", "no output"
    ),
    Fault(
        "an entry that is not in the map",
        "main.bicep",
        "roles.modelUser",
        "roles.modelUsr",
        "roles has no modelUsr",
    ),
    Fault(
        "reading what a resource has not",
        "modules/identity.bicep",
        "properties.clientId",
        "properties.cliendId",
        "unknown cliendId",
    ),
    Fault(
        "a parameter file's unknown name",
        "main.dev.bicepparam",
        "param resultDays",
        "param resultDay",
        "no parameter",
    ),
    Fault(
        "a parameter file's wrong type",
        "main.dev.bicepparam",
        "logDays = 30",
        "logDays = '30'",
        "be of type int",
    ),
    Fault(
        "a parameter file that leaves one open",
        "main.dev.bicepparam",
        "param isPrivate = false",
        "",
        "isPrivate",
    ),
    Fault(
        "a parameter file for nothing", "main.prod.bicepparam", "using 'main", "using 'mein", "does not exist"
    ),
    Fault(
        "keys for storage",
        "modules/storage.bicep",
        "SharedKeyAccess: false",
        "SharedKeyAccess: true",
        "must be False",
    ),
    Fault(
        "keys for Service Bus", "modules/messaging.bicep", "    disableLocalAuth: true\n", "", "must be True"
    ),
    Fault(
        "keys for models",
        "modules/model-account.bicep",
        "disableLocalAuth: true",
        "disableLocalAuth: false",
        "True",
    ),
    Fault(
        "an old TLS",
        "modules/messaging.bicep",
        "minimumTlsVersion: '1.2'",
        "minimumTlsVersion: '1.0'",
        "'1.2'",
    ),
    Fault(
        "passwords for publishing", "modules/app.bicep", "allow: false", "allow: true", "allow must be False"
    ),
    Fault(
        "storage that stays open",
        "modules/storage.bicep",
        "isPrivate ? 'Disabled' : 'Enabled'",
        "'Enabled'",
        "publicNetworkAccess must be 'Disabled'",
    ),
    Fault(
        "models that stay open",
        "modules/model-account.bicep",
        "isPrivate ? 'Deny' : 'Allow'",
        "isPrivate ? 'Allow' : 'Deny'",
        "networkAcls.defaultAction must be 'Deny'",
    ),
    Fault(
        "a module that stays open",
        "main.bicep",
        "isPrivate: isPrivate",
        "isPrivate: false",
        "must be given isPrivate as it is",
    ),
    Fault(
        "an open production",
        "main.prod.bicepparam",
        "isPrivate = true",
        "isPrivate = false",
        "production needs isPrivate = True",
    ),
    Fault(
        "an open door in production",
        "main.prod.bicepparam",
        "param isDoorPublic = false\n",
        "",
        "production needs isDoorPublic = False",
    ),
    Fault(
        "a role that is not from the map",
        "modules/events.bicep",
        "deliveryRoles.deadLetters)\n    principalId",
        "storageName)\n    principalId",
        "must come from roles.bicep",
    ),
    Fault(
        "a role's id beside the map",
        "modules/model-account.bicep",
        "category: 'Audit'",
        "category: 'a001fd3d-188f-4b5d-821b-7da978bf7442'",
        "belongs into roles.bicep",
    ),
    Fault(
        "a role for a kind that is not told",
        "modules/model-account.bicep",
        "    principalType: 'ServicePrincipal'\n",
        "",
        "needs principalType",
    ),
    Fault(
        "a key that is fetched",
        "modules/storage.bicep",
        "output name string = account.name",
        "var key = account.listKeys().keys[0].value\noutput name string = '${key}'",
        "fetches a key",
    ),
    Fault(
        "an output with a key",
        "subscriptions.bicep",
        "resource toBlobTrigger",
        "output key string = listKeys(app.id, '2024-11-01').x\nresource toBlobTrigger",
        "output key shows a key",
    ),
    Fault(
        "an output with a secret",
        "modules/identity.bicep",
        "output id string",
        "@secure()\nparam password string\noutput told string = password\noutput id string",
        "output told shows the secret password",
    ),
    Fault(
        "a setting that Flex refuses",
        "modules/settings.bicep",
        "POSTERN_POLL_SECONDS:",
        "FUNCTIONS_WORKER_RUNTIME: 'python'\n  POSTERN_POLL_SECONDS:",
        "refuses the setting",
    ),
    Fault(
        "a host of one cloud",
        "modules/network.bicep",
        "privatelink.blob.${suffix}",
        "privatelink.blob.core.windows.net",
        "differs between clouds",
    ),
    Fault(
        "a resource in a resource",
        "modules/identity.bicep",
        "tags: tags\n",
        "resource a 'b@c' = {}\n",
        "beside it",
    ),
)


def copy_of_the_templates(to: Path) -> Path:
    for pattern in TEMPLATES:
        for file in INFRA.glob(pattern):
            target = to / file.relative_to(INFRA)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    return to


def test_what_is_shipped_is_clean() -> None:
    assert [str(problem) for problem in check(INFRA)] == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_found(fault: Fault, tmp_path: Path) -> None:
    root = copy_of_the_templates(tmp_path)
    content = (root / fault.file).read_text()
    assert fault.right in content, "the fault cannot be planted any more"
    (root / fault.file).write_text(content.replace(fault.right, fault.wrong, 1))

    problems = check(root)

    assert [p for p in problems if p.file == root / fault.file and fault.told in p.message], problems


def test_a_problem_says_where_it_is(tmp_path: Path) -> None:
    root = copy_of_the_templates(tmp_path)
    file = root / "modules" / "identity.bicep"
    file.write_text("param a string\n\nvar b = c\n")

    problems = [problem for problem in check(root) if problem.file == file]

    assert [str(p) for p in problems if "c is not" in p.message] == [f"{file}:3: c is not declared"]


def test_loops_lambdas_and_functions_bring_names_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "main.bicep").write_text(
        "param sizes array\n"
        "func doubled(n int) int => n * 2\n"
        "output large array = filter(sizes, each => each.size > doubled(each.least))\n"
        "output numbered array = [for (each, i) in sizes: '${each}-${i}']\n"
    )

    assert check(tmp_path) == []


def test_a_dump_of_types_becomes_a_schema_without_descriptions() -> None:
    entries = [
        {
            "$type": "Resource",
            "name": "A/b@2025-01-01",
            "bodyType": {
                "$type": "Object",
                "properties": [
                    {"name": "name", "type": "string", "flags": "Required", "description": "long"},
                    {"name": "id", "type": "string", "flags": "ReadOnly"},
                    {"name": "parts", "type": "Part[]"},
                ],
            },
        },
        {"$type": "Object", "name": "Part", "properties": [], "additionalPropertiesType": "int"},
        {"$type": "Object", "name": "Unused", "properties": []},
        {"$type": "ResourceInstanceFunction", "name": "listKeys"},
    ]

    schema = compact({"results": {"BicepSchemaResult": entries}})

    assert schema == {
        "resource": "A/b",
        "apiVersion": "2025-01-01",
        "body": {"name": "string!", "id": "string-", "parts": "Part[]"},
        "types": {"Part": {"*": "int"}},
    }


@pytest.mark.parametrize("file", sorted(SCHEMAS.glob("*.json")), ids=lambda file: file.stem)
def test_a_schema_belongs_to_the_type_that_its_name_says(file: Path) -> None:
    assert json.loads(file.read_text())["resource"].replace("/", "_") == file.stem


COMPILER = """#!/usr/bin/env bash
echo "$@" >> "$0.calls"
if [ "$1" = lint ]; then echo "main.bicep(1,1) : Warning no-unused-params: told" >&2; fi
"""


def test_a_compiler_that_is_there_is_asked_and_its_warnings_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = copy_of_the_templates(tmp_path / "infra")
    program = tmp_path / "bin" / "bicep"
    program.parent.mkdir()
    program.write_text(COMPILER)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    problems = check(root)

    stages = {file.name for file in root.glob("*.bicep")}
    asked = [line.split() for line in Path(f"{program}.calls").read_text().splitlines()]
    assert {Path(words[-1]).name for words in asked if words[0] == "build"} == stages
    assert {Path(words[-1]).name for words in asked if words[0] == "build-params"} == {
        "main.dev.bicepparam",
        "main.prod.bicepparam",
    }
    assert {problem.file.name for problem in problems} == stages
    assert all("no-unused-params" in problem.message for problem in problems)
