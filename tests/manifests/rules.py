"""rules.py RENDERED...: what no schema says about our manifests.

A rule is a function of a rendering that returns faults. Each is shown all goldens, and then
a copy of one that was made wrong on purpose, which it has to see.
"""
import copy
import json
import pathlib
import re
import sys

import jsonschema
import yaml

from objects import Tap, name_of, pod_of, read, runner_of

UNITS = {"": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
SHARED = {"csi-nas", "csi-sfs", "csi-sfsturbo", "csi-obs", "azurefile-csi",
          "azurefile-csi-premium", "pvcbench-azurefile-nfs"}
IMAGE = re.compile(r"(?P<host>localhost|[a-z0-9.-]+\.[a-z]+(:\d+)?)"
                   r"(/[a-z0-9]+([._-][a-z0-9]+)*)+:(?P<tag>\w[\w.-]*)")
ENVIRONMENT = {"PVCBENCH_NODE", "PVCBENCH_JOB", "PVCBENCH_JOB_UID", "PVCBENCH_CPUS",
               "PVCBENCH_DEADLINE"}
LEVELS = ["restricted", "baseline", "privileged"]
RESTRICTED_VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral",
                      "persistentVolumeClaim", "projected", "secret"}


class Rendering:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.name = self.path.stem
        self.things = read(path)

    def of(self, kind):
        return [thing for thing in self.things if thing["kind"] == kind]

    def workloads(self):
        """Those of our objects that make pods."""
        return self.of("Job") + self.of("Deployment")

    def named(self, kind):
        return {thing["metadata"]["name"] for thing in self.of(kind)}

    def plan_of(self, job):
        wanted = volume_of(job, "plan")["configMap"]["name"]
        return next(m["data"] for m in self.of("ConfigMap") if m["metadata"]["name"] == wanted)

    def claim_of(self, job):
        """The spec and annotations of the claim behind /data, or None."""
        data = volume_of(job, "data") or {}
        if "ephemeral" in data:
            return data["ephemeral"]["volumeClaimTemplate"]
        wanted = data.get("persistentVolumeClaim", {}).get("claimName")
        claims = self.of("PersistentVolumeClaim")
        return next((c for c in claims if c["metadata"]["name"] == wanted), None)


def volume_of(job, name):
    return next((v for v in pod_of(job).get("volumes", []) if v["name"] == name), None)


def containers_of(workload):
    return pod_of(workload)["containers"]


def class_of(thing):
    return thing["metadata"].get("labels", {}).get("pvcbench/class")


def quantity(text):
    number, unit = re.fullmatch(r"(\d+)([KMGT]i)?(?:B)?", str(text)).groups()
    return int(number) * UNITS[unit or ""]


def schema(name):
    text = pathlib.Path(f"docs/{name}.schema.json").read_text()
    return jsonschema.Draft202012Validator(json.loads(text))


# ---- names and what they point to ----

def names_are_valid(r):
    for thing in r.things:
        name = thing["metadata"]["name"]
        if not re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", name) or len(name) > 63 - 2:
            yield f"{name_of(thing)}: not a name"
        if not name.startswith("pvcbench"):
            yield f"{name_of(thing)}: not ours by name"
    if len({name_of(thing) for thing in r.things}) < len(r.things):
        yield "two objects have the same name"


def references_are_met(r):
    for workload in r.workloads():
        for volume in pod_of(workload).get("volumes", []):
            config = volume.get("configMap", {}).get("name")
            claim = volume.get("persistentVolumeClaim", {}).get("claimName")
            if config and config not in r.named("ConfigMap"):
                yield f"{name_of(workload)}: no ConfigMap {config}"
            if r.name != "component-no-claim" and claim and (
                    claim not in r.named("PersistentVolumeClaim")):
                yield f"{name_of(workload)}: no claim {claim}"
        volumes = {volume["name"] for volume in pod_of(workload).get("volumes", [])}
        for container in containers_of(workload):
            used = {m["name"] for key in ("volumeMounts", "volumeDevices")
                    for m in container.get(key, [])}
            if used != volumes:
                yield f"{name_of(workload)}: volumes {volumes}, used {used}"
        if pod_of(workload).get("serviceAccountName"):
            yield f"{name_of(workload)}: a service account of which nothing is here"
    for claim in r.of("PersistentVolumeClaim"):
        spec = claim["spec"]
        if spec.get("volumeName") and spec["volumeName"] not in r.named("PersistentVolume"):
            yield f"{name_of(claim)}: no volume {spec['volumeName']}"
        storage_class = spec.get("storageClassName", "")
        if storage_class.startswith("pvcbench") and storage_class not in r.named("StorageClass"):
            yield f"{name_of(claim)}: no class {storage_class}"
    for volume in r.of("PersistentVolume"):
        claim = next((c["spec"] for c in r.of("PersistentVolumeClaim")
                      if c["spec"].get("volumeName") == volume["metadata"]["name"]), None)
        if not claim:
            yield f"{name_of(volume)}: no claim is for it"
        elif (any(claim[key] != volume["spec"][key] for key in ("storageClassName", "accessModes"))
              or claim["resources"]["requests"] != volume["spec"]["capacity"]):
            yield f"{name_of(volume)}: differs from its claim"


def labels_are_there(r):
    if volume_asked(r) or is_hops(r):
        return
    for thing in r.things:
        labels = thing["metadata"].get("labels", {})
        if labels.get("app.kubernetes.io/name") != "pvcbench" or (
                not labels.get("app.kubernetes.io/component")):
            yield f"{name_of(thing)}: labels {labels}"
        if r.name not in ("base", "component-no-claim") and (
                not class_of(thing) or f"-{class_of(thing)}" not in thing["metadata"]["name"]):
            yield f"{name_of(thing)}: label pvcbench/class is {class_of(thing)}"
    for job in r.of("Job"):
        if job["spec"]["template"]["metadata"]["labels"] != job["metadata"]["labels"]:
            yield f"{name_of(job)}: its pod has other labels"


def volume_asked(r):
    """The volume of a rendering of manifests/persistence, or None."""
    return r.name.removeprefix("persistence-") if r.name.startswith("persistence-") else None


def persistence_is_apart(r):
    """What selects the Jobs and what is theirs does not see it, nor do its volumes each other."""
    if not volume_asked(r):
        return
    own = {"app.kubernetes.io/name": "pvcbench-persistence", "pvcbench/volume": volume_asked(r)}
    for thing in r.things:
        labels = thing["metadata"]["labels"]
        if labels != {**own, "app.kubernetes.io/component": labels.get(
                "app.kubernetes.io/component")}:
            yield f"{name_of(thing)}: labels {labels}"
    for deployment in r.of("Deployment"):
        spec = deployment["spec"]
        near = pod_of(deployment)["affinity"]["podAffinity"][
            "preferredDuringSchedulingIgnoredDuringExecution"][0]["podAffinityTerm"]
        for selector in spec["selector"], near["labelSelector"]:
            if selector["matchLabels"] != own:
                yield f"{name_of(deployment)}: selects {selector}"
        if spec["template"]["metadata"]["labels"] != deployment["metadata"]["labels"]:
            yield f"{name_of(deployment)}: its pods have other labels"


def is_hops(r):
    """Whether it is a rendering of manifests/hops."""
    return r.name.startswith("hops-")


def hops_are_apart(r):
    """As persistence; each Service has its own pod, and relays may call those that there are."""
    if not is_hops(r):
        return
    for thing in r.things:
        if thing["metadata"]["labels"].get("app.kubernetes.io/name") != "pvcbench-hops":
            yield f"{name_of(thing)}: labels {thing['metadata']['labels']}"
    for workload in r.workloads():
        labels = workload["spec"]["template"]["metadata"]["labels"]
        if labels != workload["metadata"]["labels"]:
            yield f"{name_of(workload)}: its pods have other labels"
    pods = [d["spec"]["template"]["metadata"]["labels"] for d in r.of("Deployment")]
    for service in r.of("Service"):
        selected = [labels for labels in pods
                    if service["spec"]["selector"].items() <= labels.items()]
        if len(selected) != 1:
            yield f"{name_of(service)}: selects {len(selected)} Deployments"
        url = f"--allow=http://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
        for deployment in r.of("Deployment"):
            if any(url not in container["args"] for container in containers_of(deployment)):
                yield f"{name_of(deployment)}: may not call {service['metadata']['name']}"


def selectors_select(r):
    for job in r.of("Job"):
        terms = pod_of(job).get("affinity", {}).get("podAntiAffinity", {}).get(
            "requiredDuringSchedulingIgnoredDuringExecution", [])
        labels = job["spec"]["template"]["metadata"]["labels"]
        for term in terms:
            wanted = term["labelSelector"]["matchLabels"]
            others = term["labelSelector"].get("matchExpressions", [])
            if any(labels.get(key) != value for key, value in wanted.items()):
                yield f"{name_of(job)}: would not wait for another of its kind"
            if "completionMode" in job["spec"] and not any(
                    expression == {"key": "pvcbench/peers", "operator": "DoesNotExist"}
                    or expression == {"key": "pvcbench/class", "operator": "NotIn",
                                      "values": [class_of(job)]} for expression in others):
                yield f"{name_of(job)}: its pods would wait for each other"
            if "pvcbench/class" in wanted:
                yield f"{name_of(job)}: would wait for its own class only"
        if (r.name == "root") != bool(terms) and not r.name.startswith(
                ("component-serial", "component-multi-pod")):
            yield f"{name_of(job)}: {len(terms)} terms of anti-affinity"


def peers_find_each_other(r):
    for job in r.of("Job"):
        spec, env = job["spec"], {e["name"]: e.get("value") for e in runner_of(job)["env"]}
        if spec.get("completionMode") != "Indexed":
            if "PVCBENCH_PEERS" in env:
                yield f"{name_of(job)}: peers without an index"
            continue
        if not spec["completions"] == spec["parallelism"] == int(env["PVCBENCH_PEERS"]):
            yield f"{name_of(job)}: not all of its pods at once"
        service = next((s for s in r.of("Service")
                        if s["metadata"]["name"] == pod_of(job).get("subdomain")), None)
        if not service:
            yield f"{name_of(job)}: no service {pod_of(job).get('subdomain')}"
            continue
        labels = spec["template"]["metadata"]["labels"]
        if any(labels.get(k) != v for k, v in service["spec"]["selector"].items()):
            yield f"{name_of(service)}: selects other pods"
        if service["spec"].get("clusterIP") != "None" or (
                service["spec"].get("publishNotReadyAddresses") is not True):
            yield f"{name_of(service)}: gives no names, or too late"


# ---- what a pod gets ----

def requests_are_limits(r):
    for workload in r.workloads():
        for resources in (container["resources"] for container in containers_of(workload)):
            if resources["requests"] != resources["limits"]:
                yield f"{name_of(workload)}: {resources}"
            if set(resources["limits"]) != {"cpu", "memory", "ephemeral-storage"}:
                yield f"{name_of(workload)}: limits {sorted(resources['limits'])}"
            if workload["kind"] == "Job" and not str(resources["limits"].get("cpu")).isdigit():
                yield f"{name_of(workload)}: a part of a CPU"


def storage_of_pod_fits(r):
    for job in r.of("Job"):
        limits = runner_of(job)["resources"]["limits"]
        empty = (volume_of(job, "data") or {}).get("emptyDir")
        if empty is None:
            continue
        size = quantity(yaml.safe_load(r.plan_of(job)["class.yaml"]).get("size", "10GiB"))
        limit = "memory" if empty.get("medium") == "Memory" else "ephemeral-storage"
        if not size < quantity(empty["sizeLimit"]) < quantity(limits[limit]):
            yield f"{name_of(job)}: size {size}, {empty}, {limit} {limits[limit]}"


def image_is_pinned(r):
    version = re.search(r"^VERSION *:= *(\S+)", pathlib.Path("Makefile").read_text(), re.M)[1]
    for workload, container in ((w, c) for w in r.workloads() for c in containers_of(w)):
        image = container["image"]
        parts = IMAGE.fullmatch(image)
        if not parts or parts["tag"] == "latest":
            yield f"{name_of(workload)}: image {image}"
        elif parts["host"] == "localhost" and parts["tag"] != version:
            yield f"{name_of(workload)}: image {image}, but the version is {version}"
        if "imagePullPolicy" in container:
            yield f"{name_of(workload)}: the default pull policy is right for a fixed tag"


def runs_once_in_time(r):
    for job in r.of("Job"):
        spec, pod = job["spec"], pod_of(job)
        told = [e.get("value") for e in runner_of(job)["env"] if e["name"] == "PVCBENCH_DEADLINE"]
        if told != [str(pod["activeDeadlineSeconds"])]:
            yield f"{name_of(job)}: the runner is told {told} for its deadline"
        if not pod["activeDeadlineSeconds"] < spec["activeDeadlineSeconds"]:
            yield f"{name_of(job)}: the Job ends before its pod"
        if spec["backoffLimit"] != 0 or pod["restartPolicy"] != "Never":
            yield f"{name_of(job)}: would be tried again"
        names = {e["name"] for e in runner_of(job)["env"]}
        if names - {"PVCBENCH_PEERS"} != ENVIRONMENT:
            yield f"{name_of(job)}: environment {sorted(names)}"


# ---- Pod Security ----

def pod_security_level(pod):
    """The strictest level of the standard that the pod meets."""
    security = pod.get("securityContext", {})
    seccomp = security.get("seccompProfile", {}).get("type")
    containers = [c.get("securityContext", {}) for c in pod["containers"]]
    volumes = [key for volume in pod.get("volumes", []) for key in volume if key != "name"]
    if (any(pod.get(key) for key in ("hostNetwork", "hostPID", "hostIPC")) or "hostPath" in volumes
            or seccomp == "Unconfined"
            or any(c.get("privileged") or c.get("capabilities", {}).get("add")
                   for c in containers)):
        return "privileged"
    if (security.get("runAsNonRoot") is not True or security.get("runAsUser") == 0
            or seccomp not in ("RuntimeDefault", "Localhost")
            or set(volumes) - RESTRICTED_VOLUMES
            or any(c.get("allowPrivilegeEscalation") is not False
                   or c.get("capabilities", {}).get("drop") != ["ALL"] for c in containers)):
        return "baseline"
    return "restricted"


def stated_level(component):
    text = pathlib.Path(f"manifests/components/{component}/kustomization.yaml").read_text()
    stated = re.search(r"Pod Security: (\w+)", text)
    return stated[1] if stated else "restricted"


def components_of_class(name):
    path = next(pathlib.Path("storageclasses").glob(f"*/{name}/kustomization.yaml"))
    return [pathlib.Path(c).name for c in yaml.safe_load(path.read_text()).get("components", [])]


def pod_security_is_as_stated(r):
    for workload in r.workloads():
        used = components_of_class(class_of(workload)) if class_of(workload) else []
        if r.name.startswith("component-"):
            used = used + [r.name.removeprefix("component-")]
        wanted = max((stated_level(c) for c in used), key=LEVELS.index, default="restricted")
        level = pod_security_level(pod_of(workload))
        if level != wanted:
            yield f"{name_of(workload)}: {level}, stated is {wanted}"
        writes_own = (class_of(workload) == "container-fs" or "side-by-side" in used
                      or volume_asked(r) is not None)
        for container in containers_of(workload):
            own = container["securityContext"].get("readOnlyRootFilesystem")
            if own is writes_own:
                yield f"{name_of(workload)}: readOnlyRootFilesystem is {own}"
        if pod_of(workload)["automountServiceAccountToken"] is not False:
            yield f"{name_of(workload)}: a token is mounted"


def group_is_not_asked_of_a_share(r):
    for job in r.of("Job"):
        security = pod_of(job)["securityContext"]
        if security["runAsUser"] == 0 and "fsGroup" in security:
            yield f"{name_of(job)}: fsGroup would hand over what others use"


# ---- volumes and classes ----

def access_modes_fit(r):
    for job in r.of("Job"):
        claim = r.claim_of(job)
        if not claim or r.name == "base":
            continue
        shared = claim["spec"].get("storageClassName") in SHARED
        wanted = "ReadWriteMany" if shared else "ReadWriteOnce"
        if claim["spec"]["accessModes"] != [wanted]:
            yield f"{name_of(job)}: {claim['spec']['accessModes']}, not {wanted}"


def evs_names_its_type(r):
    for job in r.of("Job"):
        claim = r.claim_of(job)
        if claim and claim["spec"].get("storageClassName", "").startswith("csi-disk"):
            if "everest.io/disk-volume-type" not in claim["metadata"].get("annotations", {}):
                yield f"{name_of(job)}: a disk of no type"


def annotations_are_meant(r):
    for job in r.of("Job"):
        claim = r.claim_of(job) or {"metadata": {}}
        for key in claim["metadata"].get("annotations") or {}:
            if "config.kubernetes.io/" in key:
                yield f"{name_of(job)}: {key} is kustomize's own"


def classes_are_described(r):
    for job in r.of("Job"):
        if not class_of(job):
            continue
        described = yaml.safe_load(r.plan_of(job)["class.yaml"])
        for error in schema("class").iter_errors(described):
            yield f"class.yaml of {class_of(job)}: {error.message[:200]}"
        if described.get("name") != class_of(job):
            yield f"class.yaml of {class_of(job)}: name is {described.get('name')}"
        claim = r.claim_of(job)
        asked = claim and quantity(claim["spec"]["resources"]["requests"]["storage"])
        stated = described.get("capacity") and quantity(described["capacity"])
        if asked != stated:
            yield f"class.yaml of {class_of(job)}: capacity {stated}, the claim asks for {asked}"
        if "published" not in described and (
                "no published limit" not in described.get("note", "").lower()):
            yield f"class.yaml of {class_of(job)}: neither limits nor a word that there are none"


def limit(published, key, capacity):
    """A published limit for a capacity, as the documentation prints it."""
    known = (published or {}).get(key)
    if not known:
        return "-"
    if "steps" in known:
        return str(next(s["value"] for s in known["steps"] if quantity(s["up_to"]) >= capacity))
    grown = known["base"] + known.get("per_gib", 0) * capacity / 2**30
    return str(int(min(grown, known.get("max", grown))))


def documentation_has_the_figures(r):
    page = pathlib.Path("docs/storage-classes.md").read_text()
    if not r.name.startswith("class-"):
        return
    job = r.of("Job")[0]
    claim = r.claim_of(job)
    described = yaml.safe_load(r.plan_of(job)["class.yaml"])
    capacity = quantity(described.get("capacity", "0GiB"))
    limits = [limit(described.get("published"), key, capacity) for key in ("iops", "mib_per_s")]
    row = re.search(rf"^\| `{class_of(job)}` \|(.*)\|$", page, re.M)
    if not row:
        yield f"no row for {class_of(job)}"
        return
    storage_class, size, mode, *stated = [cell.strip() for cell in row[1].split("|")]
    if stated != limits:
        yield f"{class_of(job)}: {stated}, class.yaml has {limits}"
    if claim:
        spec = claim["spec"]
        if size != spec["resources"]["requests"]["storage"]:
            yield f"{class_of(job)}: {size} is not what the claim asks for"
        if mode != {"ReadWriteMany": "RWX", "ReadWriteOnce": "RWO"}[spec["accessModes"][0]]:
            yield f"{class_of(job)}: {mode} is not the claim's mode"
        name = spec.get("storageClassName", "cluster's default")
        if not name.startswith("pvcbench") and name not in storage_class:
            yield f"{class_of(job)}: {storage_class} is not {name}"


def documentation_has_the_component(r):
    page = pathlib.Path("docs/kubernetes.md").read_text()
    if r.name.startswith("component-") and f"`{r.name.removeprefix('component-')}`" not in page:
        yield f"docs/kubernetes.md does not name {r.name}"


def plans_are_plans(r):
    for config in r.of("ConfigMap"):
        for error in schema("plan").iter_errors(yaml.safe_load(config["data"]["plan.yaml"])):
            yield f"{name_of(config)}: plan.yaml: {error.message[:200]}"


# ---- each rule sees what it is for ----

def set_in(r, kind, value, *path):
    thing = r.of(kind)[0]
    for step in path[:-1]:
        thing = thing[step]
    thing[path[-1]] = value


POD = ("spec", "template", "spec")
RUNNER = POD + ("containers", 0)

# A rule, a rendering, and how to spoil it: kind of object, value, path; or a function.
RULES = [
    (names_are_valid, "evs-ultra", ("Job", "pvcbench_x", "metadata", "name")),
    (references_are_met, "evs-ultra", ("ConfigMap", "pvcbench-x", "metadata", "name")),
    (references_are_met, "sfs-turbo", ("PersistentVolume", "1Gi", "spec", "capacity", "storage")),
    (references_are_met, "sfs-turbo", ("PersistentVolumeClaim", "x", "spec", "volumeName")),
    (references_are_met, "azurefile-nfs", lambda r: r.things.remove(r.of("StorageClass")[0])),
    (references_are_met, "persistence-pvc",
     ("PersistentVolumeClaim", "x", "metadata", "name")),
    (references_are_met, "persistence-emptydir",
     ("Deployment", [], *POD, "containers", 1, "volumeMounts")),
    (labels_are_there, "evs-ultra", lambda r: r.of("ConfigMap")[0]["metadata"].pop("labels")),
    (persistence_is_apart, "persistence-pvc",
     ("PersistentVolumeClaim", "pvcbench", "metadata", "labels", "app.kubernetes.io/name")),
    (persistence_is_apart, "persistence-emptydir",
     ("Deployment", {}, "spec", "selector", "matchLabels")),
    (persistence_is_apart, "persistence-emptydir",
     ("Deployment", {}, "spec", "template", "metadata", "labels")),
    (hops_are_apart, "hops-job", ("Job", {}, "metadata", "labels")),
    (hops_are_apart, "hops-relays", ("Deployment", {}, "spec", "template", "metadata", "labels")),
    (hops_are_apart, "hops-relays", ("Service", {}, "spec", "selector")),
    (hops_are_apart, "hops-relays", ("Service", "pvcbench-x", "metadata", "name")),
    (selectors_select, "root", ("Job", "x", "spec", "template", "metadata", "labels",
                                "app.kubernetes.io/component")),
    (selectors_select, "component-multi-pod",
     ("Job", [], *POD, "affinity", "podAntiAffinity",
      "requiredDuringSchedulingIgnoredDuringExecution", 0, "labelSelector", "matchExpressions")),
    (peers_find_each_other, "component-multi-pod", ("Job", 3, "spec", "parallelism")),
    (peers_find_each_other, "component-multi-pod", ("Service", "x", "metadata", "name")),
    (peers_find_each_other, "component-multi-pod",
     ("Service", "evs-ultra", "spec", "selector", "pvcbench/class")),
    (requests_are_limits, "evs-ultra", ("Job", "2", *RUNNER, "resources", "limits", "cpu")),
    (requests_are_limits, "persistence-pvc",
     ("Deployment", "2Gi", *POD, "containers", 1, "resources", "limits", "memory")),
    (storage_of_pod_fits, "emptydir-memory",
     ("Job", "1Gi", *RUNNER, "resources", "limits", "memory")),
    (storage_of_pod_fits, "emptydir",
     ("Job", "20Gi", *POD, "volumes", 0, "emptyDir", "sizeLimit")),
    (image_is_pinned, "evs-ultra", ("Job", "example.com/pvcbench:latest", *RUNNER, "image")),
    (image_is_pinned, "evs-ultra", ("Job", "example.com/OWNER/pvcbench:v1", *RUNNER, "image")),
    (image_is_pinned, "evs-ultra", ("Job", "localhost/pvcbench:0.0.9", *RUNNER, "image")),
    (image_is_pinned, "persistence-pvc",
     ("Deployment", "localhost/pvcbench:0.0.9", *POD, "containers", 1, "image")),
    (runs_once_in_time, "evs-ultra", ("Job", 60, *POD, "activeDeadlineSeconds")),
    (pod_security_is_as_stated, "evs-ultra",
     ("Job", 0, *POD, "securityContext", "runAsUser")),
    (pod_security_is_as_stated, "evs-ultra",
     ("Job", "Unconfined", *POD, "securityContext", "seccompProfile", "type")),
    (pod_security_is_as_stated, "evs-ultra",
     ("Job", {"path": "/"}, *POD, "volumes", 0, "hostPath")),
    (pod_security_is_as_stated, "persistence-emptydir",
     ("Deployment", {}, *POD, "containers", 1, "securityContext")),
    (group_is_not_asked_of_a_share, "sfs", ("Job", 1, *POD, "securityContext", "fsGroup")),
    (access_modes_fit, "sfs",
     ("PersistentVolumeClaim", ["ReadWriteOnce"], "spec", "accessModes")),
    (evs_names_its_type, "evs-ultra", ("PersistentVolumeClaim", {}, "metadata", "annotations")),
    (annotations_are_meant, "evs-ultra", ("PersistentVolumeClaim", "x", "metadata", "annotations",
                                          "internal.config.kubernetes.io/suffixes")),
    (classes_are_described, "evs-ultra",
     ("PersistentVolumeClaim", "10Gi", "spec", "resources", "requests", "storage")),
    (classes_are_described, "evs-ultra",
     ("ConfigMap", "name: evs-ultra\niops: 5", "data", "class.yaml")),
    (documentation_has_the_figures, "evs-ultra",
     ("ConfigMap", "name: evs-ultra\ncapacity: 10GiB\n", "data", "class.yaml")),
    (documentation_has_the_figures, "emptydir",
     ("Job", "x", "metadata", "labels", "pvcbench/class")),
    (documentation_has_the_component, "component-quick",
     lambda r: setattr(r, "name", "component-unheard-of")),
    (plans_are_plans, "obs-bucket", ("ConfigMap", "version: 2", "data", "plan.yaml")),
]


def find(renderings, name):
    return copy.deepcopy(next(r for r in renderings if r.name in (name, f"class-{name}")))


def main():
    tap = Tap()
    renderings = [Rendering(path) for path in sys.argv[1:]]
    for rule in dict.fromkeys(rule for rule, _, _ in RULES):
        faults = [f"{r.path}: {fault}" for r in renderings for fault in rule(r)]
        tap.test(f"{rule.__name__.replace('_', ' ')} ({len(renderings)} renderings)", faults)
    for rule, name, spoil in RULES:
        wrong = find(renderings, name)
        spoil(wrong) if callable(spoil) else set_in(wrong, *spoil)
        tap.test(f"{rule.__name__.replace('_', ' ')}: a fault in {name} is seen",
                 [] if list(rule(wrong)) else ["not seen"])
    tap.finish()


main()
