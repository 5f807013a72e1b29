#!/usr/bin/env bash
# What no schema says: references, names, resources, Pod Security, access modes, class.yaml.
# shellcheck source=tests/manifests/lib.bash
source "$(dirname "$0")/lib.bash"

/usr/bin/python3 tests/manifests/rules.py tests/manifests/golden/*.yaml
