#!/usr/bin/env bash
# The catalogue and the schemas that it names, into the container `config`. The app takes a change over within seconds.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=${POSTERN_CATALOG_FOLDER:?set POSTERN_CATALOG_FOLDER to the folder with catalog.yaml and its schemas}
if [ ! -f "$folder/catalog.yaml" ]; then
  echo "$folder has no catalog.yaml; start from catalog.sample.yaml" >&2
  exit 1
fi

echo "== catalogue"
# A role that was given a moment ago may take some minutes to be known.
for attempt in $(seq 20); do
  if az storage blob upload-batch --auth-mode login --account-name "${STORAGE_NAME:?}" \
    --destination config --source "$folder" --overwrite --only-show-errors --output none; then
    exit 0
  fi
  echo "not yet ($attempt of 20)" >&2
  sleep "${RETRY_SECONDS:-30}"
done
echo "the catalogue could not be uploaded: has $(az account show --query user.name --output tsv) the operator's roles?" >&2
exit 1
