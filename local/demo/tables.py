"""What came of the jobs, as tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import msgspec
from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from local.demo.hours_lane import Finished
from local.demo.samples import Planted, Sample
from local.demo.views import ReportView

COLOURS = {"succeeded": "green", "refused": "yellow", "truncated": "yellow", "invalid": "yellow"}
HOURS = "Hours lane: batch jobs"
# With fewer columns, what a table has to say in its texts is broken within words.
COLUMNS_OF_A_TABLE = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class _ByWidth:
    """`narrow` where there are fewer columns than a table needs."""

    wide: RenderableType
    narrow: RenderableType

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.wide if options.max_width >= COLUMNS_OF_A_TABLE else self.narrow


def hours_table(finished: Sequence[Finished]) -> RenderableType:
    """The hours lane: each job, and their sum; a list where a table would be too narrow to be read."""
    return _ByWidth(wide=_hours_rows(finished), narrow=_hours_list(finished))


def _hours_list(finished: Sequence[Finished]) -> Group:
    parts: list[RenderableType] = [Text(HOURS, style="bold")]
    for each in finished:
        report, cost = each.report, each.report.cost
        parts += [Text(), _title(each.sample)]
        parts.append(_lines(outcomes(report), [report], cost.amount, cost.saved, _submitted(report)))
    reports = [each.report for each in finished]
    amount, saved = sum_of([r.cost.amount for r in reports]), sum_of([r.cost.saved for r in reports])
    submitted = Text(f"{sum(r.submitted or 0 for r in reports):,}")
    together = _lines(Text(_together(reports)), reports, amount, saved, submitted)
    return Group(*parts, Text(), Text("together", style="bold"), together)


def _lines(
    came: Text,
    reports: Sequence[ReportView],
    amount: Decimal | None,
    saved: Decimal | None,
    submitted: Text,
) -> Padding:
    lines = Table.grid(padding=(0, 2))
    lines.add_row("Submitted", _one_line(submitted))
    lines.add_row("Outcomes", came)
    lines.add_row("Tokens", _one_line(Text(_tokens(reports))))
    lines.add_row("Cost", money(amount))
    lines.add_row("Saved", _one_line(_saved(amount, saved)))
    return Padding(lines, (0, 0, 0, 2))


def _one_line(text: Text) -> Text:
    return Text(", ").join(text.split("\n"))


def _hours_rows(finished: Sequence[Finished]) -> Table:
    reports = [each.report for each in finished]
    amounts, saved = [r.cost.amount for r in reports], [r.cost.saved for r in reports]
    table = table_of(HOURS, show_footer=True)
    table.add_column("Job", footer="together", ratio=4)
    table.add_column("Submitted", footer=f"{sum(r.submitted or 0 for r in reports):,}")
    table.add_column("Outcomes", footer=_together(reports), ratio=5, min_width=len("content_filter"))
    table.add_column("Tokens", justify="right", footer=_tokens(reports))
    table.add_column("Cost", justify="right", footer=money(sum_of(amounts)))
    table.add_column("Saved", justify="right", footer=_saved(sum_of(amounts), sum_of(saved)))
    for each in finished:
        report = each.report
        cells = (_title(each.sample), _submitted(report), outcomes(report), _tokens([report]))
        cost = report.cost
        table.add_row(*cells, money(cost.amount), _saved(cost.amount, cost.saved))
    return table


def providers_table(everywhere: Sequence[Finished]) -> Table:
    """The same job once for each provider: what it costs differs, and nothing else."""
    table = table_of("The same job on every provider")
    table.add_column("Provider", no_wrap=True)
    table.add_column("Outcomes", ratio=1)
    table.add_column("Cost", justify="right")
    table.add_column("Saved", justify="right")
    for each in everywhere:
        cost = each.report.cost
        cells = (Text(each.sample.label, style="bold"), in_one_line(each.report))
        table.add_row(*cells, money(cost.amount), money(cost.saved))
    return table


def trouble_table(finished: Finished, planted: Sequence[Planted]) -> Table:
    """What was done to some requests, and what became of them."""
    table = table_of("Trouble that the demo planted among the messages")
    table.add_column("Message", no_wrap=True)
    table.add_column("Planted", ratio=3)
    table.add_column("Outcome", ratio=2)
    table.add_column("Attempts", justify="right")
    results = {result.custom_id: result for result in finished.results}
    for trouble in planted:
        result = results[trouble.custom_id]
        mark = Text(result.became, style=COLOURS.get(result.outcome, "red"))
        table.add_row(trouble.custom_id, trouble.planted, mark, str(result.attempts))
    return table


def answers_table(finished: Sequence[Finished]) -> Table:
    """An answer of each kind, so that there is something to read."""
    table = table_of("Some of the answers")
    table.add_column("Input", no_wrap=True)
    table.add_column("Answer", ratio=1)
    for each in finished:
        answered = [result for result in each.results if result.outcome == "succeeded"]
        for result in answered[:2]:
            table.add_row(result.custom_id, Text(words(result.output)))
    return table


def outcomes(report: ReportView) -> Text:
    """A line for each outcome and reason, those that did not succeed included."""
    lines = [counted(report.outcomes["succeeded"], "succeeded", None)]
    lines += [counted(r.count, r.outcome, r.reason) for r in report.reasons]
    lines += [counted(report.outcomes[name], name, None) for name in ("expired", "cancelled")]
    return Text("\n").join(line for line in lines if line)


def in_one_line(report: ReportView) -> Text:
    """Outcomes without their reasons, for which providers have words of their own."""
    counts = [counted(number, name, None) for name, number in report.outcomes.items()]
    return Text(", ").join(count for count in counts if count)


def money(amount: Decimal | None) -> str:
    """To a hundredth of a cent; what has no known price is said to be unknown."""
    return "unknown" if amount is None else f"${amount:.4f}" if amount else "$0"


def _saved(amount: Decimal | None, saved: Decimal | None) -> Text:
    """With its share of what the same tokens would have cost synchronously."""
    share = f"\n{saved / (amount + saved):.0%}" if amount and saved else ""
    return Text.assemble(money(saved), (share, "dim"))


def _title(sample: Sample) -> Text:
    about = f"{sample.title}\n{sample.tenant} / {sample.body()['alias']}"
    return Text.assemble((sample.name, "bold"), "\n", (about, "dim"))


def _submitted(report: ReportView) -> Text:
    """How many, and how many of them did not have to be sent."""
    submitted, reused = report.submitted or 0, report.reused or 0
    repeated = submitted - (report.unique or 0)
    note = f"\n{reused:,} reused" if reused else f"\n{repeated:,} repeated" if repeated else ""
    return Text.assemble(f"{submitted:,}", (note, "dim"))


def _tokens(reports: Sequence[ReportView]) -> str:
    read = sum(report.usage.input_tokens for report in reports)
    written = sum(report.usage.output_tokens for report in reports)
    return tokens(read, written)


def tokens(read: int, written: int) -> str:
    return f"{read:,} in\n{written:,} out"


def counted(number: int, outcome: str, reason: str | None) -> Text | None:
    if not number:
        return None
    name = f"{outcome}: {reason}" if reason else outcome
    return Text(f"{number:,} {name}", style=COLOURS.get(outcome, "red"))


def _together(reports: Sequence[ReportView]) -> str:
    return f"{sum(sum(report.outcomes.values()) for report in reports):,} with an outcome"


def sum_of(amounts: Sequence[Decimal | None]) -> Decimal | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if known else None


def words(output: object) -> str:
    """An answer in one line, for somebody to read."""
    if isinstance(output, dict):
        return ", ".join(f"{name}: {_plain(value)}" for name, value in output.items())
    return _plain(output)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def table_of(title: str, *, show_footer: bool = False) -> Table:
    return Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=box.ROUNDED,
        border_style="dim",
        header_style="bold",
        footer_style="bold",
        show_footer=show_footer,
        show_lines=show_footer,
        expand=True,
    )
