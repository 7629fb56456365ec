"""Who may do what: signatures, expiry, scope and rights, and the file that grants them."""

import base64
import hashlib
import hmac
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote_plus

import pytest

from local.servicebus.access import Claims, entity_path, read_token
from local.servicebus.definitions import Policy, Queue, Right, read_definitions
from local.servicebus.errors import Refused

NOW = 1_800_000_000
POLICIES = {
    "root": Policy(key="k1", rights=frozenset({Right.MANAGE})),
    "sender": Policy(key="k2", rights=frozenset({Right.SEND})),
}
QUEUE = "sb://127.0.0.1:5672/documents"


def a_token(
    resource: str = QUEUE, *, policy: str = "root", key: str = "k1", expires_at: int = NOW + 60
) -> str:
    signed = f"{quote_plus(resource)}\n{expires_at}".encode()
    signature = base64.b64encode(hmac.digest(key.encode(), signed, hashlib.sha256)).decode()
    return (
        f"SharedAccessSignature sr={quote_plus(resource)}&sig={quote_plus(signature)}"
        f"&se={expires_at}&skn={policy}"
    )


@pytest.mark.parametrize(
    ("token", "why"),
    [
        pytest.param(a_token(key="guess"), "InvalidSignature", id="wrong-key"),
        pytest.param(a_token(policy="nobody"), "InvalidSignature", id="unknown-policy"),
        pytest.param(a_token().replace("se=18", "se=19"), "InvalidSignature", id="changed-expiry"),
        pytest.param("SharedAccessSignature sr=x", "InvalidSignature", id="incomplete"),
        pytest.param("eyJhbGciOiJSUzI1NiJ9.e30.c2ln", "InvalidSignature", id="entra-token"),
        pytest.param(a_token(expires_at=NOW), "ExpiredToken", id="expired"),
        pytest.param(a_token("sb://127.0.0.1:5672/other"), "InvalidAudience", id="another-queue"),
        pytest.param(a_token("sb://127.0.0.1:5672/doc"), "InvalidAudience", id="prefix-of-the-name"),
    ],
)
def test_a_token_that_proves_nothing_is_refused(token: str, why: str) -> None:
    with pytest.raises(Refused, match=why) as refusal:
        read_token(token, QUEUE, POLICIES, NOW)

    assert refusal.value.status == 401


def test_a_token_for_the_namespace_covers_its_queues_and_their_dead_letters() -> None:
    claims = Claims()
    claims.add(read_token(a_token("sb://127.0.0.1:5672/"), QUEUE, POLICIES, NOW))

    claims.require(Right.LISTEN, "documents/$DeadLetterQueue", NOW)

    with pytest.raises(Refused):
        claims.require(Right.LISTEN, "documents-2", NOW)


def test_manage_includes_the_other_rights_and_send_is_not_listen() -> None:
    root, sender = Claims(), Claims()
    root.add(read_token(a_token(), QUEUE, POLICIES, NOW))
    sender.add(read_token(a_token(policy="sender", key="k2"), QUEUE, POLICIES, NOW))

    root.require(Right.SEND, "documents", NOW)
    root.require(Right.LISTEN, "documents", NOW)
    sender.require(Right.SEND, "documents", NOW)
    with pytest.raises(Refused, match="'Listen' claim"):
        sender.require(Right.LISTEN, "documents", NOW)


def test_a_claim_ends_with_its_token() -> None:
    claims = Claims()
    claims.add(read_token(a_token(), QUEUE, POLICIES, NOW))

    with pytest.raises(Refused):
        claims.require(Right.SEND, "documents", NOW + 60)


@pytest.mark.parametrize(
    "address", ["sb://host:5672/Documents/", "amqps://host/documents", "/documents", "DOCUMENTS"]
)
def test_addresses_of_one_queue_are_the_same_path(address: str) -> None:
    assert entity_path(address) == "documents"


def test_without_a_file_there_are_the_two_queues_that_postern_uses() -> None:
    definitions = read_definitions(None)

    assert set(definitions.queues) == {"documents", "storage-events"}
    assert definitions.queues["documents"] == Queue(
        lock_duration=timedelta(minutes=5),
        max_delivery_count=5,
        requires_duplicate_detection=True,
        duplicate_detection_history_time_window=timedelta(hours=1),
        dead_lettering_on_message_expiration=True,
    )


def test_a_file_speaks_azures_names_and_durations(tmp_path: Path) -> None:
    file = tmp_path / "queues.json"
    file.write_text(
        '{"queues": {"documents": {"lockDuration": "PT1.5S", "maxDeliveryCount": 2}},'
        ' "policies": {"app": {"key": "secret", "rights": ["Listen"]}}}'
    )

    definitions = read_definitions(file)

    assert definitions.queues["documents"].lock_duration == timedelta(seconds=1.5)
    assert definitions.queues["documents"].max_delivery_count == 2
    assert not definitions.policies["app"].allows(Right.SEND)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param('{"queues": {"a": {"lockDuraton": "PT1S"}}}', "lockDuraton", id="misspelt"),
        pytest.param('{"queues": {"a": {"lockDuration": 30}}}', "lockDuration", id="not-a-duration"),
        pytest.param('{"policies": {"p": {"key": "k", "rights": ["All"]}}}', "All", id="unknown-right"),
        pytest.param("{", "truncated", id="not-json"),
    ],
)
def test_a_bad_file_is_refused_by_name_and_field(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "queues.json"
    file.write_text(text)

    with pytest.raises(ValueError, match=named) as refusal:
        read_definitions(file)

    assert "queues.json" in str(refusal.value)
