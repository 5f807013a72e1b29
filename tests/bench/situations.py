"""What is arranged, and what a run of it has to say: the table is at the end.

A situation draws its parameters and returns a Case. `must` are the codes that it has to give
(otherwise: a miss), `may` are those that it may give as well; any other is a false alarm.
"""

import dataclasses
import time

from arrange import cpu_quota, disk, hogs, memory, memory_limit, slow_disk, throttle, volume

KIB, MIB = 1024, 1 << 20


@dataclasses.dataclass
class Case:
    place: object  # makes what is measured
    test: dict  # keys of the test
    published: dict = None  # in class.yaml
    limit: object = None  # makes what it is measured under
    meanwhile: object = None  # called with the scene and the process as the window begins
    says: str = ''  # a part of what has to be printed, too
    status: int = 0


@dataclasses.dataclass
class Situation:
    name: str
    draw: object
    must: tuple
    may: tuple = ()
    _: dataclasses.KW_ONLY
    waits: bool = True  # hardly uses a CPU, so that others may go on beside it


# --- what is drawn ---

def spread(draw, low, high):
    """A whole number from LOW to HIGH; each doubling of it is as likely."""
    return round(low * (high / low) ** draw.random())


def seconds(draw, low, high):
    return draw.randint(1000 * low, 1000 * high)  # in ms


def keys(draw, rw, depth, runtime_ms, **others):
    return {'rw': rw, 'iodepth': depth, 'bs': draw.choice([4, 8, 16]) * KIB,
            'size': draw.choice([1, 2, 4, 8]) * MIB, 'runtime': '%dms' % runtime_ms,
            'limits_probe': False, **others}


def rationed(draw, rate, seconds_of_it, **others):
    """A volume that gives RATE requests a second, whatever it is asked.

    Of reads: FUSE has one write of a file under way at a time, so that tokens would be lost.
    """
    test = keys(draw, draw.choice(['randread', 'read']), draw.choice([2, 4, 8, 16, 32]),
                seconds(draw, *seconds_of_it), **others)
    return Case(volume('read bucket %d' % rate), test)


def published(iops=None, mib_per_s=None, **others):
    limits = {'source': 'the bench', 'scope': 'sum', **others}
    if iops:
        limits['iops'] = {'base': round(iops, 2)}
    if mib_per_s:
        limits['mib_per_s'] = {'base': round(mib_per_s, 4)}
    return limits


def share(draw):
    """Of a published limit, as far as it counts as reached, less the error of the rate."""
    return draw.uniform(0.94, 1.03)


# --- published limits ---

def published_iops(draw):
    rate = spread(draw, 150, 1200)
    case = rationed(draw, rate, (4, 6), limits_probe=draw.choice([True, False]))
    case.published = published(iops=rate / share(draw), scope=draw.choice(['sum', 'each']))
    return case


def published_bandwidth(draw):
    rate, bs = spread(draw, 150, 600), draw.choice([64, 128]) * KIB
    case = rationed(draw, rate, (4, 6), bs=bs)
    case.published = published(iops=draw.uniform(2, 20) * rate,
                               mib_per_s=rate * bs / MIB / share(draw))
    return case


def published_each(draw):
    rate = spread(draw, 150, 1000)
    test = keys(draw, 'randrw', draw.choice([4, 8, 16]), seconds(draw, 4, 6), rwmixread=50)
    return Case(volume('read bucket %d' % rate), test,
                published=published(iops=rate / draw.uniform(0.95, 0.98), scope='each'))


def published_io_unit(draw):
    rate, unit = spread(draw, 150, 800), draw.choice([4, 8, 16])
    count = draw.choice([2, 3, 4])
    case = rationed(draw, rate, (4, 6), bs=unit * count * KIB, size=6 * MIB)
    case.published = published(iops=count * rate / share(draw), io_unit='%dKiB' % unit)
    case.says = 'each counted as %d' % count
    return case


def published_burst_limit(draw):
    rate = spread(draw, 300, 1200)
    case = rationed(draw, rate, (4, 6))
    base, top = rate / draw.uniform(2, 8), rate / share(draw)
    case.published = published(iops=base, burst={
        'iops': round(top), 'credit': round((top - base) * draw.uniform(30, 3000))})
    case.says = 'too short to know what lasts'
    return case


def paced_behind(draw):
    rate = spread(draw, 150, 1500)
    case = rationed(draw, rate, (4, 6), rate_iops=round(rate * draw.uniform(1.3, 4)))
    case.published = published(iops=rate / share(draw))
    return case


def above_base(draw):
    rate = spread(draw, 300, 1200)
    case = rationed(draw, rate, (4, 6))
    case.published = published(iops=rate / draw.uniform(1.25, 3),
                               burst={'iops': round(rate * draw.uniform(1.25, 4))})
    case.says = 'too short to know what lasts'
    return case


def above_all_limits(draw):
    rate = spread(draw, 300, 1200)
    case = rationed(draw, rate, (4, 6))
    case.published = published(iops=rate / draw.uniform(1.4, 8))
    if draw.random() < 0.5:
        case.published['burst'] = {'iops': round(rate / draw.uniform(1.15, 1.35))}
    return case


def below_the_limit(draw):
    rate, bs = spread(draw, 150, 1200), draw.choice([4, 16]) * KIB
    case = rationed(draw, rate, (4, 6), bs=bs)
    case.published = published(iops=rate / draw.uniform(0.1, 0.85),
                               mib_per_s=rate * bs / MIB / draw.uniform(0.1, 0.85))
    return case


def second_reads(draw):
    """A server that answers from its cache what was read before, of a file that fits into it."""
    bs = draw.choice([4, 8]) * KIB
    size = bs * spread(draw, 520, 700)
    test = keys(draw, 'randread', draw.choice([2, 4]), seconds(draw, 4, 5), bs=bs, size=size,
                filename='data', limits_probe=True)
    return Case(volume('read again', 'read delay %d' % draw.choice([10, 20]), holding=size), test)


def second_reads_as_slow(draw):
    """No cache, however small the file, and latencies that scatter."""
    bs, delay_ms = draw.choice([4, 8]) * KIB, draw.choice([4, 8])
    size = bs * spread(draw, 520, 1000)
    test = keys(draw, 'randread', draw.choice([2, 4, 8]), seconds(draw, 4, 5), bs=bs, size=size,
                filename='data', limits_probe=True)
    return Case(volume('read bucket %d' % spread(draw, 100, 150), 'read delay %d' % delay_ms,
                       'read delay %d every=3' % delay_ms, holding=size), test)


# --- over time ---

def falling(draw):
    """Two levels, and when it falls from one to the other: RATE, RATE, TEST, PLACE."""
    depth, delay_ms, runtime_ms = draw.choice([1, 2, 4, 8]), draw.choice([4, 5, 8]), \
        seconds(draw, 9, 12)
    upper = depth * 1000 / (delay_ms + 0.25)
    lower = max(round(upper * draw.uniform(0.05, 0.55)), 5)
    credit = upper * draw.uniform(3.5, runtime_ms / 1000 - 4.5)
    place = volume('read bucket %d after=%d' % (lower, credit), 'read delay %d' % delay_ms)
    return upper, lower, keys(draw, 'randread', depth, runtime_ms), place


def burst_then_sustained(draw):
    _, _, test, place = falling(draw)
    return Case(place, test)


def short_burst(draw):
    """Of a second or two, which is no level, but it makes the mean."""
    depth, delay_ms, runtime_s = draw.choice([1, 2, 4, 8]), draw.choice([4, 5, 8]), \
        draw.randint(9, 12)
    upper, lasts_s = depth * 1000 / (delay_ms + 0.25), draw.uniform(1, 2)
    lower = upper / (1 + draw.uniform(0.8, 2) * runtime_s / lasts_s)
    place = volume('read bucket %d after=%d' % (max(round(lower), 5), upper * lasts_s),
                   'read delay %d' % delay_ms)
    return Case(place, keys(draw, 'randread', depth, 1000 * runtime_s))


def burst_to_the_base(draw):
    _, lower, test, place = falling(draw)
    return Case(place, test, published=published(iops=lower / share(draw)))


def burst_below_the_base(draw):
    upper, _, test, place = falling(draw)
    return Case(place, test, published=published(iops=upper / draw.uniform(0.3, 0.8)))


def changing(rates, every_s):
    """The volume is rationed anew every so many seconds, from the window's start on."""
    def meanwhile(scene, process):
        begin = time.monotonic()
        for i, rate in enumerate(rates):
            scene.rules('read bucket %d' % rate)
            time.sleep(max(0, begin + (i + 1) * every_s - time.monotonic()))
            if process.poll() is not None:
                return
    return meanwhile


def over_time(draw, rates, every_s):
    runtime_ms = round(1000 * len(rates) * every_s)
    test = keys(draw, 'randread', draw.choice([4, 8, 16]), runtime_ms)
    return Case(volume('read bucket %d' % rates[0]), test,
                meanwhile=changing([round(rate) for rate in rates], every_s))


def leaning(draw):
    n, first, last = 40, spread(draw, 400, 1000), draw.uniform(0.2, 0.5)
    if draw.random() < 0.5:
        first, last = first * last, 1 / last
    return over_time(draw, [first * (1 + (last - 1) * i / (n - 1)) for i in range(n)], 0.5)


def varying_within_bounds(draw):
    n, rate, by = 40, spread(draw, 400, 1000), draw.uniform(0.03, 0.1)
    down = draw.choice([-1, 1])
    return over_time(draw, [rate * (1 + down * by * (2 * i / (n - 1) - 1)) for i in range(n)], 0.5)


def up_and_down(draw):
    high, n = spread(draw, 400, 1000), draw.randint(9, 12)
    low = high * draw.uniform(0.1, 0.33)
    return over_time(draw, [draw.uniform(0.9, 1.1) * (low if i % 2 else high) for i in range(n)],
                     1)


def one_slow_second(draw):
    """The first as a cold volume has it, or one within."""
    rate, n = spread(draw, 400, 1000), draw.randint(9, 12)
    rates = [rate] * n
    rates[draw.choice([0, 0, draw.randrange(n)])] *= draw.uniform(0.1, 0.5)
    return over_time(draw, rates, 1)


def stalled(draw):
    delay_ms = draw.choice([2, 5, 10])
    at_s, lasts_s = draw.uniform(0.6, 1.2), draw.uniform(1.25, 2)

    def meanwhile(scene, _):
        time.sleep(at_s)
        scene.rules('read hang')
        time.sleep(lasts_s)
        scene.rules('read delay %d' % delay_ms)
    return Case(volume('read delay %d' % delay_ms),
                keys(draw, 'randread', draw.choice([1, 2, 4, 8]), seconds(draw, 4, 5)),
                meanwhile=meanwhile)


def one_never_back(draw):
    """Of a few requests one hangs past the window's end, and with it a part of the depth."""
    delay_ms, runtime_ms = draw.choice([2, 5, 10]), seconds(draw, 3, 4)

    def meanwhile(scene, _):
        time.sleep(draw.uniform(0.1, 0.4))
        scene.rules('read hang count=1', 'read delay %d' % delay_ms)
        time.sleep(runtime_ms / 1000)
        scene.rules('read delay %d' % delay_ms)
    return Case(volume('read delay %d' % delay_ms),
                keys(draw, 'randread', draw.choice([2, 3, 4]), runtime_ms), meanwhile=meanwhile)


def suspended(draw):
    delay_ms = draw.choice([2, 5, 10])
    at_s, lasts_s = draw.uniform(0.5, 1.5), draw.uniform(0.8, 2)

    def meanwhile(_, process):
        time.sleep(at_s)
        process.send_signal(19)  # SIGSTOP
        time.sleep(lasts_s)
        process.send_signal(18)  # SIGCONT
    return Case(volume('read delay %d' % delay_ms),
                keys(draw, 'randread', draw.choice([1, 4, 16]), seconds(draw, 4, 5)),
                meanwhile=meanwhile)


# --- depth ---

def too_shallow(draw):
    """Twice the depth is 5000 requests a second at most, which FUSE manages on a small machine."""
    depth, jobs = draw.choice([1, 2, 4, 8, 16]), draw.choice([1, 1, 2, 3])
    delay_ms = max(draw.choice([2, 4, 6, 10]), 2 * depth * jobs // 5)
    test = keys(draw, draw.choice(['randread', 'read']), depth, seconds(draw, 3, 4), numjobs=jobs,
                limits_probe=True)
    return Case(volume('read delay %d' % delay_ms), test,
                published=draw.choice([None, published(iops=100000)]))


def too_shallow_for_a_disk(draw):
    test = keys(draw, 'randread', draw.choice([1, 2, 4]), seconds(draw, 3, 4), limits_probe=True)
    return Case(slow_disk(draw.choice([5, 10, 20])), test)


def deep_enough(draw):
    return rationed(draw, spread(draw, 150, 1500), (4, 6), limits_probe=True)


def very_deep(draw):
    return Case(volume('read bucket %d' % spread(draw, 500, 1200)),
                keys(draw, 'randread', draw.choice([64, 96, 128]), seconds(draw, 8, 9),
                     limits_probe=draw.choice([True, False])))


# --- the machine ---

def fast(draw, rw, depth, **others):
    return keys(draw, rw, depth, seconds(draw, 2, 4), **others)


def held_by_a_quota(draw):
    return Case(disk(), fast(draw, draw.choice(['randread', 'randwrite']), draw.choice([1, 4, 8]),
                             ioengine=draw.choice(['psync', 'auto'])),
                limit=cpu_quota(draw.uniform(0.05, 0.2)))


def unhurt_by_a_quota(draw):
    """A slow volume leaves most of it unused."""
    return Case(volume('read delay 10'), keys(draw, 'randread', 1, seconds(draw, 3, 4)),
                limit=cpu_quota(draw.uniform(0.5, 1)))


def without_a_cpu(draw):
    """Of a volume that answers at once, so that the run always wants the CPU that it shares."""
    return Case(memory, fast(draw, 'randread', draw.choice([4, 8, 16])),
                limit=hogs(draw.randint(2, 4)))


def never_waiting(draw):
    return Case(disk(), fast(draw, 'randread', draw.choice([1, 4, 16]), ioengine='null'))


def short_of_memory(draw):
    size = draw.randint(40, 80) * MIB
    return Case(disk(), fast(draw, 'randread', draw.choice([1, 4]), direct=False,
                             size=round(draw.uniform(2.5, 4)) * size),
                limit=memory_limit(size))


def room_in_memory(draw):
    return Case(volume('read delay 5'), keys(draw, 'randread', 4, seconds(draw, 3, 4)),
                limit=memory_limit(draw.randint(300, 500) * MIB))


def busy_with_checks(draw):
    """What a thread reads it checks before it sends again."""
    return Case(disk(), fast(draw, draw.choice(['randread', 'read']), draw.choice([1, 2]),
                             bs=draw.choice([256, 512, 1024]) * KIB, verify='crc32c',
                             size=32 * MIB, ioengine='psync'))


# --- memory in the volume's place ---

def cached_reads(draw):
    return Case(disk(), fast(draw, draw.choice(['randread', 'read']), draw.choice([1, 4]),
                             direct=False, size=draw.choice([1, 4, 16]) * MIB))


def cached_writes(draw):
    return Case(disk(), fast(draw, draw.choice(['randwrite', 'write']), draw.choice([1, 4]),
                             direct=False))


def cached_in_spite_of_direct(draw):
    return Case(disk('data=journal'), fast(draw, 'randread', draw.choice([1, 4, 8])))


def memory_itself(draw):
    return Case(memory, fast(draw, draw.choice(['randread', 'randwrite']), draw.choice([1, 4])))


# --- limits of a disk by the kernel ---

def throttled_iops(draw):
    # of whole requests in each slice of 100 ms, which is how the kernel rations them
    rate, rw = 10 * spread(draw, 10, 100), draw.choice(['randread', 'randwrite'])
    return Case(disk(), keys(draw, rw, draw.choice([2, 4, 8]), seconds(draw, 4, 6)),
                limit=throttle(rw[4:] + '_iops', rate),
                published=published(iops=rate / share(draw)))


def throttled_bandwidth(draw):
    mib, rw = spread(draw, 8, 60), draw.choice(['randread', 'randwrite'])
    return Case(disk(), keys(draw, rw, draw.choice([2, 4, 8]), seconds(draw, 4, 6),
                             bs=draw.choice([16, 64, 128]) * KIB),
                limit=throttle(rw[4:] + '_bps', mib * MIB),
                published=published(mib_per_s=mib / share(draw)))


# --- errors ---

def failing(draw):
    rw = draw.choice(['randread', 'randwrite'])
    error = draw.choice(['EIO', 'ESTALE', 'ETIMEDOUT'])
    return Case(volume('%s err %s after=%d count=%d' % (rw[4:], error, spread(draw, 200, 400),
                                                        draw.randint(1, 3)),
                       '%s delay 2' % rw[4:]),
                keys(draw, rw, draw.choice([1, 2, 4]), seconds(draw, 3, 4), size=MIB), status=1)


def retried(draw):
    return Case(volume('read err EAGAIN after=100 every=%d' % draw.randint(20, 200),
                       'read delay %d' % draw.choice([2, 4])),
                keys(draw, 'randread', draw.choice([1, 2, 4]), seconds(draw, 3, 4),
                     ioengine=draw.choice(['psync', 'libaio'])))


# --- nothing to say ---

def steady_fast(draw):
    """By tokens, so that no second hangs on how fast this machine is in it."""
    return rationed(draw, spread(draw, 1500, 4000), (8, 10))


def as_fast_as_the_machine(draw):
    """Which changes its speed as its host likes: from 130k to 20k requests, for seconds or for good."""
    return Case(disk(), keys(draw, draw.choice(['randread', 'randwrite']), draw.choice([1, 2, 4]),
                             seconds(draw, 8, 10)))


def steady_slow(draw):
    return Case(volume('read delay %d' % spread(draw, 20, 150)),
                keys(draw, draw.choice(['randread', 'read']), draw.choice([1, 2, 4]),
                     seconds(draw, 8, 10)))


def steady_for_long(draw):
    return rationed(draw, spread(draw, 100, 1000), (20, 21), limits_probe='auto')


def paced(draw):
    return Case(volume('read delay 2'),
                keys(draw, 'randread', 16, seconds(draw, 4, 5), rate_iops=spread(draw, 50, 500)),
                published=published(iops=spread(draw, 50, 500)))


def resting(draw):
    return Case(volume('read delay 2'), keys(draw, 'randread', draw.choice([1, 2]),
                                             seconds(draw, 8, 9), thinktime='5ms'))


def small_file(draw):
    return Case(volume('read delay %d' % draw.choice([4, 8, 16])),
                keys(draw, 'randread', draw.choice([1, 2, 4]), seconds(draw, 8, 9),
                     size=draw.choice([64, 128, 512]) * KIB))


def both_ways(draw):
    return Case(volume('read delay %d' % draw.choice([4, 6]), 'write delay %d' %
                       draw.choice([4, 8])),
                keys(draw, draw.choice(['randrw', 'rw']), draw.choice([1, 2, 4]),
                     seconds(draw, 8, 9), rwmixread=draw.randint(20, 80)))


def synced(draw):
    return Case(volume('write delay 2', 'fsync delay %d' % draw.choice([5, 10, 20])),
                keys(draw, draw.choice(['write', 'randwrite']), draw.choice([1, 4]),
                     seconds(draw, 8, 9), fsync=draw.choice([1, 4, 16])))


def by_amount(draw):
    test = keys(draw, 'read', draw.choice([1, 4, 8]), 0, loops=draw.randint(1, 3), bs=16 * KIB,
                size=4 * MIB)
    del test['runtime']
    return Case(volume('read delay %d' % draw.choice([4, 8])), test)


NOISE = ('noisy', 'not-steady')
# A thread that memory answers hardly waits, and hardly anything is outstanding.
FAST = ('cpu', 'engine')

# Name, how it is drawn, must, may.
WAITING = (
    ('published-iops', published_iops, ('published-limit',)),
    ('published-bandwidth', published_bandwidth, ('published-limit',)),
    ('published-each', published_each, ('published-limit',)),
    ('published-io-unit', published_io_unit, ('published-limit',)),
    ('published-burst-limit', published_burst_limit, ('published-limit',)),
    ('above-base', above_base, ('burst',)),
    ('above-all-limits', above_all_limits, ('server-cache',)),
    ('burst-then-sustained', burst_then_sustained, ('burst',)),
    ('short-burst', short_burst, ('noisy',)),
    ('burst-to-base', burst_to_the_base, ('burst', 'published-limit')),
    # it is no burst, and its seconds differ
    ('burst-below-base', burst_below_the_base, (), NOISE),
    ('leaning', leaning, ('not-steady',)),
    ('one-never-back', one_never_back, ('not-steady',)),
    ('up-and-down', up_and_down, ('noisy',)),
    ('stalled', stalled, ('stalls',)),
    ('suspended', suspended, ('suspended',)),
    ('too-shallow', too_shallow, ('queue-depth',)),
    ('failing', failing, ('errors',)),
    ('none-steady-slow', steady_slow, ()),
    ('none-steady-long', steady_for_long, ()),
    ('none-below-limit', below_the_limit, ()),
    ('none-second-reads', second_reads_as_slow, ()),
    ('none-deep-enough', deep_enough, ()),
    ('none-very-deep', very_deep, ()),
    ('none-varying', varying_within_bounds, ()),
    ('none-slow-second', one_slow_second, ()),
    ('none-small-file', small_file, ()),
    ('none-resting', resting, ()),
    ('none-mixed', both_ways, ()),
    ('none-synced', synced, ()),
    ('none-by-amount', by_amount, ()),
    ('none-retried', retried, ()),
    ('none-quota-unused', unhurt_by_a_quota, ()),
    ('none-memory-enough', room_in_memory, ()),
)
# They use a CPU, or want to know whether they had one.
ALONE = (
    ('paced-behind', paced_behind, ('published-limit',)),
    ('second-reads', second_reads, ('server-cache',)),
    ('too-shallow-disk', too_shallow_for_a_disk, ('queue-depth',)),
    ('cpu-quota', held_by_a_quota, ('cpu-quota',)),
    ('no-cpu', without_a_cpu, ('cpu', 'page-cache'), ('engine', 'suspended')),
    # what takes no time at all is never outstanding
    ('null-engine', never_waiting, ('cpu',), ('engine',)),
    ('engine', busy_with_checks, ('engine',), ('cpu',)),
    ('memory-limit', short_of_memory, ('memory',), ('page-cache', 'cpu')),
    ('cached-reads', cached_reads, ('page-cache',), FAST),
    ('cached-writes', cached_writes, ('page-cache',), FAST),
    ('cached-direct', cached_in_spite_of_direct, ('page-cache',), FAST),
    ('in-memory', memory_itself, ('page-cache',), FAST),
    ('throttled-iops', throttled_iops, ('io-limit', 'published-limit')),
    ('throttled-bandwidth', throttled_bandwidth, ('io-limit', 'published-limit')),
    ('none-steady-fast', steady_fast, ()),
    # what is said over time is then true, and of the host
    ('none-but-over-time', as_fast_as_the_machine, (), ('burst', *NOISE)),
    ('none-paced', paced, ()),
)
SITUATIONS = [Situation(*row) for row in WAITING] + \
    [Situation(*row, waits=False) for row in ALONE]
