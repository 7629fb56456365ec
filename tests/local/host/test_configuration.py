"""host.json and app settings."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from local.host.configuration import (
    BlobLimits,
    Configuration,
    ServiceBusLimits,
    parse_span,
    read_configuration,
)
from local.host.functions import CannotServe


def a_configuration(tmp_path: Path, content: object = None, **settings: str) -> Configuration:
    if content is not None:
        (tmp_path / "host.json").write_text(json.dumps(content))
    return read_configuration(tmp_path, settings)


def test_without_a_file_the_platform_defaults_hold(tmp_path: Path) -> None:
    configuration = a_configuration(tmp_path)

    assert configuration.route_prefix == "api"
    assert configuration.time_limit == timedelta(minutes=30)
    assert configuration.concurrent_activities == 10
    assert configuration.max_body_bytes == 104_857_600
    assert configuration.service_bus == ServiceBusLimits(
        concurrent_calls=16, prefetch=0, renew_for=timedelta(minutes=5)
    )
    assert configuration.blobs == BlobLimits(concurrent=8, tries=5)


def test_what_the_file_says_is_obeyed(tmp_path: Path) -> None:
    configuration = a_configuration(
        tmp_path,
        {
            "functionTimeout": "00:10:00",
            "extensions": {
                "http": {"routePrefix": ""},
                "durableTask": {"maxConcurrentActivityFunctions": 3, "maxConcurrentOrchestratorFunctions": 2},
                "serviceBus": {
                    "maxConcurrentCalls": 4,
                    "prefetchCount": 8,
                    "maxAutoLockRenewalDuration": "00:30:00",
                },
                "blobs": {"maxDegreeOfParallelism": 2, "poisonBlobThreshold": 3},
            },
        },
        FUNCTIONS_REQUEST_BODY_SIZE_LIMIT="1000",
    )

    assert configuration.route_prefix == ""
    assert configuration.time_limit == timedelta(minutes=10)
    assert (configuration.concurrent_activities, configuration.concurrent_orchestrations) == (3, 2)
    assert configuration.max_body_bytes == 1000
    assert configuration.service_bus == ServiceBusLimits(
        concurrent_calls=4, prefetch=8, renew_for=timedelta(minutes=30)
    )
    assert configuration.blobs == BlobLimits(concurrent=2, tries=3)


def test_no_limit_is_a_very_long_one(tmp_path: Path) -> None:
    assert a_configuration(tmp_path, {"functionTimeout": "-1"}).time_limit > timedelta(days=300)


def test_settings_are_put_into_percent_signs(tmp_path: Path) -> None:
    configuration = a_configuration(tmp_path, SCHEDULE="*/5 * * * * *", A="x", B="y")

    assert configuration.resolve("%SCHEDULE%") == "*/5 * * * * *"
    assert configuration.resolve("%A%/%B%") == "x/y"
    with pytest.raises(CannotServe, match="MISSING"):
        configuration.resolve("%MISSING%")


def test_a_connection_is_a_setting_with_or_without_the_platforms_prefix(tmp_path: Path) -> None:
    configuration = a_configuration(
        tmp_path, None, Bus="one", AzureWebJobsBus="two", AzureWebJobsStorage="three"
    )

    assert configuration.connection("Bus") == "one"
    assert configuration.connection("Storage") == "three"
    with pytest.raises(CannotServe, match="Nowhere"):
        configuration.connection("Nowhere")


@pytest.mark.parametrize(
    ("settings", "disabled"),
    [
        ({"AzureWebJobs.sweep.Disabled": "true"}, True),
        ({"AzureWebJobs.sweep.Disabled": "1"}, True),
        ({"AzureWebJobs_sweep_Disabled": "True"}, True),
        ({"AzureWebJobs.sweep.Disabled": "false"}, False),
        ({"AzureWebJobs.other.Disabled": "true"}, False),
        ({}, False),
    ],
)
def test_a_function_is_disabled_by_its_name(tmp_path: Path, settings: dict[str, str], disabled: bool) -> None:
    assert a_configuration(tmp_path, None, **settings).is_disabled("sweep") is disabled


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("00:05:00", timedelta(minutes=5)),
        ("1.02:03:04", timedelta(days=1, hours=2, minutes=3, seconds=4)),
        ("00:00:00.5", timedelta(milliseconds=500)),
        ("00:10", timedelta(minutes=10)),
    ],
)
def test_spans(text: str, span: timedelta) -> None:
    assert parse_span(text) == span


def test_a_span_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not a time span"):
        parse_span("five minutes")
