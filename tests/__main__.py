"""`python -m tests`: every test, in two processes side by side. With arguments: what pytest makes of them.

Tests against a whole stack wait a good deal, and the others keep the cores busy meanwhile. Both halves take about
as long: the one with the longest tests begins with them, the other one ends with a stack.
"""

import subprocess
import sys
import tempfile

FIRST_HALF = ("tests/e2e", "tests/local")
SECOND_HALF = ("tests/unit", "tests/meta", "tests/contract", "tests/integration")
PYTEST = (sys.executable, "-m", "pytest")


def main(arguments: list[str]) -> int:
    if arguments:
        return subprocess.call([*PYTEST, *arguments])
    with tempfile.TemporaryFile() as told:
        beside = subprocess.Popen([*PYTEST, *SECOND_HALF], stdout=told, stderr=subprocess.STDOUT)
        try:
            print(f"{' '.join(SECOND_HALF)} run beside these; what they say comes last.", flush=True)
            code = subprocess.call([*PYTEST, *FIRST_HALF])
            code = beside.wait() or code
        finally:
            beside.terminate()
            beside.wait()
        told.seek(0)
        sys.stdout.buffer.write(told.read())
        sys.stdout.flush()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
