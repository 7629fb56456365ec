"""What is there of each thing, with the page that says so, and what a piece of work takes of it."""

from typing import Final

# Microsoft's page "Azure OpenAI quotas and limits" (batch), read 2026-11-30: input files of a resource that expire,
# as ours do where the provider lets them; 500 of those that do not.
FILES: Final = 10_000
# Microsoft's page "Scalability and performance targets for Table storage", read 2026-11-30: entities of 1 KB.
OPERATIONS_OF_A_PARTITION: Final = 2_000
# Microsoft's page "Scalability targets for standard storage accounts", read 2026-11-30; some regions have twice that.
OPERATIONS_OF_AN_ACCOUNT: Final = 20_000
# Microsoft's page "Throttling operations on Azure Service Bus", read 2026-11-30: credits a second of a namespace of
# the standard tier, one for each operation on a message.
BUS_OPERATIONS: Final = 1_000
# Microsoft's page "Azure Functions limits", read 2026-11-30: whoever waits for an answer over HTTP is cut off then.
HTTP_SECONDS: Final = 230

# What the app does, counted by tests/unit/cli/test_what_work_takes.py.
TABLE_OPERATIONS_OF_A_DOCUMENT: Final = 15
TENANT_OPERATIONS_OF_A_DOCUMENT: Final = 6
BLOB_OPERATIONS_OF_A_DOCUMENT: Final = 7
TABLE_OPERATIONS_OF_A_JOB: Final = 75
BLOB_OPERATIONS_OF_A_JOB: Final = 22
TABLE_OPERATIONS_OF_A_LOOK: Final = 8
PULSE_OPERATIONS_OF_A_LOOK: Final = 5
# Sent, received and completed: the storage event, and the claim check.
BUS_OPERATIONS_OF_A_DOCUMENT: Final = 6
# Shards of the pulses, and orchestrators: `partitionCount` in host.json, and its activities at once.
PULSE_SHARDS: Final = 8
PARTITIONS: Final = 4
ACTIVITIES_AT_ONCE: Final = 4
# Our estimate: two calls of the provider, eight of the tables.
SECONDS_OF_A_LOOK: Final = 0.5
SECONDS_BETWEEN_LOOKS: Final = 300
# Our estimate: a page of a thousand rows in 50 ms, one after the other.
ROWS_A_SECOND: Final = 20_000
DAYS_OF_USAGE: Final = 30
