"""`python -m local up`: see `python -m local up --help`."""

import sys

from local.launcher.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
