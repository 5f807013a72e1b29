"""container_apps.py JOB SCHEMA: is the Job of Azure Container Apps one that the service takes?

Beyond the schema: references within the file, what Container Apps documents of names and sizes, and
that the plan in it is a plan. Each rule is shown the file, and then a copy made wrong on purpose.
"""
import copy
import json
import pathlib
import re
import sys

import jsonschema
import yaml

from objects import Tap


def template(job):
    return job["properties"]["template"]


def runner(job):
    return template(job)["containers"][0]


def secrets(job):
    return {s["name"]: s["value"] for s in job["properties"]["configuration"]["secrets"]}


def is_of_the_schema(job):
    schema = json.loads(pathlib.Path(sys.argv[2]).read_text())
    for error in jsonschema.Draft7Validator(schema).iter_errors(job):
        yield f"{list(error.path)}: {error.message[:200]}"


def references_are_met(job):
    volumes = {volume["name"]: volume for volume in template(job)["volumes"]}
    mounted = {mount["volumeName"] for mount in runner(job)["volumeMounts"]}
    if mounted != set(volumes):
        yield f"volumes {sorted(volumes)}, mounted {sorted(mounted)}"
    for volume in volumes.values():
        if ("storageName" in volume) != (volume["storageType"] == "AzureFile"):
            yield f"{volume}: a storage of the environment, and only that, has a name there"
        for item in volume.get("secrets", []):
            if item["secretRef"] not in secrets(job):
                yield f"{volume}: no secret {item['secretRef']}"
    for name in secrets(job):
        if not re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", name):
            yield f"secret {name}: not a name"


def sizes_are_offered(job):
    cpu, memory = (runner(job)["resources"][key] for key in ("cpu", "memory"))
    if memory != f"{2 * cpu:g}Gi" or not 0.25 <= cpu <= 4 or cpu % 0.25:
        yield f"the plan Consumption has no {cpu} CPU with {memory}"


def runner_is_told(job):
    told = {e["name"]: e["value"] for e in runner(job)["env"]}
    configuration = job["properties"]["configuration"]
    wanted = {"PVCBENCH_DEADLINE": str(configuration["replicaTimeout"]),
              "PVCBENCH_CPUS": str(runner(job)["resources"]["cpu"])}
    if told != wanted:
        yield f"{told}, not {wanted}"
    if configuration["replicaRetryLimit"] != 0:
        yield "would be tried again"


def plan_is_a_plan(job):
    plan = yaml.safe_load(secrets(job)["plan"])
    schema = json.loads(pathlib.Path("docs/plan.schema.json").read_text())
    for error in jsonschema.Draft202012Validator(schema).iter_errors(plan):
        yield error.message[:200]
    mounts = {mount["mountPath"] for mount in runner(job)["volumeMounts"]} - {"/etc/pvcbench"}
    for test in plan["tests"]:
        own = test["name"].startswith("own")
        targets = test["target"] if isinstance(test["target"], list) else [test["target"]]
        if set(targets) != ({"/scratch"} if own else mounts):
            yield f"{test['name']} is of {targets}, but mounted is {sorted(mounts)}"
        if test.get("container_fs", False) is not own or "container_fs" in plan:
            yield f"{test['name']}: a share that is not mounted would not be noticed"


def image_is_pinned(job):
    if not re.fullmatch(r"[a-z0-9.-]+\.[a-z]+(/[a-z0-9]+)+:v\d[\w.]*", runner(job)["image"]):
        yield runner(job)["image"]


CONFIGURATION = ("properties", "configuration")
TEMPLATE = ("properties", "template")
RUNNER = (*TEMPLATE, "containers", 0)

# A rule, a value that spoils the file for it, and where.
RULES = [
    (is_of_the_schema, 0, *CONFIGURATION, "replicaRetries"),
    (is_of_the_schema, "3600", *CONFIGURATION, "replicaTimeout"),
    (is_of_the_schema, "manual", *CONFIGURATION, "triggerType"),
    (is_of_the_schema, "HostPath", *TEMPLATE, "volumes", 0, "storageType"),
    (is_of_the_schema, {}, *RUNNER, "securityContext"),
    (references_are_met, "cash", *RUNNER, "volumeMounts", 0, "volumeName"),
    (references_are_met, "plans", *TEMPLATE, "volumes", 2, "secrets", 0, "secretRef"),
    (references_are_met, "EmptyDir", *TEMPLATE, "volumes", 1, "storageType"),
    (references_are_met, "a_plan", *CONFIGURATION, "secrets", 0, "name"),
    (sizes_are_offered, "2Gi", *RUNNER, "resources", "memory"),
    (runner_is_told, 1800, *CONFIGURATION, "replicaTimeout"),
    (runner_is_told, 1, *CONFIGURATION, "replicaRetryLimit"),
    (plan_is_a_plan, "version: 1\ntests:\n"
     "  - {name: own, target: /scratch, container_fs: true}\n"
     "  - {name: mounted, target: [/data]}\n", *CONFIGURATION, "secrets", 0, "value"),
    (image_is_pinned, "registry.example.com/you/pvcbench:latest", *RUNNER, "image"),
]


def main():
    tap = Tap()
    job = yaml.safe_load(pathlib.Path(sys.argv[1]).read_text())
    for rule in dict.fromkeys(rule for rule, *_ in RULES):
        tap.test(rule.__name__.replace("_", " "), list(rule(job)))
    for rule, value, *path in RULES:
        wrong = at = copy.deepcopy(job)
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
        tap.test(f"{rule.__name__.replace('_', ' ')}: {path[-1]} {str(value)[:20]!r} is seen",
                 [] if list(rule(wrong)) else ["not seen"])
    tap.finish()


main()
