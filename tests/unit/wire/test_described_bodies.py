"""What the OpenAPI document calls a body is taken as one."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from shared.domain.errors import PosternError
from shared.wire import bodies
from shared.wire.batch_calls import read_batch_call
from shared.wire.openapi.document import openapi_document
from shared.wire.problems import Unusable
from tests.support.from_schema import Values

READERS: dict[str, Callable[[bytes], object]] = {
    "JobSubmission": bodies.read_job,
    "RetrySubmission": bodies.read_retry,
    "UploadSubmission": bodies.read_upload,
    "RescoreSubmission": bodies.read_rescore,
    "BatchCreate": read_batch_call,
}
SCHEMAS = openapi_document()["components"]["schemas"]


def refusal(read: Callable[[bytes], object], body: bytes) -> str | None:
    """Why it is refused, unless it is for parts that do not go together, which no schema says."""
    try:
        read(body)
    except Unusable:
        return None
    except PosternError as error:
        return str(error)
    return None


@pytest.mark.parametrize(("name", "read"), READERS.items(), ids=READERS.keys())
def test_what_is_described_is_read(name: str, read: Callable[[bytes], object]) -> None:
    @settings(max_examples=100, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(Values(SCHEMAS, {}).of(SCHEMAS[name]))
    def is_read(value: object) -> None:
        said = refusal(read, msgspec.json.encode(value))

        # As two names of one parameter do.
        assert said is None or "mean the same" in said

    is_read()
