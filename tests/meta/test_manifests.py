"""Manifests, functions, settings and routes are written in different places. Here they are compared."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from checks.manifests.reading import Manifest, read_manifests
from cli.scale.limits import KUBERNETES as FORM
from local.host.configuration import read_configuration
from shared.settings import NAMES, Settings
from tests.meta.test_functions import FUNCTIONS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "infra" / "kubernetes"
CONTAINER_APP = (ROOT / "infra" / "container-apps" / "main.bicep").read_text()
# What the host, the platform's identity and the extensions read; everything else is ours or the catalogue's.
OF_THE_HOST = {
    *("FUNCTIONS_WORKER_RUNTIME", "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT", "AzureFunctionsWebHost__hostid"),
    *(f"AzureWebJobsStorage__{kind}ServiceUri" for kind in ("blob", "queue", "table")),
    *("APPLICATIONINSIGHTS_AUTHENTICATION_STRING", "APPLICATIONINSIGHTS_CONNECTION_STRING"),
    "AzureWebJobsSecretStorageType",
}
DISABLED = re.compile(r"AzureWebJobs_(\w+)_Disabled")
PROBES = {"healthz", "readyz"}


def manifests() -> list[Manifest]:
    return list(read_manifests(sorted(FOLDER.glob("*.yaml"))))


def of_kind(kind: str) -> list[Any]:
    return [manifest.content for manifest in manifests() if manifest.content["kind"] == kind]


def container(deployment: Any) -> Any:
    [only] = deployment["spec"]["template"]["spec"]["containers"]
    return only


ROLES = {deployment["metadata"]["name"]: deployment for deployment in of_kind("Deployment")}
[SETTINGS] = [config["data"] for config in of_kind("ConfigMap")]
[SCALED] = of_kind("ScaledObject")
every_role = pytest.mark.parametrize("role", sorted(ROLES))


def environment(role: str) -> dict[str, str]:
    own = {each["name"]: each["value"] for each in container(ROLES[role])["env"]}
    return {**SETTINGS, **own}


def enabled(role: str) -> set[str]:
    """As the host sees it."""
    configuration = read_configuration(ROOT, environment(role))
    return {name for name in FUNCTIONS if not configuration.is_disabled(name)}


def test_every_file_is_applied() -> None:
    [kustomization] = of_kind("Kustomization")

    assert {"kustomization.yaml", *kustomization["resources"]} == {file.name for file in FOLDER.iterdir()}


@every_role
def test_what_is_switched_off_exists(role: str) -> None:
    named = {found[1] for name in environment(role) if (found := DISABLED.fullmatch(name))}

    assert named
    assert named <= set(FUNCTIONS)


def test_every_function_runs_in_exactly_one_role_and_the_probes_in_all() -> None:
    roles = {role: enabled(role) for role in ROLES}

    for name in FUNCTIONS:
        homes = [role for role, functions in roles.items() if name in functions]
        assert len(homes) == (len(ROLES) if name in PROBES else 1), f"{name} runs in {homes}"


def test_the_roles_are_cut_by_how_they_scale() -> None:
    triggers = {role: {FUNCTIONS[name][0] for name in enabled(role) - PROBES} for role in ROLES}

    assert triggers == {
        "postern-documents": {"serviceBusTrigger"},
        "postern-http": {"httpTrigger", "blobTrigger"},
        "postern-orchestrators": {"orchestrationTrigger", "activityTrigger", "timerTrigger"},
    }


@every_role
def test_every_setting_is_known_to_somebody(role: str) -> None:
    of_the_catalogue = set(re.findall(r"\"\$\{(\w+)\}\"", (ROOT / "catalog.sample.yaml").read_text()))

    unknown = {
        name
        for name in environment(role)
        if not DISABLED.fullmatch(name) and name not in {*NAMES, *OF_THE_HOST, *of_the_catalogue}
    }

    assert unknown == set()
    assert of_the_catalogue <= set(SETTINGS)


@every_role
def test_the_app_accepts_its_settings(role: str) -> None:
    settings = Settings.from_env(environment(role))

    assert settings.max_instances == int(SETTINGS["POSTERN_MAX_INSTANCES"])
    # The host does not know the defaults of what it puts into triggers itself.
    host_reads = {found for _, called, _ in FUNCTIONS.values() for found in re.findall(r"%(\w+)%", called)}
    assert host_reads <= set(SETTINGS)


def test_no_setting_asks_for_another_identity_than_the_pod_s() -> None:
    assert not [name for name in SETTINGS if name.endswith(("__credential", "__clientId"))]


def test_no_setting_is_a_secret() -> None:
    assert not [name for name in SETTINGS if name in NAMES and NAMES[name].secret]


@every_role
def test_probes_ask_routes_that_this_role_serves(role: str) -> None:
    here = container(ROLES[role])
    routes = {called.partition(" ")[2] for name, (_, called, _) in FUNCTIONS.items() if name in enabled(role)}

    asked = {kind: here[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")}

    assert asked == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}
    assert {path.removeprefix("/") for path in asked.values()} <= routes
    assert [port["name"] for port in here["ports"]] == ["http"]


@every_role
def test_a_role_is_selected_by_its_own_labels_and_has_a_host_id_of_its_own(role: str) -> None:
    spec = ROLES[role]["spec"]

    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert spec["selector"]["matchLabels"] == {"app.kubernetes.io/name": role}
    # The host takes at most 32 characters.
    assert environment(role)["AzureFunctionsWebHost__hostid"] == role[:32] == role


@every_role
def test_a_pod_has_the_identity_and_as_many_cores_as_the_sizes_reckon_with(role: str) -> None:
    template = ROLES[role]["spec"]["template"]
    [account] = of_kind("ServiceAccount")

    assert template["metadata"]["labels"]["azure.workload.identity/use"] == "true"
    assert template["spec"]["serviceAccountName"] == account["metadata"]["name"]
    assert container(ROLES[role])["resources"]["limits"]["cpu"] == str(FORM.cores)


def test_the_workers_scale_on_their_queues_and_to_nothing() -> None:
    spec = SCALED["spec"]
    queues = {FUNCTIONS[name][1] for name in enabled("postern-documents") - PROBES}
    [authentication] = of_kind("TriggerAuthentication")
    bus = SETTINGS["ServiceBusConnection__fullyQualifiedNamespace"].partition(".")[0]

    assert spec["scaleTargetRef"] == {"name": "postern-documents"}
    assert {trigger["metadata"]["queueName"] for trigger in spec["triggers"]} == queues
    assert {trigger["metadata"]["namespace"] for trigger in spec["triggers"]} == {bus}
    assert {trigger["authenticationRef"]["name"] for trigger in spec["triggers"]} == {
        authentication["metadata"]["name"]
    }
    assert (spec["pollingInterval"], spec["cooldownPeriod"], spec["minReplicaCount"]) == (15, 120, 0)


def test_nobody_but_keda_says_how_many_workers_there_are() -> None:
    assert "replicas" not in ROLES["postern-documents"]["spec"]
    assert not of_kind("HorizontalPodAutoscaler")


def test_an_update_starts_no_worker_beyond_the_most() -> None:
    rolling = ROLES["postern-documents"]["spec"]["strategy"]["rollingUpdate"]

    assert rolling["maxSurge"] == 0
    assert SCALED["spec"]["maxReplicaCount"] == int(SETTINGS["POSTERN_MAX_INSTANCES"])


def test_orchestrators_always_run_and_each_has_a_partition() -> None:
    durable = json.loads((ROOT / "host.json").read_text())["extensions"]["durableTask"]

    assert (
        1
        <= ROLES["postern-orchestrators"]["spec"]["replicas"]
        <= durable["storageProvider"]["partitionCount"]
    )


def test_the_door_is_reached_through_its_service() -> None:
    [service] = of_kind("Service")

    assert service["spec"]["selector"] == ROLES["postern-http"]["spec"]["selector"]["matchLabels"]


def test_the_container_app_asks_the_same_routes_and_keeps_one_replica() -> None:
    assert set(re.findall(r"path: '(/\w+)'", CONTAINER_APP)) == {"/healthz", "/readyz"}
    assert "kind: 'functionapp'" in CONTAINER_APP
    assert "minReplicas: 1\n" in CONTAINER_APP
    assert "POSTERN_MAX_INSTANCES: string(maxReplicas)" in CONTAINER_APP
    assert set(re.findall(r"(?:targetPort|port): (\d+)", CONTAINER_APP)) == {"8080"}
