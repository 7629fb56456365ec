"""JSON Schema, as tenants write it."""

from typing import Protocol

from shared.domain.rows import CheckAnswer


class Schemas(Protocol):
    def checker(self, schema: object) -> CheckAnswer:
        """A check of answers against `schema`.

        Raise `Rejected` (code `invalid_schema`) if it is no usable JSON Schema; a `$ref` to anything outside
        the schema is refused, never fetched.
        """
        ...
