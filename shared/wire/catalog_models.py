"""The catalogue's entries as they are written, each checked by itself.

Texts of refusals name what is wrong and never repeat a value: it may be a secret in the wrong place.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from shared.domain.catalog import Lane
from shared.settings import is_safe_url
from shared.wire.catalog_cron import normal_cron

MAX_PROMPT: Final = 64 * 1024
# "timeout_hours" of Mistral's batch jobs: a week at most.
MAX_TIMEOUT_HOURS: Final = 168
_PLACEHOLDER: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,127})\}")
_KEY_DIGEST: Final = re.compile(r"sha256:[0-9a-fA-F]{64}")
# Upper case only: keys of providers hold lower-case letters, names of settings need none.
_SETTING_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


def _matching(pattern: str, reason: str) -> Callable[[str], str]:
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise ValueError(reason)
        return text

    return check


def _digest(text: str) -> str:
    if not _KEY_DIGEST.fullmatch(text):
        raise ValueError("must be 'sha256:' and 64 hex digits: the digest of the key, never the key itself")
    return text.removeprefix("sha256:").lower()


def _setting_name(text: str) -> str:
    if not _SETTING_NAME.fullmatch(text):
        raise ValueError(
            "must be the name of an app setting (A-Z, 0-9, _), never the secret itself; "
            "if this was a secret, replace it: it has been written to a file"
        )
    return text


def schema_path(text: str) -> str:
    """`text` as a path below the catalogue's folder. Raise `ValueError` if it could mean anything else."""
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or "\\" in text or ":" in text or path.suffix != ".json":
        raise ValueError("must be the path of a .json file beside or below the catalogue, without '..'")
    return str(path)


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=256)]
KeyDigest = Annotated[str, AfterValidator(_digest)]
Principal = Annotated[
    str,
    AfterValidator(_matching(r"[A-Za-z0-9._-]{1,128}", "must be an application or object id")),
    AfterValidator(str.lower),
]
TagName = Annotated[
    str, AfterValidator(_matching(r"[A-Za-z0-9._-]{1,64}", "must be a tag's name: letters, digits, . _ -"))
]
SettingName = Annotated[str, AfterValidator(_setting_name)]
Version = Annotated[
    str, AfterValidator(_matching(r"[A-Za-z0-9.-]{1,40}", "must be an API version such as 2024-10-21"))
]
Language = Annotated[
    str, AfterValidator(_matching(_LANGUAGE.pattern, "must be a language tag such as de or pt-BR"))
]
SchemaPath = Annotated[Text, AfterValidator(schema_path)]
Cron = Annotated[str, AfterValidator(normal_cron)]
Price = Annotated[Decimal, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=10**15)]


class Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BudgetEntry(Entry):
    monthly: Annotated[Decimal, Field(gt=0, le=10**12, allow_inf_nan=False)]
    on_exceed: Literal["reject", "alert"] = "reject"


class TenantEntry(Entry):
    keys: tuple[KeyDigest, ...] = ()
    principals: tuple[Principal, ...] = ()
    admin: bool = False
    weight: Annotated[int, Field(ge=1, le=1000)] = 1
    required_tags: tuple[TagName, ...] = Field(default=(), max_length=16)
    budget: BudgetEntry | None = None

    @model_validator(mode="after")
    def _somebody_may_call(self) -> Self:
        if not (self.keys or self.principals):
            raise ValueError("needs keys or principals: nobody could call as this tenant")
        return self


class LimitsEntry(Entry):
    enqueued_tokens: Count | None = None
    requests: Count | None = None
    bytes: Count | None = None
    tokens_per_minute: Count | None = None
    share: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 0.5


Provider = Literal["azure_openai", "openai", "anthropic", "mistral", "vertex", "openai_compatible"]
_FIELDS_OF: Final[Mapping[str, frozenset[str]]] = {
    "azure_openai": frozenset({"endpoint", "deployment", "api_version", "key_setting", "storage"}),
    "anthropic": frozenset({"base_url", "api_version", "key_setting"}),
    "mistral": frozenset({"base_url", "key_setting", "timeout_hours"}),
    "vertex": frozenset({"project", "location", "bucket", "base_url", "storage_url", "key_setting"}),
}
_FIELDS_OF_OTHERS: Final = frozenset({"base_url", "key_setting"})
_REQUIRED_OF: Final[Mapping[str, str]] = {"azure_openai": "endpoint", "openai_compatible": "base_url"}


class DeploymentEntry(Entry):
    """Endpoint fields are resolved with the environment given as validation context."""

    provider: Provider
    model: Text
    deployment: Text | None = None
    endpoint: str | None = None
    base_url: str | None = None
    storage_url: str | None = None
    api_version: Version | None = None
    key_setting: SettingName | None = None
    project: Text | None = None
    location: Text | None = None
    bucket: Text | None = None
    storage: Literal["own"] | None = None
    timeout_hours: Annotated[int, Field(ge=1, le=MAX_TIMEOUT_HOURS)] | None = None
    limits: LimitsEntry = LimitsEntry()

    @field_validator("endpoint", "base_url", "storage_url")
    @classmethod
    def _resolve(cls, value: str | None, info: ValidationInfo) -> str | None:
        return None if value is None else resolve_endpoint(value, info.context or {})

    @model_validator(mode="after")
    def _fits_the_provider(self) -> Self:
        allowed = _FIELDS_OF.get(self.provider, _FIELDS_OF_OTHERS) | {"provider", "model", "limits"}
        if foreign := sorted(name for name in self.model_fields_set if name not in allowed):
            raise ValueError(f"{self.provider} takes no {', '.join(foreign)}")
        required = _REQUIRED_OF.get(self.provider)
        if required and getattr(self, required) is None:
            raise ValueError(f"{self.provider} needs {required}")
        if self.endpoint is not None and self.endpoint.endswith("/openai/v1"):
            raise ValueError("endpoint is the resource's root or a gateway's base: leave /openai/v1 off")
        return self


class AliasEntry(Entry):
    minutes: tuple[Text, ...] = ()
    hours: tuple[Text, ...] = ()
    max_output_tokens: Count | None = None
    choose: Literal["first", "cheapest"] = "first"

    @field_validator("minutes", "hours")
    @classmethod
    def _once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return _distinct(names)

    @field_validator("choose")
    @classmethod
    def _built(cls, choose: str) -> str:
        if choose != "first":
            raise ValueError("'cheapest' is not available yet; only 'first' is")
        return choose

    @model_validator(mode="after")
    def _some_lane(self) -> Self:
        if not (self.minutes or self.hours):
            raise ValueError("needs a lane: list deployments under minutes or hours")
        return self


_NEED_A_SCHEMA: Final[Mapping[str, str]] = {
    "extract": "what to extract",
    "classify": "the labels, as an enum",
}


class PipelineEntry(Entry):
    task: Literal["summarize", "extract", "classify", "translate", "embed", "prompt"]
    alias: Text
    lane: Lane | None = None
    prompt: Annotated[str, StringConstraints(min_length=1, max_length=MAX_PROMPT)] | None = None
    # `schema` is a method of every pydantic model.
    schema_path: SchemaPath | None = Field(default=None, alias="schema")
    languages: tuple[Language, ...] = Field(default=(), max_length=64)
    split_tokens: Annotated[int, Field(ge=16, le=10**6)] | None = None
    gather: Cron | None = None
    deadline_hours: Annotated[float, Field(gt=0, le=8784, allow_inf_nan=False)] | None = None

    @field_validator("languages")
    @classmethod
    def _once(cls, languages: tuple[str, ...]) -> tuple[str, ...]:
        return _distinct(languages)

    @model_validator(mode="after")
    def _fits_the_task(self) -> Self:
        if self.task == "translate" and not self.languages:
            raise ValueError("task translate needs languages")
        if self.languages and self.task != "translate":
            raise ValueError("languages belong to task translate only")
        if self.prompt is not None and not self.prompt.strip():
            raise ValueError("prompt must not be blank; leave it out to use the task's own")
        if self.task == "prompt" and self.prompt is None:
            raise ValueError("task prompt needs a prompt")
        if self.task in _NEED_A_SCHEMA and self.schema_path is None:
            raise ValueError(f"task {self.task} needs a schema: {_NEED_A_SCHEMA[self.task]}")
        if self.split_tokens is not None and self.task != "embed":
            raise ValueError("split_tokens belongs to task embed only")
        return self


class PriceEntry(Entry):
    """USD per million tokens. What a rate that is left out means is for the price list to say."""

    input: Price | None = None
    cached_input: Price | None = None
    cache_write: Price | None = None
    output: Price | None = None


def resolve_endpoint(text: str, env: Mapping[str, str]) -> str:
    """The address with every `${NAME}` put in and no slash at its end. Raise `ValueError` if it is none."""
    names = _PLACEHOLDER.findall(text)
    if missing := [name for name in names if not env.get(name, "").strip()]:
        raise ValueError(f"names the app setting {' and '.join(missing)}, which is not set")
    address = _PLACEHOLDER.sub(lambda found: env[found[1]].strip(), text).strip()
    after = f" after {', '.join('${' + name + '}' for name in names)} was put in" if names else ""
    if "$" in address:
        raise ValueError(f"holds a '$' that is no ${{NAME}}{after}")
    if not is_safe_url(address):
        raise ValueError(
            f"must be an https address without user, query or fragment (http on loopback only){after}"
        )
    return address.rstrip("/")


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("names one twice")
    return names
