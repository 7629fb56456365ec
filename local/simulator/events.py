"""The CloudEvents that were published to the simulated topic, in order of arrival."""

import msgspec

from local.simulator.database import Database
from local.simulator.failures import CallRefused, Json

REQUIRED = ("id", "source", "type", "specversion")


class Events:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, events: list[Json]) -> None:
        """Part of the caller's transaction."""
        for event in events:
            self._database.execute(
                "INSERT INTO events (type, event) VALUES (?, ?)", [event["type"], msgspec.json.encode(event)]
            )

    def listing(self, *, kind: str | None) -> list[Json]:
        rows = self._database.execute(
            "SELECT event FROM events WHERE (? IS NULL OR type = ?) ORDER BY seq", [kind, kind]
        ).fetchall()
        return [msgspec.json.decode(row[0]) for row in rows]

    def clear(self) -> None:
        self._database.execute("DELETE FROM events")


def read_events(body: bytes, content_type: str) -> list[Json]:
    """One event or a batch of them; `CallRefused` as the real topic refuses what is not a CloudEvent."""
    if "cloudevents" not in content_type:
        raise CallRefused(415, "UnsupportedMediaType", "This topic takes CloudEvents 1.0 only.")
    try:
        read = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CallRefused(400, "BadRequest", f"The body is not JSON: {error}") from error
    found = read if isinstance(read, list) else [read]
    events: list[Json] = [event for event in found if isinstance(event, dict)]
    if len(events) < len(found):
        raise CallRefused(400, "BadRequest", "An event is a JSON object.")
    for event in events:
        missing = [name for name in REQUIRED if not event.get(name)]
        if missing:
            raise CallRefused(400, "BadRequest", f"The event lacks {', '.join(missing)}.")
    return events
