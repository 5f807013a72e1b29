"""What the programs here have in common: objects of rendered files, and TAP."""
import pathlib
import sys

import yaml


class Tap:
    """Tests are lists of faults; an empty one has passed."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def test(self, name, faults):
        self.count += 1
        self.failed += bool(faults)
        print(f"{'not ok' if faults else 'ok'} {self.count} - {name}")
        for fault in list(faults)[:20]:
            print(f"# {fault}")

    def finish(self):
        print(f"1..{self.count}")
        sys.exit(self.failed > 0)


def read(path):
    """The objects of a rendered file."""
    return [o for o in yaml.safe_load_all(pathlib.Path(path).read_text()) if o]


def name_of(thing):
    return f"{thing['kind']}/{thing['metadata']['name']}"


def pod_of(job):
    return job["spec"]["template"]["spec"]


def runner_of(job):
    return pod_of(job)["containers"][0]
