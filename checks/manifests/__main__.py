"""`python -m checks.manifests FILES`: exit 1 with a line for each fault."""

import sys
from pathlib import Path

import yaml

from checks.manifests.reading import faults, read_manifests


def main(arguments: list[str]) -> int:
    files = [Path(argument) for argument in arguments]
    if not files:
        print("usage: python -m checks.manifests FILES", file=sys.stderr)
        return 2
    try:
        manifests = list(read_manifests(files))
    except (OSError, yaml.YAMLError) as error:
        print(error, file=sys.stderr)
        return 1
    found = list(faults(manifests))
    for fault in found:
        print(fault, file=sys.stderr)
    if not found:
        print(f"{len(manifests)} manifests in {len(files)} files are as their schemas say")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
