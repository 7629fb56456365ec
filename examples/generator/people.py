"""Invented customers. Any likeness is an accident, and the addresses are those reserved for examples."""

from dataclasses import dataclass
from random import Random

FIRST = (
    *("Ana", "Bram", "Carla", "Dario", "Eszter", "Femke", "Goran", "Hanna", "Ilse", "Jonas", "Kasia", "Luca"),
    *("Marta", "Nuno", "Oriane", "Pavel", "Quirin", "Rosa", "Sven", "Tilda", "Ugo", "Vera", "Wim", "Zora"),
)
LAST = (
    *("Almeida", "Brandt", "Castelli", "Dvorak", "Eriksen", "Fontaine", "Gruber", "Hofman", "Ivanova"),
    *("Jansen", "Kowalska", "Lindqvist", "Moreau", "Novak", "Olsen", "Petrov", "Quint", "Rossi", "Santos"),
    *("Tanner", "Urban", "Visser", "Weber", "Zeller"),
)
TOWNS = (
    *("Aarhus", "Bergamo", "Brno", "Coimbra", "Delft", "Gdansk", "Ghent", "Graz", "Leipzig", "Lyon"),
    *("Malmo", "Porto", "Rotterdam", "Salzburg", "Tartu", "Turin", "Utrecht", "Valencia", "Zurich"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    first: str
    last: str
    town: str

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def email(self) -> str:
        return f"{self.first}.{self.last}@example.com".lower()


def somebody(random: Random) -> Person:
    return Person(first=random.choice(FIRST), last=random.choice(LAST), town=random.choice(TOWNS))
