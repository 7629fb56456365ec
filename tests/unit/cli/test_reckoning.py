"""From quotas to sizes: worked by hand, and against the pace that the app really keeps."""

from datetime import UTC, datetime
from io import StringIO
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from cli.scale.limits import CONTAINER_APPS, FLEX, FORMS, KUBERNETES, RECEIVES, Form
from cli.scale.reckoning import Sizing, Work, as_json, size
from cli.scale.tables import print_sizing
from shared.adapters.memory.clock import FixedClock
from shared.domain.catalog import Alias, Catalog, Deployment, DeploymentLimits
from shared.domain.ids import AliasName, DeploymentName
from shared.services.pace.pace import Pace


def a_deployment(name: str, per_minute: int | None, share: float = 0.5) -> Deployment:
    return Deployment(
        name=DeploymentName(name),
        provider="azure_openai",
        model="gpt-5-mini",
        deployment=name,
        limits=DeploymentLimits(tokens_per_minute=per_minute, share=share),
    )


def a_catalog(*deployments: Deployment, hours: tuple[Deployment, ...] = ()) -> Catalog:
    alias = Alias(
        name=AliasName("a"), minutes=tuple(d.name for d in deployments), hours=tuple(d.name for d in hours)
    )
    return Catalog(
        tenants=MappingProxyType({}),
        deployments=MappingProxyType({d.name: d for d in (*deployments, *hours)}),
        aliases=MappingProxyType({alias.name: alias}),
    )


def sized(*per_minute: int | None, form: Form = KUBERNETES, work: Work | None = None) -> Sizing:
    deployments = [a_deployment(f"d{n}", tokens) for n, tokens in enumerate(per_minute)]
    return size(a_catalog(*deployments), work or Work(), form)


def test_a_quota_becomes_documents_calls_and_instances() -> None:
    sizing = sized(3_000_000)

    [need] = sizing.needs
    assert (need.tokens, need.documents, need.calls, need.instances) == (1_500_000, 750, 75, 5)
    [process] = sizing.processes
    assert (process.tokens, process.places, process.documents) == (300_000, 15, 18)
    # 18 of one tenant, 9 of others, 18 that wait.
    assert process.in_hand == 45
    assert (sizing.instances, sizing.calls, sizing.backlog) == (5, 64, 18)
    assert sizing.limited_by is None


def test_more_quota_is_more_instances_and_the_largest_need_counts() -> None:
    assert sized(6_000_000).instances == 10
    assert sized(6_000_000, 3_000_000).instances == 10
    assert sized(40_000).instances == 1


def test_a_slow_model_needs_more_places_than_its_tokens_give() -> None:
    slow = sized(300_000, work=Work(tokens=2_000, seconds=20))

    [need] = slow.needs
    assert need.calls == 25
    # Below 20,000 tokens each instance still has one place, and a place is what is short.
    assert need.instances == 25
    assert slow.instances == 25


def test_where_no_number_of_instances_is_enough_the_best_is_taken() -> None:
    [need] = sized(300_000, work=Work(tokens=30_000, seconds=600)).needs

    assert need.calls == 50
    assert need.most == 5
    # Five instances with two places each: no number of them has more.
    assert need.instances == 5


def test_what_is_not_in_the_catalogue_is_not_multiplied() -> None:
    sizing = sized(None)

    [need] = sizing.needs
    assert (need.tokens, need.calls, need.instances) == (None, None, None)
    assert sizing.instances == 1
    assert sizing.processes[0].places == 8


def test_batches_play_no_part() -> None:
    catalog = a_catalog(a_deployment("mini", 40_000), hours=(a_deployment("batch", 900_000_000),))

    assert [need.deployment.name for need in size(catalog, Work(), KUBERNETES).needs] == ["mini"]


def test_a_catalogue_without_the_minutes_lane_needs_one_instance() -> None:
    sizing = size(a_catalog(), Work(), KUBERNETES)

    assert (sizing.instances, sizing.calls, sizing.backlog) == (1, 1, 1)


def test_the_receives_of_the_queue_limit_the_instances() -> None:
    sizing = sized(100_000_000)

    assert sizing.limited_by is not None
    assert sizing.limited_by.name == "receives"
    assert sizing.instances == RECEIVES // 64


def test_the_cores_of_the_region_limit_flex_only() -> None:
    quotas = [200_000_000]
    work = Work(tokens=2_000, seconds=3)

    assert "cores" in {bound.name for bound in sized(*quotas, form=FLEX, work=work).bounds}
    assert "cores" not in {bound.name for bound in sized(*quotas, form=CONTAINER_APPS, work=work).bounds}


def test_flex_takes_no_less_than_forty_and_each_of_them_less() -> None:
    sizing = sized(3_000_000, form=FLEX)

    assert sizing.instances == 40
    assert sizing.processes[0].places == 2
    assert sizing.calls == 8


def test_a_quota_too_small_for_forty_is_told() -> None:
    sizing = sized(60_000, form=FLEX)
    console = Console(width=110, record=True, file=StringIO())

    print_sizing(console, sizing)

    assert sizing.instances == 40
    assert "the provider's 429 is the limit" in " ".join(console.export_text().split())


def test_cores_divide_the_messages_because_the_host_multiplies_them() -> None:
    two_cores = Form(name="x", title="X", least=1, most=100, cores=2)

    assert sized(3_000_000, form=two_cores).calls == 32


def test_programs_are_told_the_same() -> None:
    told = as_json(sized(3_000_000))

    assert told["instances"] == 5
    assert told["limited_by"] is None
    assert told["deployments"] == {
        "d0": {
            "tokens_per_minute": 1_500_000,
            "documents_per_minute": 750,
            "calls_at_once": 75,
            "instances": 5,
            "of_one_instance": {
                "tokens_per_minute": 300_000,
                "places": 15,
                "documents": 18,
                "in_hand": 45,
            },
        }
    }


quotas = st.integers(min_value=1, max_value=50_000_000)
shares = st.floats(min_value=0.01, max_value=1)


@given(
    st.lists(st.tuples(quotas, shares), min_size=1, max_size=4),
    st.sampled_from(FORMS),
    st.integers(min_value=100, max_value=50_000),
    st.floats(min_value=0.1, max_value=300),
)
def test_whatever_the_quotas_no_limit_is_exceeded(
    given_quotas: list[tuple[int, float]], form: Form, tokens: int, seconds: float
) -> None:
    deployments = [a_deployment(f"d{n}", quota, share) for n, (quota, share) in enumerate(given_quotas)]

    sizing = size(a_catalog(*deployments), Work(tokens=tokens, seconds=seconds), form)

    assert form.least <= sizing.instances <= form.most
    assert sizing.calls >= 1
    assert sizing.instances * sizing.calls * form.cores <= RECEIVES
    for deployment, process in zip(deployments, sizing.processes, strict=True):
        limits = deployment.limits
        assert limits.tokens_per_minute is not None
        assert process.tokens is not None
        used = process.tokens * sizing.instances
        assert used <= max(limits.tokens_per_minute * limits.share, sizing.instances)


@pytest.mark.parametrize("quota", [1, 20_000, 300_000, 3_000_000, None])
async def test_the_app_keeps_the_pace_that_was_reckoned_with(quota: int | None) -> None:
    deployment = a_deployment("mini", quota)
    sizing = size(a_catalog(deployment), Work(), KUBERNETES)
    clock = FixedClock(datetime(2026, 11, 30, tzinfo=UTC))

    async def sleep(seconds: float) -> None:
        raise AssertionError("nothing waits here")

    pace = Pace(clock=clock, sleep=sleep, instances=sizing.instances)

    [process] = sizing.processes
    assert pace.share(deployment) == process.tokens
    # It begins half way up.
    assert pace.of(deployment).gate.allowed == max(process.places // 2, 1)
