"""The app's own token for calling models: no key anywhere."""

from azure.core.exceptions import ClientAuthenticationError

from shared.adapters.azure.connections import Identity, PerLoop, credential_of
from shared.domain.errors import NotAdmitted


class ModelTokens:
    """Called for each token; the credential below it caches them until shortly before they expire."""

    def __init__(self, identity: Identity) -> None:
        self._credential = PerLoop(lambda: credential_of(identity))

    async def __call__(self, scope: str) -> str:
        """Raise `NotAdmitted` when the identity cannot get one."""
        try:
            token = await self._credential.here().get_token(scope)
        except ClientAuthenticationError as error:
            # The SDK's text lists every credential it tried; what matters is that none worked.
            raise NotAdmitted("the app's identity got no token for the model's endpoint") from error
        return token.token
