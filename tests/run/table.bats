#!/usr/bin/env bats
# Kind table: what is deleted is counted once and what remains is said, whatever the service does.
# side by side

bats_require_minimum_version 1.5.0
load lib

# A token that tables.py takes.
TOKEN='sv=2019-02-02&ss=t&sp=raud&sig=a%2Bb%3D'

setup_file() {
	unset http_proxy https_proxy all_proxy no_proxy HTTPS_PROXY ALL_PROXY NO_PROXY
	unset SSL_CERT_FILE SSL_CERT_DIR AZURE_STORAGE_SAS_TOKEN
	export AZURE_STORAGE_ACCOUNT=testaccount AZURE_STORAGE_KEY
	AZURE_STORAGE_KEY=$(printf 'a key that is no secret' | base64)
}

# tables.py; sets $at, its URL, and $service, its directory.
service() { # [CERTIFICATE KEY]
	service=$T/service
	mkdir "$service"
	"$PYTHON" "$repo/tests/run/tables.py" "$service" "$@" >"$service/log" 2>&1 3>&- &
	undo kill $!
	await 20 test -s "$service/port"
	at=http${1:+s}://127.0.0.1:$(<"$service/port")
}

misbehave() { # RULE...: OP FROM COUNT WHAT
	printf '%s\n' "$@" >"$service/rules"
}

# A plan of 5 partitions of 250 entities; $KEYS more keys of the test.
table_plan() {
	plan <<-END
		version: 1
		endpoint: $at
		table: t01
		partitions: 5
		entities: 250
		entity_bytes: 10
		concurrency: 3
		tests: [{name: t, kind: table${KEYS:+, $KEYS}}]
	END
}

state() { # JQ EXPRESSION: true of what the service has
	need curl
	curl -sf "$at/state" >"$T/state.json"
	holds "$1" "$T/state.json"
}

state_is() { # JQ EXPRESSION: the same, as a question
	curl -sf "$at/state" | jq -e "$1" >/dev/null
}

of_table() { # JQ EXPRESSION: true of the test's table
	holds ".tests[0].table | $1" "$T/result.json"
}

# All 1250 were deleted, each counted once; nothing but the mark is left.
all_deleted() {
	of_table '.deleted + .confirmed + .gone == 1250 and .found == 1250 and .complete'
	state '.rows == 1'
}

@test "all entities are deleted and counted once, in batches and by pages" {
	service
	echo 30 >"$service/page"
	table_plan
	measure
	all_deleted
	of_table '.filled == 1250 and .deleted == 1250 and .retried == 0'
	says 'deleted 1250 entities in .*: [0-9]+ entities/s, .* transactions/s'
	says 'none remains'
}

@test "results of several pods are not merged" {
	service
	table_plan
	measure
	pvcbench merge "$T/result.json"
	exits 2
	says "its 't' is of kind table, of which results are not merged"
}

@test "pages of a thousand rows, and select: all" {
	service
	KEYS='select: all' table_plan
	measure
	all_deleted
	state '.counts.query == 5 and .counts.batch == 30'
	of_table '.answered == 20'
}

@test "one by one" {
	service
	KEYS='strategy: single' table_plan
	measure
	all_deleted
	state '.counts.delete == 1250'
}

@test "the whole table" {
	service
	KEYS='strategy: drop-table' table_plan
	measure
	of_table '.deleted == 1250 and .answered == 1 and .complete'
	state '.tables == []'
}

@test "strategies side by side in one plan" {
	service
	KEYS='strategy: [batch, single, drop-table]' table_plan
	measure
	holds '[.tests[].name] == ["t-batch", "t-single", "t-drop-table"]' "$T/result.json"
	holds 'all(.tests[]; .table.deleted == 1250)' "$T/result.json"
}

@test "cutoff keeps what is not older" {
	service
	KEYS='cutoff: 100' table_plan
	measure
	of_table '.deleted == 500 and .complete'
	state '.rows == 751'
}

@test "a SAS in place of the key" {
	service
	echo "?$TOKEN" >"$T/sas"
	KEYS="sas_file: $T/sas" table_plan
	measure
	all_deleted
	run ! grep -r 'sig=' "$T/out" "$T/err" "$T/result.json"
}

@test "throttled: waits, tries again, and counts both" {
	service
	KEYS='concurrency: 1' table_plan
	misbehave 'batch 17 1 busy' 'query 2 1 429' 'batch 20 1 inner-429' 'batch 22 1 timeout'
	measure
	all_deleted
	of_table '.throttled == 4 and .retried == 4 and .backoff_ns > 3e9'
}

@test "Retry-After says how long to wait" {
	service
	KEYS='concurrency: 1' table_plan
	misbehave 'batch 17 1 busy-after'
	measure
	all_deleted
	of_table '.retried == 1 and .backoff_ns >= 1e9 and .backoff_ns < 1.2e9'
}

@test "an empty page with a token is not the end" {
	service
	table_plan
	misbehave 'query 1 3 empty'
	measure
	all_deleted
}

@test "a batch whose answer was lost is counted once" {
	service
	KEYS='concurrency: 1' table_plan
	misbehave 'batch 17 1 lost'
	measure
	all_deleted
	of_table '.confirmed == 100 and .deleted == 1150 and .gone == 0'
}

@test "a batch that was done after the time was up is counted once" {
	service
	KEYS='concurrency: 1, timeout: 500ms' table_plan
	misbehave 'batch 17 1 late'
	measure
	all_deleted
	of_table '.confirmed == 100 and .unanswered == 1'
}

@test "an answer that is cut short is counted once" {
	service
	KEYS='concurrency: 1' table_plan
	misbehave 'batch 17 1 cut' 'query 3 1 cut'
	measure
	all_deleted
	of_table '.confirmed == 100 and .unanswered == 2'
}

@test "a deletion whose answer was lost is counted once, one by one" {
	service
	KEYS='concurrency: 1, strategy: single' table_plan
	misbehave 'delete 7 1 lost'
	measure
	all_deleted
	of_table '.confirmed == 1 and .deleted == 1249'
}

@test "what never reached the service is deleted" {
	service
	KEYS='concurrency: 1' table_plan
	misbehave 'batch 17 1 break'
	measure
	all_deleted
	of_table '.confirmed == 0 and .deleted == 1250'
}

@test "what another hand deleted is not ours" {
	service
	KEYS='concurrency: 1' table_plan
	misbehave 'batch 17 1 gone'
	measure
	all_deleted
	of_table '.gone == 1 and .deleted == 1249'
}

@test "what the service does not do is a failure, and what remains is said" {
	service
	KEYS='concurrency: 1' table_plan
	misbehave 'batch 18 99 inner-400'
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	says "'$at' answers 400 InvalidInput; at most 1050 of 1250 entities remain"
	of_table '.deleted == 200 and .remaining_at_most == 1050 and (.complete | not)'
}

@test "given up after the retries" {
	service
	KEYS='concurrency: 1, retries: 1' table_plan
	misbehave 'batch 17 99 busy'
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	says '503 ServerBusy \(given up after 2 tries\); at most 1150 of 1250 entities remain'
}

@test "a run that was killed is gone on with" {
	service
	KEYS='concurrency: 1' table_plan
	misbehave 'batch 20 1 late'
	start run "$T/plan.yaml"
	await 20 state_is ".counts.batch >= 20"
	kill -KILL "$pid"
	ends 10
	rm "$service/rules"
	KEYS='fill: false' table_plan
	await 10 state_is ".rows == 801"
	measure
	of_table '.found == 800 and .deleted == 800 and .complete and .filled == 0'
	state '.rows == 1'
}

@test "a signal ends it, and what was deleted is told" {
	service
	KEYS='concurrency: 1' table_plan
	misbehave 'batch 20 1 late'
	start run "$T/plan.yaml" --out "$T/result.json"
	await 20 state_is ".counts.batch >= 20"
	kill -INT "$pid"
	ends 10
	same "$status" 130
	of_table '.deleted == 350 and .remaining_at_most == 900'
}

@test "a table that is not ours is left alone" {
	service
	KEYS='strategy: drop-table' table_plan
	curl -sf "$at/Tables?$TOKEN" -d '{"TableName":"t01"}'
	curl -sf -X PUT "$at/t01(PartitionKey='a',RowKey='b')?$TOKEN" -d '{}'
	pvcbench run "$T/plan.yaml"
	exits 4
	says "table 't01' of '$at' was not made by pvcbench, and stays as it is"
	state '.rows == 1'
}

@test "wrong key, wrong table, 403, clock: a line for each" {
	service
	KEYS='fill: false' table_plan
	pvcbench run "$T/plan.yaml"
	exits 3
	says "'$at' has no table 't01' \(fill: true makes it\)"
	AZURE_STORAGE_KEY=c2VjcmV0 pvcbench run "$T/plan.yaml"
	exits 3
	says "refuses account 'testaccount': 403 AuthenticationFailed \(is the key that of this acc"
	AZURE_STORAGE_KEY='no base64' pvcbench run "$T/plan.yaml"
	exits 2
	says "the key of the account 'testaccount' is no base64"
	run ! grep -q 'no base64 key' "$T/log"
	misbehave 'get 1 99 forbidden'
	pvcbench run "$T/plan.yaml"
	exits 3
	says '403 AuthorizationPermissionMismatch \(the SAS lacks a permission'
	misbehave 'get 1 99 skew'
	pvcbench run "$T/plan.yaml"
	exits 3
	says "clock is 1h00m off the service's, and more than 15m is refused"
	AZURE_STORAGE_KEY='' pvcbench run "$T/plan.yaml"
	exits 2
	says "no key and no SAS for account 'testaccount'"
}

@test "TLS: trusted by ca_file, else one line" {
	need openssl
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
		-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
		-keyout "$T/key.pem" -out "$T/cert.pem" 2>/dev/null
	service "$T/cert.pem" "$T/key.pem"
	table_plan
	pvcbench run "$T/plan.yaml"
	exits 1
	says "the certificate of '127.0.0.1:[0-9]+' is not trusted"
	KEYS="ca_file: $T/cert.pem" table_plan
	measure
	of_table '.deleted == 1250'
}

@test "nobody there" {
	service
	at=http://127.0.0.1:1 KEYS='retries: 0' table_plan
	pvcbench run "$T/plan.yaml"
	exits 1
	says "'127.0.0.1:1' refuses the connection"
}

# Microsoft's own emulator, of a version that runs on Node 20; sets $at.
azurite() {
	need npm
	(
		flock 9
		[ -x "$build/azurite/node_modules/.bin/azurite-table" ] ||
			timeout 240 npm install --prefix "$build/azurite" --no-audit --no-fund \
				azurite@3.35.0 >"$T/npm" 2>&1
	) 9>"${TMPDIR:-/tmp}/pvcbench-azurite.lock" || skip "npm cannot fetch azurite"
	"$build/azurite/node_modules/.bin/azurite-table" --silent --disableTelemetry \
		--inMemoryPersistence --tableHost 127.0.0.1 --tablePort "${AZURITE_PORT:-10902}" \
		>"$T/azurite" 2>&1 3>&- &
	undo kill $!
	export AZURE_STORAGE_ACCOUNT=devstoreaccount1
	# Everybody has this key: it is written in Microsoft's documentation.
	AZURE_STORAGE_KEY=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr
	export AZURE_STORAGE_KEY+=/KBHBeksoGMGw==
	at=http://127.0.0.1:${AZURITE_PORT:-10902}/devstoreaccount1
	await 60 curl -s -o /dev/null "$at"
}

# A SAS of the account with these permissions, for an hour.
sas() { # PERMISSIONS
	"$PYTHON" - "$1" <<'END'
import base64, hashlib, hmac, os, sys, time, urllib.parse
sv, end = "2019-02-02", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
account, key = os.environ["AZURE_STORAGE_ACCOUNT"], os.environ["AZURE_STORAGE_KEY"]
text = "\n".join([account, sys.argv[1], "t", "sco", "", end, "", "", sv, ""])
mac = hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()
print(urllib.parse.urlencode({"sv": sv, "ss": "t", "srt": "sco", "sp": sys.argv[1], "se": end,
                              "sig": base64.b64encode(mac).decode()}))
END
}

@test "azurite: strategies, with what they give" {
	need curl
	azurite
	KEYS='strategy: [batch, single, drop-table]' table_plan
	measure
	holds 'all(.tests[]; .table | .deleted == 1250 and .gone == 0)' "$T/result.json"
	holds 'all(.tests[]; .table | .throttled == 0 and .failed <= 1)' "$T/result.json"
	holds '.tests[0].table.bytes_per_entity | . > 500 and . < 1200' "$T/result.json"
}

@test "azurite: more rows than a page, select: all, cutoff, and the rest" {
	need curl
	azurite
	KEYS='partitions: 2, entities: 2500, select: all, cutoff: 2200' table_plan
	measure
	of_table '.deleted == 4400'
	KEYS='partitions: 2, entities: 2500, fill: false' table_plan
	measure
	of_table '.found == 600 and .deleted == 600'
}

@test "azurite: an account's SAS, and one that may not delete" {
	need curl
	azurite
	sas rwdlacu >"$T/sas"
	KEYS="sas_file: $T/sas" table_plan
	measure
	of_table '.deleted == 1250'
	sas r >"$T/sas"
	KEYS="sas_file: $T/sas, fill: false" table_plan
	measure
	of_table '.found == 0'
	KEYS="sas_file: $T/sas" table_plan
	pvcbench run "$T/plan.yaml"
	exits 3
	says 'AuthorizationPermissionMismatch \(the SAS lacks a permission'
}

@test "azurite: a wrong key" {
	need curl
	azurite
	table_plan
	AZURE_STORAGE_KEY=c2VjcmV0 pvcbench run "$T/plan.yaml"
	exits 3
	says "refuses account 'devstoreaccount1': 403 .*\(is the key that of this account|firewall"
}
