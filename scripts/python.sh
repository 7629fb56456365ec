#!/usr/bin/env bash
# Prints the path of a working Python 3.13, or says what is missing. A shim that only pretends does not count.
set -u

works() { "$1" -c 'import sys, venv; sys.exit(sys.version_info[:2] != (3, 13))' >/dev/null 2>&1; }

candidates() {
  command -v python3.13
  ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13*/bin/python3.13 2>/dev/null | sort -Vr
  ls -d "${ASDF_DATA_DIR:-$HOME/.asdf}"/installs/python/3.13*/bin/python3.13 2>/dev/null | sort -Vr
  ls -d "${XDG_DATA_HOME:-$HOME/.local/share}"/uv/python/cpython-3.13*/bin/python3.13 2>/dev/null | sort -Vr
  ls -d "${XDG_DATA_HOME:-$HOME/.local/share}"/mise/installs/python/3.13*/bin/python3.13 2>/dev/null | sort -Vr
  command -v python3
  command -v uv >/dev/null && uv python find 3.13 2>/dev/null
}

while read -r candidate; do
  if works "$candidate"; then
    echo "$candidate"
    exit 0
  fi
done < <(candidates)

echo "Postern needs Python 3.13 and found none. Install it with your system, pyenv, asdf, mise or uv" >&2
echo "(for example: uv python install 3.13), and run the same command again." >&2
exit 1
