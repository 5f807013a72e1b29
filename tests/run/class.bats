#!/usr/bin/env bats
# A class.yaml: where it is found, what it does to sizes, what a result is held against.

load lib

# PLAN's folder gets this class.
class() { # <<END
	cat >"$T/class.yaml"
}

reads() { # TARGET [KEY: VALUE...]: a plan of one test
	plan <<-END
		version: 1
		target: $1
		size: 64MiB
		ramp_time: 0
		runtime: 300ms
		$(printf '%s\n' "${@:2}")
		tests:
		  - {name: reads, rw: randread, bs: 4KiB, iodepth: 8}
	END
}

# In a mount namespace whose /etc holds nothing but this class.
with_mounted_class() { # FILE
	need_root
	need unshare
	cp "$1" "$T/mounted.yaml"
	WRAP=(unshare -m --propagation private bash -ec "
		mount -t tmpfs tmpfs /etc
		mkdir /etc/pvcbench
		cp '$T/mounted.yaml' /etc/pvcbench/class.yaml
		exec \"\$@\"" -)
}

@test "a class beside the plan: its name and limits stand in the conditions" {
	reads "$(directory)"
	class <<-'END'
		name: evs-ultra
		capacity: 1000GiB
		note: The pages disagree.
		published:
		  iops: {base: 1800, per_gib: 50, max: 50000}
		  mib_per_s: {base: 120, per_gib: 0.5, max: 350}
		  burst: {iops: 16000, credit: 28800000}
		  io_unit: 256KiB
		  scope: sum
		  source: the provider's own page
	END
	measure
	holds '.conditions.class == "evs-ultra" and .conditions.class_note == "The pages disagree."'
	holds '.conditions.class_limits == {
		capacity_bytes: 1073741824000, iops: 50000, mib_per_s: 350, burst_iops: 16000,
		burst_mib_per_s: null, burst_credit: 28800000, io_unit: 262144, scope: "sum",
		source: "the provider'\''s own page"}'
	says "class +evs-ultra: 50000 IOPS, 350 MiB/s for 1000GiB, reads and writes together, a\
 request above 256KiB counts as several \(the provider's own page\)$"
	says "^ +The pages disagree\.$"
	says "^ +the volume's own capacity is .*: the limits are those of the class's 1000GiB$"
	valid "$T/result.json"
	pvcbench check "$T/plan.yaml"
	exits 0
	says "^class evs-ultra: 50000 IOPS, 350 MiB/s for 1000GiB"
}

# Eight requests at a time, of 100 ms each: 80 a second, or some fewer on a busy machine.
@test "a result at the published limit, below it and above it" {
	faultfs
	rules "read delay 100"
	reads "$mnt"
	limits_iops() { # N
		class <<-END
			name: slow
			published: {iops: {base: $1}, scope: sum, source: the test}
		END
	}
	limits_iops 77
	measure --set runtime=4s --set size=1MiB
	holds '.tests[0].verdicts | map(.code) == ["published-limit"]'
	holds '.tests[0].verdicts[0] | .figure >= 0.9 and .figure <= 1.05'
	says "published-limit: .* IOPS.*: [0-9.]+ % of the class's 77 IOPS \(the test\)"
	says "^reads .* published-limit$"
	limits_iops 200
	measure --set runtime=4s --set size=1MiB
	holds '.tests[0].verdicts == []'
	limits_iops 20
	measure --set runtime=4s --set size=1MiB
	holds '.tests[0].verdicts | map(.code) == ["server-cache"]'
	says "times the class's 20 IOPS \(the test\): a cache, or a volume that class.yaml does not"
	says "^reads .* -$"
}

@test "nothing published: the conditions say so, and there is no verdict" {
	reads "$(directory)"
	echo "name: local-pv" >"$T/class.yaml"
	measure
	holds '.conditions.class == "local-pv" and (.conditions | has("class_limits") | not)'
	says "class +local-pv: no published limit$"
	never_says "published-limit"
}

@test "the size of a class is no concession: strict runs, thresholds are judged" {
	reads "$(directory)" "strict: true" 'expect: ["read.iops >= 1"]' "direct: false"
	printf '%s\n' "name: obs-pfs" "size: 16MiB" >"$T/class.yaml"
	measure
	holds '.tests[0] | .size_asked == 67108864 and .size == 16777216 and .size_class == .size'
	holds '.tests[0] | .concessions == [] and .expect[0].result == "pass"'
	holds '.tests[0].layout_bytes == 16777216'
	says "size +16MiB of 64MiB asked \(class\.yaml leaves 16MiB\)"
	valid "$T/result.json"
}

# Four files, together no larger than the class's size.
@test "the size of a class holds for all files of a test" {
	reads "$(directory)" "numjobs: 4" "file_per_job: true"
	printf '%s\n' "name: emptydir-memory" "size: 16MiB" >"$T/class.yaml"
	pvcbench check "$T/plan.yaml"
	exits 0
	says "at most 16MiB in all files of a test"
	says "reads .* size 4MiB +layout 16MiB"
	measure
	holds '.tests[0] | .size == 4194304 and .layout_bytes == 16777216'
}

@test "the shipped sizes act on a built-in plan, by /etc/pvcbench/class.yaml" {
	tmpfs 16G
	with_mounted_class "$repo/storageclasses/cce/obs-pfs/class.yaml"
	pvcbench check cce --target "$mnt"
	exits 0
	says "^class obs-pfs: no published limit$"
	same "$(grep -c 'size 2GiB ' "$T/out")" 9
	with_mounted_class "$repo/storageclasses/generic/emptydir-memory/class.yaml"
	pvcbench check cce --target "$mnt"
	exits 0
	says "^class emptydir-memory: no published limit$"
	same "$(grep -c 'size 1GiB ' "$T/out")" 9
}

@test "the class beside the plan goes before the mounted one; without both there is none" {
	reads "$(directory)"
	echo "name: mounted" >"$T/other.yaml"
	with_mounted_class "$T/other.yaml"
	pvcbench check "$T/plan.yaml"
	exits 0
	says "^class mounted: "
	pvcbench check quick --target "$T/dir" --set container_fs=true
	exits 0
	says "^class mounted: "
	echo "name: beside" >"$T/class.yaml"
	pvcbench check "$T/plan.yaml"
	exits 0
	says "^class beside: "
	never_says "mounted"
	rm "$T/class.yaml"
	[ ! -e /etc/pvcbench/class.yaml ] || skip "there is an /etc/pvcbench/class.yaml"
	WRAP=()
	measure
	holds '.conditions.class == null and (.conditions | has("class_note") | not)'
	never_says "^ +class "
}

@test "a wrong class is exit 2, with place and remedy, and nothing is run" {
	reads "$(directory)"
	printf '%s\n' "name: x" "capasity: 10GiB" >"$T/class.yaml"
	wrong="unknown key 'capasity' of a class (did you mean 'capacity'?)"
	for command in run check; do
		pvcbench "$command" "$T/plan.yaml"
		exits 2
		same "$(cat "$T/err")" "pvcbench: $T/class.yaml:2:1: $wrong"
		empty "$T/dir"
	done
}

@test "several targets: the class is not applied, and the conditions say so" {
	mkdir "$T/a" "$T/b"
	reads "[$T/a, $T/b]"
	printf '%s\n' "name: one" "size: 4MiB" >"$T/class.yaml"
	measure
	holds 'all(.targets[]; .class == null and (.class_note | test("one.*2 targets")))'
	holds 'all(.tests[]; .size == 67108864)'
	says "class +class 'one' is not applied: class.yaml describes one volume"
	valid "$T/result.json"
}
