"""Validate classes with docs/class.schema.json: print what is wrong, one line each."""
import glob
import json
import re

import jsonschema
import yaml

# What is wrong with a class, although a schema cannot say it.
BEYOND_A_SCHEMA = re.compile(
    r"stands here twice|environment variable|YAML tags|nested deeper|depends on the capacity"
    r"|no step for the capacity|is not above the one before it"
)


def load(path):
    with open(path, "rb") as file:
        return yaml.safe_load(file)


def main():
    with open("docs/class.schema.json", encoding="utf-8") as file:
        schema = json.load(file)
    validator = jsonschema.validators.validator_for(schema)(schema)
    validator.check_schema(schema)
    for path in glob.glob("storageclasses/*/*/class.yaml"):
        for error in validator.iter_errors(load(path)):
            print(f"{path}: {list(error.path)}: {error.message[:200]}")
    refused = 0
    for path in sorted(glob.glob("tests/plans/bad/class/*.yaml")):
        try:
            described = load(path)
        except (yaml.YAMLError, RecursionError):
            continue
        if not validator.is_valid(described):
            refused += 1
            continue
        with open(path[: -len("yaml")] + "err", encoding="utf-8") as file:
            error = file.read()
        if not BEYOND_A_SCHEMA.search(error):
            print(f"{path}: the schema lets pass: {error}", end="")
    if refused < 40:
        print(f"the schema refuses only {refused} of the bad classes")


main()
