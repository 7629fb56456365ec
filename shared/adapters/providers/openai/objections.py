"""What OpenAI's models refuse about a request, known before it is sent: OpenAI's own and Azure's alike.

Sources: Microsoft's "Azure OpenAI reasoning models" page ("Not supported"), OpenAI's "Reasoning models" and
"Using GPT-5.2" guides, and the API reference of chat completions, responses and embeddings, read 2026-11-30.
What no page speaks of is let through: the provider's own refusal is an outcome of that one request.
"""

import re
from collections.abc import Mapping
from typing import Final

from shared.domain.catalog import Endpoint
from shared.domain.objections import Objection
from shared.domain.planning import vectors_of

# "input: [...]" takes at most so many.
MAX_EMBEDDING_INPUTS: Final = 2048

# The o-series, codex-mini and GPT-5. Those called "chat" answer without reasoning and take everything.
_ALWAYS_REASONS: Final = re.compile(r"o[1-9](-.*)?|codex-mini(-.*)?|gpt-5(-(?!chat).*)?")
# From GPT-5.1 on effort may be none, which is their default; they refuse these only when they reason.
_MAY_REASON: Final = re.compile(r"gpt-5\.\d+(-(?!.*chat).*)?")

# The values that models take which otherwise refuse the parameter: what leaving it out means.
_DEFAULTS: Final[Mapping[str, tuple[object, ...]]] = {
    "temperature": (1,),
    "top_p": (1,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "n": (1,),
    "logprobs": (False,),
    "top_logprobs": (),
    "logit_bias": ({},),
}
# GPT-5.1 and later name these three only.
_REFUSED_WHEN_REASONING: Final = frozenset({"temperature", "top_p", "logprobs", "top_logprobs"})
_FOREIGN_LIMITS: Final = {
    Endpoint.CHAT: {"max_output_tokens": "max_completion_tokens"},
    Endpoint.RESPONSES: {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"},
}


def objection(model: str, endpoint: Endpoint, body: Mapping[str, object]) -> Objection | None:
    """`model` is the catalogue's, not the name of a deployment. The first thing found."""
    if endpoint is Endpoint.EMBEDDINGS:
        return _too_many_inputs(body)
    for name, right in _FOREIGN_LIMITS[endpoint].items():
        if body.get(name) is not None:
            return Objection(field=name, message=f"is no parameter of {endpoint.value}; give {right}")
    return _refused_parameter(model, body) if _reasons(model, body) else None


def fitted(model: str, endpoint: Endpoint, body: Mapping[str, object]) -> Mapping[str, object]:
    """The body with the limit of a chat under the name that a reasoning model takes; it means the same."""
    older = body.get("max_tokens")
    if endpoint is not Endpoint.CHAT or older is None or not _reasons(model, body):
        return body
    rest = {name: value for name, value in body.items() if name != "max_tokens"}
    return {"max_completion_tokens": older, **rest}


def _too_many_inputs(body: Mapping[str, object]) -> Objection | None:
    asked = vectors_of(body)
    if asked <= MAX_EMBEDDING_INPUTS:
        return None
    return Objection(field="input", message=f"holds {asked} inputs; {MAX_EMBEDDING_INPUTS} are allowed")


def _reasons(model: str, body: Mapping[str, object]) -> bool:
    name = model.lower()
    if _ALWAYS_REASONS.fullmatch(name):
        return True
    return bool(_MAY_REASON.fullmatch(name)) and _effort(body) not in (None, "none")


def _effort(body: Mapping[str, object]) -> object:
    reasoning = body.get("reasoning")
    nested = reasoning.get("effort") if isinstance(reasoning, Mapping) else None
    return body.get("reasoning_effort") or nested


def _refused_parameter(model: str, body: Mapping[str, object]) -> Objection | None:
    always = _ALWAYS_REASONS.fullmatch(model.lower())
    for name, taken in _DEFAULTS.items():
        if not always and name not in _REFUSED_WHEN_REASONING:
            continue
        value = body.get(name)
        if value is not None and value not in taken:
            return Objection(field=name, message=f"is not taken by {model} when it reasons; leave it out")
    return None
