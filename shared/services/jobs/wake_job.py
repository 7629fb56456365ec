"""An event says that results of a batch lie in our storage: its job need not wait until the next look."""

import logging
from dataclasses import dataclass

from shared.domain.chunks import read_chunk_key
from shared.ports.orchestrations import Orchestrations
from shared.stores.pulses import Pulses
from shared.wire.paths import key_of_own_batch

log = logging.getLogger(__name__)

# As Azure OpenAI calls them.
_RESULTS = ("/results.jsonl", "/errors.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeJob:
    """An event is a hint: one that never comes costs a wait, one too many costs a look."""

    pulses: Pulses

    async def __call__(self, path: str, orchestrations: Orchestrations) -> bool:
        """Whether the blob is a batch's result, and so nothing else."""
        key = key_of_own_batch(path)
        if key is None:
            return False
        named = read_chunk_key(key) if path.endswith(_RESULTS) else None
        pulse = await self.pulses.find(named.job_id) if named else None
        if pulse is not None:
            await orchestrations.wake(pulse.value.job_id, pulse.value.run)
            log.info("job.woken", extra={"job_id": pulse.value.job_id})
        return True
