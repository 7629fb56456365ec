"""The app settings' names, and what they mean."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """One app setting. `default` None: it must be set. Empty: it may stay away, and means nothing then."""

    name: str
    default: str | None
    meaning: str
    secret: bool = False


_NAMES: Final = (
    Name(
        name="POSTERN_CATALOG",
        default=None,
        meaning="The catalogue: a path, or the URL of a blob (`https://ACCOUNT/CONTAINER/NAME`) to be read "
        "with the app's identity. Read again when it changes.",
    ),
    Name(
        name="POSTERN_STORAGE",
        default="",
        meaning="Connection string of the storage account that holds all state. In Azure leave it out and "
        "give the two URIs below.",
        secret=True,
    ),
    Name(
        name="POSTERN_STORAGE__blobServiceUri",
        default="",
        meaning="Blob endpoint of that account, reached with the app's identity.",
    ),
    Name(
        name="POSTERN_STORAGE__tableServiceUri",
        default="",
        meaning="Table endpoint of that account, reached with the app's identity.",
    ),
    Name(
        name="POSTERN_STORAGE__clientId",
        default="",
        meaning="Client id of the user-assigned identity to use. Without it: the system-assigned one.",
    ),
    Name(
        name="POSTERN_STORAGE__queueServiceUri",
        default="",
        meaning="Queue endpoint of that account. Only the Functions host reads it: its blob trigger keeps a "
        "queue there.",
    ),
    Name(
        name="POSTERN_STORAGE__credential",
        default="",
        meaning="`managedidentity` where the two URIs are used. Only the Functions host reads it.",
    ),
    Name(
        name="ServiceBusConnection",
        default="",
        meaning="Connection string of the Service Bus namespace with the queues `documents` and "
        "`storage-events`. In Azure leave it out and give the namespace below.",
        secret=True,
    ),
    Name(
        name="ServiceBusConnection__fullyQualifiedNamespace",
        default="",
        meaning="Host name of that namespace, reached with the app's identity.",
    ),
    Name(
        name="ServiceBusConnection__clientId",
        default="",
        meaning="Client id of the user-assigned identity to use there. Without it: the system-assigned one.",
    ),
    Name(
        name="ServiceBusConnection__credential",
        default="",
        meaning="`managedidentity` where the namespace is given. Only the Functions host reads it.",
    ),
    Name(
        name="POSTERN_POLL_SECONDS",
        default="300",
        meaning="Seconds between two looks at a provider batch.",
    ),
    Name(
        name="POSTERN_JOB_DEADLINE_HOURS",
        default="30",
        meaning="Hours after which an unfinished job is marked late, unless it brings its own deadline. "
        "Where a provider may take longer than a day, as much longer.",
    ),
    Name(
        name="POSTERN_SWEEP_SCHEDULE",
        default="0 */5 * * * *",
        meaning="When the sweep runs: six cron fields, UTC. The Functions host reads it too and knows no "
        "default, so it must be set where the app runs.",
    ),
    Name(
        name="POSTERN_STUCK_SECONDS",
        default="900",
        meaning="Seconds without progress, counted from when the next step was due, after which the sweep "
        "starts a job's orchestration anew.",
    ),
    Name(
        name="POSTERN_MAX_ATTEMPTS",
        default="3",
        meaning="How often a request is sent before a transient fault becomes its outcome.",
    ),
    Name(
        name="POSTERN_CAPACITY_BACKOFF_SECONDS",
        default="60",
        meaning="First wait, in seconds, after a provider had no room for a batch; it doubles.",
    ),
    Name(
        name="POSTERN_CAPACITY_BACKOFF_MAX_SECONDS",
        default="3600",
        meaning="Longest such wait, in seconds.",
    ),
    Name(
        name="POSTERN_CREATE_TIMEOUT_SECONDS",
        default="60",
        meaning="Seconds to wait for the answer when a batch is created. The creator's lease outlasts it.",
    ),
    Name(
        name="POSTERN_LAPSE_DAYS",
        default="3",
        meaning="Days before a provider drops an output at which the sweep copies it to our storage.",
    ),
    Name(
        name="POSTERN_RESULT_DAYS",
        default="90",
        meaning="Days that results are kept after a job has finished.",
    ),
    Name(
        name="POSTERN_DOCUMENT_LEASE_SECONDS",
        default="60",
        meaning="Seconds that a worker holds a document; renewed while it lives. When a worker dies, another "
        "may take over after these.",
    ),
    Name(
        name="POSTERN_DOCUMENT_BACKOFF_SECONDS",
        default="5",
        meaning="First wait, in seconds, after a fault that is not the document's own; it doubles.",
    ),
    Name(
        name="POSTERN_DOCUMENT_BACKOFF_MAX_SECONDS",
        default="300",
        meaning="Longest such wait, in seconds.",
    ),
    Name(
        name="POSTERN_DOCUMENT_PATIENCE_SECONDS",
        default="21600",
        meaning="Seconds for which such faults may go on before they become the document's outcome.",
    ),
    Name(
        name="POSTERN_DOCUMENT_LATE_SECONDS",
        default="3600",
        meaning="Seconds after which an unfinished document of the minutes lane is marked late.",
    ),
    Name(
        name="POSTERN_MAX_INSTANCES",
        default="1",
        meaning="The most worker processes that the platform may run at once. They share each deployment's "
        "tokens per minute, so each takes this part of them.",
    ),
    Name(
        name="POSTERN_GATHER_SCHEDULE",
        default="0 * * * * *",
        meaning="How often to look which pipelines are due to gather: six cron fields, UTC. The Functions "
        "host reads it too and knows no default, so it must be set where the app runs.",
    ),
    Name(
        name="POSTERN_EVENTS_ENDPOINT",
        default="",
        meaning="Event Grid topic that events are published to. Without it nothing is announced.",
    ),
    Name(
        name="POSTERN_EVENTS_KEY",
        default="",
        meaning="Access key of the topic, for local work. In Azure the app's identity is used.",
        secret=True,
    ),
    Name(
        name="POSTERN_ENTRA_ISSUER",
        default="",
        meaning="Issuer of the Microsoft Entra tokens to accept, such as "
        "`https://login.microsoftonline.com/TENANT/v2.0`. Without it only keys are accepted.",
    ),
    Name(
        name="POSTERN_ENTRA_AUDIENCE",
        default="",
        meaning="Audience that these tokens must name.",
    ),
    Name(
        name="POSTERN_ENTRA_JWKS_URL",
        default="",
        meaning="Where the issuer's signing keys are. Without it the issuer's discovery document tells.",
    ),
    Name(
        name="POSTERN_OPENAI_SCOPE",
        default="https://cognitiveservices.azure.com/.default",
        meaning="Scope of the token with which the app's identity calls Azure OpenAI.",
    ),
)
NAMES: Final[Mapping[str, Name]] = MappingProxyType({known.name: known for known in _NAMES})
