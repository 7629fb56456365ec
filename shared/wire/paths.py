"""Where everything large lies. One function a place; nobody else spells a path."""

from typing import Final

from shared.domain.ids import ChunkKey, DocumentId, FileId, JobId, TenantId

DOCUMENTS: Final = "documents"
FILES: Final = "files"
INPUTS: Final = "inputs"
JOBS: Final = "jobs"
RESULTS: Final = "results"
UPLOADS: Final = "uploads"
# Of a blob, in UTF-16 units.
MAX_NAME: Final = 1024


def dropped(path: str) -> str:
    """A document by its path below the drop zone."""
    return f"{DOCUMENTS}/{path}"


def result(path: str) -> str | None:
    """The result of the document dropped there. None: its name would be longer than a blob's may be."""
    return _below_results(f"{path}.json")


def pieces(path: str) -> str | None:
    """The pieces of the document dropped there, for a search index. None as for its result."""
    return _below_results(f"{path}.jsonl")


def _below_results(name: str) -> str | None:
    return f"{RESULTS}/{name}" if len(name.encode("utf-16-le")) // 2 <= MAX_NAME else None


def answer(tenant: TenantId, document: DocumentId, retries: int) -> str:
    """What the model made of a document, until everything that follows from it is done."""
    return f"{JOBS}/{tenant}/{document}/answer-{retries}.json"


def file(tenant: TenantId, file_id: FileId) -> str:
    """A file of the OpenAI-compatible API."""
    return f"{FILES}/{tenant}/{file_id}"


def upload(tenant: TenantId, upload_id: str) -> str:
    return f"{UPLOADS}/{tenant}/{upload_id}.jsonl"


def referred_input(tenant: TenantId, name: str) -> str:
    """A blob that a job may refer to: always below the tenant's own folder."""
    return f"{INPUTS}/{tenant}/{name}"


def job_folder(tenant: TenantId, job: JobId) -> str:
    return f"{JOBS}/{tenant}/{job}/"


def own_batch(key: ChunkKey) -> str:
    """The folder of a batch that is kept in our storage."""
    return f"{_own_batches()}{key}/"


def key_of_own_batch(path: str) -> ChunkKey | None:
    """The batch in whose folder this lies; None if it lies elsewhere."""
    key, folder, _ = path.removeprefix(_own_batches()).partition("/")
    return ChunkKey(key) if path.startswith(_own_batches()) and folder and key else None


def _own_batches() -> str:
    """No tenant can be called so: names begin with a letter or digit."""
    return f"{JOBS}/_batches/"


class JobPaths:
    """The blobs of one job."""

    def __init__(self, tenant: TenantId, job: JobId) -> None:
        self.folder = job_folder(tenant, job)
        # As accepted: the lines as they were sent, and everything that applies to all of them.
        self.source = f"{self.folder}source.jsonl"
        # The documents that inputs refer to, each with the version it had at acceptance.
        self.references = f"{self.folder}references.jsonl"
        self.spec = f"{self.folder}spec.json"
        self.errors = f"{self.folder}errors.json"
        self.results = f"{self.folder}results.jsonl"
        self.report = f"{self.folder}report.json"

    def index(self, run: int) -> str:
        """One line an input, in order: its custom id and its key."""
        return f"{self.folder}plan/{run}.index.jsonl"

    def repeats(self, run: int) -> str:
        """One line a request that occurs more than once: its first position, and the others."""
        return f"{self.folder}plan/{run}.repeats.jsonl"

    def decided(self, run: int) -> str:
        """One line an input that got its outcome without being sent, ascending by position."""
        return f"{self.folder}plan/{run}.decided.jsonl"

    def facts(self, run: int) -> str:
        """One line a document of the drop zone, in order: what was found out when its text was read."""
        return f"{self.folder}plan/{run}.facts.jsonl"

    def round(self, number: int, run: int) -> str:
        """The chunks of a round, as its planner cut them."""
        return f"{self.folder}plan/{run}.round-{number}.json"

    def chunk(self, n: int, run: int) -> str:
        """The provider's input, line for line as it is sent."""
        return f"{self.folder}chunks/{n}.{run}.jsonl"

    def members(self, n: int, run: int) -> str:
        """One line a request of the chunk, in the chunk's order: key, first position, what it cost before."""
        return f"{self.folder}chunks/{n}.{run}.members.jsonl"

    def raw_output(self, n: int) -> str:
        return f"{self.folder}raw/{n}.output.jsonl"

    def raw_errors(self, n: int) -> str:
        return f"{self.folder}raw/{n}.error.jsonl"

    def settled(self, n: int) -> str:
        """One line an input answered by the chunk, ascending by position."""
        return f"{self.folder}settled/{n}.jsonl"

    def again(self, n: int) -> str:
        """The members that the chunk hands on to the next round."""
        return f"{self.folder}settled/{n}.again.jsonl"
