"""The settings' names are written in four places. Here they are compared."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.domain.pulses import FLOW
from shared.settings import NAMES, Name, Settings

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference" / "settings.md"
SAMPLE = ROOT / "local.settings.sample.json"
LOCAL_BUS = (
    "Endpoint=sb://127.0.0.1;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;"
    "UseDevelopmentEmulator=true"
)
OF_THE_HOST = {"FUNCTIONS_WORKER_RUNTIME", "AzureWebJobsStorage", "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT"}


def sample() -> dict[str, str]:
    values: dict[str, str] = json.loads(SAMPLE.read_text())["Values"]
    return values


def row(known: Name) -> str:
    default = "**required**" if known.default is None else f"`{known.default}`" if known.default else "none"
    secret = " Secret." if known.secret else ""
    return f"| `{known.name}` | {default} | {known.meaning}{secret} |"


def rows() -> Iterator[str]:
    return (line for line in REFERENCE.read_text().splitlines() if line.startswith("| `"))


def test_the_reference_has_a_row_for_every_setting_in_order() -> None:
    assert list(rows()) == [row(known) for known in NAMES.values()]


def test_the_local_sample_has_every_setting_and_no_other() -> None:
    assert set(sample()) == set(NAMES) | OF_THE_HOST


def test_the_local_sample_is_accepted_and_names_the_sample_catalogue() -> None:
    settings = Settings.from_env(sample())

    assert isinstance(settings.catalog, Path)
    assert (ROOT / settings.catalog).is_file()


def test_the_local_sample_holds_no_secret() -> None:
    held = {name: sample()[name] for name, known in NAMES.items() if known.secret}

    # Both are public, and good on loopback only.
    assert set(held.values()) <= {"", "UseDevelopmentStorage=true", LOCAL_BUS}


def test_the_templates_set_known_settings_only() -> None:
    templates = sorted((ROOT / "infra").rglob("*.bicep"))
    if not templates:
        pytest.skip("there are no templates yet")

    named = {name for path in templates for name in re.findall(r"\bPOSTERN_\w+", path.read_text())}

    assert named <= set(NAMES)
    assert "POSTERN_CATALOG" in named


def test_every_setting_that_the_app_speaks_of_is_known() -> None:
    sources = [*(ROOT / "shared").rglob("*.py"), *ROOT.glob("function_app.py")]

    named = {name for path in sources for name in re.findall(r"\bPOSTERN_\w+", path.read_text())}

    assert named <= set(NAMES)


def test_the_host_is_told_what_this_app_needs() -> None:
    host = json.loads((ROOT / "host.json").read_text())

    assert host["extensions"]["http"]["routePrefix"] == ""
    assert host["extensionBundle"]["version"] == "[4.*, 5.0.0)"
    durable = host["extensions"]["durableTask"]
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9]{2,44}", durable["hubName"])
    # Inputs and outputs of activities must not reach the traces, and true is for .NET alone.
    assert durable["tracing"]["traceInputsAndOutputs"] is False
    assert durable["extendedSessionsEnabled"] is False
    # An orchestration of a newer version waits for a host that knows it.
    assert durable["defaultVersion"] == str(FLOW)
    assert durable["versionMatchStrategy"] == "CurrentOrOlder"
    assert durable["versionFailureStrategy"] == "Reject"
    sampling = host["logging"]["applicationInsights"]["samplingSettings"]
    # Alerts and the workbook of costs read traces: one that is sampled away is an alert that never comes.
    assert set(sampling["excludedTypes"].split(";")) == {"Request", "Exception", "Event", "Trace"}
