"""Fills sentences that leave words open, each word chosen once for a whole text."""

from collections.abc import Mapping, Sequence
from random import Random

MONTHS = ("September", "October", "November")
MODELS = (
    "Tern 5",
    "Tern 7 Comfort",
    "Heron City",
    "Heron Cargo XL",
    "Swift 28",
    "Dunlin Fold",
    "Osprey Trail",
)


def common_words(random: Random) -> dict[str, str]:
    """What every sentence may name: a bicycle, a day, an amount, an order."""
    return {
        "model": random.choice(MODELS),
        "day": f"{random.randint(1, 28)} {random.choice(MONTHS)}",
        "amount": f"{random.randint(18, 420)}.{random.choice(('00', '50', '90', '95'))} EUR",
        "order": str(random.randint(70_000, 79_999)),
        "weeks": random.choice(("two", "three", "four", "six")),
        "km": str(random.randint(2, 60) * 40),
    }


def pick(random: Random, choices: Sequence[str], words: Mapping[str, str]) -> str:
    """One of the sentences, filled in."""
    return random.choice(choices).format_map(words)
