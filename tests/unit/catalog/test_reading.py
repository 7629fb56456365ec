"""What a good catalogue means."""

from decimal import Decimal
from pathlib import Path

import pytest

from shared.domain.catalog import Budget, DeploymentLimits, Lane
from shared.domain.ids import AliasName, DeploymentName, TenantId
from shared.domain.prices import Rates
from tests.unit.catalog.texts import (
    ALIASES,
    DEPLOYMENTS,
    DIGEST,
    GOOD,
    TENANTS,
    read,
    with_deployment,
    with_tenant,
)

SUPPORT, MINI = TenantId("support"), DeploymentName("mini")


def test_only_a_key_a_provider_with_its_model_and_one_lane_are_required() -> None:
    catalog = read(
        TENANTS + "deployments:\n  gpt: {provider: openai, model: gpt-5}\naliases:\n  ask: {hours: [gpt]}\n"
    )

    tenant, deployment = catalog.tenants[SUPPORT], catalog.deployments[DeploymentName("gpt")]
    assert (tenant.weight, tenant.admin, tenant.required_tags, tenant.budget) == (1, False, (), None)
    assert (deployment.deployment, deployment.endpoint, deployment.key_setting) == ("gpt-5", None, None)
    assert deployment.limits == DeploymentLimits(share=0.5)
    assert catalog.alias("ask").hours == ("gpt",)
    assert catalog.pipelines == {}


def test_a_tenant_has_what_was_written() -> None:
    tenant = read(
        with_tenant(
            f'keys: ["sha256:{DIGEST.upper()}"], principals: [0A0A0A0A-1111-2222-3333-444444444444], '
            "admin: true, weight: 2, required_tags: [project, owner], "
            "budget: {monthly: 500.10, on_exceed: reject}"
        )
    ).tenants[SUPPORT]

    assert tenant.keys == {DIGEST}
    assert tenant.principals == {"0a0a0a0a-1111-2222-3333-444444444444"}
    assert (tenant.admin, tenant.weight, tenant.required_tags) == (True, 2, ("project", "owner"))
    assert tenant.budget == Budget(monthly=Decimal("500.10"), on_exceed="reject")


def test_a_tenant_is_found_by_key_and_by_principal() -> None:
    catalog = read(with_tenant(f'keys: ["sha256:{DIGEST}"], principals: [App-1]'))

    assert (
        catalog.tenant_of_key(DIGEST) == catalog.tenant_of_principal("x", "app-1") == catalog.tenants[SUPPORT]
    )
    assert catalog.tenant_of_key("c" * 64) is None


def test_an_endpoint_is_resolved_and_loses_its_last_slash() -> None:
    env = {"HOST": "acme.openai.azure.com", "PATH_OF_GATEWAY": "llm"}

    text = with_deployment(
        'provider: azure_openai, model: m, endpoint: "https://${HOST}/${PATH_OF_GATEWAY}/"'
    )

    assert read(text, env).deployments[MINI].endpoint == "https://acme.openai.azure.com/llm"


@pytest.mark.parametrize("host", ["localhost:7081", "127.0.0.1:7081", "127.1.2.3", "[::1]:7081"])
def test_http_is_good_enough_on_loopback(host: str) -> None:
    text = with_deployment(f'provider: azure_openai, model: m, endpoint: "http://{host}/azure"')

    assert read(text).deployments[MINI].endpoint == f"http://{host}/azure"


def test_placeholders_elsewhere_are_plain_text() -> None:
    catalog = read(
        GOOD + 'pipelines:\n  notes: {task: prompt, alias: summarize, prompt: "Explain ${AZURE_ENDPOINT}"}\n'
    )

    assert catalog.pipelines["notes"].prompt == "Explain ${AZURE_ENDPOINT}"


def test_a_deployment_has_what_was_written() -> None:
    deployment = read(
        with_deployment(
            'provider: azure_openai, model: gpt-5-mini, deployment: 4711, endpoint: "https://a", '
            "api_version: 2024-10-21, key_setting: AZURE_KEY, limits: {enqueued_tokens: 5_000_000, "
            "requests: 10, bytes: 1000, tokens_per_minute: 300000, share: 1}"
        )
    ).deployments[MINI]

    assert (deployment.deployment, deployment.api_version, deployment.key_setting) == (
        "4711",
        "2024-10-21",
        "AZURE_KEY",
    )
    assert deployment.limits == DeploymentLimits(
        enqueued_tokens=5_000_000, requests=10, bytes=1000, tokens_per_minute=300_000, share=1.0
    )


def test_other_providers_are_reached_at_their_base_url() -> None:
    deployment = read(
        with_deployment(
            "provider: vertex, model: gemini, project: p, location: europe-west1, bucket: b, "
            'base_url: "${AZURE_ENDPOINT}", storage_url: "http://127.0.0.1:1/gcs"'
        )
    ).deployments[MINI]

    assert deployment.endpoint == "https://acme.openai.azure.com"
    assert deployment.options == {
        "project": "p",
        "location": "europe-west1",
        "bucket": "b",
        "storage_url": "http://127.0.0.1:1/gcs",
    }


def test_prices_are_exact_and_a_rate_that_is_left_out_is_unknown() -> None:
    catalog = read(GOOD + "prices:\n  mini: {input: 0.1, cached_input: 0.0125, output: 1.0}\n")

    assert catalog.deployments[MINI].price == Rates(
        input=Decimal("0.1"), cached_input=Decimal("0.0125"), cache_write=None, output=Decimal("1.0")
    )
    assert catalog.deployments[DeploymentName("vectors")].price is None


def test_a_price_of_the_deployment_goes_before_one_of_its_model() -> None:
    text = TENANTS + DEPLOYMENTS.replace(
        "gpt-5-mini}", "gpt-5-mini}\n  maxi: {provider: openai, model: gpt-5-mini}"
    )

    catalog = read(text + ALIASES + "prices:\n  gpt-5-mini: {input: 2}\n  maxi: {input: 3}\n")

    prices = {name: d.price.input for name, d in catalog.deployments.items() if d.price}
    assert prices == {"mini": Decimal(2), "maxi": Decimal(3)}


def test_a_pipeline_has_what_was_written() -> None:
    catalog = read(
        GOOD
        + "pipelines:\n  tickets: {task: translate, alias: summarize, lane: hours, gather: '0 1 * * *', "
        + "deadline_hours: 6, languages: [de, no, pt-BR], schema: ./schemas/invoice.json}\n"
    )

    pipeline = catalog.pipelines["tickets"]
    assert (pipeline.task, pipeline.alias, pipeline.lane) == ("translate", AliasName("summarize"), Lane.HOURS)
    assert (pipeline.gather, pipeline.deadline_hours) == ("0 0 1 * * *", 6.0)
    assert pipeline.languages == ("de", "no", "pt-BR")
    assert pipeline.schema == "schemas/invoice.json"


@pytest.mark.parametrize(
    ("fields", "lane"),
    [
        ("task: summarize, alias: summarize", Lane.MINUTES),
        ("task: summarize, alias: summarize, gather: '0 0 1 * * *'", Lane.HOURS),
        ("task: summarize, alias: nightly", Lane.HOURS),
    ],
)
def test_a_lane_that_is_left_out_follows_from_the_rest(fields: str, lane: Lane) -> None:
    assert read(GOOD + f"pipelines:\n  notes: {{{fields}}}\n").pipelines["notes"].lane is lane


def test_sections_and_fields_may_be_left_empty_and_windows_may_have_written_the_file() -> None:
    text = "\ufeff" + GOOD + "pipelines:\nprices: ~\n" + "# the end"

    assert read(text.replace("\n", "\r\n")) == read(GOOD)


def test_the_sample_is_a_good_catalogue() -> None:
    sample = (Path(__file__).parents[3] / "catalog.sample.yaml").read_text()

    catalog = read(
        sample,
        {
            "AZURE_OPENAI_BATCH_ENDPOINT": "https://batch.openai.azure.com",
            "LLM_GATEWAY_ENDPOINT": "https://gateway.example.com/llm",
        },
    )

    assert set(catalog.tenants) == {"support", "operators"}
    assert catalog.alias("summarize").hours == ("mini-batch",)


def test_a_key_of_geminis_needs_no_project_in_the_minutes_lane() -> None:
    text = with_deployment("provider: vertex, model: gemini, key_setting: GEMINI_KEY")

    deployment = read(text.replace("hours: [mini]", "minutes: [mini]")).deployments[MINI]

    assert (deployment.key_setting, deployment.options) == ("GEMINI_KEY", {})
