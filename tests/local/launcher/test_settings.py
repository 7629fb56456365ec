"""Command line, settings and the built-in catalogue."""

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from local.launcher.development_keys import ADMIN_KEY, TENANT_KEYS
from local.launcher.layout import PORT_NAMES, Layout
from local.launcher.logs import MAX_BYTES, last_lines
from local.launcher.options import parse_options
from local.launcher.processes import change_feed, servicebus
from local.launcher.settings import BUILT_IN_CATALOG, app_settings, base_environment
from local.servicebus.definitions import read_definitions


def a_layout(tmp_path: Path, **changes: Any) -> Layout:
    ports = {name: 20_000 + number for number, name in enumerate(PORT_NAMES)}
    return Layout(data=tmp_path, ports=ports, **changes)


def digest(key: str) -> str:
    return f"sha256:{hashlib.sha256(key.encode()).hexdigest()}"


def test_the_command_line_is_understood(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.yaml"
    catalog.touch()
    version = tmp_path / "version"
    version.mkdir()
    (version / "function_app.py").touch()
    (tmp_path / "app").symlink_to(version)

    options = parse_options(
        [
            *("up", "--data", "here", "--port", "7071", "--catalog", str(catalog), "--no-sweep"),
            *("--set", "A=1", "--set", "B=x=y", "--set", "A=2", "--app", str(tmp_path / "app")),
        ]
    )

    assert (options.data, options.port, options.catalog, options.sweep) == (
        Path("here"),
        7071,
        catalog,
        False,
    )
    assert options.settings == {"A": "2", "B": "x=y"}
    assert options.app == tmp_path / "app"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["down"],
        ["up", "--port", "0"],
        ["up", "--set", "A"],
        ["up", "--app", "/"],
        ["up", "--catalog", "/no/such/file"],
    ],
)
def test_a_command_line_that_makes_no_sense_ends_with_a_message(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_options(arguments)

    assert ended.value.code == 2
    assert capsys.readouterr().err


def test_overrides_win_over_everything(tmp_path: Path) -> None:
    settings = app_settings(a_layout(tmp_path, overrides={"POSTERN_STORAGE": "mine", "OTHER": "1"}))

    assert (settings["POSTERN_STORAGE"], settings["OTHER"]) == ("mine", "1")


def test_without_a_catalogue_of_the_callers_the_built_in_one_is_used(tmp_path: Path) -> None:
    own = tmp_path / "catalog.yaml"

    assert app_settings(a_layout(tmp_path))["POSTERN_CATALOG"] == str(BUILT_IN_CATALOG)
    assert app_settings(a_layout(tmp_path, catalog=own))["POSTERN_CATALOG"] == str(own)


def test_the_sweep_is_disabled_by_name_only_when_asked(tmp_path: Path) -> None:
    name = "AzureWebJobs.sweep.Disabled"

    assert name not in app_settings(a_layout(tmp_path))
    assert app_settings(a_layout(tmp_path, sweep=False))[name] == "true"


def test_the_broker_is_told_of_short_locks_and_the_feed_of_the_hosts_webhook(tmp_path: Path) -> None:
    layout = a_layout(tmp_path)

    broker, feed = servicebus(layout), change_feed(layout)

    definitions = read_definitions(Path(broker.command[broker.command.index("--queues") + 1]))
    assert set(definitions.queues) == {"documents", "storage-events"}
    queue = definitions.queues["documents"]
    assert (queue.lock_duration, queue.max_delivery_count) == (timedelta(seconds=15), 5)
    assert queue.requires_duplicate_detection
    webhook = feed.command[feed.command.index("--webhook") + 1]
    assert webhook.startswith(f"{layout.http}/runtime/webhooks/blobs?functionName=Host.Functions.")
    assert layout.storage not in feed.command


def test_little_of_the_environment_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy")
    monkeypatch.setenv("PATH", "/bin")

    environment = base_environment()

    assert environment["PATH"] == "/bin"
    assert not {"PYTHONPATH", "HTTP_PROXY"} & environment.keys()


def test_the_catalogue_knows_the_development_keys() -> None:
    tenants = yaml.safe_load(BUILT_IN_CATALOG.read_bytes())["tenants"]

    assert {name: tenants[name]["keys"] for name in TENANT_KEYS} == {
        name: [digest(key)] for name, key in TENANT_KEYS.items()
    }
    assert tenants["operators"] == {"keys": [digest(ADMIN_KEY)], "admin": True}


def test_every_name_in_the_catalogue_exists_and_every_deployment_is_the_simulator() -> None:
    catalog = yaml.safe_load(BUILT_IN_CATALOG.read_bytes())
    deployments, aliases = catalog["deployments"], catalog["aliases"]

    for alias in aliases.values():
        assert set(alias.get("minutes", []) + alias.get("hours", [])) <= deployments.keys()
    assert {pipeline["alias"] for pipeline in catalog["pipelines"].values()} <= aliases.keys()
    places = [each.get("endpoint") or each["base_url"] for each in deployments.values()]
    assert all(place.startswith("${SIMULATOR_URL}/") for place in places)
    assert {each["key_setting"] for each in deployments.values()} == {"SIMULATOR_KEY"}


def test_the_end_of_a_log_is_short(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("\n".join(str(number) for number in range(100)))

    assert last_lines(log, 3) == "97\n98\n99"
    assert last_lines(tmp_path / "missing.log", 3) == ""
    assert MAX_BYTES < 100_000_000
