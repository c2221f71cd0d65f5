# SPDX-License-Identifier: MIT
"""What the dashboards show: the table that all of them are made of.

A description says to an operator what the number means, and what to do.
"""
from queries import Series

PRESSURE = [(None, "green"), (10, "yellow"), (40, "orange"), (70, "red")]
STALL = [(None, "green"), (5, "yellow"), (20, "orange"), (50, "red")]
TAKEN = [(None, "transparent"), (0.05, "yellow"), (0.2, "orange"), (0.5, "red")]
LEFT = [(None, "red"), (10, "orange"), (25, "yellow"), (50, "green")]


class Panel:
    """A panel; width of 24 columns, height in rows."""

    def __init__(self, title, description, series, *, kind="timeseries", unit="short", width=8, height=8,
                 minimum=0, maximum=None, thresholds=None, stacked=False, log=False, link=None,
                 nothing=None, rename=None, gaps=False, colours=None, columns=None, texts=None, rows=None):
        self.title, self.description, self.series, self.kind = title, description, series, kind
        self.unit, self.width, self.height = unit, width, height
        self.minimum, self.maximum, self.thresholds = minimum, maximum, thresholds
        self.stacked, self.log = stacked, log
        self.link = link            # the variable of the drill-down that a series' name goes to
        self.nothing = nothing      # what is said if there are no values
        self.rename = rename        # (regular expression, what becomes of it) of series' names
        self.gaps = gaps            # points stand apart: a line would show what isn't known
        self.colours = colours or {}
        self.columns = columns      # of a list: {type instance: (name, thresholds)}; of groups: two names
        self.texts = texts          # what type instances are called in cells
        self.rows = rows            # of a heat map: (unit, layout, [(regular expression, number) of series' names])


def psi(where, pressure, **more):
    return Series("psi", where, "percent", pressure, **more)


def perf(where, event, **more):
    return Series("cgroup_perf", where, "perf", event, counter=True, **more)


def wss(type, type_instance, **more):
    return Series("wss", "targets", type, type_instance, **more)


def room(where, type, type_instance, **more):
    return Series("headroom", where, type, type_instance, **more)


def noise(where, type, type_instance, **more):
    return Series("osnoise", where, type, type_instance, counter=type not in ("percent", "duration"), **more)


def most(title, event, meaning):
    return Panel(title, f"Per second, of the whole machine and of the groups with the most. {meaning}",
                 [perf("system", event, legend="instance"),
                  perf("groups", event, legend="instance", top=(10, 10))],
                 unit="cps", link="group", minimum=None, log=True)


def by_length(title, description, kind):
    """A heat map of a histogram of osnoise, whose series are named by where each bucket begins."""
    return Panel(title, description,
                 [noise("cpus", "total_values", f"{kind}_[0-9]*us", legend="type_instance", total=True)],
                 kind="heatmap", unit="cps", width=8, rows=("µs", "ge", [(f"{kind}_([0-9]+)us", "$1")]),
                 nothing="Histogram is false")


SOURCES = "{irq,softirq,thread,nmi,other}_*us"
COLOURS = {"cpu": "orange", "memory": "purple", "I/O": "blue", "interrupts": "red", "idle CPUs": "green",
           "some": "orange", "full": "red"}


def by_group(resource, name, what, advice):
    return [
        Panel(f"Groups waiting for {name}",
              f"The share of time in which at least one task of the group {what}: the groups with the"
              f" most. {advice} A click on a line leads to the group.",
              [psi("groups", f"{resource}-some", legend="instance", top=(10, 1))],
              unit="percent", width=16, maximum=100, link="group", gaps=True,
              nothing="no group waits"),
        Panel(f"Groups by waiting for {name}",
              f"All groups, by the mean and the highest share of time in which at least one task {what}."
              " A click on a name leads to the group.",
              [psi("groups", f"{resource}-some", legend="instance")],
              kind="table", unit="percent", width=8, link="group", thresholds=PRESSURE),
    ]


# (regular expression, what becomes of it): who took the CPU, of the type instance.
TAKER = ("cpu_taken_(?:by_)?(.*)_us", "$1")


def taken(where, title, meaning, *, kind="timeseries", **more):
    return Panel(title, f"{meaning} Only with Blame \"always\".",
                 [Series("psi", where, "derive", "cpu_taken_*_us", counter=True, times=1e-6, **more)],
                 kind=kind, unit="s", width=24, stacked=kind == "timeseries", rename=TAKER,
                 # of a matrix it would stand in each cell of a pair without a value
                 **{"thresholds": TAKEN, "link": "group"} if kind == "matrix" else
                 {"nothing": "Blame is not \"always\""})


OVERVIEW = [
    ("Pressure of the whole machine", [
        Panel("CPU", "The share of time in which at least one task could run but found no CPU free, or was"
              " throttled by a limit. Short work is delayed from some 40 %; above 70 % for long, the machine"
              " needs more CPUs or less to do: see below which groups wait, and which use the CPUs.",
              [psi("system", "cpu-some", legend="cpu")],
              kind="stat", unit="percent", width=6, height=5, maximum=100, thresholds=PRESSURE),
        Panel("Memory", "The share of time in which at least one task waited for memory: reclaim, swapping"
              " in, reading back what was just evicted. Anything that lasts above 5 % is felt; above 20 % the"
              " machine is about to thrash: stop or limit the group that takes the memory.",
              [psi("system", "memory-some", legend="memory")],
              kind="stat", unit="percent", width=6, height=5, maximum=100, thresholds=STALL),
        Panel("I/O", "The share of time in which at least one task waited for block I/O. A backup alone may"
              " make 100 %: compare with I/O full, and with the groups that wait.",
              [psi("system", "io-some", legend="I/O")],
              kind="stat", unit="percent", width=6, height=5, maximum=100, thresholds=PRESSURE),
        Panel("Interrupts", "The share of time that interrupts took from tasks, all of which waited. Above"
              " 5 % look for the source: noise, at the end of this page, /proc/interrupts and"
              " /proc/softirqs.",
              [psi("system", "irq-full", legend="interrupts")],
              kind="stat", unit="percent", width=6, height=5, maximum=100, thresholds=STALL,
              nothing="not measured by this kernel"),
        Panel("Some task waits", "The share of time in which at least one task of the machine waited for the"
              " resource. It means delay, not yet lost work: the others may go on. Where tasks wait for a CPU"
              " while CPUs are idle, these may not use them.",
              [psi("system", "cpu-some", legend="cpu"), psi("system", "memory-some", legend="memory"),
               psi("system", "io-some", legend="I/O"), psi("system", "cpu-idle", legend="idle CPUs")],
              unit="percent", maximum=100, colours=COLOURS),
        Panel("All tasks wait", "The share of time in which all tasks that are not idle waited at once: time"
              " in which nothing was done. Above a few percent the machine loses work. Of the CPU there is no"
              " such thing for a whole machine.",
              [psi("system", "memory-full", legend="memory"), psi("system", "io-full", legend="I/O"),
               psi("system", "irq-full", legend="interrupts")],
              unit="percent", maximum=100, colours=COLOURS),
        Panel("Alerts", "How often the triggers of psi fired, per minute, in the whole machine and in groups:"
              " each is a stall longer than its limit. The notification, in the log or in the mail, names the"
              " tasks that waited.",
              [Series("psi", "every", "derive", "trigger_*", counter=True, times=60, total=True,
                      legend="type_instance")],
              nothing="no trigger is configured", rename=("trigger_(.*)", "$1")),
    ]),
    ("Room that is left", [
        Panel("Groups by room", "How much more each group could take before its tasks are in trouble, in"
              " percent of what it could have: the tightest first, 0 is trouble now. By CPU or by memory,"
              " whichever is less; the group's page, a click away, shows which, and what its stalls are due"
              " to.",
              [room("groups", "percent", "room", legend="instance", lowest=True)],
              kind="table", unit="percent", width=8, link="group", thresholds=LEFT,
              nothing="the headroom plugin isn't loaded"),
        Panel("Room of groups", "The groups with the least, below 50 %. Who uses no more than a half is not"
              " here. Near 0 for long: raise the limit that binds, move a neighbour, or give it less to do.",
              [room("groups", "percent", "room", legend="instance", below=(10, 50))],
              unit="percent", width=8, maximum=100, link="group", gaps=True,
              nothing="all groups have room"),
        Panel("Time to trouble", "Minutes until no memory is left, at the present trend, of the machine and of"
              " groups; 0 in trouble, by whatever resource. Nothing here is no trend within a day. A leak has"
              " a straight line down: restart it, or raise its limit, before.",
              [room("every", "duration", "to_trouble", times=1 / 60, legend="instance", below=(10, 1439))],
              unit="m", width=8, link="group", gaps=True, nothing="no trend leads to trouble"),
    ]),
    ("Groups under pressure", [
        *by_group("cpu", "a CPU", "could run but found no CPU free, or was throttled by the group's limit",
                  "If the group uses less than its limit, its neighbours take the CPUs: raise its"
                  " cpu.weight, or limit them."),
        taken("groups", "Who takes the CPUs from groups", "For how many seconds of each second tasks of groups"
              " waited for a CPU, by who had it meanwhile: what is wide takes it from others, whoever uses"
              " more CPU time. Limit it (cpu.max), or give those who wait more cpu.weight.",
              total=True, legend="type_instance"),
        taken("groups", "Who takes the CPUs from which group", "For how many seconds of each second, over the time"
              " that is shown, tasks of a group (row) waited for a CPU while another had it (column): itself,"
              " its limit, another group. Those who wait longest come first; pairs below 1 ms are left out.",
              kind="matrix", legend="both", top=(200, 0.001)),
        *by_group("memory", "memory", "waited for memory",
                  "Compare its working set with memory.high and memory.max: raise these, or give it less to"
                  " do."),
        *by_group("io", "I/O", "waited for block I/O",
                  "Who reads and writes beside it? See io.stat of the groups, and io.weight."),
    ]),
    ("What groups do", [
        Panel("CPUs used", "CPU time of the groups with the most, in CPUs: 1 is one CPU all the time. What is"
              " near the number of CPUs, or near the group's limit, has no room left.",
              [perf("groups", "task-clock", times=1e-9, legend="instance", top=(10, 0.01))],
              stacked=True, link="group", gaps=True, nothing="no group runs"),
        Panel("Groups by CPUs used", "All groups, by mean and highest CPU time, in CPUs. A click on a name"
              " leads to the group.",
              [perf("groups", "task-clock", times=1e-9, legend="instance")],
              kind="table", link="group"),
        Panel("Instructions per cycle", "How much the processor gets done in a cycle, of the whole machine"
              " and of groups. What drops to a half of what it was, at the same work, waits for memory or"
              " shares its core: look for a new neighbour. Needs a PMU.",
              [Series("cgroup_perf", "every", "ipc", legend="instance")],
              link="group", nothing="cycles and instructions are not counted here (no PMU?)"),
        most("Context switches", "context-switches",
             "Some 10,000 a second and CPU cost much themselves; a jump at the same work means lock"
             " contention or of smaller pieces of work."),
        most("Page faults", "page-faults",
             "Together with memory pressure they are memory that is read back again and again; without,"
             " mostly new processes and new memory."),
        Panel("Cache misses", "cache-misses in percent of cache-references, of the whole machine and of"
              " groups; those of other caches are on the group's page. A rise together with fewer instructions"
              " per cycle: neighbours take the cache away. Needs a PMU, and both in one line of Event.",
              [Series("cgroup_perf", "every", "cache_ratio", "cache-misses", legend="instance")],
              unit="percent", maximum=100, link="group",
              nothing="misses and accesses are not counted here (no PMU?)"),
    ]),
    ("Working sets", [
        Panel("Memory that is touched", "What the processes and groups that wss is configured to measure touch"
              " within their longest window. That much they need; less, and they stall.",
              [Series("wss", "every", "memory", "referenced", legend="instance")],
              unit="bytes", width=8, link="target", nothing="wss measures nothing"),
        Panel("Memory that is resident", "What the same hold in memory. What is resident and not touched for"
              " a long window could be reclaimed: a limit halfway between both costs little.",
              [Series("wss", "every", "memory", "rss", legend="instance")],
              unit="bytes", width=8, link="target", nothing="wss measures nothing"),
        Panel("Targets by memory touched", "All that is measured, by the mean and the most that was touched."
              " A click on a name leads to its working set.",
              [Series("wss", "every", "memory", "referenced", legend="instance")],
              kind="table", unit="bytes", width=8, link="target"),
    ]),
    ("Noise of the system on its CPUs", [
        Panel("CPUs left to their work", "The share of time that was no noise: interrupts, softirqs, other"
              " threads and the hardware took the rest. On a CPU that is isolated for one task, anything"
              " below 99.9 % has a cause worth finding. With modes that measure by a workload only.",
              [noise("every", "percent", "available", legend="instance")],
              unit="percent", minimum=None, link="cpu", nothing="not measured with Mode \"sources\""),
        Panel("Longest single noise", "How long a task on the CPU was kept waiting at a stretch, at worst,"
              " within an interval. Compare with what your work can bear: the option Alert of osnoise reports"
              " of longer ones, and what they were made of.",
              [noise("every", "duration", "max_single", legend="instance", peak=True)],
              unit="s", link="cpu", nothing="not measured with Mode \"sources\""),
        Panel("Top sources of noise", "Microseconds per second that each source took, of all measured CPUs"
              " together: 10,000 are a hundredth of a CPU. Interrupts can be moved (/proc/irq), threads bound"
              " elsewhere, timers avoided by nohz_full.",
              [noise("every", "derive", SOURCES, total=True, legend="type_instance", top=(10, 1))],
              unit="µs", gaps=True, nothing="osnoise measures no sources"),
    ]),
]

LEVELS = {"cpu": ["some", "full"], "memory": ["some", "full"], "io": ["some", "full"], "irq": ["full"]}


def levels(resource, title, description, **more):
    return Panel(title, description,
                 [psi("group", f"{resource}-{level}", legend=level) for level in LEVELS[resource]],
                 unit="percent", width=6, maximum=100, colours=COLOURS, **more)


GROUP = [
    ("Pressure of $group", [
        levels("cpu", "Waiting for a CPU", "some: at least one task of the group could run but found no CPU"
               " free, or was throttled. full: all of them. If it uses less than its limit (see CPUs used),"
               " neighbours take the CPUs: raise cpu.weight; else raise cpu.max."),
        levels("memory", "Waiting for memory", "some: at least one task waited for reclaim, for swapping in,"
               " or for what was just evicted. full: all of them, so nothing was done. Above 5 % for long:"
               " give the group more memory (memory.high, memory.max), or less to do."),
        levels("io", "Waiting for I/O", "some: at least one task waited for block I/O. full: all of them, so"
               " nothing was done. Together with memory pressure the I/O may be memory that is read back:"
               " cure that first."),
        levels("irq", "Interrupted", "The share of time that interrupts took from the group's tasks. If it is"
               " much more than elsewhere, the group runs on the CPUs that serve a busy device.",
               nothing="not measured by this kernel"),
        Panel("Seconds stalled per hour", "How many seconds of each hour were lost, by the kernel's own"
              " totals, which miss nothing between two samples: what service levels are counted in.",
              [Series("psi", "group", "total_time_in_ms", "*", counter=True, times=3.6,
                      legend="type_instance")],
              unit="s", width=8),
        Panel("The kernel's averages", "Running averages over 10, 60 and 300 seconds, as the pressure files"
              " print them: the same as above, smoothed. Only with ReportAverages true.",
              [psi("group", "*-avg*", legend="type_instance")],
              unit="percent", width=8, maximum=100, nothing="ReportAverages is false"),
        Panel("Alerts", "How often the triggers of psi fired for this group, per minute. With Scope \"system\""
              " they fire for the group named system only.",
              [Series("psi", "group", "derive", "trigger_*", counter=True, times=60,
                      legend="type_instance")],
              width=8, nothing="no trigger watches this group", rename=("trigger_(.*)", "$1")),
        taken("group", "Who takes the CPU from $group", "For how many seconds of each second the group's tasks"
              " waited for a CPU, several at once, by who had it meanwhile. itself: the group wants more CPUs"
              " than there are; limit: its cpu.max, or that of a group above; else lower the cpu.weight of"
              " those who take it.", legend="type_instance"),
    ]),
    ("Room of $group", [
        Panel("Room", "How much more the group could take before its tasks are in trouble, in percent of what"
              " it could have; 0 is trouble now. Measured pressure wins over all that is computed.",
              [room("group", "percent", "{room-cpu,room-memory,room-io}", legend="type_instance")],
              unit="percent", width=6, maximum=100, rename=("room-(.*)", "$1"),
              nothing="the headroom plugin doesn't know it"),
        Panel("Least room", "The smallest of these: what is to be watched. What binds is what is lower in the"
              " panel beside.",
              [room("group", "percent", "room", legend="room")],
              unit="percent", width=6, maximum=100, nothing="the headroom plugin doesn't know it"),
        Panel("Memory", "need: what the kernel can't drop of it, and active files. limit: what it could have,"
              " by its own limits, those of the groups above, and what the machine has. room: what is left.",
              [room("group", "memory", "{room,need,limit}", legend="type_instance")],
              unit="bytes", width=6, nothing="the memory controller isn't enabled for it"),
        Panel("CPUs that are left", "How many CPUs more it could use, as busy as its others are: less than its"
              " cpu.max leaves, where the machine has less.",
              [room("group", "vcpu", "room", legend="CPUs")],
              width=6, nothing="not known: CPUs that are always busy"),
        Panel("Time to trouble of this group", "Minutes until no memory is left, at the present trend; a day"
              " without a trend, 0 in trouble.",
              [room("group", "duration", "to_trouble", times=1 / 60, legend="minutes")],
              unit="m", width=6, nothing="not known in the first ten minutes"),
        *(Panel(f"Why it waits for {name}", "The share of time in which its tasks were stalled, by what that"
                " is due to: its own limit or one above, neighbours, more tasks than CPUs (itself), the"
                " hypervisor (steal), interrupts, a machine short of memory (reclaim).",
                [room("group", "percent", f"{resource}-by-*", legend="type_instance")],
                unit="percent", width=6, maximum=100, stacked=True, rename=(f"{resource}-by-(.*)", "$1"),
                nothing="it hasn't waited")
          for resource, name in (("cpu", "a CPU"), ("memory", "memory"), ("io", "I/O"))),
        Panel("Killed for lack of memory", "How many processes of it, and of groups below, the kernel killed,"
              " per minute. The kernel's log, dmesg, has names and sizes.",
              [room("group", "total_operations", "oom_kill", counter=True, times=60, legend="killed")],
              width=6, nothing="not known"),
    ]),
    ("What $group does", [
        Panel("CPUs used", "CPU time of the group and all below it, in CPUs: 1 is one CPU all the time. For"
              " the group named system it is the number of CPUs, as its clock goes on while they idle.",
              [perf("group", "task-clock", times=1e-9, legend="CPUs")], width=6),
        Panel("CPUs used, each", "CPU time on each CPU. All on one CPU: the group is bound to it, or has one"
              " thread that works. Only with ReportPerCPU true.",
              [perf("group", "task-clock-cpu*", times=1e-9, legend="type_instance")],
              width=6, stacked=True, rename=("task-clock-(.*)", "$1"), nothing="ReportPerCPU is false"),
        Panel("Instructions per cycle", "What the processor gets done in a cycle for this group; u and k: in"
              " user mode and in the kernel only. A half of what it was, at the same work: it waits for"
              " memory, or shares its core. Needs a PMU.",
              [Series("cgroup_perf", "group", "ipc", legend="all"),
               Series("cgroup_perf", "group", "ipc", "{u,k}", legend="type_instance")],
              width=6, nothing="cycles and instructions are not counted here (no PMU?)"),
        Panel("Cache misses", "Misses in percent of the accesses. A rise together with fewer instructions per"
              " cycle: neighbours take the cache away.",
              [Series("cgroup_perf", "group", "cache_ratio", "*", without="-cpu[0-9]+$",
                      legend="type_instance")],
              unit="percent", width=6, maximum=100,
              nothing="misses and accesses are not counted here (no PMU?)"),
        Panel("Switches and faults", "Context switches and page faults per second. Many switches on little"
              " CPU time: it waits for others, by turns. Many faults with memory pressure: memory is read"
              " back again and again.",
              [perf("group", "context-switches", legend="context switches"),
               perf("group", "page-faults", legend="page faults")],
              unit="cps", width=8),
        Panel("All that is counted", "Every event of the option Event, per second; of task-clock"
              " nanoseconds. The scale is logarithmic.",
              [perf("group", "*", without="-cpu[0-9]+$", legend="type_instance")],
              unit="cps", width=8, minimum=None, log=True),
        Panel("Share that was really counted", "Below 100 % there are more events than counters, so that"
              " they take turns and the rest is extrapolated: count fewer events at once. 0 is no turn at"
              " all: another program holds the counters.",
              [Series("cgroup_perf", "group", "percent", "*-running", legend="type_instance")],
              unit="percent", width=8, maximum=100, rename=("(.*)-running", "$1")),
    ]),
    ("Working set of $target", [
        Panel("Touched and resident", "referenced is what was touched within the longest window; resident"
              " (rss) what is held in memory; proportional (pss) the same with shared pages by their part."
              " A limit below referenced makes it stall; what is above can be reclaimed.",
              [wss("memory", "{referenced,rss,pss}", legend="both")],
              unit="bytes", width=6),
        Panel("Profile", "What was touched within each window. A curve that still climbs at the longest"
              " window is a working set that you don't see the end of: add a longer one.",
              [wss("memory", "referenced-*", legend="both")],
              unit="bytes", width=6, rename=("(.*)[.]referenced-(.*)", "$1 within $2"),
              nothing="a target has one window only"),
        Panel("Window", "How long a window really was: that is what the bytes belong to. Where it is longer"
              " than was asked for, measuring is slow.",
              [wss("duration", "{window,window-*}", legend="both")],
              unit="s", width=4),
        Panel("Cost", "The work of one measurement, in seconds. With the referenced method the process may"
              " wait for so long: where that matters take a longer window, or another method.",
              [wss("duration", "scan", legend="instance")],
              unit="s", width=4),
        Panel("Processes", "How many processes were measured. Where it falls, so may the working set.",
              [wss("count", "processes", legend="instance")],
              width=4, nothing="a group is measured, not processes"),
        Panel("Profile over time", "What was touched within each window, the darker, the more; of several targets the"
              " sum. Where the rows of short windows darken, the same memory is touched more often; where only those of"
              " long ones do, more is used now and then.",
              [wss("memory", "referenced-*", legend="type_instance", total=True)],
              kind="heatmap", unit="bytes", width=24, height=7, nothing="a target has one window only",
              rows=("ms", "unknown", [("referenced-([0-9]+)ms", "$1"), ("referenced-([0-9]+)s", "$1e3")])),
    ]),
    ("Noise on $cpu", [
        Panel("Left to its work", "The share of time that was no noise. On a CPU that is isolated for one"
              " task, anything below 99.9 % has a cause worth finding.",
              [noise("cpus", "percent", "available", legend="instance")],
              unit="percent", width=6, minimum=None, nothing="not measured with Mode \"sources\""),
        Panel("Longest noise", "How long a task was kept waiting at a stretch, and how much noise there was"
              " in one period, at worst.",
              [noise("cpus", "duration", "{max_single,max_period}", legend="both", peak=True)],
              unit="s", width=6, nothing="not measured with Mode \"sources\""),
        Panel("What interferes", "Interferences per second: interrupts, softirqs, threads, NMIs; hw is noise"
              " without any of these: hardware, firmware, or the host of a virtual machine.",
              [noise("cpus", "total_operations", "{hw,nmi,irq,softirq,thread}", legend="type_instance", total=True)],
              unit="cps", width=6, nothing="not measured with Mode \"sources\""),
        Panel("Time looked at, and noise", "Microseconds per second for which the kernel looked"
              " (runtime_us), and noise within (noise_us). The scale is logarithmic.",
              [noise("cpus", "derive", "{runtime_us,noise_us}", legend="type_instance", total=True)],
              unit="µs", width=6, minimum=None, log=True, nothing="not measured with Mode \"sources\""),
        Panel("Sources", "Microseconds per second that each source took. Interrupts can be moved (/proc/irq),"
              " threads bound elsewhere, timers avoided by nohz_full.",
              [noise("cpus", "derive", SOURCES, legend="type_instance", total=True)],
              unit="µs", width=8, stacked=True, nothing="Sources is 0"),
        by_length("Single noises by length", "How many single noises per second were longer than so many"
                  " microseconds, and not longer than twice that: a histogram over time, the darker, the more. What is"
                  " new in the upper rows is what hurts. Only with Histogram true.", "noise"),
        Panel("Single noises by percentile", "What half of the single noises, 99 % and 99.9 % of them don't exceed, by"
              " powers of two. Where 99.9 % is far above 99 %, it is rare: look for what causes it in the alerts. Only"
              " with Histogram true.",
              [noise("cpus", "duration", "noise_{p50,p99,p999}", legend="both", peak=True)],
              unit="s", width=8, log=True, nothing="Histogram is false"),
        Panel("Records lost", "How many records of the kernel's were overwritten before they were read:"
              " values are too low by what they would have added. Anything but 0: collectd doesn't get to run"
              " in time.",
              [noise("cpus", "total_operations", "lost", legend="instance")], unit="cps", width=8),
        Panel("Latest timer", "How late a timer's interrupt was, and the thread that it wakes, at worst within an"
              " interval: what a task of that rank has to bear. With Mode \"timerlat\" only.",
              [noise("cpus", "duration", "max_latency_{irq,thread}", legend="both", peak=True)],
              unit="s", width=8, nothing="Mode isn't \"timerlat\""),
        Panel("Latencies by percentile", "What half of the latencies of timers' interrupts, and of the threads, 99 % and"
              " 99.9 % of them don't exceed, by powers of two. Only with Histogram true.",
              [noise("cpus", "duration", "latency_{irq,thread}_{p50,p99,p999}", legend="both", peak=True)],
              unit="s", width=8, log=True, nothing="Histogram is false"),
        by_length("Threads by latency", "How many threads per second began more than so many microseconds after"
                  " their timer's time, and not more than twice that: the darker, the more. Only with Histogram true.",
                  "latency_thread"),
        by_length("Timers by latency", "The same of the timers' interrupts: what is late here makes the threads late,"
                  " too. What is late there alone is due to softirqs, or code of the kernel that isn't preempted.",
                  "latency_irq"),
    ]),
]

# The columns of lists of hosts.
STALLED = {"cpu-some": ("CPU, some", PRESSURE), "cpu-full": ("CPU, full", STALL),
           "memory-some": ("Memory, some", STALL), "memory-full": ("Memory, full", STALL),
           "io-some": ("I/O, some", PRESSURE), "io-full": ("I/O, full", STALL),
           "irq-full": ("Interrupts", STALL)}
ROOMS = {"room": ("Least", LEFT), "room-cpu": ("CPU", LEFT), "room-memory": ("Memory", LEFT),
         "room-io": ("I/O", LEFT)}


def hosts(title, description, series, columns, **more):
    """A row a host, the worst ones first. There is no text for nothing, as each cell without a value would have it."""
    return Panel(title, f"{description} Means of the time that is shown. A click on a column sorts by it, on a name"
                 " leads to the host.",
                 [series], kind="list", unit="percent", maximum=100, height=12, link="host", columns=columns,
                 **more)


def pressure_of_hosts(where, title, description):
    return hosts(title, f"The share of time in which some task, or all tasks at once (full), waited {description}",
                 psi(where, "{cpu,memory,io,irq}-{some,full}", legend="cell"), STALLED, width=14,
                 thresholds=PRESSURE)


def room_of_hosts(where, title, description):
    return hosts(title, description,
                 room(where, "percent", "{room,room-cpu,room-memory,room-io}", legend="cell", lowest=True), ROOMS,
                 width=10, thresholds=LEFT)


def waiting_hosts(pressure, name, what, advice):
    return Panel(f"Hosts that wait for {name}",
                 f"The share of time in which {what}, in the group of the host in which that was most: the ten hosts"
                 f" with the most. {advice} A click on a line leads to the host.",
                 [psi("worst", pressure, legend="host", top=(10, 1))],
                 unit="percent", maximum=100, link="host", gaps=True, nothing="no host waits")


def trouble_of_hosts(where, title, whose, advice):
    return Panel(title, f"Minutes until {whose} has no memory left, at the present trend; 0 in trouble, by whatever"
                 f" resource. A host that isn't here has no such trend within a day. {advice}",
                 [room(where, "duration", "to_trouble", times=1 / 60, legend="host", below=(10, 1439))],
                 unit="m", link="host", gaps=True, nothing="no trend leads to trouble")


def groups_of_hosts(title, description, series, columns, texts, **more):
    return Panel(title, f"{description} A click on a group leads to it, on a host to that.", [series], kind="groups",
                 unit="percent", width=12, height=12, maximum=100, link="group", columns=columns, texts=texts, **more)


HOSTS = [
    ("The worst group of each host", [
        pressure_of_hosts(
            "worst", "Hosts by the pressure of their worst group",
            "in the group of the host in which that was most; which group that is, headroom top on the host shows. Red"
            " in a column of memory is the most urgent. Of a CPU it may be a group that its own limit throttles: then"
            " the machine, below, doesn't wait."),
        room_of_hosts(
            "worst", "Hosts by the room of their tightest group",
            "How much more the group with the least could take before its tasks are in trouble, in percent of what"
            " it could have; 0 is trouble now. At the top raise the limit that binds, or move work to the hosts at"
            " the end."),
        waiting_hosts(
            "cpu-some", "a CPU", "at least one task could run but found no CPU free, or was throttled",
            "Many hosts at once: there is more work than before, or it is badly spread. One alone: headroom blame on"
            " the host says who takes its CPUs."),
        waiting_hosts(
            "memory-some", "memory", "at least one task waited for memory",
            "Above 20 % the host is about to thrash: stop or limit the group that takes the memory."),
        waiting_hosts(
            "io-full", "I/O", "all tasks waited for block I/O at once, so that nothing was done",
            "Many hosts at once may share a storage that is slow."),
        Panel("Hosts by the least room", "The room of the host's tightest group, by the mean and the lowest of the time"
              " that is shown: who had none for a short while only is here, too. A click on a name leads to the"
              " host.",
              [room("worst", "percent", "room", legend="host", lowest=True)],
              kind="table", unit="percent", link="host", thresholds=LEFT,
              nothing="no headroom plugin sends values"),
        Panel("Room of the tightest hosts", "The ten hosts whose tightest group has the least, below 50 %. Near 0 for"
              " long: move work to a host that isn't here, raise the limit that binds, or add a host.",
              [room("worst", "percent", "room", legend="host", below=(10, 50))],
              unit="percent", maximum=100, link="host", gaps=True, nothing="all hosts have room"),
        trouble_of_hosts(
            "worst", "Time to trouble of groups, by host", "a group of the host",
            "Many lines that fall since a release are a leak in it: go back, or restart it before."),
    ]),
    ("Groups in trouble, by name", [
        groups_of_hosts(
            "Groups that wait, of all hosts",
            "For what share of the time that is shown all tasks of a group waited at once, without the spans of ten"
            " seconds in which that was below 10 %, or of a minute on hosts that Prometheus scrapes with all groups:"
            " the 50 groups with the most. With memory at the top raise that group's limit, or move it to another"
            " host.",
            psi("troubled", "{cpu,memory,io}-full", legend="row", top=(50, 10)), ("Waits for", "Share of time"),
            {"cpu-full": "a CPU", "memory-full": "memory", "io-full": "I/O"}, thresholds=STALL,
            nothing="no group waits"),
        groups_of_hosts(
            "Groups without room, of all hosts",
            "The least that each group had left, of those that had 10 % or less, in percent of what it could have; 0"
            " is trouble: the 50 tightest. Raise the limit that binds it, or move work to another host.",
            room("troubled", "percent", "{room-cpu,room-memory,room-io}", legend="row", below=(50, 10)),
            ("Lacks", "Least room"),
            {"room-cpu": "CPU", "room-memory": "memory", "room-io": "I/O"}, thresholds=LEFT,
            nothing="all groups have room"),
    ]),
    ("Whole machines", [
        pressure_of_hosts(
            "machines", "Hosts by the pressure of the whole machine",
            "anywhere on the machine. High here, the machine is too small for its work, or its disk too slow; high"
            " above and low here, a group waits alone, mostly for its own limit."),
        room_of_hosts(
            "machines", "Hosts by the room of the whole machine",
            "How much more the machine could take before its tasks are in trouble, in percent of what it has; 0 is"
            " trouble now. New work belongs on the hosts at the end."),
        trouble_of_hosts(
            "machines", "Time to trouble of machines", "the machine",
            "Move work away before, or restart what grows: headroom top on the host shows which group that is."),
        Panel("Killed for lack of memory, by host", "How many processes the kernel killed, per minute: work that was"
              " lost. The notification, in the log or in the mail, says which and why; so does dmesg on the host.",
              [room("machines", "total_operations", "oom_kill", counter=True, times=60, legend="host", top=(10, 0))],
              link="host", gaps=True, nothing="none was killed"),
        Panel("Alerts, by host", "How often the triggers of psi for the whole machine fired, per minute: each is a"
              " stall longer than its limit. The notification, in the log or in the mail, names the tasks that"
              " waited.",
              [Series("psi", "machines", "derive", "trigger_*", counter=True, times=60, total=True, legend="host",
                      top=(10, 0))],
              link="host", gaps=True, nothing="no trigger fired"),
    ]),
]
