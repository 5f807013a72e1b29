#!/usr/bin/python3
"""validate.py SCHEMA FILE...: checks JSON documents, and the result lines of logs,
against a JSON schema; prints what does not fit and exits 1."""
import json
import sys

import jsonschema

PREFIX = "pvcbench-result: "


def refuse(constant):
    raise ValueError(constant + " is no JSON")


def documents(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.startswith(PREFIX):
        for line in text.splitlines():
            yield json.loads(line[len(PREFIX):], parse_constant=refuse)
    else:
        yield json.loads(text, parse_constant=refuse)


with open(sys.argv[1], encoding="utf-8") as schema_file:
    schema = json.load(schema_file)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
failed = False
for name in sys.argv[2:]:
    for document in documents(name):
        for error in validator.iter_errors(document):
            place = "/".join(str(part) for part in error.absolute_path)
            print(f"{name}: {place}: {error.message[:200]}")
            failed = True
sys.exit(failed)
