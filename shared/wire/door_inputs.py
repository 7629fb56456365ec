"""Lines that carry the variables of a template."""

from collections.abc import Mapping
from typing import Final

from shared.domain.catalog import Endpoint
from shared.wire.door_expected import Expected
from shared.wire.door_faults import BadField, kind_of, refuse_unknown
from shared.wire.problems import invalid, printable, short
from shared.wire.templates import BadPath, Template, Value, blob_ref, check_template, render

_KNOWN: Final = frozenset({"custom_id", "vars"})
_HINT: Final = "an input has custom_id and vars"


class InputReader:
    """Turns entries into variables: exactly those that the template names."""

    def __init__(self, expected: Expected, template: Template) -> None:
        self._endpoint = expected.endpoint or Endpoint.CHAT
        self._names = template.names
        check_template(template, self._endpoint)
        # Whatever the job as a whole gets wrong is found now, not when the first input is rendered.
        body = expected.shaper(self._endpoint).shape(
            render(template, dict.fromkeys(self._names, "-"), self._endpoint)
        )
        if expected.objection and (objection := expected.objection(self._endpoint, body)):
            raise invalid(f"params.{objection.field}", objection.message)

    @property
    def endpoint(self) -> Endpoint:
        return self._endpoint

    def check_entry(self, entry: dict[str, object]) -> None:
        """What must be right before the id is looked at."""
        refuse_unknown(entry, _KNOWN, _HINT)

    def read(self, entry: dict[str, object], line: int) -> Mapping[str, Value]:
        given = entry.get("vars", {})
        if not isinstance(given, dict):
            raise BadField("vars", f"must be an object, not {kind_of(given)}")
        for name in sorted(self._names):
            if name not in given:
                raise BadField(f"vars.{name}", "is missing; the template uses it")
        for name in given:
            if name not in self._names:
                raise BadField(
                    f"vars.{printable(name)}", f"is unknown; the template uses {_listed(self._names)}"
                )
        return {name: _value(f"vars.{name}", value) for name, value in given.items()}


def _value(field: str, value: object) -> Value:
    if isinstance(value, str | int | float):
        return value
    if not isinstance(value, dict) or set(value) != {"blob"}:
        raise BadField(
            field, f'must be a string, a number, a boolean or {{"blob": "path"}}, not {_not_a_value(value)}'
        )
    path = value["blob"]
    if not isinstance(path, str):
        raise BadField(f"{field}.blob", f"must be a path, not {kind_of(path)}")
    try:
        return blob_ref(path)
    except BadPath as bad:
        raise BadField(f"{field}.blob", str(bad)) from None


def _not_a_value(value: object) -> str:
    return "another object" if isinstance(value, dict) else kind_of(value)


def _listed(names: frozenset[str]) -> str:
    return ", ".join(short(name) for name in sorted(names)[:10]) or "no variable"
