"""`python -m infra.checks`: check the templates of this folder; 1 if anything is wrong."""

import sys
from pathlib import Path

from infra.checks.run import check

INFRA = Path(__file__).resolve().parents[1]


def main() -> int:
    problems = check(INFRA)
    for problem in problems:
        print(problem, file=sys.stderr)  # noqa: T201
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
