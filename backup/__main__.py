"""`python -m backup take|check|put-back FOLDER [--tables URL | --storage-from NAME]`.

Tables are reached with the caller's own login, or by a connection string in the variable that `--storage-from` names.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from azure.core.exceptions import AzureError
from azure.data.tables import TableServiceClient
from azure.identity import DefaultAzureCredential

from backup.put_back import put_back, read_manifest
from backup.take import BadCopy, take


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    options = _options().parse_args(arguments)
    try:
        for line in _done(options, env):
            print(line)
    except (BadCopy, AzureError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _done(options: argparse.Namespace, env: Mapping[str, str]) -> list[str]:
    if options.what == "check":
        manifest = read_manifest(options.folder)
        return [f"whole; it belongs to blobs of {manifest['taken_at']} or later"]
    with _tables(options, env) as tables:
        if options.what == "put-back":
            return [f"{rows:>9} {name}" for name, rows in put_back(tables, options.folder).items()]
        manifest = take(tables, options.folder, lambda: datetime.now(UTC))
    copied = [f"{told['rows']:>9} {name}" for name, told in manifest["tables"].items()]
    return [*copied, f"it belongs to blobs of {manifest['taken_at']} or later"]


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m backup", description=__doc__)
    options.add_argument("what", choices=("take", "check", "put-back"))
    options.add_argument("folder", type=Path)
    where = options.add_mutually_exclusive_group()
    where.add_argument("--tables", help="table endpoint of the account")
    where.add_argument("--storage-from", metavar="NAME", help="variable with its connection string")
    return options


def _tables(options: argparse.Namespace, env: Mapping[str, str]) -> TableServiceClient:
    if options.tables:
        return TableServiceClient(options.tables, credential=DefaultAzureCredential())
    if not (connection := env.get(options.storage_from or "", "")):
        raise BadCopy("say where the tables are: --tables, or --storage-from a variable that is set")
    return TableServiceClient.from_connection_string(connection)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
