#!/usr/bin/env bats
# What the program says of itself: help, the man page made of it, the schemas.
# side by side

bats_require_minimum_version 1.5.0
load lib

commands() {
	"$pvcbench" help | sed -n 's/^  pvcbench \([a-z]*\) .*/\1/p'
}

@test "man: every command with its options, without a warning of groff" {
	"$repo/docs/man" "$pvcbench" >"$T/pvcbench.1"
	groff -man -Tutf8 -ww -P-c "$T/pvcbench.1" >"$T/page" 2>"$T/warnings"
	same "$(<"$T/warnings")" ""
	sed -i 's/.\x08//g; s/‐/-/g; s/−/-/g' "$T/page"
	within "$(commands | wc -l)" 9 20
	for command in $(commands); do
		grep -q "pvcbench $command" "$T/page"
		for option in $("$pvcbench" "$command" --help | grep -oE '^  (-., )?--[a-z-]+' |
			grep -o -- '--.*'); do
			grep -q -- "$option" "$T/page" || { echo "$command: no $option"; false; }
		done
	done
	grep -q '99 *a threshold' "$T/page"
}

@test "plans --schema: what editors are given is what is compiled in" {
	cmp "$repo/docs/plan.schema.json" <("$pvcbench" plans --schema)
	cmp "$repo/docs/plan.schema.json" <("$pvcbench" plans --schema plan)
	cmp "$repo/docs/result.schema.json" <("$pvcbench" plans --schema result)
	run -2 --separate-stderr "$pvcbench" plans --schema nothing
	[[ $stderr == *"there are: plan, result"* ]]
	# every built-in plan fits it
	"$pvcbench" plans --schema >"$T/schema.json"
	for plan in $("$pvcbench" plans); do
		"$pvcbench" plans "$plan" | "$PYTHON" -c '
import json, jsonschema, sys, yaml
jsonschema.validate(yaml.safe_load(sys.stdin), json.load(open(sys.argv[1])))' "$T/schema.json"
	done
}
