"""Documents, claims and answers as they are stored and sent: what was written is read, this year's and last."""

from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters.limits import check_entity
from shared.domain.answers import Answer
from shared.domain.documents import (
    Document,
    DocumentLease,
    DocumentStatus,
    PathVersions,
    document_id,
    message_id,
)
from shared.domain.errors import GiveUp
from shared.domain.ids import AliasName, DeploymentName, DocumentId, JobId, TenantId
from shared.domain.outcomes import Outcome
from shared.domain.usage import Spend, Usage
from shared.stores.documents import document_row
from shared.wire.answers import read_answer, write_answer
from shared.wire.claims import BadClaim, Claim, claim_of, message_of, read_claim
from shared.wire.records import document_record
from tests.unit.records import values

few = settings(max_examples=25, deadline=None)
AT = datetime(2026, 11, 30, 8, tzinfo=UTC)

texts = st.none() | values.names
documents: st.SearchStrategy[Document] = st.builds(
    Document,
    id=values.names,
    tenant=values.names,
    pipeline=values.names,
    path=values.names,
    etag=values.names,
    bytes=values.counts,
    content_type=texts,
    modified_at=values.instants,
    claimed_at=values.instants,
    status=st.sampled_from(DocumentStatus),
    version=values.small,
    known=st.booleans(),
    alias=texts,
    tags=values.tags,
    run_id=texts,
    generation=values.small,
    retries=values.small,
    attempts=values.small,
    asked_at=values.maybe_instants,
    faults=values.small,
    troubled_since=values.maybe_instants,
    crashes=values.small,
    late=st.booleans(),
    due_at=values.maybe_instants,
    lease=st.none() | st.builds(DocumentLease, holder=values.names, until=values.instants),
    job_id=texts,
    outcome=st.none() | st.sampled_from(Outcome),
    reason=texts,
    message=texts,
    media_type=texts,
    pages=st.none() | values.small,
    pages_without_text=st.lists(values.small, max_size=4).map(tuple),
    usage=st.none() | values.usages,
    spend=st.none() | values.spends,
    provider=texts,
    model=texts,
    finished_at=values.maybe_instants,
    erased_at=values.maybe_instants,
)
answers: st.SearchStrategy[Answer] = st.builds(
    Answer,
    outcome=st.sampled_from(Outcome),
    finished_at=values.instants,
    reason=texts,
    message=texts,
    output=st.none() | st.sampled_from([b'"text"', b'{"a":[1,2]}', b"[0.5,-1]"]),
    parts=st.none() | st.just([{"text": "a", "vector": [0.5]}]),
    usage=st.none() | values.usages,
    spend=st.none() | values.spends,
    provider=texts,
    model=texts,
    deployment=st.none() | st.sampled_from(["mini", "spare"]).map(DeploymentName),
    calls=values.small,
    attempt=values.small,
    tries=values.small,
    media_type=texts,
    pages=st.none() | values.small,
    pages_without_text=st.lists(values.small, max_size=4).map(tuple),
)


@few
@given(documents)
def test_a_document(document: Document) -> None:
    fields = document_record.to_fields(document)
    check_entity("p", "r", fields)
    assert document_record.from_fields(fields) == document


@few
@given(
    st.builds(
        PathVersions,
        path=values.names,
        newest=values.small,
        newest_id=values.names,
        newest_etag=values.names,
        standing=values.small,
    )
)
def test_the_versions_of_a_path(versions: PathVersions) -> None:
    fields = document_record.versions_to_fields(versions)
    check_entity("p", "r", fields)
    assert document_record.versions_from_fields(fields) == versions


@few
@given(answers)
def test_an_answer(answer: Answer) -> None:
    assert read_answer(write_answer(answer)) == answer


@few
@given(documents)
def test_a_claim(document: Document) -> None:
    claim = claim_of(document)
    message = message_of(claim)
    assert read_claim(message.body) == claim
    assert message.id == document.message_id
    assert (claim.id, claim.owner) == (document.id, document.tenant)


# Literals of the first version: never change them, add the next version's beside them.

DOCUMENT_1 = (
    '{"id":"doc_0199aabbccdd0123456789abcdef","tenant":"support","pipeline":"notes","path":"support/notes/a.pdf",'
    '"etag":"0x8D","bytes":7,"content_type":"application/pdf","modified_at":"2026-11-30T08:00:00+00:00",'
    '"claimed_at":"2026-11-30T08:00:00+00:00","status":"processing","version":2,"known":true,"alias":"summarize",'
    '"tags":{"project":"red","run_id":"r1"},"run_id":"r1","generation":3,"retries":1,"attempts":2,'
    '"asked_at":"2026-11-30T08:00:00+00:00","faults":1,"troubled_since":null,"crashes":1,"late":true,'
    '"due_at":null,"lease":{"holder":"h","until":"2026-11-30T08:00:00+00:00"},"job_id":"job_1","outcome":null,'
    '"reason":null,"message":null,"media_type":null,"pages":3,"pages_without_text":[2],"usage":[1,2,3,4,1],'
    '"spend":{"amount":"0.1","standard":"0.2","unpriced":0},"provider":null,"model":null,"finished_at":null,'
    '"erased_at":null}'
)
CLAIM_1 = (
    b'{"schema":"claim/1","document":"doc_1","tenant":"support","pipeline":"notes","path":"support/notes/a.pdf",'
    b'"etag":"0x8D","alias":"summarize","generation":2,"correlation_id":"doc_1"}'
)


def test_a_document_of_the_first_version() -> None:
    assert document_record.from_fields({"schema": "document/1", "doc0": DOCUMENT_1}) == Document(
        id=DocumentId("doc_0199aabbccdd0123456789abcdef"),
        tenant=TenantId("support"),
        pipeline="notes",
        path="support/notes/a.pdf",
        etag="0x8D",
        bytes=7,
        content_type="application/pdf",
        modified_at=AT,
        claimed_at=AT,
        status=DocumentStatus.PROCESSING,
        version=2,
        alias=AliasName("summarize"),
        tags=MappingProxyType({"project": "red", "run_id": "r1"}),
        run_id="r1",
        generation=3,
        retries=1,
        attempts=2,
        asked_at=AT,
        faults=1,
        crashes=1,
        late=True,
        lease=DocumentLease(holder="h", until=AT),
        job_id=JobId("job_1"),
        pages=3,
        pages_without_text=(2,),
        usage=Usage(uncached_input=1, cached_input=2, cache_write=3, output=4, reasoning=1),
        spend=Spend(amount=Decimal("0.1"), standard=Decimal("0.2")),
    )


def test_a_claim_of_the_first_version() -> None:
    assert read_claim(CLAIM_1) == Claim(
        document="doc_1",
        tenant="support",
        pipeline="notes",
        path="support/notes/a.pdf",
        etag="0x8D",
        alias="summarize",
        generation=2,
        correlation_id="doc_1",
    )


def test_records_and_messages_of_a_version_to_come_are_left_alone() -> None:
    with pytest.raises(GiveUp, match="unknown schema"):
        document_record.from_fields({"schema": "document/9", "doc0": DOCUMENT_1})
    with pytest.raises(GiveUp, match="unknown schema"):
        document_record.versions_from_fields({"schema": "path/9", "doc0": "{}"})
    with pytest.raises(BadClaim, match="another version"):
        read_claim(CLAIM_1.replace(b"claim/1", b"claim/9"))
    with pytest.raises(ValueError, match="unknown schema"):
        read_answer(
            write_answer(Answer(outcome=Outcome.FAILED, finished_at=AT)).replace(b"answer/1", b"answer/9")
        )


# Names


def test_the_id_of_a_version_follows_from_the_blob_and_sorts_by_its_time() -> None:
    first = document_id("support/notes/a", "0x1", AT)
    assert first == document_id("support/notes/a", "0x1", AT)
    assert (
        len({first, document_id("support/notes/a", "0x2", AT), document_id("support/notes/b", "0x1", AT)})
        == 3
    )
    later = document_id("support/notes/a", "0x1", AT.replace(second=1))
    assert (document_row(later) or "") < (document_row(first) or "")


def test_the_id_of_a_message_tells_versions_and_generations_apart() -> None:
    ids = {message_id(path, etag, n) for path in ("a", "a0") for etag in ("0x1", "0x2") for n in (1, 2)}
    assert len(ids) == 8
    assert all(len(name) == 64 for name in ids)


def test_a_claim_that_is_too_large_is_never_sent() -> None:
    claim = read_claim(CLAIM_1)
    with pytest.raises(ValueError, match="more than 4096"):
        message_of(msgspec.structs.replace(claim, path="x" * 5000))
