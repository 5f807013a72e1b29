# manifests/persistence/table with a kubectl that writes down how it was called.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	export CLUSTER=$BATS_TEST_TMPDIR/cluster KUBECTL=$BATS_TEST_TMPDIR/kubectl
	export POLL_SECONDS=0.1 LIMIT_SECONDS=30
	mkdir -p "$CLUSTER"
	cp tests/manifests/fake-kubectl "$KUBECTL"
	echo 'kind: Deployment' >"$CLUSTER/rendered"
	printf '%s\n' 'a|False' 'a|True b|False' 'a|True b|True' 'a|True b|True' \
		'a|True b|True c|True' >"$CLUSTER/pods-on-emptydir"
	printf '%s\n' '0 true' '0 true' '1 false' '1 true' >"$CLUSTER/writer-of-a"
}

says_of_execs() { # LINE...
	printf '%s\n' "$@" >"$CLUSTER/exec"
}

cells() { # VOLUME: those of its row
	sed -n "s/^$1 *//p" <<<"$output" | tr -s ' '
}

all_is_removed() {
	[[ $(tail -n 1 "$CLUSTER/calls") == 'delete --ignore-not-found '*' -f -' ]]
	[[ $(cat "$CLUSTER/stdin") == 'kind: Deployment' ]]
}

@test "a row says who sees the file, after which event" {
	says_of_execs '0 wrote' '0 there' '0 there' "1 FAILED: 'KEY' is not there: no file" \
		'137 killed' '0 there' "1 FAILED: 'KEY' is not there: no file"
	run -0 --separate-stderr manifests/persistence/table emptydir
	[[ $(head -n 1 <<<"$output") == 'volume  '*'same container  other container  other pod'* ]]
	[[ $(cells emptydir) == 'yes yes no yes no' && $(wc -l <<<"$output") == 2 ]]
	[[ $(grep -c '^exec' "$CLUSTER/calls") == 7 ]]
	[[ $(grep '^exec' "$CLUSTER/calls" | cut -d ' ' -f 2,4 | tr '\n' ,) == \
		'a writer,a writer,a reader,b writer,a writer,a writer,c writer,' ]]
	grep -q '^delete pod a ' "$CLUSTER/calls"
	all_is_removed
}

@test "the volumes named, or all, are rendered with the root's image" {
	says_of_execs '1 no'
	LIMIT_SECONDS=0 run -1 manifests/persistence/table emptydir pvc
	run -0 cat "$CLUSTER/kustomization.yaml"
	[[ $output == *$'resources:\n  - manifests/persistence/emptydir\n'*/pvc$'\nimages:\n'* ]]
	[[ $output == *'newName: localhost/pvcbench'* ]]
	LIMIT_SECONDS=0 run -1 manifests/persistence/table
	[[ $(grep -c manifests/persistence/ "$CLUSTER/kustomization.yaml") == 3 ]]
	touch "$CLUSTER/fail-kustomize"
	rm "$CLUSTER/calls"
	run -1 manifests/persistence/table
	[[ $(cat "$CLUSTER/calls") == kustomize* && $(wc -l <"$CLUSTER/calls") == 1 ]]
}

@test "an unknown volume is refused, and the known ones are named" {
	for volume in floppy base; do
		run -1 manifests/persistence/table emptydir "$volume"
		[[ $output == "no volume '$volume'; there are: container-fs emptydir pvc" ]]
	done
	[[ ! -e $CLUSTER/calls ]]
}

@test "a question that cannot be asked is an error with its reason, and others are asked" {
	says_of_execs '0 wrote' '1 Error from server: connection refused' '0 there' '0 there' \
		'0 wrote' "4 'KEY' was refused: no volume is mounted" '0 there'
	run -1 --separate-stderr manifests/persistence/table emptydir
	[[ $(cells emptydir) == 'error yes yes error yes' ]]
	[[ $stderr == *'connection refused'*'no volume is mounted'* ]]
	all_is_removed
}

@test "what cannot be brought about makes the rest of the row errors" {
	says_of_execs '0 wrote' '0 there' '0 there' '0 there' '1 exec is forbidden' '0 there'
	echo 'a|True b|True' >"$CLUSTER/pods-on-emptydir"
	echo '0 true' >"$CLUSTER/writer-of-a"
	LIMIT_SECONDS=1 run -1 --separate-stderr manifests/persistence/table emptydir
	[[ $(cells emptydir) == 'yes yes yes error error' && $stderr == *'exec is forbidden'* ]]
	all_is_removed
}

@test "pods that do not come, and a file that cannot be written, leave a row of errors" {
	says_of_execs '1 No space left on device'
	echo 'a|True b|True' >"$CLUSTER/pods-on-emptydir"
	LIMIT_SECONDS=1 run -1 --separate-stderr manifests/persistence/table pvc emptydir
	[[ $(cells pvc) == 'error error error error error' && $stderr == *'pvc: it ends here'* ]]
	[[ $(cells emptydir) == 'error error error error error' ]]
	[[ $stderr == *'No space left on device'* ]]
	all_is_removed
}

@test "it ends when the pods are gone, or says that they are not" {
	says_of_execs '0 there'
	printf '%s\n' pod/a pod/a '' >"$CLUSTER/pods-left"
	run -0 manifests/persistence/table emptydir
	[[ $(cat "$CLUSTER/pods-left") == '' ]]
	echo pod/a >"$CLUSTER/pods-left"
	LIMIT_SECONDS=1 run -1 manifests/persistence/table emptydir
	[[ $output == *'not all pods are gone'* ]]
}

@test "what was refused, and what a signal ends, is removed too" {
	echo 'exceeded quota' >"$CLUSTER/refusal"
	run -1 manifests/persistence/table emptydir
	[[ $output == *'exceeded quota'* ]]
	all_is_removed
	rm "$CLUSTER/refusal" "$CLUSTER/calls"
	manifests/persistence/table pvc 3>&- &
	until grep -qs '^apply' "$CLUSTER/calls"; do
		sleep 0.05
	done
	kill -TERM $!
	status=0
	wait $! || status=$?
	[[ $status == 143 ]]
	all_is_removed
}
