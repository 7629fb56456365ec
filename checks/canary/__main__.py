"""`python -m checks.canary --url URL --tenant TENANT (--blobs URL | --storage-from NAME)`: 0 if all is well.

A credential comes from the environment variable POSTERN_CANARY_KEY, or as a token of the caller's own login for
`--scope`. Storage is reached with that login, or by a connection string in the variable that `--storage-from` names.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from azure.core.exceptions import AzureError
from azure.identity import DefaultAzureCredential
from azure.storage.blob import BlobServiceClient

from checks.canary.door import Door, Wrong
from checks.canary.steps import Canary

_KEY = "POSTERN_CANARY_KEY"


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    options = _options().parse_args(arguments)
    try:
        with _storage(options, env) as storage:
            canary = Canary(
                door=Door(base=options.url.rstrip("/"), credential=_credential(options, env)),
                storage=storage,
                tenant=options.tenant,
                pipeline=options.pipeline,
                alias=options.alias,
                project=options.project,
                seconds=options.minutes * 60,
                until_finished=options.until_finished,
            )
            for seen in canary.steps():
                print(f"ok  {seen}", flush=True)
    except (Wrong, AzureError) as error:
        print(f"BAD {error}", file=sys.stderr)
        return 1
    return 0


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m checks.canary", description=__doc__)
    options.add_argument("--url", required=True, help="where the door is")
    options.add_argument("--tenant", required=True, help="the tenant that the credential belongs to")
    options.add_argument("--pipeline", default="notes", help="a pipeline of the minutes lane")
    options.add_argument("--alias", default="summarize", help="an alias with a deployment for batches")
    options.add_argument("--project", default="canary", help="the tag under which its few tokens are booked")
    options.add_argument(
        "--scope", help="scope of the token, such as api://postern/.default, instead of a key"
    )
    storage = options.add_mutually_exclusive_group(required=True)
    storage.add_argument("--blobs", help="blob endpoint of the account with the drop zone")
    storage.add_argument("--storage-from", metavar="NAME", help="variable with its connection string")
    options.add_argument("--minutes", type=float, default=10.0, help="patience with each lane")
    options.add_argument(
        "--until-finished", action="store_true", help="wait for the job's end instead of cancelling it"
    )
    return options


def _credential(options: argparse.Namespace, env: Mapping[str, str]) -> str:
    if options.scope:
        with DefaultAzureCredential() as login:
            return login.get_token(options.scope).token
    if not (key := env.get(_KEY, "")):
        raise Wrong(f"no credential: set {_KEY}, or give --scope")
    return key


def _storage(options: argparse.Namespace, env: Mapping[str, str]) -> BlobServiceClient:
    if options.blobs:
        return BlobServiceClient(options.blobs, DefaultAzureCredential())
    if not (connection := env.get(options.storage_from, "")):
        raise Wrong(f"{options.storage_from} is not set")
    return BlobServiceClient.from_connection_string(connection)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
