"""The rules in force, in order, and how often each has been used."""

from collections import Counter
from dataclasses import dataclass
from threading import Lock

import msgspec

from local.simulator.database import Database
from local.simulator.failures import Json
from local.simulator.rules import Kind, Match, Rule, Then


@dataclass(slots=True, kw_only=True)
class Entry:
    id: int
    rule: Rule
    used: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """One use of a rule. It counts for good once `RuleBook.keep` is part of a committed transaction."""

    rule_id: int
    then: Then


class RuleBook:
    """Uses are counted in memory at once and kept by whoever commits what the rule brought about."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = Lock()
        decode = msgspec.json.Decoder(Rule).decode
        rows = database.execute("SELECT seq, rule, used FROM rules ORDER BY seq").fetchall()
        self._entries = [Entry(id=row[0], rule=decode(row[1]), used=row[2]) for row in rows]

    def add(self, rules: list[Rule]) -> None:
        added = []
        with self._database.transaction():
            for rule in rules:
                sql = "INSERT INTO rules (rule) VALUES (?)"
                row_id = self._database.execute(sql, [msgspec.json.encode(rule)]).lastrowid
                added.append(Entry(id=row_id or 0, rule=rule))
        self._entries = [*self._entries, *added]

    def clear(self) -> int:
        self._database.execute("DELETE FROM rules")
        removed, self._entries = len(self._entries), []
        return removed

    def listing(self) -> list[Json]:
        return [
            {**msgspec.to_builtins(entry.rule), "id": entry.id, "kind": entry.rule.kind, "used": entry.used}
            for entry in self._entries
        ]

    def of_kind(self, kind: Kind) -> list[Entry]:
        """The rules to consider, first match first, without those that are spent."""
        return [entry for entry in self._entries if entry.rule.kind is kind and _is_left(entry)]

    def take(self, entry: Entry) -> Taken | None:
        """Use it once more; None when somebody else has just used it up."""
        with self._lock:
            if not _is_left(entry):
                return None
            entry.used += 1
        return Taken(rule_id=entry.id, then=entry.rule.then)

    def keep(self, uses: Counter[int]) -> None:
        """Make uses durable, inside the caller's transaction."""
        for rule_id, number in uses.items():
            self._database.execute("UPDATE rules SET used = used + ? WHERE seq = ?", [number, rule_id])


def _is_left(entry: Entry) -> bool:
    times = entry.rule.times
    return times is None or entry.used < times


def fits_provider(match: Match, provider: str, model: str | None) -> bool:
    if match.provider_name not in {None, provider}:
        return False
    return match.model is None or match.model == model


def fits_request(
    match: Match, *, provider: str, operation: str, model: str, custom_id: str | None, text: str
) -> bool:
    """Whether a request rule speaks of this request. `operation`: `create` for lines of a batch."""
    if not fits_provider(match, provider, model):
        return False
    if match.operation is not None and match.operation != operation:
        return False
    if match.custom_id is not None and match.custom_id != custom_id:
        return False
    return match.contains is None or match.contains in text
