"""The drop zone's paths: `documents/{tenant}/{pipeline}/{any/path}`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shared.wire.paths import DOCUMENTS

# How tools that play folders on flat storage mark one.
_FOLDER_METADATA: Final = "hdi_isfolder"
_FOLDER_SUFFIX: Final = "_$folder$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A blob of the drop zone. `path` is below the container; a part that is not there is empty."""

    path: str
    tenant: str
    pipeline: str
    rest: str


def read_drop(blob_path: str) -> Drop | None:
    """None: the blob lies in another container."""
    container, _, path = blob_path.partition("/")
    if container != DOCUMENTS or not path:
        return None
    tenant, _, below = path.partition("/")
    pipeline, slash, rest = below.partition("/")
    if not below:
        # A file beside the tenants' folders belongs to nobody.
        return Drop(path=path, tenant="", pipeline="", rest=tenant)
    if not slash:
        return Drop(path=path, tenant=tenant, pipeline="", rest=pipeline)
    return Drop(path=path, tenant=tenant, pipeline=pipeline, rest=rest)


def is_folder_marker(path: str, size: int, metadata: Mapping[str, str]) -> bool:
    """Whether the empty blob stands for a folder and not for a file."""
    if size:
        return False
    marked = {name.lower(): value.lower() for name, value in metadata.items()}
    return marked.get(_FOLDER_METADATA) == "true" or path.endswith(("/", _FOLDER_SUFFIX))
