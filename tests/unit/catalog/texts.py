"""A small good catalogue, and how to ask what is wrong with a bad one."""

from collections.abc import Mapping

from shared.domain.catalog import Catalog
from shared.wire.catalog import CatalogRefused, read_catalog

DIGEST = "a" * 64
ENV: Mapping[str, str] = {"AZURE_ENDPOINT": "https://acme.openai.azure.com/"}

TENANTS = f"""\
tenants:
  support: {{keys: ["sha256:{DIGEST}"]}}
"""
DEPLOYMENTS = """\
deployments:
  mini: {provider: azure_openai, endpoint: "${AZURE_ENDPOINT}", model: gpt-5-mini}
  vectors: {provider: openai, model: text-embedding-3-small, key_setting: OPENAI_API_KEY}
"""
ALIASES = """\
aliases:
  summarize: {minutes: [mini], hours: [mini]}
  nightly: {hours: [mini]}
  embed: {minutes: [vectors], hours: [vectors]}
"""
GOOD = TENANTS + DEPLOYMENTS + ALIASES


def read(text: str, env: Mapping[str, str] = ENV) -> Catalog:
    return read_catalog(text.encode(), file="catalog.yaml", env=env)


def refusal(text: str | bytes, env: Mapping[str, str] = ENV) -> CatalogRefused:
    """What a bad text is refused with."""
    content = text if isinstance(text, bytes) else text.encode()
    try:
        read_catalog(content, file="catalog.yaml", env=env)
    except CatalogRefused as refused:
        return refused
    raise AssertionError("this catalogue was accepted")


def with_tenant(fields: str) -> str:
    return f"tenants:\n  support: {{{fields}}}\n" + DEPLOYMENTS + ALIASES


def with_deployment(fields: str) -> str:
    return TENANTS + f"deployments:\n  mini: {{{fields}}}\naliases:\n  summarize: {{hours: [mini]}}\n"


def with_alias(fields: str) -> str:
    return TENANTS + DEPLOYMENTS + f"aliases:\n  summarize: {{{fields}}}\n"


def with_pipeline(fields: str) -> str:
    return GOOD + f"pipelines:\n  notes: {{{fields}}}\n"
