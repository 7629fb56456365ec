#!/usr/bin/env bash
# The code to the Function App, which installs its packages itself. The same files as in the image: see .dockerignore.
set -euo pipefail
cd "$(dirname "$0")/../.."

echo "== publish"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 - "$folder/app.zip" <<'PYTHON'
import sys
import zipfile
from pathlib import Path

with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as package:
    for name in ("host.json", "function_app.py", "requirements.txt"):
        package.write(name)
    for file in sorted(Path("shared").rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts and "memory" not in file.parts:
            package.write(file)
PYTHON
az functionapp deployment source config-zip --resource-group "${AZURE_RESOURCE_GROUP:?}" --name "${APP_NAME:?}" \
  --src "$folder/app.zip" --build-remote true --output none
