"""`python -m checks.bicep`: check the templates below `infra`; 1 if anything is wrong."""

import sys
from pathlib import Path

from checks.bicep.run import check

INFRA = Path(__file__).resolve().parents[2] / "infra"


def main() -> int:
    problems = check(INFRA)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
