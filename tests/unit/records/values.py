"""Any value that is stored: strategies for every field, rare ones included."""

from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from shared.domain.catalog import Endpoint
from shared.domain.chunks import BatchEnd, Chunk, ChunkState, Lease, Remote, RowCounts, Settlement
from shared.domain.findings import Finding, FindingKind
from shared.domain.jobs import BatchFiles, Job, JobStatus, Plan, Source, SourceKind, Totals
from shared.domain.ledger import LedgerRow
from shared.domain.outcomes import Outcome, Tally
from shared.domain.pulses import Pulse
from shared.domain.usage import Spend, Usage
from shared.ports.events import Event
from shared.stores.door import Reply, Upload

counts = st.integers(0, 10**12)
small = st.integers(0, 1000)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
maybe_names = st.none() | names.filter(bool)
instants = st.datetimes(
    min_value=datetime(2020, 1, 1),  # noqa: DTZ001  # the zone is added by the strategy
    max_value=datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)
maybe_instants = st.none() | instants
tags = st.dictionaries(names, names, max_size=4)
money = st.decimals(min_value=0, max_value=10**6, places=12, allow_nan=False) | st.just(Decimal("1E-9"))

usages = st.builds(
    Usage, uncached_input=counts, cached_input=counts, cache_write=counts, output=counts, reasoning=counts
)
spends = st.builds(Spend, amount=money, standard=money, unpriced=small)
tallies = st.lists(st.tuples(st.tuples(st.sampled_from(Outcome), maybe_names), small), max_size=6).map(
    Tally.of
)
row_counts = st.builds(
    RowCounts, received=small, duplicate=small, alien=small, unreadable=small, missing=small
)

leases = st.builds(Lease, holder=names, epoch=small, until=instants)
remotes = st.builds(
    Remote,
    input_file=maybe_names,
    batch=maybe_names,
    output_file=maybe_names,
    error_file=maybe_names,
    completed=st.none() | small,
    failed=st.none() | small,
    expires_at=maybe_instants,
    output_expires_at=maybe_instants,
    usage=st.none() | usages,
)
settlements = st.builds(
    Settlement, tally=tallies, again=small, rows=row_counts, usage=usages, spend=spends, unattributed=usages
)
chunks: SearchStrategy[Chunk] = st.builds(
    Chunk,
    job_id=names,
    n=small,
    attempt=small,
    deployment=names,
    provider=names,
    planned_by=small,
    requests=counts,
    bytes=counts,
    tokens=st.none() | counts,
    first=counts,
    state=st.sampled_from(ChunkState),
    submission=small,
    deferrals=small,
    due_at=maybe_instants,
    intended_at=maybe_instants,
    lease=st.none() | leases,
    remote=remotes,
    end=st.none() | st.sampled_from(BatchEnd),
    end_code=maybe_names,
    end_message=maybe_names,
    cancel_sent_at=maybe_instants,
    booked_at=maybe_instants,
    last_try=st.booleans(),
    settlement=st.none() | settlements,
)

plans = st.builds(
    Plan,
    submitted=counts,
    unique=counts,
    reused=counts,
    chunks=small,
    rounds=st.lists(small, max_size=4).map(tuple),
    tally=tallies,
)
totals = st.builds(Totals, tally=tallies, rows=row_counts, usage=usages, unattributed=usages, spend=spends)
batches = st.builds(
    BatchFiles,
    input=names,
    output_seconds=small,
    output=maybe_names,
    errors=maybe_names,
    completed=st.none() | small,
    failed=st.none() | small,
)
jobs: SearchStrategy[Job] = st.builds(
    Job,
    id=names,
    tenant=names,
    status=st.sampled_from(JobStatus),
    created_at=instants,
    deadline_at=instants,
    alias=names,
    endpoint=st.sampled_from(Endpoint),
    deployment=names,
    provider=names,
    model=names,
    run_id=names,
    source=st.builds(Source, kind=st.sampled_from(SourceKind), path=names, checked=st.booleans()),
    tags=tags,
    dedupe=st.booleans(),
    fresh=st.booleans(),
    retry_of=maybe_names,
    late=st.booleans(),
    reason=maybe_names,
    held_by=maybe_names,
    cancel_requested_at=maybe_instants,
    batch=st.none() | batches,
    plan=st.none() | plans,
    planned_at=maybe_instants,
    settling_at=maybe_instants,
    totals=st.none() | totals,
    finished_at=maybe_instants,
    results_kept_until=maybe_instants,
    erased_at=maybe_instants,
)

pulses: SearchStrategy[Pulse] = st.builds(
    Pulse,
    tenant=names,
    job_id=names,
    run=small,
    due_at=instants,
    deadline_at=instants,
    late=st.booleans(),
)
ledger_rows: SearchStrategy[LedgerRow] = st.builds(
    LedgerRow,
    tenant=names,
    booked_at=instants,
    source=names,
    attempt=small,
    lane=names,
    tags=tags,
    run_id=names,
    alias=names,
    deployment=names,
    provider=names,
    model=names,
    requests=counts,
    outcomes=st.dictionaries(names, counts, max_size=4),
    usage=usages,
    unattributed=usages,
    spend=spends,
    price_source=names,
    price_as_of=maybe_names,
)
findings: SearchStrategy[Finding] = st.builds(
    Finding,
    kind=st.sampled_from(FindingKind),
    subject=names,
    tenant=maybe_names,
    message=names,
    found_at=instants,
    detail=tags,
)
events: SearchStrategy[Event] = st.builds(
    Event,
    id=names,
    type=names,
    subject=names,
    time=instants,
    data=st.dictionaries(names, st.none() | st.booleans() | small | names | st.lists(names), max_size=4),
)
replies: SearchStrategy[Reply] = st.builds(
    Reply, body_digest=names, job_id=names, begun_at=instants, held_until=instants, answer=st.none() | names
)
uploads: SearchStrategy[Upload] = st.builds(
    Upload, id=st.just("upload_1"), created_at=instants, expires_at=instants, used_by=maybe_names
)
