"""Two versions of the app in folders of their own, made from this checkout, and a way from one to the other.

Both stop where a test wants them to: while the file `{step}-{tenant}` lies in the folder of holds, that step of that
tenant's jobs puts itself off.
"""

import os
import re
import shutil
import signal
from pathlib import Path

import httpx2

from local.stack import Stack
from tests.integration.provider import eventually

ROOT = Path(__file__).resolve().parents[2]
SWAP_SECONDS = 120.0
HOLDS = "REHEARSAL_HOLDS"
_RECORDS = {"job": "job.py", "chunk": "chunk.py", "document": "document_record.py"}
_HELD = f'''
import os
from pathlib import Path


def held(step, tenant):
    return (Path(os.environ["{HOLDS}"]) / f"{{step}}-{{tenant}}").exists()
'''


def make_old(folder: Path) -> Path:
    """Writes the records of today and the first flow. It can read the records that come next, as it has to."""
    shutil.copytree(ROOT / "shared", folder / "shared", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("function_app.py", "host.json"):
        shutil.copy(ROOT / name, folder)
    for record, file in _RECORDS.items():
        _change(
            folder / "shared/wire/records" / file, "known=(SCHEMA,)", f'known=("{record}/1", "{record}/2")'
        )
    _name(folder, "old")
    _add_holds(folder)
    return folder


def make_new(folder: Path) -> Path:
    """Writes records that today's version does not know, and its orchestration does more than today's."""
    make_old(folder)
    for record, file in _RECORDS.items():
        records = folder / "shared/wire/records" / file
        _change(records, f'SCHEMA: Final = "{record}/1"', f'SCHEMA: Final = "{record}/2"')
    _change(folder / "shared/wire/records/job.py", '"id": job.id,', '"id": job.id, "region": "north",')
    _change(folder / "shared/domain/pulses.py", "FLOW: Final = 1\n", "FLOW: Final = 2\n")
    _change(folder / "host.json", '"defaultVersion": "1"', '"defaultVersion": "2"')
    planned = "            planned = yield from self._do(PLAN_ROUND)\n"
    sleep = "            yield from self._sleep(timedelta(milliseconds=100))\n"
    _change(folder / "shared/orchestration/job.py", planned, sleep + planned)
    _change(folder / "shared/triggers/health.py", '"app": "old"', '"app": "new"')
    return folder


def turn(link: Path, version: Path) -> None:
    """Let `link` lead to `version`; there is no moment at which it leads nowhere."""
    draft = link.with_suffix(".turning")
    draft.symlink_to(version)
    os.replace(draft, link)


def swap(stack: Stack, link: Path, version: Path) -> None:
    """What a deployment does: other code in the same place, and a gentle restart of the host."""
    turn(link, version)
    pid = stack.kill("host", signal.SIGTERM)
    stack.wait_for_restart("host", pid, seconds=SWAP_SECONDS)
    eventually(lambda: serves(stack) == version.name, seconds=SWAP_SECONDS)


def serves(stack: Stack) -> str | None:
    """The name of the version that answers; None while none does."""
    try:
        return str(httpx2.get(f"{stack.http}/healthz", timeout=10).json().get("app"))
    except (httpx2.TransportError, ValueError):
        return None


def _name(folder: Path, name: str) -> None:
    health = folder / "shared/triggers/health.py"
    _change(health, '{"status": "alive"}', f'{{"status": "alive", "app": "{name}"}}')


def _add_holds(folder: Path) -> None:
    (folder / "shared/holds.py").write_text(_HELD)
    steps = folder / "shared/triggers/steps.py"
    _change(
        steps,
        "        try:\n            return await step(app, job)\n",
        '        if held(step.__name__, job["tenant"]):\n            return {"chunks": [], "wait_seconds": 0.5}\n'
        "        try:\n            return await step(app, job)\n",
    )
    _change(
        steps,
        "from shared.bootstrap import App\n",
        "from shared.bootstrap import App\nfrom shared.holds import held\n",
    )
    plan = folder / "shared/services/planning/plan_round.py"
    begun = "        job = await self._amend_unplanned(job, lambda j: j.after(JobEvent.PLAN))\n"
    hold = '        if held("planning", job.tenant):\n            return Round(wait=timedelta(seconds=1))\n'
    _change(plan, begun, begun + hold)
    _change(
        plan,
        "from shared.domain.jobs import",
        "from shared.holds import held\nfrom shared.domain.jobs import",
    )


def _change(file: Path, old: str, new: str) -> None:
    """Exactly one place; when the code there has moved, this says so."""
    text = file.read_text()
    found = len(re.findall(re.escape(old), text))
    assert found == 1, f"{file.name} holds {old!r} {found} times; the rehearsal has to follow the code"
    file.write_text(text.replace(old, new))
