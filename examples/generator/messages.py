"""Short messages, to be sorted into categories."""

from collections.abc import Iterator
from random import Random

from examples.generator.people import somebody
from examples.generator.phrases import common_words, pick

COUNT = 120

# The category is nowhere in the data: it is for the model to find.
TEXTS = (
    "The battery of my {model} is empty after 20 km. Order {order}.",
    "Order {order}: the battery no longer clicks into its place, and it falls out on cobblestones.",
    "Is there a larger battery for the {model}? My order was {order}.",
    "The rear brake of order {order} squeals since {day}, and the brake pads look new.",
    "Urgent: both brakes of my {model} failed on a hill today, order {order}. I was lucky.",
    "Order {order}, brake lever loose after {weeks} weeks. Which screw is it?",
    "Where is my delivery? Order {order} was promised for {day}.",
    "The delivery of order {order} came without the lock. Please send it on.",
    "Urgent, the delivery of order {order} goes to my old address in {town}, please stop it.",
    "My invoice for order {order} shows {amount} more than the offer. I ask for a refund.",
    "I was charged {amount} twice for order {order}. When do I get my refund?",
    "Please send the invoice of order {order} to my employer, who pays for it by leasing.",
    "I want to return the {model} of order {order}; the frame is too small. What about the refund?",
    "How do I return a helmet from order {order}? The box is gone.",
    "I cannot log in to my account since {day}. The bicycle is the {model} of order {order}.",
    "Please delete my account, I sold the {model}. The order was {order}.",
    "Many thanks to the team in {town}! The {model} of order {order} rides like new.",
    "Compliment to your workshop: order {order} was mended within an hour. Thanks!",
)

GREETINGS = ("", "", "Hello! ", "Hi team. ", "Good evening. ", "Me again. ")
EXTRAS = (
    *("", "", ""),
    " I am at home from six.",
    " I have photos if you need them.",
    " Please answer by mail, I cannot be called at work.",
    " This is the second time I write.",
    " My shop in {town} sent me to you.",
    " By the way, I have ridden it for {km} km.",
    " I leave on {day} and would like to know before.",
)


def messages(random: Random) -> Iterator[dict[str, object]]:
    """Inputs for a template with `text`; no two of them name the same order."""
    orders = random.sample(range(70_000, 80_000), COUNT)
    for number, order in enumerate(orders, 1):
        person = somebody(random)
        words = {**common_words(random), "town": person.town, "order": str(order)}
        text = "".join(pick(random, part, words) for part in (GREETINGS, TEXTS, EXTRAS))
        yield {"custom_id": f"message-{number:03}", "vars": {"text": f"{text} {person.first}"}}
