"""Mails of suppliers, as a JSONL file of whole requests, some of them sent twice by the supplier."""

from collections.abc import Iterator
from random import Random

COUNT = 60
# Every so many mails comes a reminder that repeats the mail before it, word for word.
REMINDER_EVERY = 10

SUPPLIERS = ("Kestrel Tyres", "Blackbird Saddles", "Finch Electrics", "Osier Baskets", "Lapwing Paint")
GOODS = (
    "tyres 28 inch",
    "saddles, black",
    "rear lights",
    "brake pads, set of four",
    "front baskets",
    "bells",
)
CURRENCIES = ("EUR", "EUR", "EUR", "CHF", "GBP")
INSTRUCTIONS = "Extract the invoice from this mail."


def invoices(random: Random) -> Iterator[dict[str, object]]:
    """Requests in OpenAI's batch format; model, parameters and schema come from the job."""
    mail = ""
    for number in range(1, COUNT + 1):
        if number % REMINDER_EVERY:
            mail = mail_of_a_supplier(random)
        yield {
            "custom_id": f"mail-{number:03}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {
                "messages": [
                    {"role": "system", "content": INSTRUCTIONS},
                    {"role": "user", "content": mail},
                ]
            },
        }


def mail_of_a_supplier(random: Random) -> str:
    supplier = random.choice(SUPPLIERS)
    address = f"accounts@{supplier.split()[0].lower()}.example.org"
    pieces, cents = random.randint(5, 80), random.randint(290, 8900)
    currency = random.choice(CURRENCIES)
    return (
        f"From: {address}\n"
        f"{supplier}, invoice {random.randint(10_000, 99_999)}\n"
        f"Date: 2026-{random.randint(9, 11):02}-{random.randint(1, 28):02}\n\n"
        f"We delivered {pieces} {random.choice(GOODS)} at {_money(cents)} {currency} each.\n"
        f"Total: {_money(pieces * cents)} {currency}, payable within {random.choice((14, 30))} days.\n"
    )


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"
