"""The sample jobs: where they are, whose they are, and how they are sent in."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """`folder` has job.json, the body without its input, and the input in `inputs.jsonl` or `requests.jsonl`.

    `alias` is asked in place of the one in job.json, under a run of its own. It leads to `provider`.
    """

    name: str
    folder: str
    tenant: str
    title: str
    alias: str | None = None
    provider: str | None = None

    @property
    def label(self) -> str:
        return self.provider or self.name

    @property
    def path(self) -> Path:
        return EXAMPLES / self.folder

    @property
    def upload(self) -> Path | None:
        """The file to upload, where the input is not sent inside the body."""
        file = self.path / "requests.jsonl"
        return file if file.exists() else None

    def body(self) -> dict[str, Any]:
        """All that the job says besides its input."""
        body = dict(json.loads((self.path / "job.json").read_bytes()))
        if self.alias is None:
            return body
        tags = {**body["tags"], "run_id": f"{body['tags']['run_id']}-{self.provider}"}
        return {**body, "alias": self.alias, "tags": tags}

    def inputs(self) -> list[Any]:
        """The inputs, in order."""
        return _lines(self.upload or self.path / "inputs.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """Trouble for one input. `becomes` is the outcome that is right for it, with its reason if it has one."""

    custom_id: str
    planted: str
    becomes: str
    rule: Mapping[str, object]


TICKETS = Sample(name="tickets", folder="tickets", tenant="support", title="tickets, summarized")
TRIAGE = Sample(name="triage", folder="triage", tenant="support", title="messages, sorted")
INVOICES = Sample(name="invoices", folder="invoices", tenant="retail", title="mails, data taken out")
AGAIN = Sample(name="re-run", folder="invoices", tenant="retail", title="the same mails again")

SAMPLES = (TICKETS, TRIAGE, INVOICES, AGAIN)

# An alias of every provider that there is: the same job goes to each of them.
ALIASES = {
    "azure_openai": "summarize",
    "openai": "summarize-openai",
    "anthropic": "summarize-claude",
    "mistral": "summarize-mistral",
    "vertex": "summarize-gemini",
    "openai_compatible": "summarize-llama",
}
EVERYWHERE = tuple(
    Sample(
        name=f"everywhere/{provider}",
        folder="everywhere",
        tenant="support",
        title="the same notes",
        alias=alias,
        provider=provider,
    )
    for provider, alias in ALIASES.items()
)


def planted_trouble(sample: Sample = TRIAGE) -> list[Planted]:
    """What the sample's trouble.json has in store, as rules of the simulator that fit one input each."""
    texts = {line["custom_id"]: line["vars"]["text"] for line in sample.inputs()}
    return [
        Planted(
            custom_id=entry["custom_id"],
            planted=entry["planted"],
            becomes=entry["becomes"],
            rule={
                "match": {"contains": texts[entry["custom_id"]]},
                "then": entry["then"],
                "times": entry.get("times"),
            },
        )
        for entry in json.loads((sample.path / "trouble.json").read_bytes())
    ]


def _lines(file: Path) -> list[Any]:
    with file.open("rb") as lines:
        return [json.loads(line) for line in lines]
