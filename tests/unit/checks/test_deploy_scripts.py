"""The scripts of a deployment, with an `az` that only writes down what it is asked."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPTS = ROOT / "infra" / "scripts"
OUTPUTS = {
    # The service changes the case of letters.
    "apP_URL": {"value": "https://postern-abc.example.net"},
    "storagE_NAME": {"value": "posternabc"},
    "systeM_TOPIC_NAME": {"value": "postern-abc-storage"},
    "bloB_ENDPOINT": {"value": "https://posternabc.example.net/"},
}
AZ = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$CALLS"
case "$*" in
  *"--name postern --parameters"*) cat "$OUTPUTS" ;;
  *"keys list"*) echo "${HAS_KEY:-true}" ;;
  *"signed-in-user"*) echo some-object-id ;;
  *"config-zip"*) python3 -m zipfile -l "$(sed 's/.*--src \\([^ ]*\\).*/\\1/' <<<"$*")" > "$CALLS.package" ;;
  *"upload-batch"*) [ "${UPLOADS:-yes}" = yes ] ;;
esac
"""
PYTHON = """#!/usr/bin/env bash
printf 'python %s\\n' "$*" >> "$CALLS"
"""


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    told: str
    calls: list[str]

    def step(self, words: str) -> int:
        """The place of the one call with these words."""
        (place,) = [n for n, call in enumerate(self.calls) if words in call]
        return place


@dataclass(frozen=True, slots=True)
class Machine:
    """Programs of our own in front of the path, and a folder with a catalogue."""

    folder: Path

    def run(
        self, script: str, *arguments: str, by_queue: bool = False, app: str = "postern-abc", **env: str
    ) -> Ran:
        outputs, calls = self.folder / "outputs.json", self.folder / "calls"
        outputs.write_text(
            json.dumps(OUTPUTS | {"eventS_BY_QUEUE": {"value": by_queue}, "apP_NAME": {"value": app}})
        )
        calls.write_text("")
        done = subprocess.run(
            [SCRIPTS / script, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={
                "PATH": f"{self.folder}:{os.environ['PATH']}",
                "CALLS": str(calls),
                "OUTPUTS": str(outputs),
                "PYTHON": str(self.folder / "python"),
                "RETRY_SECONDS": "0",
                "TMPDIR": str(self.folder),
                "POSTERN_CATALOG_FOLDER": str(self.folder / "catalog"),
                "POSTERN_CANARY_TENANT": "canary",
                **env,
            },
        )
        return Ran(done.returncode, done.stderr, calls.read_text().splitlines())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    for name, content in (("az", AZ), ("python", PYTHON)):
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "catalog.yaml").touch()
    return Machine(tmp_path)


def test_the_sequence_is_provision_catalogue_publish_subscribe_canary(machine: Machine) -> None:
    ran = machine.run("deploy.sh", "group", "dev")

    assert (ran.code, ran.told) == (0, "")
    steps = [
        ran.step("--parameters infra/main.dev.bicepparam"),
        ran.step("--destination config"),
        ran.step("config-zip --resource-group group --name postern-abc"),
        ran.step("--template-file infra/subscriptions.bicep"),
        ran.step("python -m checks.canary --url https://postern-abc.example.net --tenant canary"),
    ]
    assert steps == sorted(steps)
    assert (
        "appName=postern-abc systemTopicName=postern-abc-storage storageName=posternabc"
        in ran.calls[steps[3]]
    )


def test_what_is_published_is_the_app_and_nothing_else(machine: Machine) -> None:
    assert machine.run("publish.sh", AZURE_RESOURCE_GROUP="group", APP_NAME="app").code == 0

    listed = (machine.folder / "calls.package").read_text().splitlines()[1:]
    files = {line.split()[0] for line in listed}
    assert {"host.json", "function_app.py", "requirements.txt", "shared/bootstrap/__init__.py"} <= files
    assert {name.partition("/")[0] for name in files} == {
        "host.json",
        "function_app.py",
        "requirements.txt",
        "shared",
    }
    assert not [name for name in files if "__pycache__" in name or "memory" in name.split("/")]


def test_with_events_by_queue_nothing_is_subscribed(machine: Machine) -> None:
    ran = machine.run("deploy.sh", "group", "prod", by_queue=True, AZURE_PRINCIPAL_ID="id")

    assert ran.code == 0
    assert not [
        call for call in ran.calls if "subscriptions" in call or "keys list" in call or "signed-in" in call
    ]
    assert "checks.canary" in ran.calls[-1]


def test_for_containers_the_catalogue_is_the_last_step(machine: Machine) -> None:
    ran = machine.run("deploy.sh", "group", "dev", by_queue=True, app="")

    assert ran.code == 0
    assert "--destination config" in ran.calls[-1]


def test_a_catalogue_that_cannot_be_uploaded_ends_the_sequence(machine: Machine) -> None:
    ran = machine.run("deploy.sh", "group", "dev", UPLOADS="no")

    assert ran.code == 1
    assert "operator's roles" in ran.told
    assert not [call for call in ran.calls if "config-zip" in call]


def test_nothing_is_subscribed_before_the_trigger_has_a_key(machine: Machine) -> None:
    ran = machine.run("deploy.sh", "group", "dev", HAS_KEY="false")

    assert ran.code == 1
    assert "no key for its blob trigger" in ran.told
    assert not [call for call in ran.calls if "subscriptions.bicep" in call]


def test_a_deployment_without_a_canary_has_not_succeeded(machine: Machine) -> None:
    ran = machine.run("deploy.sh", "group", "dev", POSTERN_CANARY_TENANT="")

    assert ran.code == 1
    assert "POSTERN_CANARY_TENANT" in ran.told


def test_a_folder_without_a_catalogue_is_told(machine: Machine) -> None:
    (machine.folder / "catalog" / "catalog.yaml").unlink()

    ran = machine.run("catalog.sh", STORAGE_NAME="posternabc")

    assert (ran.code, ran.calls) == (1, [])
    assert "has no catalog.yaml" in ran.told


@pytest.mark.parametrize("arguments", [(), ("group",), ("group", "staging")])
def test_a_stage_without_parameters_is_refused(machine: Machine, arguments: tuple[str, ...]) -> None:
    ran = machine.run("deploy.sh", *arguments)

    assert (ran.code, ran.calls) == (2, [])
    assert "usage" in ran.told


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.sh")), ids=lambda script: script.name)
def test_a_script_can_be_run_and_stops_at_the_first_fault(script: Path) -> None:
    lines = script.read_text().splitlines()

    assert script.stat().st_mode & 0o100
    assert lines[0] == "#!/usr/bin/env bash"
    assert "set -euo pipefail" in lines
