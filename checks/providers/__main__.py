"""`python -m checks.providers`: is the table of providers what the code says? `--write` makes it so."""

import sys
from collections.abc import Sequence

from checks.providers.table import PAGE, page_with, table


def main(arguments: Sequence[str]) -> int:
    shown = PAGE.read_text(encoding="utf-8")
    right = page_with(shown, table())
    if shown == right:
        return 0
    if "--write" in arguments:
        PAGE.write_text(right, encoding="utf-8")
        return 0
    print(f"{PAGE} is not what the code says: run `python -m checks.providers --write`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
