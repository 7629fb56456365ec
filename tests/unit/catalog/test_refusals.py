"""What is refused, with which words, and where."""
# ruff: noqa: E501 - one case a line

import pytest

from tests.unit.catalog.texts import (
    ALIASES,
    DEPLOYMENTS,
    DIGEST,
    ENV,
    GOOD,
    TENANTS,
    refusal,
    with_alias,
    with_deployment,
    with_pipeline,
    with_tenant,
)

KEY = f'keys: ["sha256:{DIGEST}"]'
AZURE = 'provider: azure_openai, model: m, endpoint: "https://a"'
BAD = [
    # tenants
    (with_tenant("admin: true"), "2: tenants.support: needs keys or principals: nobody could call as this tenant"),
    (with_tenant("keys: [my-plain-key]"), "2: tenants.support.keys[0]: must be 'sha256:' and 64 hex digits: the digest of the key, never the key itself"),
    (with_tenant(f'keys: "sha256:{DIGEST}"'), "2: tenants.support.keys: must be a list"),
    (with_tenant(KEY + ", weight: 0"), "2: tenants.support.weight: must be at least 1"),
    (with_tenant(KEY + ", weight: 1.5"), "2: tenants.support.weight: must be a whole number"),
    (with_tenant(KEY + ", admin: perhaps"), "2: tenants.support.admin: must be true or false"),
    (with_tenant(KEY + ", wieght: 1"), "2: tenants.support.wieght: unknown field; did you mean 'weight'?"),
    (with_tenant(KEY + ", budget: {montly: 1, monthly: 1}"), "2: tenants.support.budget.montly: unknown field; did you mean 'monthly'?"),
    (with_tenant(KEY + ", budget: {monthly: -1}"), "2: tenants.support.budget.monthly: must be above 0"),
    (with_tenant(KEY + ", budget: {monthly: NaN}"), "2: tenants.support.budget.monthly: must be a finite number"),
    (with_tenant(KEY + ", budget: {monthly: 1, on_exceed: panic}"), "2: tenants.support.budget.on_exceed: must be one of 'reject' or 'alert'"),
    (with_tenant(KEY + ", required_tags: [a b]"), "2: tenants.support.required_tags[0]: must be a tag's name: letters, digits, . _ -"),
    (with_tenant(KEY + ", principals: ['a b']"), "2: tenants.support.principals[0]: must be an application or object id"),
    # deployments
    (with_deployment("provider: azure, model: m"), "4: deployments.mini.provider: must be one of 'azure_openai', 'openai', 'anthropic', 'mistral', 'vertex' or 'openai_compatible'"),
    (with_deployment("provider: openai"), "4: deployments.mini.model: is required"),
    (with_deployment("provider: azure_openai, model: m"), "4: deployments.mini: azure_openai needs endpoint"),
    (with_deployment("provider: openai_compatible, model: m"), "4: deployments.mini: openai_compatible needs base_url"),
    (with_deployment("provider: vertex, model: m, bucket: b"), "6: aliases.summarize.hours[0]: deployment 'mini' has no project, which this lane needs"),
    (with_deployment("provider: vertex, model: m, project: p"), "6: aliases.summarize.hours[0]: deployment 'mini' has no bucket, which this lane needs"),
    (with_deployment("provider: openai, model: m, endpoint: 'https://a'"), "4: deployments.mini: openai takes no endpoint"),
    (with_deployment(AZURE.replace("https://a", "${NOWHERE}")), "4: deployments.mini.endpoint: names the app setting NOWHERE, which is not set"),
    (with_deployment(AZURE.replace("https://a", "$HOME/x")), "4: deployments.mini.endpoint: holds a '$' that is no ${NAME}"),
    (with_deployment(AZURE.replace("https://a", "http://example.com")), "4: deployments.mini.endpoint: must be an https address without user, query or fragment (http on loopback only)"),
    (with_deployment(AZURE.replace("https://a", "https://u:p@a")), "4: deployments.mini.endpoint: must be an https address without user, query or fragment (http on loopback only)"),
    (with_deployment(AZURE.replace("https://a", "https://a?code=1")), "4: deployments.mini.endpoint: must be an https address without user, query or fragment (http on loopback only)"),
    (with_deployment(AZURE.replace("https://a", "${SECRET}")), "4: deployments.mini.endpoint: must be an https address without user, query or fragment (http on loopback only) after ${SECRET} was put in"),
    (with_deployment(AZURE.replace("https://a", "https://a/openai/v1/")), "4: deployments.mini: endpoint is the resource's root or a gateway's base: leave /openai/v1 off"),
    (with_deployment(AZURE + ", limits: {share: 1.01}"), "4: deployments.mini.limits.share: must be at most 1.0"),
    (with_deployment(AZURE + ", limits: {share: 0}"), "4: deployments.mini.limits.share: must be above 0.0"),
    (with_deployment(AZURE + ", limits: {enqueued_tokens: 0}"), "4: deployments.mini.limits.enqueued_tokens: must be at least 1"),
    (with_deployment(AZURE + ", limits: {tokens_per_minute: lots}"), "4: deployments.mini.limits.tokens_per_minute: must be a whole number"),
    (with_deployment(AZURE + ", limits: [1]"), "4: deployments.mini.limits: must be a mapping of fields"),
    (with_deployment(AZURE + ", model: [a]").replace("model: m, ", ""), "4: deployments.mini.model: must be text"),
    # aliases
    (with_alias("max_output_tokens: 1"), "7: aliases.summarize: needs a lane: list deployments under minutes or hours"),
    (with_alias("hours: [minni]"), "7: aliases.summarize.hours[0]: 'minni' is not among the deployments; did you mean 'mini'?"),
    (with_alias("hours: [mini, mini]"), "7: aliases.summarize.hours: names one twice"),
    (with_alias("minutes: mini"), "7: aliases.summarize.minutes: must be a list"),
    (with_alias("hours: [mini], choose: cheapest"), "7: aliases.summarize.choose: 'cheapest' is not available yet; only 'first' is"),
    (with_alias("hours: [mini], max_output_tokens: 0"), "7: aliases.summarize.max_output_tokens: must be at least 1"),
    (with_alias("hours: [mini, vectors]"), "7: aliases.summarize: mixes embedding models with others; give each its own alias"),
    (with_deployment('provider: azure_openai, model: text-embedding-3-large, endpoint: "https://a"'), "6: aliases.summarize.hours[0]: azure_openai makes no embeddings in the hours lane; use another lane or provider"),
    (with_deployment("provider: anthropic, model: claude-x"), "6: aliases.summarize: anthropic answers nothing without a limit: give max_output_tokens"),
    # pipelines
    (with_pipeline("task: sumarize, alias: summarize"), "11: pipelines.notes.task: must be one of 'summarize', 'extract', 'classify', 'translate', 'embed' or 'prompt'"),
    (with_pipeline("task: summarize"), "11: pipelines.notes.alias: is required"),
    (with_pipeline("task: summarize, alias: sumarize"), "11: pipelines.notes.alias: 'sumarize' is not among the aliases; did you mean 'summarize'?"),
    (with_pipeline("task: summarize, alias: nightly, lane: minutes"), "11: pipelines.notes.lane: alias 'nightly' has no deployment in the minutes lane"),
    (with_pipeline("task: summarize, alias: summarize, lane: weeks"), "11: pipelines.notes.lane: must be one of 'minutes' or 'hours'"),
    (with_pipeline("task: embed, alias: summarize, lane: hours"), "11: pipelines.notes.task: azure_openai makes no embeddings in the hours lane; use another lane or provider"),
    (with_pipeline("task: summarize, alias: embed"), "11: pipelines.notes.task: alias 'embed' makes vectors; it cannot summarize"),
    (with_pipeline("task: summarize, alias: summarize, lane: minutes, gather: '0 0 1 * * *'"), "11: pipelines.notes.gather: belongs to the hours lane only"),
    (with_pipeline("task: summarize, alias: summarize, lane: minutes, deadline_hours: 1"), "11: pipelines.notes.deadline_hours: belongs to the hours lane only"),
    (with_pipeline("task: summarize, alias: summarize, gather: daily"), "11: pipelines.notes.gather: needs six fields: second minute hour day month day-of-week"),
    (with_pipeline("task: translate, alias: summarize"), "11: pipelines.notes: task translate needs languages"),
    (with_pipeline("task: translate, alias: summarize, languages: [klingon-]"), "11: pipelines.notes.languages[0]: must be a language tag such as de or pt-BR"),
    (with_pipeline("task: summarize, alias: summarize, languages: [de]"), "11: pipelines.notes: languages belong to task translate only"),
    (with_pipeline("task: prompt, alias: summarize"), "11: pipelines.notes: task prompt needs a prompt"),
    (with_pipeline("task: prompt, alias: summarize, prompt: ' '"), "11: pipelines.notes: prompt must not be blank; leave it out to use the task's own"),
    (with_pipeline("task: extract, alias: summarize"), "11: pipelines.notes: task extract needs a schema: what to extract"),
    (with_pipeline("task: classify, alias: summarize"), "11: pipelines.notes: task classify needs a schema: the labels, as an enum"),
    (with_pipeline("task: summarize, alias: summarize, split_tokens: 800"), "11: pipelines.notes: split_tokens belongs to task embed only"),
    (with_pipeline("task: embed, alias: embed, split_tokens: 15"), "11: pipelines.notes.split_tokens: must be at least 16"),
    (with_pipeline("task: extract, alias: summarize, schema: ../secret.json"), "11: pipelines.notes.schema: must be the path of a .json file beside or below the catalogue, without '..'"),
    (with_pipeline("task: extract, alias: summarize, schema: /etc/x.json"), "11: pipelines.notes.schema: must be the path of a .json file beside or below the catalogue, without '..'"),
    (with_pipeline("task: extract, alias: summarize, shema: x.json"), "11: pipelines.notes.shema: unknown field; did you mean 'schema'?"),
    # prices
    (GOOD + "prices:\n  minni: {input: 1}\n", "11: prices.minni: is neither a deployment nor a model; did you mean 'mini'?"),
    (GOOD + "prices:\n  mini: {input: -1}\n", "11: prices.mini.input: must be at least 0"),
    (GOOD + "prices:\n  mini: {input: cheap}\n", "11: prices.mini.input: must be a number"),
    (GOOD + "prices:\n  mini: {inputs: 1}\n", "11: prices.mini.inputs: unknown field; did you mean 'input'?"),
    # the whole
    (DEPLOYMENTS + ALIASES, "1: tenants: is required: without it nothing can be done"),
    (TENANTS + DEPLOYMENTS + "aliases: {}\n", "6: aliases: is required: without it nothing can be done"),
    (GOOD + "pipelnes: {}\n", "10: pipelnes: unknown section; did you mean 'pipelines'?"),
    (GOOD + "pipelines: [a]\n", "10: pipelines: must be a mapping of names"),
    ("- a\n- b\n", "1: must be a mapping with tenants, deployments and aliases"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "complaint"), BAD, ids=[complaint[:70] for _, complaint in BAD])
def test_a_mistake_is_named_with_its_line_its_field_and_a_reason(text: str, complaint: str) -> None:
    refused = refusal(text, {**ENV, "SECRET": "top-secret-value"})

    assert [f"{p.line}: {p}" for p in refused.problems] == [complaint]


@pytest.mark.parametrize("name", ["Support", "sup port", "a/b", "..", "-a", "ünit", "a" * 64, '""'])
@pytest.mark.parametrize("section", ["tenants", "pipelines"])
def test_tenants_and_pipelines_are_named_by_slugs_because_they_are_parts_of_paths(
    section: str, name: str
) -> None:
    entry = {"tenants": f"{{{KEY}}}", "pipelines": "{task: summarize, alias: summarize}"}[section]
    text = f"tenants:\n  {name}: {entry}\n" + DEPLOYMENTS + ALIASES
    if section == "pipelines":
        text = GOOD + f"pipelines:\n  {name}: {entry}\n"

    assert [p.reason[:14] for p in refusal(text).problems] == ["must be a slug"]


@pytest.mark.parametrize("name", ["documents", "inputs", "jobs", "results"])
def test_a_tenant_is_not_named_like_a_container(name: str) -> None:
    refused = refusal(f"tenants:\n  {name}: {{{KEY}}}\n" + DEPLOYMENTS + ALIASES)

    assert [p.reason for p in refused.problems] == [
        "is the name of a container of Postern's own; choose another"
    ]


@pytest.mark.parametrize("name", ["a b", "a/b", ".a", "a" * 65])
def test_aliases_and_deployments_are_named_by_plain_names(name: str) -> None:
    refused = refusal(TENANTS + DEPLOYMENTS + f"aliases:\n  {name}: {{hours: [mini]}}\n")

    assert [p.reason[:14] for p in refused.problems] == ["must be a name"]


@pytest.mark.parametrize("written", ["aliases", "deployments"])
def test_the_names_of_models_are_plain_names(written: str) -> None:
    text = GOOD.replace("mini:", "gpt-5.1_mini:").replace("[mini]", "[gpt-5.1_mini]")

    with pytest.raises(AssertionError, match="was accepted"):
        refusal(text.replace("summarize:", "Summarize-4.1:"))


@pytest.mark.parametrize("field", [KEY, "principals: [app-1]"])
def test_one_caller_is_never_two_tenants(field: str) -> None:
    text = f"tenants:\n  retail: {{{field}}}\n  support: {{{field.replace('app', 'APP')}}}\n"

    refused = refusal(text + DEPLOYMENTS + ALIASES)

    assert [(p.line, p.field.split("[")[0]) for p in refused.problems] == [
        (3, f"tenants.support.{field.split(':')[0]}")
    ]
    assert "belongs to tenant 'retail' already" in refused.problems[0].reason


def test_a_name_given_twice_is_refused_where_the_second_stands() -> None:
    refused = refusal(GOOD + "  summarize: {hours: [mini]}\n")

    assert [f"{p.line}: {p}" for p in refused.problems] == [
        "10: aliases.summarize: given a second time; first on line 7"
    ]


def test_every_mistake_is_named_at_once_in_the_order_of_lines() -> None:
    text = (
        "tenants:\n  support: {keys: [x]}\n"
        "deployments:\n  mini: {provider: openai}\n"
        "aliases:\n  a: {hours: [minni, mini]}\n"
        "pipelines:\n  p: {task: summarize, alias: b}\n"
    )

    assert [(p.line, p.field) for p in refusal(text).problems] == [
        (2, "tenants.support.keys[0]"),
        (4, "deployments.mini.model"),
        (6, "aliases.a.hours[0]"),
        (8, "pipelines.p.alias"),
    ]


def test_a_bad_deployment_is_not_called_unknown_as_well() -> None:
    text = TENANTS + "deployments:\n  mini: {provider: openai}\naliases:\n  a: {hours: [mini]}\n"

    assert [p.field for p in refusal(text + "prices:\n  gpt-5: {input: 1}\n").problems] == [
        "deployments.mini.model"
    ]


def test_at_most_a_hundred_mistakes_are_shown_and_all_are_counted() -> None:
    refused = refusal(TENANTS + DEPLOYMENTS + "aliases:\n" + "".join(f"  a{n}: {{}}\n" for n in range(150)))

    assert (len(refused.problems), refused.total) == (100, 150)
    assert str(refused).endswith("\nand 50 more")


def test_the_text_of_a_refusal_is_one_line_a_mistake() -> None:
    refused = refusal(with_alias("hours: [a, b]"))

    assert str(refused).splitlines() == [
        "catalog.yaml:7: aliases.summarize.hours[0]: 'a' is not among the deployments",
        "catalog.yaml:7: aliases.summarize.hours[1]: 'b' is not among the deployments",
    ]


@pytest.mark.parametrize(
    "text",
    [
        with_tenant("keys: [hunter2hunter2]"),
        with_tenant("keys: ['sha256:hunter2hunter2']"),
        with_tenant("principals: ['hunter2hunter2 !']"),
        with_deployment("provider: openai, model: m, key_setting: hunter2hunter2"),
        with_deployment("provider: openai, model: m, key_setting: sk-hunter2hunter2"),
        with_deployment("provider: openai, model: m, base_url: 'https://x:hunter2hunter2@a'"),
        with_deployment("provider: openai, model: m, base_url: '${SECRET}'"),
        with_deployment("provider: openai, model: m, base_url: 'https://a?${SECRET}'"),
    ],
)
def test_a_secret_in_the_wrong_place_is_refused_and_not_repeated(text: str) -> None:
    refused = refusal(text, {**ENV, "SECRET": "hunter2hunter2"})

    assert "hunter2" not in str(refused)
    assert "hunter2" not in repr(refused.problems)
