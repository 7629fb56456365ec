"""What a provider's adapter is given besides the deployment."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from shared.ports.blobs import Blobs
from shared.ports.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """`key` gives the value of an app setting by its name, and raises `KeyError` if there is none.

    `token` gives an Entra access token for a scope, fresh enough for one call; it raises our errors only.
    None: the app has no identity. `blobs` is our own storage, for providers that need it.
    """

    clock: Clock
    key: Callable[[str], str]
    token: Callable[[str], Awaitable[str]] | None = None
    blobs: Blobs | None = None
    create_timeout: timedelta = timedelta(seconds=60)
    # Microsoft's pages name this one and https://ai.azure.com/.default.
    openai_scope: str = "https://cognitiveservices.azure.com/.default"
