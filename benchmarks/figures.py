"""What was measured: a table for people, a document for comparing runs."""

from dataclasses import asdict, dataclass, field

from rich.table import Table


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
        table = Table("what", "measured", "unit", "aim", title="Benchmarks", title_justify="left")
        table.columns[1].justify = table.columns[3].justify = "right"
        group = ""
        for figure in self.all:
            if figure.group != group:
                group = figure.group
                table.add_section()
                table.add_row(f"[bold]{group}")
            table.add_row(figure.name, _measured(figure), figure.unit, _aim(figure))
        return table


def _measured(figure: Figure) -> str:
    text = shown(figure.value)
    return f"[red]{text}" if figure.is_above_its_aim else text


def _aim(figure: Figure) -> str:
    return "" if figure.at_most is None else f"< {shown(figure.at_most)}"


def shown(value: float) -> str:
    """Three digits are all that such measurements are worth."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
