"""Which sample goes into which file."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random

from examples.generator.documents import documents
from examples.generator.invoices import invoices
from examples.generator.messages import messages
from examples.generator.tickets import tickets

type Maker = Callable[[Random], Iterator[dict[str, object]]]

FILES: Mapping[str, Maker] = {
    "tickets/inputs.jsonl": tickets,
    "triage/inputs.jsonl": messages,
    "invoices/requests.jsonl": invoices,
}
DOCUMENTS = "documents"


def write_samples(folder: Path) -> None:
    """Every file anew. Each has its own seed, so that a change to one leaves the others as they are."""
    for name, make in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8", newline="\n") as out:
            for line in make(Random(name)):
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
    for name, content in documents():
        file = folder / DOCUMENTS / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
