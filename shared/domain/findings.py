"""What the sweep or a service noticed and somebody should know."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from shared.domain.ids import TenantId


class FindingKind(StrEnum):
    """Values are persisted and public: never rename one."""

    LATE_JOB = "late_job"
    LOST_ORCHESTRATION = "lost_orchestration"
    EXPIRED_BATCH = "expired_batch"
    OUTPUT_ABOUT_TO_LAPSE = "output_about_to_lapse"
    LOST_OUTPUT = "lost_output"
    AMBIGUOUS_BATCH = "ambiguous_batch"
    NOT_ADMITTED = "not_admitted"
    UNKNOWN_STATE = "unknown_state"
    SIDE_DOOR = "side_door"
    UNEXPLAINED_BATCH = "unexplained_batch"
    UNPRICED_MODEL = "unpriced_model"
    NO_FILE_EXPIRY = "no_file_expiry"
    UNBALANCED = "unbalanced"
    STEP_FAILING = "step_failing"
    UNKNOWN_DESTINATION = "unknown_destination"
    BAD_MESSAGE = "bad_message"
    DEAD_LETTER = "dead_letter"
    GIVEN_UP_DOCUMENT = "given_up_document"
    LATE_DOCUMENT = "late_document"
    LOST_DOCUMENT = "lost_document"
    MISSED_EVENT = "missed_event"
    UNSENT_MESSAGE = "unsent_message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Recorded once under `kind` and `subject`, however often it is seen. No content in `detail`."""

    kind: FindingKind
    subject: str
    tenant: TenantId | None
    message: str
    found_at: datetime
    detail: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
