#!/usr/bin/env bats
# The image for arm64, compiled on whatever this is, and its program under qemu-user, which
# has neither io_uring nor Linux AIO. `make test SUITES=image-arm64`: it takes minutes.

load ../image/lib

setup_file() {
	IMAGE_OBSTACLE=$(obstacle)
	command -v qemu-aarch64-static >/dev/null || IMAGE_OBSTACLE="no qemu-aarch64-static"
	export IMAGE_OBSTACLE LOOPBACK_PORT=$((20000 + RANDOM % 10000))
	[ -z "$IMAGE_OBSTACLE" ] || return 0
	private_storage "$BATS_FILE_TMPDIR/containers" "$LOOPBACK_PORT"
	build_image PLATFORMS=linux/arm64
}

teardown_file() {
	[ -n "${IMAGE_OBSTACLE:-}" ] || remove_storage "$BATS_FILE_TMPDIR/containers"
}

@test "it is an image for arm64, less than 7 MiB" {
	need_image
	podman image inspect "$image" >"$T/result.json"
	holds '.[0] | .Architecture == "arm64" and .Os == "linux"'
	echo "# arm64 image: $(get '.[0].Size') bytes" >&3
	within "$(get '.[0].Size')" 500000 $((7 << 20))
}

@test "the program measures, by psync" {
	need_image
	WRAP=(qemu-aarch64-static)
	pvcbench=$(unpacked)/pvcbench
	pvcbench version
	exits 0
	says "^pvcbench $version$"
	dir=$(directory)
	plan <<-END
		version: 1
		target: $dir
		size: 16MiB
		ramp_time: 0
		runtime: 500ms
		tests: [{name: read-iops, rw: randread, bs: 4KiB, iodepth: 4, numjobs: 2}]
	END
	measure
	holds '.tests[0] | .status == "ok" and .ioengine == "psync" and .read.ios > 0'
	holds '.tests[0].ioengine_reason | test("Function not implemented")'
	valid "$T/result.json"
	empty "$dir"
}

@test "make push makes one name of both architectures" {
	need_image
	need skopeo
	registry
	cd "$(tree)"
	reference=localhost:$LOOPBACK_PORT/you/pvcbench:v1
	TOOL=podman nice make -s push "IMAGE=$reference" >"$T/log" 2>&1 3>&-
	skopeo inspect --raw --tls-verify=false "docker://$reference" >"$T/result.json"
	holds '[.manifests[].platform | .os + "/" + .architecture] | sort ==
		["linux/amd64", "linux/arm64"]'
	grep -q 'newTag: "v1"' kustomization.yaml
}
