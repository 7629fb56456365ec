"""Leave to write exactly one blob, as a shared access signature."""

from datetime import datetime, timedelta

from azure.storage.blob import BlobSasPermissions, UserDelegationKey, generate_blob_sas
from azure.storage.blob.aio import BlobClient, BlobServiceClient

from shared.adapters.azure.connections import StorageConnection
from shared.ports.clock import Clock

_KEY_LIFE = timedelta(days=1)
_KEY_LIFE_LIMIT = timedelta(days=7)  # the service's
_CLOCK_SKEW = timedelta(minutes=5)


class UploadSignatures:
    """Signed with the account's key if a connection string gave one, else on behalf of the identity."""

    def __init__(self, storage: StorageConnection, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock
        self._delegation: tuple[UserDelegationKey, datetime] | None = None

    async def sign(self, blob: BlobClient, expires_at: datetime) -> str:
        """The address of `blob` with leave to create or overwrite it until `expires_at`."""
        service = self._storage.blobs.here()
        account_key = self._storage.account_key()
        delegation = None if account_key else await self._delegation_key(service, expires_at)
        signature = generate_blob_sas(
            account_name=str(blob.account_name),
            container_name=blob.container_name,
            blob_name=blob.blob_name,
            account_key=account_key,
            user_delegation_key=delegation,
            permission=BlobSasPermissions(create=True, write=True),
            expiry=expires_at,
            protocol="https" if blob.url.startswith("https:") else "https,http",
        )
        return f"{blob.url}?{signature}"

    async def _delegation_key(self, service: BlobServiceClient, needed_until: datetime) -> UserDelegationKey:
        if self._delegation is not None and self._delegation[1] >= needed_until:
            return self._delegation[0]
        now = self._clock.now()
        if needed_until > now + _KEY_LIFE_LIMIT:
            raise ValueError(f"leave to upload lasts {_KEY_LIFE_LIMIT.days} days at most")
        until = min(max(needed_until, now + _KEY_LIFE), now + _KEY_LIFE_LIMIT)
        key = await service.get_user_delegation_key(now - _CLOCK_SKEW, until)
        self._delegation = (key, until)
        return key
