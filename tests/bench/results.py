#!/usr/bin/env python3
"""The results of many pods, made of one: results.py N [FIRST] <RESULT.json

Prints N logs, one behind the other, each line with the prefix of kubectl: what
FILE has, a line for each test, with an id, host, peer and start of its own and counts
that differ by pod. The same arguments give the same bytes.
"""
import json
import random
import sys

MARKER = 'pvcbench-result: '


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


def pod_of(document, index, count):
    rng = random.Random(index)
    pod = json.loads(document)
    pod['run'].update(id='20241201t040000z-%08x' % index, host='pvcbench-multi-%d' % index,
                      peer={'index': index, 'count': count})
    for test in pod['tests']:
        test['started_ns'] = str(int(test['started_ns']) + rng.randrange(20_000_000))
        for op in ('read', 'write', 'sync'):
            if test[op]:
                test[op]['ios'] += vary(test[op]['lat_ns'], rng)
    return pod


def main():
    count = int(sys.argv[1])
    document = sys.stdin.read()
    for index in range(count):
        pod = pod_of(document, index, count)
        tests = pod['tests']
        for test in tests:
            pod['tests'] = [test]
            print('[pod/pvcbench-multi-%d/pvcbench] %s%s'
                  % (index, MARKER, json.dumps(pod, separators=(',', ':'))))


if __name__ == '__main__':
    main()
