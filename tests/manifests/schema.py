"""schema.py SCHEMA_DIRECTORY RENDERED...: are the objects valid in every version?

The schemas are Kubernetes' OpenAPI definitions, a file for each version (1.21.0.json). They
allow unknown fields; here a definition that lists its properties allows no other, so that a
misspelt field is an error. A rendered component whose text says "Kubernetes 1.26 or later;
earlier ones refuse" is checked from that version on.
"""
import copy
import json
import pathlib
import re
import sys

import jsonschema

from objects import Tap, name_of, read

ANY_SCALAR = {"type": ["string", "integer", "number"]}
SCALARS = (
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
)


class Version:
    """A validator for each kind that this version of Kubernetes has."""

    def __init__(self, path):
        self.number = tuple(int(part) for part in path.stem.split(".")[:2])
        definitions = json.loads(path.read_text())["definitions"]
        self.kinds = {}
        for name, schema in definitions.items():
            if name in SCALARS:
                definitions[name] = ANY_SCALAR
            elif "properties" in schema:
                schema.setdefault("additionalProperties", False)
            for kind in schema.get("x-kubernetes-group-version-kind", []):
                group = kind["group"] + "/" if kind["group"] else ""
                self.kinds[group + kind["version"], kind["kind"]] = name
        self.root = {"definitions": definitions}

    def faults(self, thing):
        label = name_of(thing)
        name = self.kinds.get((thing["apiVersion"], thing["kind"]))
        if thing["kind"] in ("DaemonSet", "Deployment"):  # of which the schemas have the template only
            name, thing = "io.k8s.api.core.v1.PodTemplateSpec", thing["spec"]["template"]
        if not name:
            return [f"{label}: no such kind in this version"]
        schema = {"$ref": f"#/definitions/{name}", **self.root}
        errors = jsonschema.Draft4Validator(schema).iter_errors(thing)
        return [f"{label}: {list(e.path)}: {e.message[:200]}" for e in errors]


def first_version(path):
    """The version that a component's own text asks for."""
    component = re.match("component-(.*)", path.stem)
    if component:
        text = pathlib.Path(f"manifests/components/{component[1]}/kustomization.yaml").read_text()
        asked = re.search(r"Kubernetes 1\.(\d+) or later; earlier ones refuse", text)
        if asked:
            return (1, int(asked[1]))
    return (1, 0)


def misspelt(thing):
    """Faults that a version which is strict has to see."""
    unknown = copy.deepcopy(thing)
    unknown["spec"]["backofLimit"] = 0
    wrong = copy.deepcopy(thing)
    wrong["spec"]["backoffLimit"] = "none"
    group = copy.deepcopy(thing)
    group["apiVersion"] = "batch/v3"
    return unknown, wrong, group


def main():
    tap = Tap()
    paths = [pathlib.Path(p) for p in sys.argv[2:]]
    seen = {}
    for path in paths:
        for thing in read(path):
            key = json.dumps(thing, sort_keys=True), first_version(path)
            seen.setdefault(key, thing)
    schemas = sorted(pathlib.Path(sys.argv[1]).glob("1.*.json"), key=lambda p: Version(p).number)
    tap.test("there are schemas and objects", [] if schemas and seen else ["none"])
    job = next(thing for thing in seen.values() if thing["kind"] == "Job")
    for version in map(Version, schemas):
        chosen = [thing for (_, first), thing in seen.items() if first <= version.number]
        faults = [fault for thing in chosen for fault in version.faults(thing)]
        faults += [f"not seen: {bad}" for bad in misspelt(job) if not version.faults(bad)]
        label = ".".join(map(str, version.number))
        tap.test(f"{len(chosen)} objects are valid in Kubernetes {label}, strictly", faults)
    tap.finish()


main()
