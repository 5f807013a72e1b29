# shellcheck shell=bash
# The image, built for real by podman or buildah in a storage of the test's own, which
# stands for no machine's: nothing is left of it but the base image in build/image, made from
# this machine's package sources, since it takes longest and nothing of it is tested.
# shellcheck source=tests/run/lib.bash
source "$BATS_TEST_DIRNAME/../run/lib.bash"

version=$(sed -n 's/^VERSION *:= *//p' "$repo/Makefile")
image=localhost/pvcbench:$version
kept_image=$build/image/image.tar

# --- once per file ---

# Why an image cannot be built here; nothing when it can.
obstacle() {
	local command

	[ "$(id -u)" = 0 ] || { echo "needs root" && return; }
	for command in podman buildah mmdebstrap; do
		command -v "$command" >/dev/null || { echo "no $command" && return; }
	done
}

# Container tools that share nothing with the machine's own. Limits are set, since
# podman asks for higher ones than it may get in a container.
private_storage() { # DIRECTORY [PORT]: of a registry on this machine without TLS
	local files=16384 processes=4096

	((files < $(ulimit -Hn))) || files=$(ulimit -Hn)
	((processes < $(ulimit -Hu))) || processes=$(ulimit -Hu)
	mkdir -p "$1"
	cat >"$1/storage.conf" <<-END
		[storage]
		driver = "overlay"
		graphroot = "$1/graph"
		runroot = "$1/run"
	END
	cat >"$1/containers.conf" <<-END
		[containers]
		default_ulimits = ["nofile=$files:$files", "nproc=$processes:$processes"]
		[engine]
		cgroup_manager = "cgroupfs"
		events_logger = "file"
		runtime = "runc"
	END
	cat >"$1/registries.conf" <<-END
		[[registry]]
		location = "localhost:${2:-1}"
		insecure = true
	END
	export CONTAINERS_STORAGE_CONF=$1/storage.conf CONTAINERS_CONF=$1/containers.conf
	export CONTAINERS_REGISTRIES_CONF=$1/registries.conf
	export BUILDAH_ISOLATION=chroot TMPDIR=$1
}

# debian:bookworm-slim, so that no registry is asked for it.
base_image() {
	local tar=$build/image/base.tar sources

	if [ ! -s "$tar" ]; then
		mapfile -t sources < <(grep -ls bookworm /etc/apt/sources.list \
			/etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources)
		mkdir -p "$build/image"
		nice mmdebstrap --quiet --mode=root --format=tar --variant=minbase \
			--aptopt='Acquire::Languages "none"' \
			--dpkgopt='path-exclude=/usr/share/man/*' \
			--dpkgopt='path-exclude=/usr/share/locale/*' \
			bookworm "$tar.new" "${sources[@]}" || return
		mv "$tar.new" "$tar"
	fi
	podman import -q "$tar" debian:bookworm-slim
}

# Build, with what is printed in $BATS_FILE_TMPDIR/build.log.
build_image() { # [VARIABLE=VALUE...]
	local start=$SECONDS
	(
		cd "$repo" && base_image && echo "base: $((SECONDS - start)) s" &&
			env "TOOL=podman" "$@" nice make -s image
	) >"$BATS_FILE_TMPDIR/build.log" 2>&1 </dev/null || {
		tail -n 40 "$BATS_FILE_TMPDIR/build.log"
		return 1
	}
	echo "# base image and build: $((SECONDS - start)) s" >&3
}

# For those that need the image and do not test how it is built.
keep_image() {
	rm -f "$kept_image.new"
	podman save -q -o "$kept_image.new" "$image" && mv "$kept_image.new" "$kept_image"
}

# Nothing of what goes into the image is newer.
is_kept() {
	[ -s "$kept_image" ] && [ -z "$(cd "$repo" &&
		find .ci Dockerfile LICENSE Makefile docs manifests runner \
			-newer "$kept_image" -print -quit)" ]
}

# Podman keeps the storage's folder mounted onto itself.
remove_storage() { # DIRECTORY
	podman rm -fa -t 0 >/dev/null 2>&1 || true
	podman rmi -fa >/dev/null 2>&1 || true
	findmnt -rno TARGET | grep -F "$1/" | tac | while read -r mounted; do
		umount "$mounted"
	done
	rm -rf --one-file-system "$1"
}

need_image() {
	[ -z "${IMAGE_OBSTACLE:-}" ] || skip "$IMAGE_OBSTACLE"
}

# The image's files, in a new directory; prints it.
unpacked() {
	mkdir -p "$T/image"
	podman create --name unpacked "$image" >/dev/null
	podman export unpacked | tar -x -C "$T/image"
	podman rm unpacked >/dev/null
	echo "$T/image"
}

# A copy of the tree, to build from and to write into; prints it.
tree() {
	mkdir "$T/tree"
	(cd "$repo" && cp -r .ci .dockerignore Dockerfile LICENSE Makefile docs kustomization.yaml \
		manifests runner "$T/tree")
	echo "$T/tree"
}

# Debian's registry, unpacked only: its package would start a service. Prints the program.
registry_program() {
	local program=$build/image/registry/usr/bin/docker-registry

	if [ ! -x "$program" ]; then
		(cd "$T" && apt-get -q -q -o APT::Sandbox::User=root download docker-registry &&
			dpkg -x docker-registry_*.deb "$build/image/registry") >&2 || return
	fi
	echo "$program"
}

# A registry on the loopback address, port $LOOPBACK_PORT, until the end of the test.
registry() {
	local program

	program=$(registry_program) || skip "cannot fetch docker-registry"
	cat >"$T/registry.yaml" <<-END
		version: 0.1
		storage: {filesystem: {rootdirectory: "$T/registry"}}
		http: {addr: "127.0.0.1:$LOOPBACK_PORT"}
	END
	"$program" serve "$T/registry.yaml" >"$T/registry.log" 2>&1 3>&- &
	undo "kill $!"
	await 10 listens "$LOOPBACK_PORT"
}

listens() { # PORT
	(: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}
