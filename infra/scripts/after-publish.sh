#!/usr/bin/env bash
# What comes after the code: storage events to the blob trigger, then the canary. azd calls it too.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ "${EVENTS_BY_QUEUE:?}" = "false" ]; then
  echo "== subscribe"
  # The trigger's key comes into being when a host with the trigger runs for the first time.
  for attempt in $(seq 20); do
    key=$(az functionapp keys list --resource-group "${AZURE_RESOURCE_GROUP:?}" --name "${APP_NAME:?}" \
      --query "systemKeys.blobs_extension != null" --output tsv || true)
    if [ "$key" = "true" ]; then break; fi
    if [ "$attempt" = 20 ]; then
      echo "the app has no key for its blob trigger: is the code published, and does the host start?" >&2
      exit 1
    fi
    sleep "${RETRY_SECONDS:-30}"
  done
  az deployment group create --resource-group "$AZURE_RESOURCE_GROUP" --name postern-subscriptions \
    --template-file infra/subscriptions.bicep --output none --parameters "appName=$APP_NAME" \
    "systemTopicName=${SYSTEM_TOPIC_NAME:?}" "storageName=${STORAGE_NAME:?}"
fi

echo "== canary"
if [ -z "${POSTERN_CANARY_TENANT:-}" ]; then
  echo "no canary: set POSTERN_CANARY_TENANT and POSTERN_CANARY_KEY, then run this again" >&2
  exit 1
fi
"${PYTHON:-.venv/bin/python}" -m checks.canary --url "${APP_URL:?}" --tenant "$POSTERN_CANARY_TENANT" \
  --blobs "${BLOB_ENDPOINT:?}"
