"""Blobs outside: where Azure OpenAI reads inputs and writes results that are not to be files of its own.

The service has an identity with a role there; here a connection string stands for it.
"""

import secrets
from pathlib import Path
from urllib.parse import unquote

from azure.core.exceptions import AzureError, ResourceNotFoundError
from azure.storage.blob import BlobClient, BlobServiceClient

from local.simulator.failures import CallRefused


class Storage:
    """Everything here blocks: call it in a thread. Without a connection no blob can be read."""

    def __init__(self, connection: str | None) -> None:
        self._service = BlobServiceClient.from_connection_string(connection) if connection else None

    def fetch(self, url: str, target: Path) -> tuple[int, int]:
        """The blob's bytes in `target`; returns how many there are, and how many lines."""
        part = target.with_name(f"{secrets.token_hex(12)}.part")
        size = lines = 0
        last = b""
        try:
            with part.open("wb") as file:
                for piece in self._blob(url).download_blob().chunks():
                    file.write(piece)
                    size, lines, last = size + len(piece), lines + piece.count(b"\n"), piece
        except ResourceNotFoundError as error:
            raise CallRefused(400, "invalid_request", f"There is no blob {url}.") from error
        except AzureError as error:
            raise CallRefused(400, "input_no_permissions", f"The blob {url} cannot be read.") from error
        part.rename(target)
        return size, lines + (not last.endswith(b"\n") if last else 0)

    def put(self, url: str, source: Path) -> None:
        """Written whole, over whatever is there."""
        with source.open("rb") as file:
            self._blob(url).upload_blob(file, overwrite=True)

    def _blob(self, url: str) -> BlobClient:
        base = f"{self._service.url.rstrip('/')}/" if self._service else None
        container, _, name = url.removeprefix(base or url).partition("/")
        if self._service is None or not name:
            raise CallRefused(400, "input_no_permissions", f"The blob {url} cannot be read.")
        return self._service.get_blob_client(container, unquote(name))
