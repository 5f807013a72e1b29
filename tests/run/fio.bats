#!/usr/bin/env bats
# --fio-json: what is read as fio's JSON, held against a file of fio itself.

bats_require_minimum_version 1.5.0
load lib

# The same load by both: so many requests a second on a file in memory.
both() {
	mkdir "$T/dir"
	mnt=$T/dir
	plan <<-END
		version: 1
		target: $mnt
		size: 16MiB
		ramp_time: 0
		runtime: 3s
		tests:
		  - {name: t, rw: randrw, rwmixread: 75, bs: 8KiB, iodepth: 4, ioengine: psync,
		     direct: false, rate_iops: 400, fdatasync: 16}
	END
	pvcbench run "$T/plan.yaml" --fio-json "$T/ours.json"
	exits 0
	(cd "$mnt" && fio --name=t --rw=randrw --rwmixread=75 --bs=8k --ioengine=psync --size=16m \
		--rate_iops=300,100 --fdatasync=16 --time_based --runtime=3 \
		--lat_percentiles=1 --output-format=json --output="$T/fio.json")
}

# Paths to all values of a document, and what type these have.
shape() {
	jq -r 'paths(scalars) as $path
		| "\($path | map(tostring) | join("/")) \(getpath($path) | type)"' "$1" | sort
}

# A figure of both, ours at most so many percent off.
near() { # PATH PERCENT
	local ours fio
	ours=$(jq "$1" "$T/ours.json")
	fio=$(jq "$1" "$T/fio.json")
	echo "$1: $ours, fio has $fio"
	within "$ours" "$(jq -n "$fio * (100 - $2) / 100")" "$(jq -n "$fio * (100 + $2) / 100")"
}

@test "fio-json: every key is one of fio's, with its type, and the units are fio's" {
	both
	# the options that each was asked with are its own
	shape "$T/ours.json" | grep -v 'job options' >"$T/keys"
	not grep . <(comm -23 "$T/keys" <(shape "$T/fio.json"))
	jq -r '.jobs[0]["job options"] | keys[]' "$T/ours.json" | sort >"$T/options"
	not grep . <(comm -23 "$T/options" <(fio --cmdhelp=all | awk '{ print $1 }' | sort))
	holds_fio '.jobs[0]["job options"] | .bs == "8k" and .size == "16m" and .rw == "randrw"'
	for op in read write; do
		for key in iops bw_bytes bw io_bytes total_ios iops_mean bw_mean; do
			near ".jobs[0].$op.$key" 20
		done
		near ".jobs[0].$op.runtime" 2
		holds_fio ".jobs[0].$op | .lat_ns.N == .total_ios
			and .io_kbytes == (.io_bytes / 1024) and .io_bytes == .total_ios * 8192
			and .lat_ns.min <= .lat_ns.percentile[\"1.000000\"]
			and .lat_ns.percentile[\"99.990000\"] <= .lat_ns.max"
	done
	holds_fio '.jobs[0].sync | .total_ios > 5 and .lat_ns.N == .total_ios'
	near '.timestamp' 0.1
	# all requests are in the classes of latency
	holds_fio '[.jobs[0] | .latency_ns, .latency_us, .latency_ms | .[]] | add
		| . > 99 and . < 101'
}

holds_fio() { # FILTER
	jq -e "$1" "$T/ours.json"
}

@test "fio-json: of a merged result, beside the others; no other file is written over" {
	jq '.tests[].started_ns = "1800000000000000000"' "$repo/tests/golden/quick.json" \
		>"$T/quick.json"
	"$pvcbench" merge "$T/quick.json" --fio-json "$T/ours.json" >/dev/null
	jq -e --slurpfile result "$T/quick.json" '[.jobs[] | [.jobname, .read.iops]]
		== [$result[0].tests | sort_by(.name)[] | [.name, .read.iops // 0]]' "$T/ours.json"
	echo mine >"$T/other"
	run -4 "$pvcbench" merge "$T/quick.json" --fio-json "$T/other"
	same "$(<"$T/other")" mine
}
