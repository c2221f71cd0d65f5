# SPDX-License-Identifier: MIT
"""hosts.py - what dashboards.test asks of the dashboard of many hosts: whether its panels show what was sent.

feed NAME...                lines for "dashboards.py feed": the series that leave these hosts
shown FILE WHAT...          each panel has the hosts, order and values that follow from these series

The hosts are known here: one that is calm, one that lacks memory, one that lacks CPUs. WHAT is as in dashboards.py; hosts
are given in this order.
"""
import json
import re
import sys

sys.dont_write_bytecode = True
from dashboards import Grafana, load, numbers, queried, result, words       # noqa: E402

STALLS = ["cpu-some", "cpu-full", "memory-some", "memory-full", "io-some", "io-full", "irq-full"]
ROOMS = ["room", "room-cpu", "room-memory", "room-io"]
# Of the worst group, and of the whole machine, which has no full stalls of a CPU.
WORST_STALLS = [[12, 4, 1, 0.5, 6, 3, 0.2], [30, 10, 64, 51, 44, 33, 0.3], [96, 92, 2, 1.5, 8, 4, 7]]
WORST_ROOM = [[62, 70, 62, 90], [0, 45, 0, 80], [3, 3, 55, 88]]
MACHINE_STALLS = [[5, None, 1, 0.5, 2, 1, 0.5], [11, None, 20, 9, 61, 25, 1], [48, None, 2, 1, 3, 2, 7]]
MACHINE_ROOM = [[80, 85, 80, 95], [22, 60, 22, 90], [9, 9, 66, 91]]
# Seconds until there is no memory, of the worst group and of the machine; a day is no trend.
TO_TROUBLE = [[86400, 86400], [0, 5400], [7200, 86400]]
# So many that each second has enough of them.
KILLED_PER_MINUTE = [0, 3000, 0]
ALERTS_PER_MINUTE = [0, 4800, 2400]

CALM, MEMORY, CPU = range(3)
SELDOM = 30     # in each sixth value, of which the others don't come
# What else leaves them: groups in trouble, by names that not all receivers keep; and some that aren't in trouble, as of
# hosts that send all. (host, group, series, value)
SHOP, BUS = "system.slice_shop.service", "system.slice_dbus-:1.2-org.service"
GROUPS = [
    (CPU, SHOP, "psi", "cpu-full", 92), (CPU, SHOP, "psi", "memory-full", 9), (CPU, BUS, "psi", "io-full", 33),
    (MEMORY, SHOP, "psi", "memory-full", 51), (MEMORY, BUS, "psi", "cpu-full", 12), (CALM, SHOP, "psi", "cpu-full", 4),
    (CPU, SHOP, "headroom", "room-cpu", 3), (CPU, SHOP, "headroom", "room", 3), (CALM, SHOP, "headroom", "room-cpu", 62),
    (MEMORY, SHOP, "headroom", "room-memory", 0), (MEMORY, BUS, "headroom", "room-io", 8),
    (CALM, BUS, "psi", "io-full", f"{SELDOM}/6"),
]
# What each panel is to show: of a list the hosts in their order with their rows, of lines and of other tables a value
# of each host that is on it.
LISTS = {
    "Hosts by the pressure of their worst group": (STALLS, WORST_STALLS, [CPU, MEMORY, CALM]),
    "Hosts by the room of their tightest group": (ROOMS, WORST_ROOM, [MEMORY, CPU, CALM]),
    "Hosts by the pressure of the whole machine": (STALLS, MACHINE_STALLS, [MEMORY, CPU, CALM]),
    "Hosts by the room of the whole machine": (ROOMS, MACHINE_ROOM, [CPU, MEMORY, CALM]),
}
LINES = {
    "Hosts that wait for a CPU": {CALM: 12, MEMORY: 30, CPU: 96},
    "Hosts that wait for memory": {MEMORY: 64, CPU: 2},
    "Hosts that wait for I/O": {CALM: 3, MEMORY: 33, CPU: 4},
    "Hosts by the least room": {CALM: 62, MEMORY: 0, CPU: 3},
    "Room of the tightest hosts": {MEMORY: 0, CPU: 3},
    "Time to trouble of groups, by host": {MEMORY: 0, CPU: 120},
    "Time to trouble of machines": {MEMORY: 90},
    "Killed for lack of memory, by host": {MEMORY: 3000},
    "Alerts, by host": {MEMORY: 4800, CPU: 2400},
}
# Of a list of groups the rows in their order: host, group, what it waits for or lacks, and how much.
TROUBLED = {
    "Groups that wait, of all hosts": [(CPU, SHOP, "a CPU", 92), (MEMORY, SHOP, "memory", 51), (CPU, BUS, "I/O", 33),
                                       (MEMORY, BUS, "a CPU", 12), (CALM, BUS, "I/O", SELDOM / 6)],
    "Groups without room, of all hosts": [(MEMORY, SHOP, "memory", 0), (CPU, SHOP, "CPU", 3), (MEMORY, BUS, "I/O", 8)],
}
# What PromQL computes by rate(): of a series that begins within the time that this is of, Prometheus says less.
RATES = ["Hosts by the pressure of the whole machine", "Killed for lack of memory, by host", "Alerts, by host"]


def series_of(host):
    """(name, value), where "+" is a counter's rate."""
    for name, value in zip(STALLS, WORST_STALLS[host]):
        yield f"worst_group-psi/percent-{name}", value
    for name, value in zip(STALLS, MACHINE_STALLS[host]):
        if value is not None:
            yield f"psi-system/percent-{name}", value
            yield f"psi-system/total_time_in_ms-{name}", f"+{10 * value:g}"
    for name, of_worst, of_machine in zip(ROOMS, WORST_ROOM[host], MACHINE_ROOM[host]):
        yield f"worst_group-headroom/percent-{name}", of_worst
        yield f"headroom-system/percent-{name}", of_machine
    yield "worst_group-headroom/duration-to_trouble", TO_TROUBLE[host][0]
    yield "headroom-system/duration-to_trouble", TO_TROUBLE[host][1]
    yield "headroom-system/total_operations-oom_kill", f"+{KILLED_PER_MINUTE[host] / 60:g}"
    for of, group, plugin, name, value in GROUPS:
        if of == host:
            yield f"{plugin}-{group}/percent-{name}", value
    # Two triggers, which are one line.
    for trigger in "memory", "io":
        yield f"psi-system/derive-trigger_{trigger}", f"+{ALERTS_PER_MINUTE[host] / 120:g}"


def feed(*names):
    for host, name in enumerate(names):
        for series, value in series_of(host):
            print(f"{name}/{series} {value}")


# --- lists, as Grafana makes them of series ----------------------------------
def mean(values):
    return sum(values) / len(values)


REDUCERS = {"mean": mean, "min": min}


def reduce(rows, options):
    """Of {name: values}: a row a series."""
    return [{"Field": name, **{one.capitalize(): REDUCERS[one](values) for one in options["reducers"]}}
            for name, values in rows.items() if values]


def sort_by(rows, options):
    by, = options["sort"]
    return sorted(rows, key=lambda row: row[by["field"]], reverse=by["desc"])


def extract_fields(rows, options):
    """Of "a=b c=d" columns a and c."""
    return [{**row, **dict(pair.split("=") for pair in row[options["source"]].split())} for row in rows]


def grouping_to_matrix(rows, options):
    row_field, column_field = options["rowField"], options["columnField"]
    matrix = {}
    for row in rows:
        of = matrix.setdefault(row[row_field], {f"{row_field}\\{column_field}": row[row_field]})
        of[row[column_field]] = row[options["valueField"]]
    return list(matrix.values())


def organize(rows, options):
    places = options["indexByName"]
    return [{options["renameByName"].get(name, name): row[name]
             for name in sorted(row, key=lambda name: places.get(name, len(places)))
             if not options["excludeByName"].get(name)} for row in rows]


TRANSFORMATIONS = {"reduce": reduce, "sortBy": sort_by, "extractFields": extract_fields,
                   "groupingToMatrix": grouping_to_matrix, "organize": organize}


def rows_of(panel, found):
    rows = found
    for step in panel["transformations"]:
        rows = TRANSFORMATIONS[step["id"]](rows, step["options"])
    return rows


def table_of(grafana, target):
    """The rows of a table as each receiver answers them; Graphite has lines only."""
    if grafana.kind == "prometheus":
        found = grafana.prometheus("query", {"query": grafana.replaced(target["expr"]), "time": grafana.end})
        return [{"Time": one["value"][0], **one["metric"], "Value": float(one["value"][1])} for one in found["result"]]
    if grafana.kind == "influxdb":
        return [{**one.get("tags", {}), **dict(zip(one["columns"], values))}
                for one in grafana.influx(grafana.replaced(target["query"])) for values in one["values"]]
    return {name: numbers(points) for name, points in grafana.series(target).items()}


def texts_of(panel):
    """What cells show instead of what they have."""
    return {value: shown["text"] for override in panel["fieldConfig"]["overrides"] for own in override["properties"]
            if own["id"] == "mappings" for mapping in own["value"] for value, shown in mapping["options"].items()}


# --- and whether they are right -----------------------------------------------
class Shown:
    """A panel, and what a receiver has for it; hosts are called by these names."""

    def __init__(self, grafana, panel, target, names):
        self.panel, self.names, self.title = panel, names, panel["title"]
        self.kind, self.table = grafana.kind, None
        if self.title in TROUBLED:
            self.table = table_of(grafana, target)
            self.first = table_of(grafana, json.loads(re.sub(r"\b50\b", "2", json.dumps(target))))
            self.span = grafana.end - grafana.begin
            return
        # Grafana takes a minute, which these series aren't old.
        target = {**target, "expr": target["expr"].replace("$__rate_interval", "5s")} if "expr" in target else target
        self.found = {name: numbers(points) for name, points in grafana.series(target).items()}
        self.least = 0.5 if grafana.kind == "prometheus" and self.title in RATES else 0.9

    def fault(self):
        if self.title in TROUBLED:
            return self.groups_fault()
        return self.list_fault() if self.title in LISTS else self.lines_fault()

    def groups_fault(self):
        """Rows are those that are known, as the table orders them, of fewer the first, and links find what they name in
        them. A mean is of values that count for ten seconds each, but to Graphite; these come each second. Prometheus
        records them as often as it gets to it, all at once, but none twice."""
        by, = self.panel["options"]["sortBy"]
        rows = self.rows(by, self.table)
        found, first = ([list(row.values()) for row in shown] for shown in (rows, self.rows(by, self.first)))
        known = TROUBLED[self.title]
        if [row[:3] for row in found] != [[self.names[host], self.group(name), what] for host, name, what, _ in known]:
            return f"the rows are {found}"
        if [row[:3] for row in first] != [row[:3] for row in found[:2]]:
            return f"the first two rows are {first}"
        times = 10 if by["desc"] and self.kind != "graphite" else 1
        if by["desc"] and self.kind == "prometheus":
            times = min(times, found[0][3] / known[0][3])
        # Of what comes seldom one value more or less may be within the time; Prometheus, which looks at its own moments, finds
        # each with some chance.
        values = 4 if self.kind == "prometheus" else 1
        slack = values * SELDOM * times / self.span if by["desc"] else 0.01
        wrong = [row for row, (*_, value) in zip(found, known)
                 if not value * times * 0.9 - slack <= row[3] <= value * times * 1.1 + slack]
        lost = set(re.findall(r"__data\.fields\.(\w+)", str(self.panel["fieldConfig"]))) ^ {"Host"}
        return f"{wrong} are not as {known}" if wrong else f"links want {lost}" if lost or "Host" not in rows[0] else ""

    def rows(self, by, table):
        """What cells show, in the order of the table."""
        texts = texts_of(self.panel)
        rows = sorted(rows_of(self.panel, table), key=lambda row: row[by["displayName"]], reverse=by["desc"])
        return [{column: texts.get(cell, cell) for column, cell in row.items()} for row in rows]

    def group(self, name):
        """What Graphite makes of it."""
        return re.sub(r"[.:]", "_", name) if self.kind == "graphite" else name

    def wrong(self, values, expected):
        """Which of them are others than expected; rates are of whole numbers, over seconds that are not quite."""
        return {name: value for name, value in values.items() if name in expected and not
                expected[name] * self.least - 0.01 <= value <= expected[name] * 1.1 + 0.01}

    def list_fault(self):
        """Rows are in the order that is known, and each cell has its value, under a name for people."""
        columns, values, order = LISTS[self.title]
        rows = rows_of(self.panel, self.found)
        if [row.get("Host") for row in rows] != [self.names[host] for host in order]:
            return f"the order is {[row.get('Host') for row in rows]}"
        titles = self.panel["transformations"][-1]["options"]["renameByName"]
        for row, host in zip(rows, order):
            expected = {titles[name]: value for name, value in zip(columns, values[host]) if value is not None}
            if list(row) != ["Host", *expected]:
                return f"the columns are {list(row)}"
            if self.wrong(row, expected):
                return f"{row} is not {expected}"
        return ""

    def lines_fault(self):
        """The hosts that matter are there, and no others. A table has the mean first."""
        expected = {self.names[host]: value for host, value in LINES[self.title].items()}
        means = {name: mean(values) for name, values in self.found.items() if values}
        return f"{means} is not {expected}" if set(means) != set(expected) or self.wrong(means, expected) else ""


def shown(path, *what):
    grafana = Grafana(load(path), words(what))
    names = words(what)["hosts"].split(",")
    for panel, target in queried(grafana.dashboard):
        panel = Shown(grafana, panel, target, names)
        result(panel.fault(), f"{panel.title}: the hosts are those that are known")


if __name__ == "__main__":
    {"feed": feed, "shown": shown}[sys.argv[1]](*sys.argv[2:])
