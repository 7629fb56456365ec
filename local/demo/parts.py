"""What must be on the machine before anything is started, and how to get it."""

import shutil
from pathlib import Path

AZURITE = Path(__file__).parent.parent.parent / "node_modules" / ".bin" / "azurite"


def missing_parts(*, azurite: Path = AZURITE, path: str | None = None) -> list[str]:
    """What is not there, each with what to do. `path` None: where programs are looked for otherwise."""
    missing = []
    if shutil.which("node", path=path) is None:
        missing.append(
            "Local storage needs Node 20, and there is no `node`: install it, then run `make demo` again."
        )
    if not azurite.exists():
        missing.append("Local storage (Azurite) is not installed: run `make install`.")
    return missing
