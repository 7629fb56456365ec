#!/usr/bin/env bash
# The whole sequence with az alone: provision, catalogue, publish, subscribe, canary. Each step may be repeated.
# Usage: infra/scripts/deploy.sh RESOURCE_GROUP dev|prod
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ $# -ne 2 ] || [ ! -f "infra/main.$2.bicepparam" ]; then
  echo "usage: infra/scripts/deploy.sh RESOURCE_GROUP dev|prod" >&2
  exit 2
fi
export AZURE_RESOURCE_GROUP=$1
stage=$2

# Who is signed in gets the operator's roles, unless somebody else is named.
if [ -z "${AZURE_PRINCIPAL_ID:-}" ]; then
  AZURE_PRINCIPAL_ID=$(az ad signed-in-user show --query id --output tsv)
  export AZURE_PRINCIPAL_ID AZURE_PRINCIPAL_TYPE=User
fi

echo "== provision"
outputs=$(az deployment group create --resource-group "$AZURE_RESOURCE_GROUP" --name postern \
  --parameters "infra/main.$stage.bicepparam" --query properties.outputs --output json)

output() {
  # The service answers with letters of another case than the template has.
  python3 -c 'import json, sys
value = {name.lower(): each["value"] for name, each in json.load(sys.stdin).items()}[sys.argv[1].lower()]
print(str(value).lower() if isinstance(value, bool) else value)' "$1" <<<"$outputs"
}

for name in APP_NAME APP_URL STORAGE_NAME SYSTEM_TOPIC_NAME EVENTS_BY_QUEUE BLOB_ENDPOINT; do
  value=$(output "$name")
  export "$name=$value"
done

infra/scripts/catalog.sh
if [ -z "$APP_NAME" ]; then
  echo "the app comes in containers: docs/deploy-kubernetes.md; after that, python -m checks.canary"
  exit 0
fi
infra/scripts/publish.sh
infra/scripts/after-publish.sh
