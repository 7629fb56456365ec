"""Values as a JSON Schema describes them, and values that fit all but one part of it."""

from collections.abc import Mapping
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

type Schema = Mapping[str, Any]

MANY: Final = 4
PRINTABLE: Final = st.characters(exclude_categories=["Cs", "Cc"])
NAMES: Final = st.text(max_size=8)
ODD: Final[SearchStrategy[Any]] = st.sampled_from(
    [None, True, 0, -1, 1.5, 10**30, -(10**400), 1e308, "", " ", "\0", "\u202e", "x" * 70_000, [], {}, [[]], {"": {}}]
)  # fmt: skip
ANY_JSON: Final[SearchStrategy[Any]] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda inner: st.lists(inner, max_size=MANY) | st.dictionaries(NAMES, inner, max_size=MANY),
    max_leaves=6,
)


class Values:
    """`components`: what `$ref` leads to. `hints`: sensible values of properties, by name."""

    def __init__(self, components: Schema, hints: Mapping[str, SearchStrategy[Any]]) -> None:
        self._components = components
        self._hints = hints

    def of(self, schema: Schema) -> SearchStrategy[Any]:
        if "$ref" in schema:
            return st.deferred(lambda: self.of(self._components[schema["$ref"].rsplit("/", 1)[1]]))
        if "anyOf" in schema:
            return st.one_of([self.of(each) for each in schema["anyOf"]])
        if "const" in schema:
            return st.just(schema["const"])
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        return self._typed(schema)

    def almost(self, schema: Schema) -> SearchStrategy[Any]:
        """With one part missing, or put in, or in the place of another."""
        return _damaged(self.of(schema))

    def _typed(self, schema: Schema) -> SearchStrategy[Any]:
        match schema.get("type"):
            case "object":
                return self._object(schema)
            case "array":
                return st.lists(self.of(schema["items"]), min_size=schema.get("minItems", 0), max_size=MANY)
            case "string":
                least, most = schema.get("minLength", 0), schema.get("maxLength", 1000)
                # The only pattern there is keeps control characters out.
                letters = PRINTABLE if "pattern" in schema else st.characters(exclude_categories=["Cs"])
                return st.text(letters, min_size=least, max_size=min(most, least + 20))
            case "integer":
                return st.integers(schema.get("minimum"), schema.get("maximum"))
            case "number":
                low = schema.get("exclusiveMinimum", schema.get("minimum"))
                return st.floats(
                    low,
                    schema.get("maximum"),
                    exclude_min="exclusiveMinimum" in schema,
                    allow_nan=False,
                    allow_infinity=False,
                )
            case "boolean":
                return st.booleans()
            case "null":
                return st.none()
            case _:
                return ANY_JSON

    def _object(self, schema: Schema) -> SearchStrategy[Any]:
        described: Mapping[str, Schema] = schema.get("properties", {})
        known = {n: self._hints[n] if n in self._hints else self.of(each) for n, each in described.items()}
        needed = {name: known[name] for name in schema.get("required", ())}
        others = {name: inner for name, inner in known.items() if name not in needed}
        fixed = st.fixed_dictionaries(needed, optional=others)
        more = schema.get("additionalProperties", False)
        if more is False or described:
            return fixed
        return st.dictionaries(self._typed({**schema.get("propertyNames", {}), "type": "string"}), self.of(more),
                               max_size=MANY)  # fmt: skip


@st.composite
def _damaged(draw: DrawFn, sound: SearchStrategy[Any]) -> Any:
    return _with_damage(draw, draw(sound))


def _with_damage(draw: DrawFn, value: Any) -> Any:
    deeper = bool(value) and isinstance(value, dict | list) and draw(st.booleans())
    if isinstance(value, dict) and value and deeper:
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: _with_damage(draw, value[name])}
    if isinstance(value, list) and value and deeper:
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], _with_damage(draw, value[place]), *value[place + 1 :]]
    if isinstance(value, dict) and draw(st.booleans()):
        gone = draw(st.sampled_from([*sorted(value), ""]))
        kept = {name: inner for name, inner in value.items() if name != gone}
        return kept | draw(st.dictionaries(NAMES, ODD, max_size=1))
    return draw(ODD | ANY_JSON)
