"""The pace of every deployment in this process."""

from dataclasses import dataclass

from shared.domain.catalog import Deployment, DeploymentLimits
from shared.domain.ids import DeploymentName
from shared.domain.pace import Pacing, documents_beside, share_per_minute
from shared.ports.clock import Clock, Sleep
from shared.services.pace.gate import Gate
from shared.services.pace.slots import Slots


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentPace:
    """`slots` are for documents, a little more of them than calls: a document is also read, and stored."""

    gate: Gate
    slots: Slots


class Pace:
    """`instances`: how many processes share what a deployment allows, at most."""

    def __init__(
        self, *, clock: Clock, sleep: Sleep, instances: int = 1, pacing: Pacing | None = None
    ) -> None:
        self.pacing = pacing or Pacing()
        self.sleep = sleep
        self._clock = clock
        self._instances = instances
        self._known: dict[DeploymentName, tuple[DeploymentLimits, DeploymentPace]] = {}

    def share(self, deployment: Deployment) -> int | None:
        """Tokens a minute that this process may use of it; None: not limited."""
        return share_per_minute(deployment.limits, instances=self._instances)

    def of(self, deployment: Deployment) -> DeploymentPace:
        """The same while the deployment's limits are."""
        known = self._known.get(deployment.name)
        if known is not None and known[0] == deployment.limits:
            return known[1]
        made = self._make(deployment)
        self._known[deployment.name] = (deployment.limits, made)
        return made

    def _make(self, deployment: Deployment) -> DeploymentPace:
        gate = Gate(
            name=deployment.name,
            per_minute=self.share(deployment),
            clock=self._clock,
            sleep=self.sleep,
            pacing=self.pacing,
        )
        slots = Slots(
            size=lambda: documents_beside(gate.allowed),
            clock=self._clock,
            sleep=self.sleep,
            pacing=self.pacing,
        )
        return DeploymentPace(gate=gate, slots=slots)
