"""JSON Schema through `jsonschema-rs`. Nothing is ever fetched, and no flaw quotes the answer."""

import re
from typing import Final

import jsonschema_rs
import msgspec
from jsonschema_rs import FancyRegexOptions, ValidationError

from shared.adapters.schemas._shape import Shape, measure
from shared.domain.errors import Rejected
from shared.domain.rows import CheckAnswer, Flaw

# A look-ahead is allowed, a regular expression that never ends is not.
_PATTERNS: Final = FancyRegexOptions(backtrack_limit=100_000, size_limit=1_000_000)
_FENCED: Final = re.compile(r"```(?:json)?\s(.*)```", re.DOTALL | re.IGNORECASE)
# Words for what the library would explain with names out of the answer.
_IN_OUR_WORDS: Final = {
    "additionalProperties": "has properties that the schema does not allow",
    "unevaluatedProperties": "has properties that the schema does not allow",
    "unevaluatedItems": "has items that the schema does not allow",
    "additionalItems": "has items that the schema does not allow",
    "propertyNames": "has a property whose name the schema does not allow",
    "falseSchema": "is not allowed here",
}


class JsonschemaRsSchemas:
    """Draft 2020-12, or the draft that `$schema` names."""

    def checker(self, schema: object) -> CheckAnswer:
        shape = measure(schema)
        try:
            validator = jsonschema_rs.validator_for(
                shape.schema, mask="the value", offline=True, pattern_options=_PATTERNS
            )
        except ValidationError as fault:
            raise _invalid(f"{_path(fault.instance_path)}: {fault.message}") from None
        except (ValueError, RecursionError) as fault:
            raise _invalid(str(fault)) from None
        return lambda text: _check(validator, shape, text)


def _check(validator: jsonschema_rs.Validator, shape: Shape, text: str) -> bytes | Flaw:
    content = _unfenced(text)
    try:
        # Decoding proves it; formatting keeps every number as it was written.
        answer = msgspec.json.decode(content)
        validator.validate(answer)
        return msgspec.json.format(content.encode(), indent=-1)
    except ValidationError as fault:
        return Flaw(reason="schema", message=_told(fault, shape))
    except (msgspec.MsgspecError, UnicodeEncodeError) as fault:
        return Flaw(reason="invalid_json", message=f"expected JSON and nothing else: {_place(fault)}")
    except (RecursionError, ValueError):
        return Flaw(reason="invalid_json", message="the JSON is nested too deeply")


def _unfenced(text: str) -> str:
    """Without the one Markdown fence that models like to put around JSON."""
    content = text.strip()
    fenced = _FENCED.fullmatch(content)
    return fenced.group(1).strip() if fenced else content


def _place(fault: Exception) -> str:
    if isinstance(fault, msgspec.DecodeError):
        return str(fault)
    return "the text is not valid Unicode"


def _told(fault: ValidationError, shape: Shape) -> str:
    """Where, and what was expected there."""
    ours = _IN_OUR_WORDS.get(fault.kind.name)
    expected = f"the value {ours}" if ours else fault.message
    return f"{_path(fault.instance_path, shown=shape.names)}: {expected}"


def _path(steps: list[str | int], *, shown: frozenset[str] | None = None) -> str:
    """As JSONPath. A name that is not to be shown is content, and becomes `*`."""
    return "$" + "".join(
        f"[{step}]" if isinstance(step, int) else f".{step if shown is None or step in shown else '*'}"
        for step in steps
    )


def _invalid(why: str) -> Rejected:
    return Rejected(f"the output schema cannot be used: {why[:300]}", code="invalid_schema")
