"""Long support tickets, to be summarised."""

from collections.abc import Iterator
from random import Random

from examples.generator.people import somebody
from examples.generator.phrases import common_words, pick
from examples.generator.ticket_texts import CLOSINGS, EFFECTS, GREETINGS, ORDERS, TROUBLES, WISHES

COUNT = 240
FIRST_NUMBER = 88_412


def tickets(random: Random) -> Iterator[dict[str, object]]:
    """Inputs for a template with `subject` and `text`."""
    for number in range(FIRST_NUMBER, FIRST_NUMBER + COUNT):
        subject, text = _ticket(random)
        yield {"custom_id": f"ticket-{number}", "vars": {"subject": subject, "text": text}}


def _ticket(random: Random) -> tuple[str, str]:
    person = somebody(random)
    words = {**common_words(random), "town": person.town}
    trouble = random.choice(TROUBLES)
    groups = [trouble.facts, ORDERS, trouble.details, trouble.tried, EFFECTS, WISHES]
    if random.random() < 0.3:
        groups.remove(EFFECTS)
    body = " ".join(pick(random, group, words) for group in groups)
    closing = pick(random, CLOSINGS, words)
    text = f"{random.choice(GREETINGS)}\n\n{body}\n\n{closing}\n{person.name}"
    return random.choice(trouble.subjects), text
