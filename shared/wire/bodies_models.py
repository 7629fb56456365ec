"""The shapes of JSON bodies, as they are validated and as the OpenAPI document shows them."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from shared.wire.door_bodies import MAX_OUTPUT_TOKENS
from shared.wire.templates import has_control_characters

MAX_TAGS: Final = 16
MAX_TAG_KEY: Final = 64
MAX_TAG_VALUE: Final = 256
MAX_DEADLINE_HOURS: Final = 720
MAX_PROMPT: Final = 64 * 1024


def _printable(text: str) -> str:
    if has_control_characters(text):
        raise ValueError("must not contain control characters")
    return text


def _run_has_a_name(tags: dict[str, str]) -> dict[str, str]:
    if tags.get("run_id") == "":
        raise ValueError("run_id must not be empty; leave it out and the job is its own run")
    return tags


# Said to readers of the document; checked elsewhere.
NOT_EMPTY: Final = Field(json_schema_extra={"minItems": 1})
WITHOUT_CONTROLS: Final = Field(json_schema_extra={"pattern": r"^[^\u0000-\u001f\u007f-\u009f]*$"})
Plain = AfterValidator(_printable)
Name = Annotated[str, Field(min_length=1, max_length=200), WITHOUT_CONTROLS, Plain]
TagKey = Annotated[str, Field(min_length=1, max_length=MAX_TAG_KEY), WITHOUT_CONTROLS, Plain]
TagValue = Annotated[str, Field(max_length=MAX_TAG_VALUE), WITHOUT_CONTROLS, Plain]
Tags = Annotated[dict[TagKey, TagValue], Field(max_length=MAX_TAGS), AfterValidator(_run_has_a_name)]
Tokens = Annotated[int, Field(ge=1, le=MAX_OUTPUT_TOKENS)]

# What each request says for itself, or what a batch cannot do.
_NOT_PARAMS: Final = frozenset({"model", "messages", "input", "prompt", "stream", "n"})


class Strict(BaseModel):
    """No conversions, and nothing that is not known."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Params(BaseModel):
    """Defaults of every request. Names that are not listed are passed on as they are."""

    model_config = ConfigDict(strict=True, extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    max_output_tokens: Tokens | None = None
    max_completion_tokens: Tokens | None = None
    max_tokens: Tokens | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None

    @model_validator(mode="after")
    def _refuse_what_belongs_elsewhere(self) -> Self:
        found = sorted(_NOT_PARAMS.intersection(self.__pydantic_extra__ or {}))
        if found:
            raise ValueError(
                f"cannot set {', '.join(found)} for all requests; params hold what may be a default"
            )
        return self


class TemplateBody(Strict):
    """`{name}` is replaced by the input's variable; `{{` and `}}` are braces."""

    system: str | None = None
    user: Annotated[str, Field(min_length=1)]


class JobSettings(Strict):
    """What a job says besides its input."""

    alias: Name
    tags: Tags = {}
    template: TemplateBody | None = None
    upload_id: Name | None = None
    output_schema: dict[str, JsonValue] | None = None
    params: Params = Params()
    endpoint: Literal["chat", "responses", "embeddings"] | None = None
    dedupe: bool = True
    deadline_hours: Annotated[float, Field(gt=0, le=MAX_DEADLINE_HOURS)] | None = None


class RequestLine(Strict):
    """One request, bare or in OpenAI's batch format."""

    custom_id: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    method: Literal["POST"] | None = None
    url: str | None = None
    body: dict[str, JsonValue]


class BlobValue(Strict):
    """A document below `inputs/{own tenant}/`."""

    blob: str


class InputLine(Strict):
    """One set of variables for the template."""

    custom_id: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    vars: dict[str, str | float | bool | BlobValue] = {}


class JobSubmission(JobSettings):
    """`POST /v1/jobs`: exactly one of `requests`, `inputs` with `template`, `upload_id`."""

    requests: Annotated[list[RequestLine], NOT_EMPTY] | None = None
    inputs: Annotated[list[InputLine], NOT_EMPTY] | None = None


class RetrySubmission(Strict):
    """Which final outcomes to ask for again besides what is not final, and with what changed."""

    include: list[Literal["refused", "truncated", "invalid", "failed"]] = []
    params: Params = Params()


class UploadSubmission(Strict):
    """The name the client gives its file; for people, it names nothing here."""

    filename: Annotated[str, Field(min_length=1, max_length=255), WITHOUT_CONTROLS, Plain]


class RescoreSubmission(Strict):
    """The documents to go over again, and what to do differently."""

    prefix: Annotated[str, Field(max_length=1024), WITHOUT_CONTROLS, Plain]
    prompt: Annotated[str, Field(min_length=1, max_length=MAX_PROMPT)] | None = None
    alias: Name | None = None
