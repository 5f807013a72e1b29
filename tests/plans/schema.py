"""Validate plans with docs/plan.schema.json: print what is wrong, one line each."""
import glob
import json
import re
import sys

import jsonschema
import yaml

# What is wrong with a plan, although a schema cannot say it.
BEYOND_A_SCHEMA = re.compile(
    r"test 'a|test 'b|environment variable|begins no variable|has no value|two tests are named"
    r"|more than \d+ (tests|anchors)|stands here twice|control character|the name 'n+-"
    r"|YAML tags|unknown key '<<'|is out of range|'/set' is not a size|'5MiB' is not a time"
    r"|'(101%|0.5%|65xmem)' is not a size|'zipf:1' is not a distribution|is longer than (95|2047) bytes"
    r"|has an @ behind the host|(secret|password) in the plan itself|exclude each other"
)


def load(path):
    with open(path, "rb") as file:
        return yaml.safe_load(file)


def main():
    with open("docs/plan.schema.json", encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    for path in sys.argv[1:]:
        for error in validator.iter_errors(load(path)):
            print(f"{path}: {list(error.path)}: {error.message[:200]}")
    refused = 0
    for path in sorted(glob.glob("tests/plans/bad/*.yaml")):
        try:
            plan = load(path)
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
            continue
        if not validator.is_valid(plan):
            refused += 1
            continue
        with open(path[: -len("yaml")] + "err", encoding="utf-8") as file:
            error = file.read()
        if not BEYOND_A_SCHEMA.search(error):
            print(f"{path}: the schema lets pass: {error}", end="")
    if refused < 60:
        print(f"the schema refuses only {refused} of the bad plans")


main()
