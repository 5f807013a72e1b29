#!/usr/bin/env bats
# A test that is repeated: what its runs have in common.
# side by side

load lib

@test "repeats: mean, deviation and interval, in the text and in the document" {
	plan <<-END
		version: 1
		target: $(directory)
		size: 1MiB
		ramp_time: 0
		tests:
		  - {name: lone, rw: randread, bs: 4KiB, runtime: 200ms}
		  - {name: files, rw: write, bs: 64KiB, loops: 2, repeat: 3, end_fsync: true}
	END
	measure
	valid "$T/result.json"
	says '^repeats: files: 3 of 3 runs$'
	says '^  runtime +[0-9.]+[mu]?s +[0-9.]+ % +[0-9.]+[nmu]?s to [0-9.]+[mu]?s$'
	says '^  write\.bw +'
	never_says '^repeats: lone'
	holds '[.tests[].repeat.index] == [null, 1, 2, 3]'
	holds '.repeats | length == 1 and (.[0] | .of == "files" and .runs == 3)'
	# the deviation by n - 1, and 4.3027 by the root of 3
	# shellcheck disable=SC2016 # they are jq's
	holds '([.tests[1:][].runtime_ns] | (add / 3) as $mean | {mean: $mean,
		stddev: ((map((. - $mean) * (. - $mean)) | add) / 2 | sqrt)}) as $by_hand |
		.repeats[0].runtime | (.mean - $by_hand.mean | fabs) < 1 and
		(.stddev - $by_hand.stddev | fabs) < 1 and
		(.ci95 - 4.3027 * $by_hand.stddev / (3 | sqrt) | fabs) < 0.001 * .ci95 + 1'
}

@test "repeats: where all but one fail there is no spread" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 1MiB
		ramp_time: 0
		tests:
		  - {name: t, rw: read, bs: 64KiB, loops: 1, repeat: 2}
	END
	rules 'read err EIO after=24'
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	never_says '^repeats: '
	holds 'has("repeats") | not'
}

# Of 5 runs, in seconds.
dd_median() { # ARG...
	local round
	for round in 1 2 3 4 5; do
		dd "$@" 2>&1 | sed -n 's/.* copied, \([0-9.]*\) s, .*/\1/p'
	done | sort -n | sed -n 3p
}

# Our own median by that.
by_dd() { # NAME SECONDS
	get "[.tests[] | select(.repeat.of == \"$1\").runtime_ns / 1e9] | sort[2] / $2"
}

@test "a file takes as long as dd takes for it" {
	faultfs
	plan <<-END
		target: $mnt
		bs: 12KiB
		size: 1200KiB
		loops: 1
		repeat: 5
		tests:
		  - {name: w, rw: write, direct: false, layout: none, end_fsync: true}
		  - {name: r, rw: read}
	END
	rules "read delay 4" "write delay 4" "fsync delay 30"
	measure
	within "$(by_dd w "$(dd_median if=/dev/zero of="$mnt/theirs" bs=12k count=100 \
		conv=fsync)")" 0.9 1.1
	within "$(by_dd r "$(dd_median if="$mnt/theirs" of=/dev/null bs=12k iflag=direct)")" 0.9 1.1
}
