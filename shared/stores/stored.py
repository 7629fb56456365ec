"""A value together with the version it was read at."""

from dataclasses import dataclass

from shared.ports.tables import Entity


@dataclass(frozen=True, slots=True)
class Stored[T]:
    value: T
    entity: Entity
