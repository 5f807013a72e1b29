#!/usr/bin/env bash
# What no schema says: references, names, resources, Pod Security, access modes, class.yaml.
# shellcheck source=tests/manifests/lib.bash
source "$(dirname "$0")/lib.bash"

# The others are no benchmarks of this repository's own classes.
mapfile -t goldens < <(printf '%s\n' tests/manifests/golden/*.yaml |
	grep -v -e /seccomp.yaml -e /exports.yaml)
/usr/bin/python3 tests/manifests/rules.py "${goldens[@]}"
