#!/usr/bin/env bash
# The Job of Azure Container Apps against the published schema of that resource.
# shellcheck source=tests/manifests/lib.bash
source "$(dirname "$0")/lib.bash"

/usr/bin/python3 tests/manifests/container_apps.py manifests/azure-container-apps/job.yaml \
	tests/manifests/container-apps.schema.json
