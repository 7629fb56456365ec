"""Whatever is written, it is a catalogue or it is refused in our words."""

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.wire.catalog import CatalogRefused, read_catalog
from tests.unit.catalog.texts import ENV, GOOD

FULL = GOOD.replace('"]}', '"], weight: 2, budget: {monthly: 5}}') + (
    "pipelines:\n  notes: {task: translate, alias: summarize, languages: [de], gather: 0 0 1 * * *}\n"
    "prices:\n  mini: {input: 0.125, output: 1.0}\n"
)
# fmt: off
WORDS = ["", "\n", "\t", ": ", "? ", "&a ", "*a", "!x ", "---\n", "{}", "[]", "[[", "~", '""', "'", '"', "#",
         "-1", "1e999", "1e-99999999", "nan", "9" * 5000, "x", "minutes", "keys", "limits", "${X}", "\x00"]
# fmt: on
PIECES = st.one_of(st.sampled_from(WORDS), st.text(max_size=5))
CUTS = st.lists(st.tuples(st.integers(0, len(FULL)), st.integers(0, 30), PIECES), min_size=1, max_size=3)


def refusal_of(content: bytes) -> CatalogRefused | None:
    try:
        read_catalog(content, file="catalog.yaml", env=ENV)
    except CatalogRefused as refused:
        return refused
    return None


@settings(max_examples=300, deadline=None)
@given(CUTS)
def test_a_text_with_anything_in_it_is_read_or_refused(cuts: list[tuple[int, int, str]]) -> None:
    text = FULL
    for start, length, piece in cuts:
        text = text[:start] + piece + text[start + length :]

    refused = refusal_of(text.encode(errors="surrogatepass"))

    for problem in refused.problems if refused else ():
        assert 1 <= problem.line <= text.count("\n") + 1
        assert not problem.reason.startswith(("Input should", "Value error"))
        assert len(str(problem)) < 1000


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_bytes_that_mean_nothing_are_refused(content: bytes) -> None:
    refused = refusal_of(content)

    assert refused is not None
    assert refused.problems
