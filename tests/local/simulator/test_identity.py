"""The app's identity: Microsoft's own credential gets its token where a Function App would."""

import time
import urllib.error
import urllib.request

import pytest
from azure.identity import DefaultAzureCredential

from local.launcher.layout import PORT_NAMES, Layout
from local.launcher.settings import app_settings
from tests.local.simulator.process import Simulator

SCOPE = "https://cognitiveservices.azure.com/.default"


def test_the_credential_of_the_sdk_is_given_a_token(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = {**dict.fromkeys(PORT_NAMES, 1), "simulator": simulator.port}
    settings = app_settings(Layout(data=simulator.data, ports=ports))
    for name in ("IDENTITY_ENDPOINT", "IDENTITY_HEADER"):
        monkeypatch.setenv(name, settings[name])

    with DefaultAzureCredential() as credential:
        token = credential.get_token(SCOPE)

    assert token.token == "local-token-for-https://cognitiveservices.azure.com"
    assert token.expires_on > time.time()


def test_whoever_does_not_know_the_header_is_given_none(simulator: Simulator) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{simulator.url}/_sim/identity/token?resource=x", timeout=10)

    refused.value.close()
    assert refused.value.code == 401
