"""What was measured: a table for people, a document for comparing runs."""

from dataclasses import asdict, dataclass, field
from typing import Final

from rich.table import Table

# Units of the columns: elapsed, computed by this process, memory at most, what others had to wait.
_COLUMNS: Final = ("s", "s of work", "MB", "ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measurement. `at_most`: the aim it should stay under, in the same unit."""

    group: str
    name: str
    value: float
    unit: str
    at_most: float | None = None

    @property
    def is_above_its_aim(self) -> bool:
        return self.at_most is not None and self.value > self.at_most


@dataclass(slots=True)
class Figures:
    """In the order they were measured."""

    all: list[Figure] = field(default_factory=list)

    def add(self, group: str, name: str, value: float, unit: str, *, at_most: float | None = None) -> None:
        self.all.append(Figure(group=group, name=name, value=value, unit=unit, at_most=at_most))

    def extend(self, others: list[Figure]) -> None:
        self.all += others

    def document(self) -> list[dict[str, object]]:
        return [{**asdict(figure), "value": round(figure.value, 4)} for figure in self.all]

    def table(self) -> Table:
        """One row a name. Seconds, memory and waits have their own columns; the rest says what it is."""
        table = Table("what", *_COLUMNS, "other", title="Benchmarks", title_justify="left")
        for column in table.columns[1:]:
            column.justify = "right"
        rows: dict[tuple[str, str], dict[str, str]] = {}
        for figure in self.all:
            place = figure.unit if figure.unit in _COLUMNS else "other"
            rows.setdefault((figure.group, figure.name), {})[place] = _measured(figure, place)
        last = ""
        for (group, name), cells in rows.items():
            if group != last:
                last = group
                table.add_section()
                table.add_row(f"[bold]{group}")
            table.add_row(f"  {name}", *(cells.get(column, "") for column in (*_COLUMNS, "other")))
        return table


def _measured(figure: Figure, place: str) -> str:
    text = shown(figure.value) + (f" {figure.unit}" if place == "other" else "")
    if figure.at_most is None:
        return text
    colour = "red" if figure.is_above_its_aim else "green"
    return f"[{colour}]{text} [dim]< {shown(figure.at_most)}"


def shown(value: float) -> str:
    """Three digits are all that such measurements are worth."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
