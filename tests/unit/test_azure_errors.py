"""SDK errors, in our words."""

from collections.abc import AsyncIterator

import pytest
from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ServiceRequestError,
    ServiceResponseError,
)

from shared.adapters.azure.errors import azure_errors, to_error, translate_each
from shared.domain.errors import Conflict, GiveUp, NotAdmitted, NotFound, PosternError, TryAgainLater


def answered(status: int, code: str | None = None) -> HttpResponseError:
    error = HttpResponseError("prose with https://account/blob?sig=secret")
    error.status_code = status
    error.error_code = code  # type: ignore[attr-defined]  # the storage SDKs add it
    return error


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, "InvalidInput", GiveUp),
        (400, "InvalidBlockList", TryAgainLater),
        (401, None, NotAdmitted),
        (403, "AuthorizationPermissionMismatch", NotAdmitted),
        (404, "BlobNotFound", NotFound),
        (408, None, TryAgainLater),
        (409, "BlobAlreadyExists", Conflict),
        (409, "ContainerBeingDeleted", TryAgainLater),
        (409, "TableBeingDeleted", TryAgainLater),
        (412, "ConditionNotMet", Conflict),
        (413, None, GiveUp),
        (429, None, TryAgainLater),
        (500, "OperationTimedOut", TryAgainLater),
        (503, "ServerBusy", TryAgainLater),
        (200, None, TryAgainLater),
    ],
)
def test_status_and_code_decide(status: int, code: str | None, expected: type[PosternError]) -> None:
    error = to_error(answered(status, code), "blob 'a/b'")
    assert type(error) is expected
    assert str(error).startswith("blob 'a/b': ")
    assert str(status) in str(error)
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ServiceRequestError("no route"), TryAgainLater),
        (ServiceResponseError("cut"), TryAgainLater),
        (ClientAuthenticationError("no managed identity here"), NotAdmitted),
        (AzureError("anything else"), TryAgainLater),
    ],
)
def test_without_a_status_the_class_decides(raised: AzureError, expected: type[PosternError]) -> None:
    assert type(to_error(raised, "table 'jobs'")) is expected


def test_the_cause_is_kept_unless_it_quotes_credentials() -> None:
    for status, kept in ((500, True), (403, False)):
        with pytest.raises(PosternError) as caught, azure_errors("blob"):
            raise answered(status)
        assert (caught.value.__cause__ is not None) is kept


def test_other_errors_pass_unchanged() -> None:
    with pytest.raises(KeyError), azure_errors("blob"):
        raise KeyError("x")


async def test_the_errors_of_an_iterator_are_translated() -> None:
    async def found() -> AsyncIterator[bytes]:
        yield b"a"
        raise answered(412)

    pieces = translate_each(found(), "blob")
    assert await anext(pieces) == b"a"
    with pytest.raises(Conflict):
        await anext(pieces)
