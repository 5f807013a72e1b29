#!/usr/bin/env python3
"""The results of many pods, made of one: results.py N <RESULT.json

Prints N logs, one behind the other, each line with the prefix of kubectl: what
RESULT has, a line for each test, with an id, host, peer and starts of its own. Counts
differ by pod, until after VARIANTS pods they come again: to make and write them as text
is what takes time. The same arguments give the same bytes.
"""
import copy
import json
import random
import sys

MARKER = 'pvcbench-result: '
VARIANTS = 64
HOLE = '"@"'  # in a text, for what is put there later


def text_of(value):
    return json.dumps(value, separators=(',', ':'))


def vary(latency, rng):
    """Histogram entries between the first and the last differ, and the sums with them."""
    histogram = latency['histogram']
    counts = [i for i, n in enumerate(histogram) if n > 0][1:-1]
    added = 0
    for i in counts:
        extra = rng.randrange(10)
        histogram[i] += extra
        added += extra
    latency['sum'] = int(latency['sum']) + added * int(latency['min'])
    return added


def variant(test, rng):
    """The text of a test before and behind the time of its start."""
    test = copy.deepcopy(test)
    test['started_ns'] = HOLE.strip('"')
    for op in ('read', 'write', 'sync'):
        if test[op]:
            test[op]['ios'] += vary(test[op]['lat_ns'], rng)
    return text_of(test).split(HOLE)


def frame(document, index, count):
    """The text of a pod's line before and behind the test."""
    document['run'].update(id='20241201t040000z-%08x' % index, host='pvcbench-multi-%d' % index,
                           peer={'index': index, 'count': count})
    return text_of(document).split(HOLE)


def main():
    count = int(sys.argv[1])
    document = json.load(sys.stdin)
    tests = document['tests']
    document['tests'] = [HOLE.strip('"')]
    rng = random.Random(count)
    variants = [[variant(test, rng) for test in tests] for _ in range(min(count, VARIANTS))]
    for index in range(count):
        head, tail = frame(document, index, count)
        head = '[pod/pvcbench-multi-%d/pvcbench] %s%s' % (index, MARKER, head)
        for test, (before, behind) in zip(tests, variants[index % VARIANTS]):
            started = int(test['started_ns']) + rng.randrange(20_000_000)
            sys.stdout.write('%s%s"%d"%s%s\n' % (head, before, started, behind, tail))


if __name__ == '__main__':
    main()
