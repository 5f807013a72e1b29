#!/usr/bin/env python3
"""A run's log, made by hand: results.py CLASS [KEY=VALUE]...

Prints a result line for each run of the tests read-iops and mixed. The same arguments give the
same bytes; what runs of a test scatter by is a fixed list. Keys:

  iops, p50_us    of read-iops (10000, 400); mixed reads 3/4 of it
  runs            repeats of each test (1)
  scatter         how far they lie apart, as a share (0.01)
  id, pod         of the run (CLASS); the prefix of `kubectl logs --prefix` (none)
  limit           published IOPS (0: nothing)
  status          of read-iops' last run (ok)
  others are members of read-iops (iodepth=8), conditions.X of the conditions
"""
import json
import sys

WINDOW_S = 60
SCATTER = [0, -1, 1, -0.5, 0.5, 0.8, -0.8, 0.2, -0.2, 0]
SUB_BITS = 7


def bucket(value):
    shift = max(value.bit_length() - 1 - SUB_BITS, 0)
    return (shift << SUB_BITS) + (value >> shift) if shift else value


def figures(iops, p50_ns):
    """98 % of the requests take p50, 2 % five times as long."""
    ios = round(iops * WINDOW_S)
    slow = ios // 50
    low, high = round(p50_ns), round(5 * p50_ns)
    histogram = [-bucket(low), ios - slow, -(bucket(high) - bucket(low) - 1), slow]
    return {'ios': ios, 'bytes': 4096 * ios, 'lat_ns': {
        'min': low, 'max': high, 'sum': (ios - slow) * low + slow * high, 'overflow': 0,
        'histogram': histogram}, 'series': None}


def make(name, rw, index, runs):
    result = {'name': name, 'kind': 'block', 'target': '/data', 'status': 'ok', 'rw': rw,
              'bs': 4096, 'iodepth': 4, 'numjobs': 1, 'ioengine': 'io_uring', 'direct': True,
              'random_distribution': 'uniform', 'size_asked': 10 << 30, 'size': 10 << 30,
              'ramp_time_ns': 10**10, 'runtime_asked_ns': WINDOW_S * 10**9,
              'runtime_ns': WINDOW_S * 10**9, 'verdicts': [], 'concessions': [],
              'read': None, 'write': None, 'sync': None}
    if runs > 1:
        result['name'] += '-%d' % (index + 1)
        result['repeat'] = {'of': name, 'index': index + 1, 'count': runs}
    return result


def value_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def main():
    options = {'iops': 10000, 'p50_us': 400, 'runs': 1, 'scatter': 0.01, 'limit': 0,
               'status': 'ok', 'id': sys.argv[1], 'pod': ''}
    options.update((key, value_of(value)) for key, value in
                   (argument.split('=', 1) for argument in sys.argv[2:]))
    known = {key: options.pop(key) for key in
             ('iops', 'p50_us', 'runs', 'scatter', 'limit', 'status', 'id', 'pod')}
    conditions = {'target': '/data', 'fs': 'ext4', 'kernel': '5.10.0', 'machine': 'x86_64',
                  'node': '192.168.0.17', 'cpus': 1, 'memory_bytes': 1 << 30,
                  'class': sys.argv[1]}
    if known['limit']:
        conditions['class_limits'] = {'iops': known['limit'], 'mib_per_s': None, 'scope': 'sum',
                                      'source': 'the provider'}
    for key in [key for key in options if key.startswith('conditions.')]:
        conditions[key.split('.', 1)[1]] = options.pop(key)
    prefix = '[pod/%s/pvcbench] ' % known['pod'] if known['pod'] else ''
    runs = known['runs']
    for name in 'read-iops', 'mixed':
        for index in range(runs):
            test = make(name, 'randrw' if name == 'mixed' else 'randread', index, runs)
            off = 1 + known['scatter'] * SCATTER[index % len(SCATTER)]
            iops, p50_ns = known['iops'] * off, known['p50_us'] * 1000 / off
            if name == 'mixed':
                test['rwmixread'] = 75
                test['read'] = figures(0.75 * iops, p50_ns)
                test['write'] = figures(0.25 * iops, 2 * p50_ns)
            else:
                test['read'] = figures(iops, p50_ns)
                test.update(options)
                if index == runs - 1:
                    test['status'] = known['status']
            document = {'schema': 'pvcbench.result/1',
                        'run': {'id': str(known['id']), 'started': '2026-01-02T03:04:05Z',
                                'version': '0.1.0', 'plan': 'cce'},
                        'conditions': conditions, 'interrupted': False, 'verdicts': [],
                        'tests': [test]}
            print('%spvcbench-result: %s' % (prefix, json.dumps(document,
                                                                separators=(',', ':'))))


if __name__ == '__main__':
    main()
