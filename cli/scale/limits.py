"""What the platforms allow, each with the page that says so."""

from dataclasses import dataclass
from typing import Final

# Microsoft's page "Service Bus quotas", read 2026-11-30: concurrent receives on one entity, and AMQP connections
# of one namespace, on every tier.
RECEIVES: Final = 5_000
CONNECTIONS: Final = 5_000
# A process opens one for the triggers of both queues, one for its sender, and one while either is replaced.
CONNECTIONS_OF_A_PROCESS: Final = 3
# Microsoft's page "Flex Consumption plan hosting", read 2026-11-30: cores of all such apps of a subscription in a
# region, instances that are always ready included.
CORES: Final = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A way to run the app. `least` and `most`: what may be given as its largest number of instances.

    `cores` of an instance: the host multiplies `maxConcurrentCalls` by them. `of_all` cores are shared by all
    apps of the kind; None: whatever the cluster has.
    """

    name: str
    title: str
    least: int
    most: int
    cores: int = 1
    of_all: int | None = None


# KEDA's page "Scaling Deployments", read 2026-11-30: 100 unless told otherwise, no upper limit; ours is what the
# setting takes.
KUBERNETES: Final = Form(name="kubernetes", title="Kubernetes with KEDA", least=1, most=1_000)
# Microsoft's page "Azure Functions on Azure Container Apps", read 2026-11-30.
CONTAINER_APPS: Final = Form(name="container-apps", title="Container Apps", least=1, most=1_000)
# Microsoft's page "Flex Consumption plan hosting", read 2026-11-30: 40 to 1,000, for each function that scales
# by itself; an instance of 2,048 MB has one core.
FLEX: Final = Form(name="flex", title="Flex Consumption", least=40, most=1_000, of_all=CORES)
FORMS: Final = (KUBERNETES, CONTAINER_APPS, FLEX)
