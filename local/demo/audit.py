"""Whether the demo kept its promise: every input and every document has its outcome."""

from collections.abc import Iterator, Sequence

from local.demo.hours_lane import Finished
from local.demo.minutes_lane import Answered
from local.demo.samples import TRIAGE, Planted, planted_trouble


def complaints(
    finished: Sequence[Finished],
    planted: Sequence[Planted],
    answered: Sequence[Answered] = (),
    everywhere: Sequence[Finished] = (),
) -> list[str]:
    """What is wrong, in words; empty when all is well."""
    found = [complaint for each in (*finished, *everywhere) for complaint in _of_job(each)]
    found += [complaint for each in everywhere for complaint in _of_provider(each)]
    for each in finished:
        if each.sample is TRIAGE:
            found += _of_trouble(each, planted)
    return found + [complaint for document in answered for complaint in _of_document(document)]


def _of_job(finished: Finished) -> Iterator[str]:
    name, report = finished.sample.name, finished.report
    sent = [line["custom_id"] for line in finished.sample.inputs()]
    with_outcome = sum(report.outcomes.values())
    if not report.submitted == len(sent) == with_outcome:
        yield (
            f"{name}: {len(sent)} inputs were sent, {report.submitted} are on record,"
            f" and {with_outcome} have an outcome"
        )
    if not report.balanced:
        yield f"{name}: its report is not balanced"
    if sent != [result.custom_id for result in finished.results]:
        yield f"{name}: results.jsonl does not have one line for each input, in their order"


def _of_trouble(finished: Finished, planted: Sequence[Planted]) -> Iterator[str]:
    results = {result.custom_id: result for result in finished.results}
    for trouble in planted:
        result = results.get(trouble.custom_id)
        if result is not None and result.became != trouble.becomes:
            yield (
                f"{finished.sample.name}: {trouble.custom_id} ({trouble.planted}) should have become"
                f" {trouble.becomes!r}, and became {result.became!r}"
            )


def _of_provider(finished: Finished) -> Iterator[str]:
    """Whatever the provider, each input becomes the same: what was planted for it, or an answer."""
    becomes = {trouble.custom_id: trouble.becomes for trouble in planted_trouble(finished.sample)}
    for result in finished.results:
        right = becomes.get(result.custom_id, "succeeded")
        if result.outcome != right:
            yield (
                f"{finished.sample.name}: {result.custom_id} should have become {right!r},"
                f" and became {result.became!r}"
            )


def _of_document(answered: Answered) -> Iterator[str]:
    document, result = answered.document, answered.result
    if result.became != document.becomes:
        yield (
            f"{document.path} ({document.planted or 'a sound document'}) should have become"
            f" {document.becomes!r}, and became {result.became!r}"
        )
    if result.outcome == "succeeded" and not result.output:
        yield f"{document.path}: it succeeded, and there is no answer"
