"""The shipped manifests are clean, and every kind of fault that somebody may type is found."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from checks.manifests.__main__ import main
from checks.manifests.reading import Manifest, faults, read_manifests

KUBERNETES = Path(__file__).resolve().parents[3] / "infra" / "kubernetes"
SHIPPED = list(read_manifests(sorted(KUBERNETES.glob("*.yaml"))))
Change = Callable[[Any], object]


def shipped(kind: str, name: str = "") -> Manifest:
    found = [m for m in SHIPPED if m.content["kind"] == kind and name in m.content["metadata"]["name"]]
    return found[0]


def container(content: Any) -> Any:
    return content["spec"]["template"]["spec"]["containers"][0]


def test_the_shipped_manifests_are_clean() -> None:
    assert list(faults(SHIPPED)) == []
    assert {manifest.content["kind"] for manifest in SHIPPED} == {
        *("Namespace", "ServiceAccount", "ConfigMap", "Deployment", "Service"),
        *("ScaledObject", "TriggerAuthentication", "Kustomization"),
    }


@pytest.mark.parametrize(
    ("kind", "change", "told"),
    [
        ("Deployment", lambda d: d["spec"].update(replica=3), "replica"),
        ("Deployment", lambda d: d["spec"].update(replicas="3"), "integer"),
        ("Deployment", lambda d: d["spec"].pop("selector"), "selector"),
        ("Deployment", lambda d: container(d).pop("resources"), "resources"),
        ("Deployment", lambda d: container(d).pop("readinessProbe"), "readinessProbe"),
        ("Deployment", lambda d: container(d)["readinessProbe"].update(periodsSeconds=1), "periodsSeconds"),
        ("Deployment", lambda d: container(d)["resources"]["limits"].update(memory="2GB"), "2GB"),
        ("Deployment", lambda d: container(d)["env"].append({"name": "A.B", "value": "x"}), "A.B"),
        ("Deployment", lambda d: container(d)["env"].append({"name": "A", "value": True}), "string"),
        ("Deployment", lambda d: container(d)["securityContext"].update(privileged=True), "privileged"),
        (
            "Deployment",
            lambda d: d["spec"]["template"]["spec"]["securityContext"].update(runAsNonRoot=False),
            "true",
        ),
        ("Deployment", lambda d: d.update(apiVersion="apps/v1beta1"), "no schema"),
        ("Service", lambda d: d["spec"]["ports"][0].update(port=70_000), "65535"),
        ("ConfigMap", lambda d: d["data"].update(POSTERN_MAX_INSTANCES=5), "string"),
        ("ScaledObject", lambda d: d["spec"].update(maxReplicas=5), "maxReplicas"),
        ("ScaledObject", lambda d: d["spec"]["triggers"][0]["metadata"].update(messageCount=18), "string"),
        ("ScaledObject", lambda d: d["spec"]["triggers"][0].update(type="azure-queue"), "azure-queue"),
        ("ScaledObject", lambda d: d["spec"]["triggers"][0].pop("authenticationRef"), "authenticationRef"),
        (
            "TriggerAuthentication",
            lambda d: d["spec"]["podIdentity"].update(provider="azure"),
            "azure-workload",
        ),
        ("ServiceAccount", lambda d: d["metadata"].update(name="Postern"), "Postern"),
        ("Namespace", lambda d: d.update(spec={}), "spec"),
    ],
)
def test_a_fault_is_found_and_named(kind: str, change: Change, told: str) -> None:
    good = shipped(kind)
    content = deepcopy(good.content)
    change(content)

    found = list(faults([Manifest(file=good.file, number=good.number, content=content)]))

    assert found
    assert told in " ".join(found)
    assert str(good.file) in found[0]


def test_a_key_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "twice.yaml"
    file.write_text("kind: Namespace\nmetadata: {name: a}\nmetadata: {name: b}\n")

    with pytest.raises(yaml.YAMLError, match="metadata twice"):
        list(read_manifests([file]))


def test_a_document_that_is_no_mapping_is_told(tmp_path: Path) -> None:
    file = tmp_path / "list.yaml"
    file.write_text("- a\n---\n")

    assert len(list(faults(read_manifests([file])))) == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", 0), ("kind: Secret\n", 1), ("a: [\n", 1)],
)
def test_the_command_says_with_its_code_whether_all_is_well(tmp_path: Path, text: str, code: int) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(text)

    assert main([str(file)]) == code


def test_the_command_wants_files() -> None:
    assert main([]) == 2
