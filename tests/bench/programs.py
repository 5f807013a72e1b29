"""fio and pvcbench run for a comparison: the same file, the same requests, JSON read.

Both get plain byte counts (their suffixes differ) and draw offsets with replacement.
PVCBENCH, FIO and BUILD of the environment name the programs.
"""

import json
import math
import os
import resource
import subprocess
import sys
import tempfile

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(REPO, os.environ.get('BUILD', 'build'))
PVCBENCH = os.environ.get('PVCBENCH', os.path.join(BUILD, 'pvcbench'))
FIO = os.environ.get('FIO', 'fio')


class Load:
    """What is asked of both programs."""

    def __init__(self, path, size, rw='randread', bs=4096, iodepth=1, rwmixread=100, direct=True,
                 ramp=0.0, runtime=1.0, **keys):
        """keys: more keys of pvcbench's plan, where it runs alone."""
        self.keys = keys
        self.path, self.size, self.rw, self.bs, self.iodepth = path, size, rw, bs, iodepth
        self.rwmixread, self.direct, self.ramp, self.runtime = rwmixread, direct, ramp, runtime


def command(*argv):
    """Standard output of a program and its CPU seconds (user, system); exit 2 if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.stderr.write(done.stdout[-2000:] + done.stderr[-2000:])
        sys.stderr.write('exit status %d of: %s\n' % (done.returncode, ' '.join(argv)))
        sys.exit(2)
    return done.stdout, (after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime)


def lay_out(path, size):
    """A file of random data, written once and synced."""
    if os.path.exists(path) and os.path.getsize(path) == size:
        return
    with open(path, 'wb') as file:
        for _ in range(0, size, 1 << 20):
            file.write(os.urandom(1 << 20))
        file.truncate(size)
        file.flush()
        os.fsync(file.fileno())


def bounds(ratios):
    """Order statistics that hold the median with at least 95 %; all of them if too few."""
    ratios, n = sorted(ratios), len(ratios)
    below, k = 0.0, 0
    while k < n // 2 and below + math.comb(n, k) / 2 ** n <= 0.025:
        below += math.comb(n, k) / 2 ** n
        k += 1
    k = max(k - 1, 0)
    return ratios[k], ratios[n - 1 - k]


def run_fio(load, engine, prefix=(), options=()):
    """The job of fio's JSON."""
    jobs = load.iodepth if engine == 'psync' else 1
    argv = [*prefix, FIO, '--name=a', '--filename=' + load.path, '--rw=' + load.rw,
            '--bs=%d' % load.bs, '--rwmixread=%d' % load.rwmixread, '--ioengine=' + engine,
            '--iodepth=%d' % (load.iodepth // jobs), '--numjobs=%d' % jobs, '--group_reporting',
            '--thread', '--direct=%d' % load.direct, '--invalidate=%d' % load.direct,
            '--time_based', '--runtime=%dms' % (load.runtime * 1000),
            '--ramp_time=%dms' % (load.ramp * 1000), '--norandommap', '--randrepeat=0',
            '--lat_percentiles=1', '--percentile_list=50:99', '--output-format=json', *options]
    # jobs that read in sequence share the file out among them, as the threads of pvcbench do
    if jobs > 1 and not load.rw.startswith('rand'):
        argv += ['--size=%d' % (load.size // jobs), '--offset_increment=%d' % (load.size // jobs)]
    else:
        argv += ['--size=%d' % load.size]
    return json.loads(command(*argv)[0])['jobs'][0]


def plan_of(load, engine):
    """pvcbench's plan of it; JSON is YAML too."""
    return {'version': 1, 'target': os.path.dirname(load.path), 'filename': load.path,
            'destroy': True, 'size': load.size, 'direct': load.direct,
            'ramp_time': '%dms' % (load.ramp * 1000),
            'runtime': '%dms' % (load.runtime * 1000),
            'tests': [{'name': 'a', 'rw': load.rw, 'bs': load.bs,
                       'iodepth': load.iodepth, 'rwmixread': load.rwmixread,
                       'ioengine': engine, **load.keys}]}


def result_of_pvcbench(load, engine, prefix=()):
    """The text of pvcbench's JSON, its only test in it, and the CPU seconds of the process."""
    with tempfile.TemporaryDirectory() as scratch:
        plan, out = os.path.join(scratch, 'plan.yaml'), os.path.join(scratch, 'result.json')
        with open(plan, 'w') as file:
            json.dump(plan_of(load, engine), file)
        _, cpu = command(*prefix, PVCBENCH, 'run', plan, '--out', out)
        with open(out) as file:
            text = file.read()
    test = json.loads(text)['tests'][0]
    if test['ioengine'] != engine or test['direct'] != load.direct or test['status'] != 'ok':
        sys.exit('not measured as asked: %s' % test)
    return text, test, cpu


def run_pvcbench(load, engine, prefix=()):
    """The test of pvcbench's JSON, and the CPU seconds of the process."""
    return result_of_pvcbench(load, engine, prefix)[1:]
