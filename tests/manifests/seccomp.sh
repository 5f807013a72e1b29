#!/usr/bin/env bash
# The profile of io-uring-localhost: what it may allow, and that the DaemonSet puts it where the
# component looks for it. tests/e2e holds it against a runtime's own default.
# shellcheck source=tests/manifests/lib.bash
source "$(dirname "$0")/lib.bash"

profile=manifests/seccomp/pvcbench.json
# Some of what a runtime allows to those only who have a capability for it.
capable='bpf delete_module finit_module init_module ioperm iopl kexec_load keyctl mount move_mount
	open_by_handle_at open_tree perf_event_open pivot_root quotactl reboot setns swapon umount2
	unshare userfaultfd'

allows() { # JQ CONDITION on the names that it allows, and on special ones
	jq -e --arg words "$capable" "(\$words | [scan(\"\\\\w+\")]) as \$special |
		[.syscalls[] | select(.action == \"SCMP_ACT_ALLOW\").names[]] | $1" $profile \
		>/dev/null || echo "not so: $1"
}

# Runtimes read these keys; those of podman's own files (includes, archMap) they would not obey.
only_known_keys() {
	jq -e '(keys - ["architectures", "defaultAction", "syscalls"] == []) and
		all(.syscalls[]; keys - ["action", "args", "errnoRet", "names"] == []) and
		.defaultAction == "SCMP_ACT_ERRNO"' $profile >/dev/null || echo "other keys"
}

where_it_is_looked_for() {
	local wanted folder

	wanted=$(sed -n 's/ *localhostProfile: //p' \
		manifests/components/io-uring-localhost/kustomization.yaml)
	folder=$(sed -n 's/ *path: //p' manifests/seccomp/daemonset.yaml)
	[[ "$folder/${profile##*/}" == "/var/lib/kubelet/seccomp/$wanted" ]] ||
		echo "the component wants $wanted, the DaemonSet has $folder"
}

quiet "it allows io_uring" allows \
	'contains(["io_uring_setup", "io_uring_enter", "io_uring_register"])'
quiet "it allows Linux AIO" allows 'contains(["io_setup", "io_submit", "io_getevents"])'
quiet "it allows nothing that wants a capability" allows "\$special - . == \$special"
quiet "it names no call twice" allows \
	'map(select(. != "personality")) | length == (unique | length)'
quiet "it has no key that a runtime would not obey" only_known_keys
quiet "the DaemonSet puts it where the component looks for it" where_it_is_looked_for
finish
