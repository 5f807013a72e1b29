# A copy of the root whose claims name the cluster's own class: one Job after the other, and
# the custom file system whose two values are missing at first.
bats_require_minimum_version 1.5.0
load lib.bash

jobs=(pvcbench-evs-high-io pvcbench-evs-ultra pvcbench-sfs pvcbench-obs-pfs pvcbench-emptydir)

# The claims of all classes but the custom one, whose volume is not made by a class.
map_classes() {
	mkdir "$tree/mapped"
	cat >"$tree/mapped/kustomization.yaml" <<-END
		apiVersion: kustomize.config.k8s.io/v1alpha1
		kind: Component
		patches:
		  - target: {kind: PersistentVolumeClaim, labelSelector: pvcbench/class!=sfs-turbo}
		    patch: |-
		      - {op: replace, path: /spec/storageClassName, value: $1}
		      - {op: replace, path: /spec/accessModes, value: [ReadWriteOnce]}
	END
	sed -i 's|^components:|&\n  - mapped|' "$tree/kustomization.yaml"
}

setup_file() {
	class=$(default_class)
	new_namespace baseline
	copy_tree
	map_classes "$class"
	"$kubectl" delete pv pvcbench-sfs-turbo --ignore-not-found --timeout=60s
	k apply -k "$tree" >"$BATS_FILE_TMPDIR/apply" 2>&1 || true
	collect 300 "${jobs[@]}"
}

teardown_file() {
	end_namespace
	"$kubectl" delete pv pvcbench-sfs-turbo --ignore-not-found --timeout=60s
}

@test "the unedited export is refused, and the refusal names the field" {
	grep -E 'pvcbench-sfs-turbo.* is invalid: .*spec.csi.volumeHandle: Required value' \
		"$BATS_FILE_TMPDIR/apply"
	same "$(grep -c invalid "$BATS_FILE_TMPDIR/apply")" 1
	not "$kubectl" get pv pvcbench-sfs-turbo
}

@test "the other classes run, each to its end" {
	for name in "${jobs[@]}"; do
		is_a_good_run "$name"
	done
}

@test "one Job at a time in the cluster" {
	one_after_the_other "${jobs[@]}"
}

@test "the export without values holds up no other class: its pod has no node" {
	same "$(pod_phase pvcbench-sfs-turbo)" Pending
	same "$(k get pods -l job-name=pvcbench-sfs-turbo \
		-o jsonpath='{.items[*].spec.nodeName}')" ""
}

@test "a root-owned directory is used as root without capabilities" {
	look_at pvcbench-sfs
	same "$(jq -r '.spec.securityContext | "\(.runAsUser) \(.fsGroup)"' "$kept.json")" "0 null"
}

@test "with its two values the volume and the claim bind" {
	sed -i 's|volumeHandle: ""|volumeHandle: a47d0d91-011b-42ce-8c2f-eec5ce1e2a25|
		s|location: ""|location: "192.168.0.10:/"|' \
		"$tree/storageclasses/cce/sfs-turbo/export.yaml"
	k delete job pvcbench-sfs-turbo --timeout=60s
	k apply -k "$tree" -l pvcbench/class=sfs-turbo --dry-run=server
	"$kubectl" kustomize "$tree" >"$T/all.yaml"
	"$PYTHON" - "$T/all.yaml" >"$T/turbo.yaml" <<-'END'
		import sys, yaml
		keep = ('PersistentVolume', 'PersistentVolumeClaim')
		every = [d for d in yaml.safe_load_all(open(sys.argv[1])) if d['kind'] in keep]
		print(yaml.safe_dump_all(d for d in every if 'sfs-turbo' in d['metadata']['name']))
	END
	k apply -f "$T/turbo.yaml"
	bound() {
		[ "$(k get "$1" pvcbench-sfs-turbo -o jsonpath='{.status.phase}')" = Bound ]
	}
	await 60 bound pv
	await 60 bound pvc
	same "$("$kubectl" get pv pvcbench-sfs-turbo \
		-o jsonpath='{.spec.csi.volumeAttributes.everest\.io/share-export-location}')" \
		192.168.0.10:/
}

@test "delete leaves the custom file system's volume, which is the user's, to nobody" {
	k delete -k "$tree" --ignore-not-found --timeout=90s
	same "$(k get jobs,pvc,configmaps -l app.kubernetes.io/name=pvcbench -o name)" ""
	not "$kubectl" get pv pvcbench-sfs-turbo
}
