"""Places to measure and limits to measure under, arranged for one run and taken down after it.

A Scene is a context: what is mounted, attached, made or started in it is undone at its end, in
the reverse order. `Missing` says what the machine lacks. Its PLACES and LIMITS are functions that
take the scene; those below that return one are given their parameters first.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

from programs import BUILD, REPO

CGROUPS = '/sys/fs/cgroup'
# Memory, where there is plenty, so that no run waits for the machine's disk.
SPACE = 2 << 30
# Ends by itself, should nobody end it.
HOG = 'import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass'


class Missing(Exception):
    """The machine lacks what a situation needs."""


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing('no ' + program)


def need_root():
    if os.geteuid() != 0:
        raise Missing('needs root')


def call(*argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Missing('%s: %s' % (' '.join(argv), done.stderr.strip() or 'failed'))
    return done.stdout.strip()


def work_root():
    shm = '/dev/shm'
    if os.path.isdir(shm) and shutil.disk_usage(shm).free > SPACE:
        return shm
    return tempfile.gettempdir()


class Scene(contextlib.ExitStack):
    """What one run happens in: `path` for its files, `target` to measure, `wrap` before it."""

    live = set()  # processes of all scenes, for their CPU time

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix='pvcbench-verdicts.', dir=work_root())
        self.callback(shutil.rmtree, self.path, ignore_errors=True)
        self.target, self.control, self.device, self.wrap = None, None, None, []
        return self

    def start(self, *argv, **options):
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, **options)
        self.live.add(process)
        self.callback(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.wait()
        self.live.discard(process)

    def directory(self, name):
        path = os.path.join(self.path, name)
        os.mkdir(path)
        return path

    def mounted(self, path):
        """`path` is mounted: undo that at the end. A ring's files are let go of late."""
        def unmount():
            for _ in range(40):
                if subprocess.run(['umount', path], stderr=subprocess.DEVNULL).returncode == 0:
                    return
                time.sleep(0.05)
            subprocess.run(['umount', '-l', path], stderr=subprocess.DEVNULL)
        self.callback(unmount)
        self.target = path

    def rules(self, *rules):
        """Of the FUSE file system, in place of those before."""
        path = os.path.join(self.control, 'rules')
        with open(path + '.new', 'w') as file:
            file.write(''.join(rule + '\n' for rule in rules))
        os.rename(path + '.new', path)


# --- places ---

def volume(*rules, holding=0):
    """A file system whose requests are delayed and rationed by RULES (tests/run/faultfs.c).

    HOLDING: it has a file `data` of so many bytes, that no request of it has touched.
    """
    def make(scene):
        if not os.access('/dev/fuse', os.R_OK | os.W_OK):
            raise Missing('no FUSE')
        program = os.path.join(BUILD, 'tests', 'faultfs')
        if not os.path.exists(program):
            raise Missing('no libfuse3 to build tests/run/faultfs.c with')
        mount, scene.control = scene.directory('fuse'), scene.directory('control')
        scene.rules(*rules)
        options = 'max_threads=512' + (',allow_other' if os.geteuid() == 0 else '')
        with open(os.path.join(scene.path, 'fuse.err'), 'w') as errors:
            backing = scene.directory('backing')
            if holding:
                with open(os.path.join(backing, 'data'), 'wb') as file:
                    file.write(os.urandom(holding))
            server = scene.start(program, backing, scene.control, mount, '-f', '-o', options,
                                 stderr=errors)
        while not os.path.ismount(mount):
            if server.poll() is not None:
                raise Missing('cannot mount FUSE')
            time.sleep(0.01)
        if os.geteuid() == 0:
            scene.mounted(mount)
        else:
            scene.callback(subprocess.run, ['fusermount3', '-qu', mount])
            scene.target = mount
        scene.callback(scene.rules)
    return make


def loop_device(scene, size='600M'):
    need_root()
    need('losetup')
    image = os.path.join(scene.path, 'image')
    with open(image, 'wb') as file:
        file.truncate(int(size[:-1]) << 20)
    scene.device = call('losetup', '--find', '--show', '--direct-io=on', image)
    scene.callback(call, 'losetup', '--detach', scene.device)


def disk(options='defaults'):
    """ext4 on a loop device over memory: as fast as this machine."""
    def make(scene):
        need('mkfs.ext4')
        loop_device(scene)
        call('mkfs.ext4', '-q', '-m', '0', '-E', 'lazy_itable_init=0,lazy_journal_init=0',
             scene.device)
        mount = scene.directory('disk')
        call('mount', '-o', options, scene.device, mount)
        scene.mounted(mount)
        shutil.rmtree(os.path.join(mount, 'lost+found'))
    return make


def slow_disk(delay_ms):
    """ext4 on a device mapper's delay, where the kernel has one; else a slow volume of FUSE."""
    def make(scene):
        try:
            need('dmsetup', 'mkfs.ext4')
            subprocess.run(['modprobe', '-q', 'dm-delay'], stderr=subprocess.DEVNULL, check=False)
            if 'delay' not in call('dmsetup', 'targets').split():
                raise Missing('no dm-delay')
        except (Missing, FileNotFoundError):
            volume('read delay %d' % delay_ms)(scene)
            return
        loop_device(scene)
        sectors = call('blockdev', '--getsz', scene.device)
        name = os.path.basename(scene.path)
        call('mkfs.ext4', '-q', '-m', '0', scene.device)
        call('dmsetup', 'create', name, '--table',
             '0 %s delay %s 0 %d %s 0 0' % (sectors, scene.device, delay_ms, scene.device))
        scene.callback(call, 'dmsetup', 'remove', '--retry', name)
        mount = scene.directory('disk')
        call('mount', '/dev/mapper/' + name, mount)
        scene.mounted(mount)
    return make


def memory(scene):
    need_root()
    mount = scene.directory('memory')
    call('mount', '-t', 'tmpfs', '-o', 'size=400M', 'tmpfs', mount)
    scene.mounted(mount)


# --- limits ---

def group(controller, settings):
    """The run is in a control group of its own: SETTINGS by version are {file: value}."""
    def make(scene):
        need_root()
        name, old = os.path.basename(scene.path), os.path.join(CGROUPS, controller)
        if os.path.isdir(old):
            path, version = os.path.join(old, name), 1
        else:
            with contextlib.suppress(OSError), open(CGROUPS + '/cgroup.subtree_control') as file:
                if {'blkio': 'io'}.get(controller, controller) not in file.read().split():
                    raise Missing('no controller %s to make a group of' % controller)
            path, version = os.path.join(CGROUPS, name), 2
        try:
            os.mkdir(path)
        except OSError as error:
            raise Missing('no control group of %s: %s' % (controller, error.strerror)) from error
        scene.callback(remove_group, path)
        for file, value in settings[version].items():
            try:
                with open(os.path.join(path, file), 'w') as out:
                    out.write(value.replace('DEVICE', device_number(scene)))
            except OSError as error:
                raise Missing('%s cannot be set: %s' % (file, error.strerror)) from error
        scene.wrap += ['bash', '-c', 'echo $$ >"$0/cgroup.procs"; exec "$@"', path]
    return make


def remove_group(path):
    """Once the kernel has let go of those who were in it."""
    for _ in range(40):
        with contextlib.suppress(OSError):
            os.rmdir(path)
            return
        time.sleep(0.05)


def device_number(scene):
    if not scene.device:
        return ''
    device = os.stat(scene.device).st_rdev
    return '%d:%d' % (os.major(device), os.minor(device))


def cpu_quota(share):
    quota = int(share * 100000)
    return group('cpu', {1: {'cpu.cfs_quota_us': str(quota)}, 2: {'cpu.max': '%d 100000' % quota}})


def memory_limit(size):
    return group('memory', {1: {'memory.limit_in_bytes': str(size)}, 2: {'memory.max': str(size)}})


def throttle(what, value):
    """WHAT is read_iops, read_bps, write_iops or write_bps, of the scene's device."""
    direction, unit = what.split('_')
    return group('blkio', {1: {'blkio.throttle.%s_device' % what: 'DEVICE %d' % value},
                           2: {'io.max': 'DEVICE %s%s=%d' % (direction[0], unit, value)}})


def hogs(number):
    """The run shares one CPU with programs that never rest."""
    def make(scene):
        need('taskset')
        cpu = str(max(os.sched_getaffinity(0)))
        for _ in range(number):
            scene.start('taskset', '-c', cpu, sys.executable, '-c', HOG)
        scene.wrap += ['taskset', '-c', cpu]
    return make


# --- who else works ---

def own_user_ticks():
    """CPU time in user space of this process and all that it started."""
    times = os.times()
    ticks = (times.user + times.children_user) * os.sysconf('SC_CLK_TCK')
    for process in list(Scene.live):
        with contextlib.suppress(OSError), open('/proc/%d/stat' % process.pid) as file:
            ticks += int(file.read().rsplit(')', 1)[1].split()[11])
    return ticks


class Others:
    """How many CPUs others kept busy: user space but for ours, and what the host took."""

    def __init__(self):
        self.begin, self.at = self.ticks(), time.monotonic()

    @staticmethod
    def ticks():
        with open('/proc/stat') as file:
            user, nice, _, _, _, _, _, steal = map(int, file.readline().split()[1:9])
        return user + nice + steal - own_user_ticks()

    def cpus(self):
        ticks = self.ticks() - self.begin
        return ticks / os.sysconf('SC_CLK_TCK') / (time.monotonic() - self.at)


def build_volume():
    subprocess.run(['make', '-s', '-C', os.path.join(REPO, 'tests', 'run'), 'BUILD=' + BUILD,
                    BUILD + '/tests/faultfs'], stderr=subprocess.DEVNULL, check=False)
