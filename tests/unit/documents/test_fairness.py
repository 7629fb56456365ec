"""One tenant's thousand documents beside another's ten, through the real services, in virtual time."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from shared.domain.catalog import Catalog, DeploymentLimits
from shared.services.policy import Policy
from tests.support.dropping import MINI, a_catalog_with_pipelines
from tests.support.hosting import HostLimits, Region
from tests.support.virtual import run

HOST: dict[str, Any] = json.loads((Path(__file__).parents[3] / "host.json").read_text())["extensions"]
FLOOD = 1_000
FEW = 10


def limits() -> HostLimits:
    """What an instance of the deployed app takes at once."""
    return HostLimits(
        claims=HOST["blobs"]["maxDegreeOfParallelism"], calls=HOST["serviceBus"]["maxConcurrentCalls"]
    )


def a_catalog() -> Catalog:
    base = a_catalog_with_pipelines()
    mini = replace(MINI, limits=DeploymentLimits(tokens_per_minute=400_000, share=1))
    return replace(base, deployments=MappingProxyType({**base.deployments, MINI.name: mini}))


async def time_for_a_few(*, behind: int, instances: int) -> timedelta:
    """From their drop to their last end; `behind` so many of another tenant, dropped just before."""
    region = Region(catalog=a_catalog(), answer_seconds=2)
    hosts = [
        asyncio.create_task(region.serve(limits(), Policy(max_instances=instances))) for _ in range(instances)
    ]
    await region.drop("support", behind)
    begun = region.clock.now()
    await region.drop("retail", FEW)
    few = await region.finished("retail", FEW)
    for host in hosts:
        host.cancel()
    await asyncio.gather(*hosts, return_exceptions=True)

    assert {document.outcome for document in few} == {"succeeded"}
    assert len(await region.all("support")) == behind
    # Whoever waits is sent again for later: no delivery is used up, and none fails.
    assert region.most_deliveries_of_one == 1
    return max(document.finished_at for document in few if document.finished_at) - begun


@pytest.mark.parametrize("instances", [1, 3])
def test_ten_documents_behind_a_thousand_finish_as_if_alone_within_a_factor_of_two(instances: int) -> None:
    alone = run(time_for_a_few(behind=0, instances=instances))

    among_others = run(time_for_a_few(behind=FLOOD, instances=instances))

    assert alone > timedelta(seconds=2)
    assert among_others < 2 * alone, f"{alone} alone, {among_others} behind {FLOOD}"
