"""Identifiers. Distinct types, so that a chunk key can never be passed for a request key."""

from typing import NewType

TenantId = NewType("TenantId", str)
JobId = NewType("JobId", str)
DocumentId = NewType("DocumentId", str)
RequestKey = NewType("RequestKey", str)
ChunkKey = NewType("ChunkKey", str)
BatchId = NewType("BatchId", str)
FileId = NewType("FileId", str)
DeploymentName = NewType("DeploymentName", str)
AliasName = NewType("AliasName", str)
