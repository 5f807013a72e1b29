#!/usr/bin/env bats
# pvcbench report: results as a page, looked at as its readers do, in a browser.
# side by side

bats_require_minimum_version 1.5.0
load lib

golden=$repo/tests/golden

# A golden result as that of another class, half as fast.
result_as() { # NAME CLASS
	jq --arg class "$2" '.conditions.class = $class | .targets[]?.class = $class
		| .run.id += $class | .tests[].runtime_ns *= 2' "$golden/$1.json" >"$T/$2.json"
}

report() { # FILE...
	run --separate-stderr "$pvcbench" report "$@" -o "$T/report.html"
}

# What the charts are drawn from.
data() {
	"$PYTHON" - "$T/report.html" <<-'END'
		import re, sys
		page = open(sys.argv[1]).read()
		print(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
	END
}

# The page as the browser has it after its scripts, and what these said on the console.
browse() { # WIDTH [OPTION...]
	local width=$1
	command -v chromium >/dev/null || skip "no chromium"
	shift
	{
		cat "$T/report.html"
		echo "<script>addEventListener('load', () => setTimeout(() =>
			document.title = 'wide ' + document.documentElement.scrollWidth, 500))
			</script>"
	} >"$T/page.html"
	timeout 120 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$T/profile" --enable-logging=stderr --hide-scrollbars \
		--window-size="$width,${height:-1000}" --virtual-time-budget=15000 "$@" --dump-dom \
		"file://$T/page.html" >"$T/dom.html" 2>"$T/console"
	not grep CONSOLE "$T/console"
}

drawn() {
	grep -o '<canvas [^>]*role="img"' "$T/dom.html" | wc -l
}

@test "report: classes, tests, verdicts and figures of two results" {
	result_as article evs-ultra
	result_as article sfs
	result_as sweep obs-pfs
	report "$T/evs-ultra.json" "$T/sfs.json" "$T/obs-pfs.json"
	exits 0
	for text in '<h3>evs-ultra</h3>' '<h3>obs-pfs</h3>' 'Dbench Summary' 'class="best"'; do
		grep -qF "$text" "$T/report.html"
	done
	for test in $(jq -r '.tests[].name' "$T/sfs.json" "$T/obs-pfs.json"); do
		grep -qF "<summary>$test</summary>" "$T/report.html"
	done
	jq -r '.tests[].verdicts[].text' "$T/evs-ultra.json" | while IFS= read -r text; do
		"$PYTHON" -c 'import html, sys; print(html.escape(sys.argv[1]))' "$text" >"$T/text"
		grep -qF "$(sed 's/&#x27;/\&#39;/g' "$T/text")" "$T/report.html"
	done
	data | jq -e '.classes == ["evs-ultra", "sfs", "obs-pfs"] and (.sweeps | length) > 0'
	# each figure of the charts is that of the result
	data | jq -e --slurpfile result "$T/evs-ultra.json" '[.runs[]
		| select(.class == 0 and .op == "read") | {(.test): [.iops, .p50, .p99]}]
		| add as $drawn
		| [$result[0].tests[] | select(.read) | .name as $name
			| ($drawn[$name][0] * .runtime_ns / .read.ios / 1e9) as $ratio
			| $drawn[$name][1:] == [.read.lat_ns.p50, .read.lat_ns.p99]
				and ($ratio - 1 | fabs) < 1e-9] | all'
	# nothing is loaded from elsewhere
	not grep -E '(src|href)="(https?:)?//' "$T/report.html"
}

@test "report: a log is as good as the document, and its lines become one run again" {
	jq '.tests[].started_ns = "1800000000000000000"' "$golden/quick.json" >"$T/quick.json"
	"$PYTHON" "$repo/tests/bench/results.py" 3 <"$T/quick.json" >"$T/pods.log"
	report "$T/pods.log"
	exits 0
	data | jq -e '(.classes | length == 3 and (unique | length) == 3)'
	sort -R "$T/pods.log" | "$pvcbench" report - -o "$T/other.html"
	same "$(grep -c '<article' "$T/other.html")" 3
	run -1 --separate-stderr "$pvcbench" report "$T/pods.log" "$T/pods.log" -o "$T/report.html"
	[[ $stderr == *"was there before: left out"* ]]
	data | jq -e '.classes | length == 3'
}

@test "report: a run of no test, twice" {
	jq '.tests = []' "$golden/quick.json" >"$T/empty.json"
	report "$T/empty.json" "$T/empty.json" "$golden/quick.json"
	exits 0
	data | jq -e '(.classes | length) == 1 and (.runs | length) > 0'
}

@test "report: what results hold is shown as text" {
	evil='</script><script>document.title="evil"</script><img src=x onerror=alert(1)>"&'\'
	jq --arg evil "$evil" '.conditions.class = $evil | .run.plan = $evil
		| .conditions.node = $evil | .tests[0].error = $evil | .tests[0].status = "failed"
		| .tests[0].name = "</summary><script>" | .tests[1].verdicts = [{code: "noisy",
			figure: 1, text: $evil}]' "$golden/quick.json" >"$T/evil.json"
	report "$T/evil.json"
	exits 0
	not grep -F '<script>document' "$T/report.html"
	not grep -F '<img' "$T/report.html"
	data | jq -e --arg evil "$evil" '.classes == [$evil]'
	browse 1000
	grep -q '<title>wide' "$T/dom.html"
}

@test "report: in a browser, at three widths, light and dark, all charts, nothing too wide" {
	result_as article evs-ultra
	result_as article sfs
	result_as sweep obs-pfs
	report "$T/evs-ultra.json" "$T/sfs.json" "$T/obs-pfs.json"
	sed -i 's/<details class="test"/& open/' "$T/report.html"
	height=30000 # so that all of it is looked at
	for width in 500 820 1440; do
		browse "$width"
		within "$(drawn)" 40 200
		same "$(grep -o '<title>wide [0-9]*' "$T/dom.html")" "<title>wide $width"
	done
	browse 820 --blink-settings=preferredColorScheme=0
	within "$(drawn)" 40 200
	# without scripts the tables stand, with all figures
	within "$(grep -c '<table>' "$T/report.html")" 10 200
	same "$(grep -c 'class="scroll figure" tabindex="0"><table>' "$T/report.html")" 4
}

@test "report: twenty classes of thirty tests" {
	for i in $(seq 20); do
		jq -c --arg i "$i" '.conditions.class = "class-\($i)" | .run.id = "run-\($i)"
			| .tests = [range(30) as $n | .tests[$n % (.tests | length)]
				| .name = "test-\($n)"]' "$golden/quick.json" >"$T/$i.json"
	done
	report "$T"/[0-9]*.json
	exits 0
	data | jq -e '(.classes | length) == 20 and (.sections | length) == 30'
	within "$(wc -c <"$T/report.html")" 1e5 12e6
	# only what is looked at is drawn
	height=9000 browse 1440
	within "$(drawn)" 1 40
}

@test "report: wrong input is named, and no file but a report is written over" {
	cp "$golden/quick.json" "$T/quick.json"
	echo '{"schema":' >"$T/cut.json"
	report "$T/cut.json" "$T/quick.json"
	exits 1
	[[ $stderr == *"cut.json:1: "* ]]
	grep -q '<article' "$T/report.html"
	run -0 "$pvcbench" report "$T/quick.json" -o "$T/report.html"
	run -4 --separate-stderr "$pvcbench" report "$T/quick.json" -o "$T/quick.json"
	[[ $stderr == *"is there already"* ]]
	cmp "$golden/quick.json" "$T/quick.json"
	run -2 --separate-stderr "$pvcbench" report "$T/quick.json" -o "$T/nowhere/report.html"
	[[ $stderr == *"cannot write"* ]]
	run -2 "$pvcbench" report "$T/quick.json"
	run -2 "$pvcbench" report -o "$T/report.html"
	run -2 --separate-stderr "$pvcbench" report /dev/null -o "$T/none.html"
	[[ $stderr == *"no result"* ]]
	[ ! -e "$T/none.html" ]
}
