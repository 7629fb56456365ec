"""What came of the dropped documents, as tables."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from rich.table import Table
from rich.text import Text

from local.demo.minutes_lane import Answered
from local.demo.tables import COLOURS, counted, money, sum_of, table_of, tokens, words

_PIPELINES = {
    "support/notes": "summarized",
    "support/inbox": "sorted",
    "support/voices": "gathered for a job",
    "support/knowledge": "pieces and vectors",
    "retail/invoices": "data taken out",
    "retail/leaflets": "translated, de and fr",
}
_MOST_CHARACTERS = 160


def minutes_table(answered: Sequence[Answered]) -> Table:
    """Dropped documents: a row for each pipeline of a tenant, and their sum."""
    table = table_of("Dropped documents", show_footer=True)
    table.add_column("Pipeline", footer="together", ratio=4)
    table.add_column("Documents", footer=f"{len(answered):,}")
    table.add_column("Outcomes", footer=f"{len(answered):,} with an outcome", ratio=5)
    table.add_column("Tokens", justify="right", footer=_tokens(answered))
    table.add_column("Cost", justify="right", footer=_cost(answered))
    for pipeline, group in groupby(answered, key=lambda each: each.document.pipeline):
        some = list(group)
        table.add_row(_title(pipeline), f"{len(some):,}", _outcomes(some), _tokens(some), _cost(some))
    return table


def broken_table(answered: Sequence[Answered]) -> Table:
    """Documents that are not as they should be, and what became of them."""
    table = table_of("Trouble among the documents")
    table.add_column("Document", ratio=4)
    table.add_column("Planted", ratio=4)
    table.add_column("Outcome", no_wrap=True)
    table.add_column("Attempts", justify="right")
    for each in answered:
        if each.document.planted is not None:
            result = each.result
            mark = Text(result.became, style=COLOURS.get(result.outcome, "red"))
            table.add_row(Text(each.document.name), each.document.planted, mark, str(result.attempts))
    return table


def readings_table(answered: Sequence[Answered]) -> Table:
    """An answer or two of each pipeline."""
    table = table_of("Some of the documents' answers")
    table.add_column("Document", ratio=2)
    table.add_column("Answer", ratio=5)
    for _, group in groupby(answered, key=lambda each: each.document.pipeline):
        some = [each for each in group if each.result.outcome == "succeeded"]
        for each in some[:2]:
            table.add_row(Text(each.document.name), Text(_reading(each.result.output)))
    return table


def _reading(output: object) -> str:
    if isinstance(output, list):
        return f"{len(output)} pieces, each with its vector of {len(output[0]['vector']):,} numbers"
    said = " ".join(words(output).split())
    return said if len(said) <= _MOST_CHARACTERS else f"{said[:_MOST_CHARACTERS]} ..."


def _title(pipeline: str) -> Text:
    about = _PIPELINES.get(pipeline, "no such pipeline")
    tenant, name = pipeline.split("/")
    return Text.assemble((name, "bold"), "\n", (f"{about}\n{tenant}", "dim"))


def _outcomes(answered: Sequence[Answered]) -> Text:
    counts = Counter((each.result.outcome, each.result.reason) for each in answered)
    first = sorted(counts.items(), key=lambda item: (item[0][0] != "succeeded", item[0][0], item[0][1] or ""))
    lines = [counted(number, outcome, reason) for (outcome, reason), number in first]
    return Text("\n").join(line for line in lines if line)


def _tokens(answered: Sequence[Answered]) -> str:
    usages = [each.result.usage for each in answered if each.result.usage is not None]
    return tokens(sum(usage.input_tokens for usage in usages), sum(usage.output_tokens for usage in usages))


def _cost(answered: Sequence[Answered]) -> str:
    return money(sum_of([each.result.cost.amount for each in answered]))
