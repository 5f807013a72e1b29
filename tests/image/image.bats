#!/usr/bin/env bats
# The image as `make image` builds it: what is in it, what it costs, and how it runs where
# little is allowed and nothing is there.

load lib

setup_file() {
	IMAGE_OBSTACLE=$(obstacle)
	export IMAGE_OBSTACLE
	[ -z "$IMAGE_OBSTACLE" ] || return 0
	export LOOPBACK_PORT=$((20000 + RANDOM % 10000))
	private_storage "$BATS_FILE_TMPDIR/containers" "$LOOPBACK_PORT"
	build_image
	keep_image
	run_obstacle
}

teardown_file() {
	[ -n "${IMAGE_OBSTACLE:-}" ] || remove_storage "$BATS_FILE_TMPDIR/containers"
}

# 125 is podman's own failure; whatever else fails is ours.
run_obstacle() {
	local text status=0

	text=$(podman run --rm --network none "$image" version 2>&1) || status=$?
	RUN_OBSTACLE=
	[ $status != 125 ] || RUN_OBSTACLE=$(tail -n 1 <<<"$text")
	export RUN_OBSTACLE
}

need_containers() {
	need_image
	[ -z "$RUN_OBSTACLE" ] || skip "no container runs here: $RUN_OBSTACLE"
}

# As a pod of Pod Security `restricted` runs; the volume and the plan where the Job mounts them.
in_container() { # [OPTION...]: of podman run
	need_containers
	mkdir -p "$T/data" "$T/etc"
	chown 65532:65532 "$T/data"
	WRAP=(podman run --rm --network none --read-only --read-only-tmpfs=false --cap-drop all
		--security-opt no-new-privileges --memory 256m --pids-limit 64
		-v "$T/data:/data" -v "$T/etc:/etc/pvcbench:ro" "$@")
	pvcbench=$image
}

job_plan() { # [KEYS OF THE TEST]
	cat >"$T/etc/plan.yaml" <<-END
		version: 1
		target: /data
		size: 16MiB
		ramp_time: 0
		runtime: 300ms
		tests: [{name: read-iops, rw: randread, bs: 4KiB, iodepth: 4${1:+, $1}}]
	END
}

result_line() {
	sed -n 's/^pvcbench-result: //p' "$T/out" >"$T/result.json"
}

@test "less than 7 MiB" {
	need_image
	bytes=$(podman image inspect --format '{{.Size}}' "$image")
	echo "# image: $bytes bytes, the program in it: $(stat -c %s "$(unpacked)/pvcbench")" >&3
	within "$bytes" 500000 $((7 << 20))
}

@test "user, entry point and labels" {
	need_image
	podman image inspect "$image" >"$T/result.json"
	holds '.[0].Config | .User == "65532:65532" and .Entrypoint == ["/pvcbench"]'
	holds '.[0].Config | (.Cmd // []) == [] and (.Volumes // {}) == {}'
	holds ".[0].Labels[\"org.opencontainers.image.version\"] == \"$version\""
	holds '.[0].Labels["org.opencontainers.image.licenses"] == "Apache-2.0"'
	holds '.[0].Labels["org.opencontainers.image.title"] == "pvcbench"'
	holds '.[0].Labels["org.opencontainers.image.revision"] | length > 6'
}

@test "one program, certificates, licences, two empty directories; no shell" {
	need_image
	cd "$(unpacked)"
	same "$(find . -type f -perm /111)" ./pvcbench
	grep -q 'BEGIN CERTIFICATE' etc/ssl/certs/ca-certificates.crt
	same "$(find licenses -type f -size +0 | wc -l)" 10
	same "$(stat -c %u:%g:%a data scratch | uniq)" 65532:65532:755
	same "$(find data scratch -mindepth 1)" ""
	rm -r etc/ssl licenses data scratch pvcbench
	# What the container tool itself puts there: mount points, all empty.
	same "$(find . -type f -size +0)" ""
}

@test "the program needs no library, and nothing in memory can be both written and run" {
	need_image
	need readelf
	file=$(unpacked)/pvcbench
	readelf -hlW "$file" >"$T/elf"
	not grep -q INTERP "$T/elf"
	grep -q GNU_STACK "$T/elf"
	grep -q GNU_RELRO "$T/elf"
	not grep -q ' RWE ' "$T/elf"
	"$file" version | grep -qx "pvcbench $version"
	"$file" version | grep -qx 'libcurl [0-9.]*'
	"$file" version | grep -qx 'OpenSSL [0-9a-z.]*'
}

# Names and certificates are what a static program without its libraries may stumble over:
# the image's files as the root, with what a kubelet puts into a pod.
@test "HTTPS to a name that only DNS knows, and no library is missed" {
	need_image
	need openssl
	need_root
	root=$(unpacked)
	cd "$T"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
		-subj /CN=collector -addext subjectAltName=DNS:collector \
		-keyout server.key -out server.crt 2>/dev/null
	mkdir seen
	: >seen/requests
	"$PYTHON" "$repo/tests/run/collector.py" seen server.crt server.key 3>&- 2>seen/log &
	undo kill $!
	"$PYTHON" "$BATS_TEST_DIRNAME/dns.py" 127.0.0.54 collector.bench.svc.cluster.test \
		>"$T/dns" 3>&- &
	undo kill $!
	await 20 test -s seen/port
	await 20 test -s dns || skip "cannot listen on port 53"
	cat >"$root/etc/resolv.conf" <<-END
		nameserver 127.0.0.54
		search bench.svc.cluster.test svc.cluster.test
		options ndots:5
	END
	cp server.crt "$root/ca.crt"
	cat >"$root/plan.yaml" <<-END
		target: /data
		container_fs: true
		ramp_time: 0
		runtime: 50ms
		size: 1MiB
		deliver:
		  - webhook: https://collector:$(<seen/port)/hook
		    ca_file: /ca.crt
		    required: true
		  - webhook: https://collector:$(<seen/port)/hook
		tests: [{name: t, rw: randread, ioengine: "null"}]
	END
	undo unmount "$root/data"
	mount -t tmpfs tmpfs "$root/data"
	WRAP=(chroot)
	pvcbench=$root
	pvcbench /pvcbench run /plan.yaml
	exits 0
	same "$(wc -l <seen/requests)" 1
	says "is not trusted: .*trusted is what '/etc/ssl/certs/ca-certificates.crt' holds"
}

@test "as the Job runs it: non-root, read-only, no capability, no /tmp" {
	in_container
	job_plan
	pvcbench run
	exits 0
	result_line
	holds '.tests[0] | .status == "ok" and .read.ios > 0 and .direct'
	valid "$T/result.json"
	says "Dbench Summary"
	empty "$T/data"
}

@test "the default seccomp profile has no io_uring: libaio, and the result says why" {
	in_container
	job_plan
	pvcbench run
	exits 0
	result_line
	if holds '.tests[0].ioengine == "io_uring"' >/dev/null; then
		skip "this profile allows io_uring"
	fi
	holds '.tests[0].ioengine == "libaio"'
	holds '.tests[0].ioengine_reason | test("io_uring refused: .*seccomp")'
	says "concession: io_uring refused"
}

@test "without a seccomp profile: io_uring" {
	in_container --security-opt seccomp=unconfined
	job_plan
	pvcbench run
	exits 0
	result_line
	holds '.tests[0].ioengine == "io_uring"'
}

# These calls are not there: as from a profile that was written before they were, and forbids
# what it does not know (EPERM, 1), or from a kernel 3.10 (ENOSYS, 38).
without_new_calls() { # ERRNO
	local calls=(
		clone3 close_range copy_file_range epoll_pwait2 faccessat2 fsconfig fsmount fsopen
		fspick futex_waitv io_pgetevents io_uring_enter io_uring_register io_uring_setup
		landlock_add_rule landlock_create_ruleset landlock_restrict_self membarrier
		memfd_secret mlock2 mount_setattr move_mount open_tree openat2 pidfd_getfd
		pidfd_open pidfd_send_signal pkey_alloc pkey_free pkey_mprotect preadv2
		process_madvise process_mrelease pwritev2 quotactl_fd rseq statx userfaultfd
	)

	# An old profile knows these, an old kernel does not.
	[ "$1" = 1 ] || calls+=(
		bpf execveat getrandom memfd_create renameat2 sched_getattr sched_setattr seccomp
	)

	printf '%s\n' "${calls[@]}" | jq -Rn --argjson errno "$1" '{
		defaultAction: "SCMP_ACT_ALLOW",
		archMap: [
			{architecture: "SCMP_ARCH_X86_64", subArchitectures: []},
			{architecture: "SCMP_ARCH_AARCH64", subArchitectures: []}
		],
		syscalls: [{names: [inputs], action: "SCMP_ACT_ERRNO", errnoRet: $errno}]
	}' >"$T/old.json"
}

@test "an old runtime's profile, EPERM for all it does not know: libaio" {
	without_new_calls 1
	in_container --security-opt "seccomp=$T/old.json"
	job_plan "numjobs: 4"
	pvcbench run
	exits 0
	result_line
	holds '.tests[0] | .status == "ok" and .ioengine == "libaio" and .read.ios > 0'
	holds '.tests[0].ioengine_reason | test("io_uring refused: Operation not permitted")'
	pvcbench doctor /data
	exits 0
	says "limited: .*io_uring.*not permitted"
	says "threads .*clone3"
}

@test "a kernel as old as 3.10: libaio" {
	without_new_calls 38
	in_container --security-opt "seccomp=$T/old.json"
	job_plan "numjobs: 4"
	pvcbench run
	exits 0
	result_line
	holds '.tests[0] | .status == "ok" and .ioengine == "libaio" and .read.ios > 0'
	holds '.tests[0].ioengine_reason | test("io_uring refused: Function not implemented")'
	valid "$T/result.json"
}

@test "an old profile without Linux AIO too: psync" {
	without_new_calls 1
	jq '.syscalls[0].names += ["io_setup", "io_submit"]' "$T/old.json" >"$T/older.json"
	in_container --security-opt "seccomp=$T/older.json"
	job_plan "numjobs: 2"
	pvcbench run
	exits 0
	result_line
	holds '.tests[0] | .status == "ok" and .ioengine == "psync" and .read.ios > 0'
}

@test "a dbench manifest's command lines: none, and the argument fio" {
	in_container
	job_plan
	for argument in "" fio; do
		# shellcheck disable=SC2086
		pvcbench $argument
		exits 0
		same "$(dbench_block)" 1
		result_line
		holds '.tests[0].name == "read-iops"'
	done
	rm "$T/etc/plan.yaml"
	in_container -e DBENCH_MOUNTPOINT=/data -e FIO_SIZE=16M -e DBENCH_QUICK=yes
	pvcbench run --set runtime=100ms --set ramp_time=0
	exits 0
	dbench_block
	says "plan dbench,"
}

@test "exit codes come through: 2, 3, 4, 99" {
	in_container
	job_plan "iodepht: 1"
	pvcbench run
	exits 2
	says "/etc/pvcbench/plan.yaml:6:"
	job_plan "expect: [\"read.iops >= 1000000000\"]"
	pvcbench run
	exits 99
	chown root:root "$T/data"
	job_plan
	pvcbench run
	exits 3
	says "fsGroup"
	for root in --read-only=true --read-only=false; do
		WRAP=(podman run --rm --network none "$root" --read-only-tmpfs=false)
		pvcbench run cce
		exits 4
		says "mount the volume there"
	done
}

@test "a new volume of podman belongs to the user" {
	need_containers
	pvcbench=$image
	WRAP=(podman run --rm --network none --read-only --cap-drop all
		-v "new:/data")
	undo podman volume rm -f new
	pvcbench run quick --set size=4MiB --set runtime=50ms --set ramp_time=0
	exits 0
	same "$(dbench_block)" 4
}

@test "the container's own file system, when that is said" {
	need_containers
	pvcbench=$image
	WRAP=(podman run --rm --network none --cap-drop all --log-driver none)
	pvcbench run quick --target /scratch --set container_fs=true --set size=4MiB \
		--set runtime=50ms --set ramp_time=0
	exits 0
	same "$(dbench_block)" 4
}

# The same in the background, as `detached`; sets process.
start_container() { # ARGUMENT...
	podman run -d --name detached "${WRAP[@]:3}" --log-driver k8s-file \
		--log-opt "path=$T/ctr.log" "$image" "$@" >/dev/null
	undo podman rm -f -t 0 detached
	process=$(podman inspect --format '{{.State.Pid}}' detached)
}

@test "a pod deleted in the middle: partial results within 2 s, exit code 143" {
	in_container
	job_plan "runtime: 60s"
	start_container run
	await 20 laid_out
	sleep 1
	start_ns=$(date +%s%N)
	podman kill --signal TERM detached
	same "$(podman wait detached)" 143
	echo "# SIGTERM to the end: $((($(date +%s%N) - start_ns) / 1000000)) ms" >&3
	within "$(($(date +%s%N) - start_ns))" 0 2000000000
	cut -d ' ' -f 4- "$T/ctr.log" >"$T/out"
	: >"$T/err"
	cp "$T/out" "$T/log"
	says "signal|interrupt|SIG"
	same "$(dbench_block)" 1
	empty "$T/data"
}

laid_out() {
	[ -n "$(find "$T/data" -name 'data.*' -size 16M)" ]
}

@test "peak memory of the plan cce's largest requests" {
	in_container
	cp "$repo/manifests/plans/cce.yaml" "$T/etc/plan.yaml"
	start_container run --set size=64MiB --set runtime=200ms --set ramp_time=0
	peak_kib=0
	while peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$process/status" 2>/dev/null) &&
		[ -n "$peak" ]; do
		peak_kib=$peak
		sleep 0.02
	done
	same "$(podman wait detached)" 0
	echo "# peak memory, 9 tests of plan cce: $peak_kib KiB" >&3
	within "$peak_kib" 1000 $((256 << 10))
}

# From exec to the first request on the volume, as strace sees it, which slows it down.
@test "from start to the first I/O" {
	need_image
	need_strace
	file=$(unpacked)/pvcbench
	dir=$(directory)
	strace -f -ttt -o "$T/trace" "$file" run quick --target "$dir" --set size=4MiB \
		--set runtime=50ms --set ramp_time=0 --set container_fs=true >/dev/null
	milliseconds=$(awk '
	!start && /execve\(/ { start = $2 }
	/io_submit\(|io_uring_enter\(|pwrite64\(|pread64\(/ {
		printf "%.1f\n", ($2 - start) * 1000
		exit
	}' "$T/trace")
	echo "# start to the first I/O, under strace: $milliseconds ms" >&3
	within "$milliseconds" 0.1 1000
}

push_with() { # TOOL
	need_image
	need skopeo
	registry
	cd "$(tree)" || return
	reference=localhost:$LOOPBACK_PORT/you/pvcbench:v9.9.9
	TOOL=$1 PLATFORMS=linux/$(dpkg --print-architecture) make -s push "IMAGE=$reference" \
		>"$T/out" 2>"$T/err" 3>&- || { show && return 1; }
	same "$(tail -n 1 "$T/out")" "kustomization.yaml: $reference"
	skopeo inspect --tls-verify=false "docker://$reference" >"$T/result.json"
	holds ".Labels[\"org.opencontainers.image.version\"] == \"$version\""
	diff "$repo/kustomization.yaml" kustomization.yaml >"$T/diff" || true
	same "$(grep -c '^[<>]' "$T/diff")" 4
	grep -qx "> *newName: localhost:$LOOPBACK_PORT/you/pvcbench" "$T/diff"
	grep -qx '> *newTag: "v9.9.9"' "$T/diff"
}

@test "make push with podman pushes, and writes the reference" {
	push_with podman
}

@test "make push with buildah" {
	# It does not know the variable that names registries without TLS.
	mkdir "$T/bin"
	printf '#!/bin/sh\nexec buildah --registries-conf "%s" "$@"\n' \
		"$CONTAINERS_REGISTRIES_CONF" >"$T/bin/buildah"
	chmod +x "$T/bin/buildah"
	push_with "$T/bin/buildah"
}

# A docker that writes down how it was called.
fake_docker() {
	mkdir "$T/bin"
	cat >"$T/bin/docker" <<-END
		#!/bin/sh
		echo "\$@" >>'$T/calls'
		! [ -e '$T/fails-at-'"\$1" ]
	END
	chmod +x "$T/bin/docker"
	PATH=$T/bin:$PATH
}

@test "docker is taken when its engine answers, else podman" {
	fake_docker
	cd "$(tree)"
	make -s image
	grep -q "^build --platform linux/.* -t $image \.\$" "$T/calls"
	rm "$T/calls"
	make -s push IMAGE=registry.example.com/you/pvcbench:v1 >/dev/null
	same "$(grep -c '^push registry.example.com/you/pvcbench:v1-a..64$' "$T/calls")" 2
	same "$(tail -n 1 "$T/calls")" "manifest push registry.example.com/you/pvcbench:v1"
	grep -q 'newName: registry.example.com/you/pvcbench$' kustomization.yaml
	cp "$T/bin/docker" "$T/bin/podman"
	sed -i "s/echo /echo podman /" "$T/bin/podman"
	touch "$T/fails-at-info"
	make -s image
	tail -n 1 "$T/calls" | grep -q '^podman build '
}

@test "a reference that Kubernetes would not take, or that moves, is refused at once" {
	fake_docker
	cd "$(tree)"
	for reference in "" pvcbench:v1 you/pvcbench:v1 registry.example.com/Upper/x:v1 \
		registry.example.com/you/pvcbench registry.example.com/you/pvcbench:latest \
		https://registry.example.com/x:v1 registry.example.com:5000; do
		status=0
		make -s push "IMAGE=$reference" >"$T/log" 2>&1 || status=$?
		same "$status" 2
		grep -q "IMAGE is '$reference'" "$T/log"
	done
	[ ! -e "$T/calls" ]
	cmp kustomization.yaml "$repo/kustomization.yaml"
}

@test "a push that fails leaves kustomization.yaml as it was" {
	fake_docker
	touch "$T/fails-at-push"
	cd "$(tree)"
	not make -s push IMAGE=registry.example.com/you/pvcbench:v1
	cmp kustomization.yaml "$repo/kustomization.yaml"
}
