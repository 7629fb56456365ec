"""What a job says about all of its lines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from shared.domain.catalog import Endpoint
from shared.domain.objections import FindObjection
from shared.wire.door_shape import Shaper


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The job's part of every request.

    `endpoint` None: the first line decides, by `url` or by what its body looks like; `input_means` says what
    a body is that has an `input` text and nothing to tell responses from embeddings.
    `default_max_output_tokens` applies where neither line nor `params` set a limit; None where the provider
    needs none. `openai_format`: lines must be complete as OpenAI's batch API wants them.
    `objection`: what the provider would refuse about an effective body.
    """

    alias: str
    max_line_bytes: int
    endpoint: Endpoint | None = None
    params: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    schema: Mapping[str, object] | None = None
    default_max_output_tokens: int | None = None
    input_means: Endpoint = Endpoint.RESPONSES
    openai_format: bool = False
    objection: FindObjection | None = None

    def shaper(self, endpoint: Endpoint) -> Shaper:
        """Raise `Unusable` if the job asks for what `endpoint` does not have."""
        return Shaper(
            endpoint,
            params=self.params,
            schema=self.schema,
            default_max_output_tokens=self.default_max_output_tokens,
        )
