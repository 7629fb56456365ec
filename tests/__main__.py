"""`python -m tests`: every test, in two processes side by side. With arguments: what pytest makes of them.

Tests against a whole stack mostly wait, one after the other; the others keep the second core busy meanwhile.
"""

import subprocess
import sys
import tempfile

BESIDE = ("tests/unit", "tests/meta", "tests/contract", "tests/local")
AGAINST_A_STACK = ("tests/integration", "tests/e2e")
PYTEST = (sys.executable, "-m", "pytest")


def main(arguments: list[str]) -> int:
    if arguments:
        return subprocess.call([*PYTEST, *arguments])
    with tempfile.TemporaryFile() as told:
        beside = subprocess.Popen([*PYTEST, *BESIDE], stdout=told, stderr=subprocess.STDOUT)
        try:
            print(f"{' '.join(BESIDE)} run beside these; what they say comes last.", flush=True)
            code = subprocess.call([*PYTEST, *AGAINST_A_STACK])
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
