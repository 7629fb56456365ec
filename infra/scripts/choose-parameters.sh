#!/usr/bin/env bash
# azd reads infra/main.bicepparam: make it that of the stage. Usage: azd env set POSTERN_STAGE dev|prod
set -euo pipefail
cd "$(dirname "$0")/../.."

stage=${POSTERN_STAGE:?say which parameters: azd env set POSTERN_STAGE dev, or prod}
cp "infra/main.$stage.bicepparam" infra/main.bicepparam
