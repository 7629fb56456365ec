"""From app settings to values, and every problem at once."""

from datetime import timedelta
from pathlib import Path

import pytest

from shared.settings import NAMES, BadSettings, BlobAddress, EntraSettings, Settings, is_safe_url

LEAST = {
    "POSTERN_CATALOG": "/etc/postern/catalog.yaml",
    "POSTERN_STORAGE": "UseDevelopmentStorage=true",
    "ServiceBusConnection": "Endpoint=sb://127.0.0.1;SharedAccessKeyName=n;SharedAccessKey=k",
}
IDENTITY = {
    "POSTERN_CATALOG": "catalog.yaml",
    "POSTERN_STORAGE__blobServiceUri": "https://acme.blob.core.windows.net",
    "POSTERN_STORAGE__tableServiceUri": "https://acme.table.core.windows.net",
    "ServiceBusConnection__fullyQualifiedNamespace": "acme.servicebus.windows.net",
}


def problems(**changes: str) -> tuple[str, ...]:
    with pytest.raises(BadSettings) as caught:
        Settings.from_env(LEAST | changes)
    return caught.value.problems


def test_a_catalogue_storage_and_a_queue_are_enough() -> None:
    settings = Settings.from_env(LEAST)

    assert settings.catalog == Path("/etc/postern/catalog.yaml")
    assert settings.poll_every == timedelta(minutes=5)
    assert settings.job_deadline == timedelta(hours=30)
    assert settings.sweep_schedule == "0 */5 * * * *"
    assert settings.stuck_after == timedelta(minutes=15)
    assert settings.max_attempts == 3
    assert settings.first_capacity_wait == timedelta(minutes=1)
    assert settings.longest_capacity_wait == timedelta(hours=1)
    assert settings.create_timeout == timedelta(minutes=1)
    assert settings.lapse_margin == timedelta(days=3)
    assert settings.keep_results == timedelta(days=90)
    assert settings.document_lease == timedelta(minutes=1)
    assert settings.first_document_wait == timedelta(seconds=5)
    assert settings.longest_document_wait == timedelta(minutes=5)
    assert settings.document_patience == timedelta(hours=6)
    assert settings.document_late == timedelta(hours=1)
    assert settings.max_instances == 1
    assert settings.gather_schedule == "0 * * * * *"
    assert settings.openai_scope == "https://cognitiveservices.azure.com/.default"
    assert (settings.events, settings.entra) == (None, None)


def test_tests_may_turn_everything_small() -> None:
    settings = Settings.from_env(
        LEAST
        | {
            "POSTERN_POLL_SECONDS": "0.2",
            "POSTERN_JOB_DEADLINE_HOURS": "0.001",
            "POSTERN_LAPSE_DAYS": " 0.5 ",
        }
    )

    assert settings.poll_every == timedelta(milliseconds=200)
    assert settings.job_deadline == timedelta(seconds=3.6)
    assert settings.lapse_margin == timedelta(hours=12)


def test_a_blank_value_counts_as_not_set() -> None:
    blank = {name: " " for name in NAMES if name not in LEAST}

    assert Settings.from_env(LEAST | blank) == Settings.from_env(LEAST)


def test_in_azure_storage_is_reached_with_an_identity() -> None:
    storage = Settings.from_env(IDENTITY | {"POSTERN_STORAGE__clientId": "0000"}).storage

    assert storage.connection_string is None
    assert storage.blob_endpoint == "https://acme.blob.core.windows.net"
    assert storage.table_endpoint == "https://acme.table.core.windows.net"
    assert storage.client_id == "0000"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        (
            "https://acme.blob.core.windows.net/config/a/catalog.yaml",
            BlobAddress(account="https://acme.blob.core.windows.net", path="config/a/catalog.yaml"),
        ),
        (
            "http://127.0.0.1:10000/devstoreaccount1/config/my%20catalog.yaml",
            BlobAddress(account="http://127.0.0.1:10000/devstoreaccount1", path="config/my catalog.yaml"),
        ),
    ],
)
def test_the_catalogue_may_be_a_blob(url: str, address: BlobAddress) -> None:
    assert Settings.from_env(LEAST | {"POSTERN_CATALOG": url}).catalog == address


def test_entra_needs_an_issuer_and_an_audience() -> None:
    entra = {
        "POSTERN_ENTRA_ISSUER": "https://login.example.com/t/v2.0",
        "POSTERN_ENTRA_AUDIENCE": "api://postern",
    }

    assert Settings.from_env(LEAST | entra).entra == EntraSettings(
        issuer="https://login.example.com/t/v2.0", audience="api://postern"
    )
    assert problems(POSTERN_ENTRA_AUDIENCE="api://postern") == (
        "POSTERN_ENTRA_ISSUER is missing: Entra tokens need both an issuer and an audience",
    )


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(BadSettings) as caught:
        Settings.from_env(
            {"POSTERN_POLL_SECONDS": "soon", "POSTERN_MAX_ATTEMPTS": "0", "POSTERN_EVENTS_KEY": "k"}
        )

    assert [problem.split(" ")[0] for problem in caught.value.problems] == [
        "POSTERN_CATALOG",
        "POSTERN_STORAGE",
        "ServiceBusConnection",
        "POSTERN_POLL_SECONDS",
        "POSTERN_MAX_ATTEMPTS",
        "POSTERN_EVENTS_ENDPOINT",
    ]
    assert str(caught.value).startswith("app settings: POSTERN_CATALOG is missing; ")


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("POSTERN_POLL_SECONDS", "0", "must be a number above 0, at most 604800, not '0'"),
        ("POSTERN_POLL_SECONDS", "nan", "must be a number above 0, at most 604800, not 'nan'"),
        ("POSTERN_POLL_SECONDS", "inf", "must be a number above 0, at most 604800, not 'inf'"),
        ("POSTERN_RESULT_DAYS", "1e300", "must be a number above 0, at most 36600, not '1e300'"),
        ("POSTERN_MAX_ATTEMPTS", "2.5", "must be a whole number from 1 to 20, not '2.5'"),
        ("POSTERN_MAX_ATTEMPTS", "21", "must be a whole number from 1 to 20, not '21'"),
        ("POSTERN_SWEEP_SCHEDULE", "often", "must be six cron fields such as '0 */5 * * * *', not 'often'"),
        ("POSTERN_CAPACITY_BACKOFF_MAX_SECONDS", "1", "must not be below the first wait"),
        (
            "POSTERN_EVENTS_ENDPOINT",
            "http://example.com",
            "must be an https URL without credentials or query (http on loopback only)",
        ),
        (
            "POSTERN_STORAGE__blobServiceUri",
            "https://acme.blob.core.windows.net?sig=1",
            "must be an https URL without credentials or query (http on loopback only)",
        ),
        (
            "POSTERN_CATALOG",
            "https://acme.blob.core.windows.net/config",
            (
                "must be a path or https://ACCOUNT/CONTAINER/NAME without a query; "
                "the app's identity reads it, so no SAS is needed"
            ),
        ),
    ],
)
def test_a_bad_value_is_named_with_what_it_must_be(name: str, value: str, complaint: str) -> None:
    assert f"{name} {complaint}" in problems(**{name: value})


def test_one_way_to_storage_is_enough() -> None:
    with pytest.raises(BadSettings, match="POSTERN_STORAGE and the two service URIs exclude each other"):
        Settings.from_env(IDENTITY | LEAST)


def test_half_an_identity_is_none() -> None:
    with pytest.raises(
        BadSettings, match="POSTERN_STORAGE is missing: set it, or POSTERN_STORAGE__blobServiceUri"
    ):
        Settings.from_env({name: value for name, value in IDENTITY.items() if "table" not in name})


def test_no_secret_is_ever_shown() -> None:
    secrets = {name: f"hunter2-{name}" for name, known in NAMES.items() if known.secret}
    env = LEAST | secrets | {"POSTERN_EVENTS_ENDPOINT": "https://topic.example.com"}

    assert secrets
    assert "hunter2" not in repr(Settings.from_env(env))
    with pytest.raises(BadSettings) as caught:
        Settings.from_env(
            {**env, "POSTERN_POLL_SECONDS": "x", "POSTERN_CATALOG": "https://a/c/n?sig=hunter2"}
        )
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://example.com", True),
        ("https://example.com:8443/a/b", True),
        ("http://localhost:1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1/x", True),
        ("http://example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("http://localhost@example.com", False),
        ("https://user:pass@example.com", False),
        ("https://@example.com", False),
        ("https://example.com?", False),
        ("https://example.com/#", False),
        ("https://", False),
        ("https:///path", False),
        ("https://exa mple.com", False),
        ("https://example.com\\@evil.com", False),
        ("https://example.com:port", False),
        ("https://[::1", False),
        ("ftp://example.com", False),
        ("//example.com", False),
        ("example.com", False),
        ("https://ex\u0430mple.com", False),
        ("", False),
    ],
)
def test_an_address_is_https_and_nothing_but_an_address(url: str, *, safe: bool) -> None:
    assert is_safe_url(url) is safe


def test_the_queue_is_named_in_one_way() -> None:
    assert Settings.from_env(IDENTITY).bus.namespace == "acme.servicebus.windows.net"
    name = "ServiceBusConnection__fullyQualifiedNamespace"
    assert problems(ServiceBusConnection="") == (f"ServiceBusConnection is missing: set it, or {name}",)
    [both] = problems(**{name: "acme.servicebus.windows.net"})
    assert "exclude each other" in both
    [no_host] = problems(ServiceBusConnection="", **{name: "sb://acme.servicebus.windows.net"})
    assert "host name" in no_host


def test_the_first_wait_of_a_document_is_not_above_the_longest() -> None:
    assert problems(POSTERN_DOCUMENT_BACKOFF_SECONDS="400") == (
        "POSTERN_DOCUMENT_BACKOFF_MAX_SECONDS must not be below the first wait",
    )
