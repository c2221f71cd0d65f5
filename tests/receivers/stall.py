#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A load that stalls its own cgroup for as much of the time as a file says.

    stall.py RESOURCE LEVEL PRESSURE PERCENT [FILE]

RESOURCE (cpu, memory, io or irq) says what it does: it spins beside whatever else is on its CPU; it
reads FILE in no order, page by page, or in large blocks past the page cache; it has a timer interrupt the
CPU, on which another process should spin.
It reads the line LEVEL of the file PRESSURE, mostly its group's own, and pauses whenever that shows more
than the percentage that the file PERCENT holds, which may change at any time. 100 is without a pause.
"""
import mmap
import os
import random
import re
import signal
import sys
import time

resource, level, pressure_path, percent_path = sys.argv[1:5]
pressure = os.open(pressure_path, os.O_RDONLY)
pattern = re.compile(level.encode() + rb" .*total=(\d+)")
if resource in ("memory", "io"):
    flags = {"memory": os.O_RDONLY, "io": os.O_RDONLY | os.O_DIRECT}[resource]
    data = os.open(sys.argv[5], flags)
    size = 4096 if resource == "memory" else 1 << 16
    blocks = os.fstat(data).st_size // size
    buffer = mmap.mmap(-1, size)    # aligned, as O_DIRECT wants it
if resource == "memory":
    os.posix_fadvise(data, 0, 0, os.POSIX_FADV_DONTNEED)    # whoever wrote it was charged for it
    os.posix_fadvise(data, 0, 0, os.POSIX_FADV_RANDOM)
if resource == "irq":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})


def stalled():
    """Seconds of stall so far, as the kernel reports."""
    return int(pattern.search(os.pread(pressure, 4096, 0)).group(1)) / 1e6


def work():
    """Some milliseconds of it."""
    end = time.monotonic() + 0.005
    if resource == "irq":
        signal.setitimer(signal.ITIMER_REAL, 0.00002, 0.00002)
        while time.monotonic() < end:
            signal.sigwait({signal.SIGALRM})
        signal.setitimer(signal.ITIMER_REAL, 0)
        return
    while time.monotonic() < end:
        if resource == "cpu":
            continue
        os.preadv(data, [buffer], random.randrange(blocks) * size)


print("ready", flush=True)
known = None
while True:
    with open(percent_path) as file:
        share = float(file.read() or 0) / 100
    if share != known:
        known, begin, before = share, time.monotonic(), stalled()
    look_again = time.monotonic() + 0.2
    while (now := time.monotonic()) < look_again:
        # One stall may take long: then there is a longer pause. But what was missed isn't made up for.
        owed = share * (now - begin) - (stalled() - before)
        if owed > 0.1:
            begin, before = now, stalled()
        if share < 1 and owed <= 0:
            time.sleep(0.01)
        else:
            work()
