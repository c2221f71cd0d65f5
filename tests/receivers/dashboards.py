# SPDX-License-Identifier: MIT
"""dashboards.py - what dashboards.test asks of the dashboards in contrib/dashboards.

model FILE...                        the JSON is what Grafana's model of a dashboard wants
queries FILE WHAT...                 each query of each panel, as Grafana would send it, has values
covers WHISPER FILE...               each series that arrived in Graphite is on a panel
values FILE SERVER CSV WHAT...       panels show the values that csv has
matrix FILE CSV WHAT...              the matrix of who took the CPU has the pairs and values that csv has
takers FILE CSV WHAT...              ... as has the panel of a group's
pictures FOLDER FILE WHAT...         Debian's graphite-web draws each panel
graphite-web FILE FOLDER WHAT...     ... and takes its own dashboard
feed SOCKET SECONDS                  gives collectd the series on standard input, each second

WHAT are words KEY=VALUE: from and until in seconds; host, hosts, group, target, cpu as chosen in Grafana, with
commas if several; database; counters, the text of that choice; row, the first word of the only row that is
examined; groups that alone are drawn. Results are lines "ok NAME" and "not ok NAME: WHY".
"""
import csv
import fnmatch
import glob
import json
import os
import re
import socket
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

INFLUXDB = "http://127.0.0.1:8086/query"
GRAPHITE = "http://127.0.0.1:8080"
PROMETHEUS = "http://127.0.0.1:9090/api/v1"
VARIABLE = re.compile(r"\$(\w+)|\$\{(\w+)(?:\.[\w.\[\]\"]+)?(?::(\w+))?\}")


def result(why, name):
    print(f"not ok {name}: {why}" if why else f"ok {name}")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def fetch(address, data=None):
    """What a server answers, or its error as JSON. graphite-web fails while carbon makes a file that is asked for, which
    is so of groups of other tests that begin meanwhile: then it is asked again, for half a minute."""
    for attempts_left in range(100, -1, -1):
        try:
            with urllib.request.urlopen(address, data, timeout=30) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            why = error.read()
            if not attempts_left or b"CorruptWhisperFile" not in why:
                return json.dumps({"error": f"{error} {why[-300:]!r}"}).encode()
        time.sleep(0.3)


def asked(target):
    return target.get("query") or target.get("expr") or target["target"]


def queried(dashboard):
    """(panel, target) of all panels."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel, target


# --- the model ---------------------------------------------------------------
UNITS = {"percent", "bytes", "s", "m", "µs", "cps", "short"}     # of Grafana's list, those that are in use
KEYS = {"annotations", "editable", "graphTooltip", "id", "links", "panels", "refresh", "schemaVersion", "style",
        "tags", "templating", "time", "title", "uid", "version"}


def strings(what):
    """All strings in a JSON, keys left out."""
    if isinstance(what, dict):
        what = list(what.values())
    if isinstance(what, list):
        for item in what:
            yield from strings(item)
    elif isinstance(what, str):
        yield what


def values_of(what, key):
    """All values that a key has somewhere in a JSON."""
    if isinstance(what, dict):
        for name, value in what.items():
            if name == key:
                yield value
            yield from values_of(value, key)
    elif isinstance(what, list):
        for item in what:
            yield from values_of(item, key)


def overlap(one, other):
    return (one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"] and
            one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"])


def grid_faults(panels):
    for i, panel in enumerate(panels):
        place = panel["gridPos"]
        if place["x"] < 0 or place["w"] < 1 or place["h"] < 1 or place["x"] + place["w"] > 24:
            yield f"{panel['title']} is beyond the grid"
        for other in panels[:i]:
            if overlap(place, other["gridPos"]):
                yield f"{panel['title']} overlaps {other['title']}"


def panel_faults(panel, required):
    name = panel["title"]
    if panel["type"] == "row":
        return
    if panel["type"] not in required:
        yield f"{name}: its kind is not among what is required"
    if len(panel["description"]) < 60:
        yield f"{name}: says too little of what it means"
    if panel["fieldConfig"]["defaults"]["unit"] not in UNITS:
        yield f"{name}: unit"
    letters = [target["refId"] for target in panel["targets"]]
    if not letters or len(set(letters)) != len(letters):
        yield f"{name}: refIds"
    steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
    values = [step["value"] for step in steps]
    if values[0] is not None or values[1:] != sorted(values[1:]):
        yield f"{name}: thresholds"
    slow = re.search(r"(?<![a-z])(wss|osnoise)(?![a-z])", " ".join(map(asked, panel["targets"])))
    if panel["type"] == "timeseries" and not slow:
        if panel["fieldConfig"]["defaults"]["custom"]["spanNulls"] > 120000:
            yield f"{name}: draws a line over minutes without values"


def variable_names(dashboard):
    return {variable["name"] for variable in dashboard["templating"]["list"]}


def variable_faults(dashboard):
    defined = variable_names(dashboard)
    defined |= {entry["name"] for entry in dashboard["__inputs"]}
    used = set()
    for text in strings(dashboard):
        for plain, braced, _ in VARIABLE.findall(text):
            used.add(plain or braced)
    for name in used - defined:
        # Grafana's own; tags in aliases; what a regular expression found, perhaps as thousands
        if not name.startswith(("__", "tag_")) and name != "timeFilter" and not re.fullmatch(r"\d(e3)?", name):
            yield f"${name} is not defined"
    for name in defined - used - {"DS_COLLECTD"}:
        yield f"${name} is not used"


def link_faults(dashboard, all_of_them):
    by_uid = {other["uid"]: other for other in all_of_them}
    for url in values_of(dashboard, "url"):
        found = re.match(r"/d/([\w-]+)/", url)
        if not url:
            continue
        other = by_uid.get(found and found.group(1))
        if other is None or other["__inputs"] != dashboard["__inputs"]:
            yield f"{url} leads nowhere"
            continue
        names = variable_names(other)
        given = set(re.findall(r"var-(\w+)=", url))
        kept = set(re.findall(r"[?&]\$\{(\w+):queryparam\}", url))
        for name in (given | kept) - names:
            yield f"{url}: there is no variable {name} there"
        for name in (variable_names(dashboard) & names) - given - kept:
            yield f"{url} forgets {name}"
        if "&${__url_time_range}" not in url:
            yield f"{url} forgets the time"
    for link in dashboard["links"]:
        tagged = [other for other in all_of_them if set(link["tags"]) <= set(other["tags"])]
        if len(tagged) != sum(other["__inputs"] == dashboard["__inputs"] for other in all_of_them):
            yield f"the link {link['title']} finds {len(tagged)} dashboards"


def faults(dashboard, all_of_them):
    yield from (f"{key} is missing" for key in KEYS - set(dashboard))
    if dashboard["schemaVersion"] != 37 or not re.fullmatch(r"[\w-]{8,40}", dashboard["uid"]):
        yield "schemaVersion or uid"
    panels = dashboard["panels"]
    ids = [panel["id"] for panel in panels]
    if len(set(ids)) != len(ids):
        yield "ids of panels are not unique"
    yield from grid_faults(panels)
    required = {entry["id"] for entry in dashboard["__requires"] if entry["type"] == "panel"}
    for panel in panels:
        yield from panel_faults(panel, required)
    inputs = dashboard["__inputs"]
    reference = {"type": inputs[0]["pluginId"], "uid": "${" + inputs[0]["name"] + "}"}
    for source in values_of(dashboard, "datasource"):
        if source not in (reference, {"type": "grafana", "uid": "-- Grafana --"}):
            yield f"a data source is {source}"
    for panel, target in queried(dashboard):
        if target["datasource"] != reference or panel["datasource"] != reference:
            yield f"{panel['title']}: data source"
    yield from variable_faults(dashboard)
    yield from link_faults(dashboard, all_of_them)


def model(paths):
    loaded = [load(path) for path in paths]
    for key in ("uid", "title"):
        if len({dashboard[key] for dashboard in loaded}) != len(loaded):
            result(f"two have one {key}", f"each {key}")
    for path, dashboard in zip(paths, loaded):
        result("; ".join(faults(dashboard, loaded)), f"{os.path.basename(path)} is a dashboard of Grafana's")


# --- what Grafana puts in for variables --------------------------------------
def regex_escaped(text):
    return re.sub(r"[\\^$*+?.()|\[\]{}/]", lambda found: "\\" + found.group(), text)


def formatted(value, form):
    """One or several values, in a format of Grafana's."""
    several = isinstance(value, list)
    if form == "regex":
        escaped = [regex_escaped(one) for one in (value if several else [value])]
        return escaped[0] if len(escaped) == 1 else "(" + "|".join(escaped) + ")"
    if form == "glob":
        return "{" + ",".join(value) + "}" if several and len(value) > 1 else value[0] if several else value
    if form == "prometheus":    # within quotation marks; of several a regular expression
        if not several:
            return value.replace("\\", "\\\\")
        return formatted(value, "regex").replace("\\", "\\\\")
    assert form == "raw", form
    return value


class Grafana:
    """A dashboard, and what was chosen in it."""

    default_form = {"influxdb": "regex", "graphite": "glob", "prometheus": "prometheus"}

    def __init__(self, dashboard, what):
        self.dashboard, self.what = dashboard, what
        self.kind = dashboard["__inputs"][0]["pluginId"]
        self.begin, self.end = int(what["from"]), int(what["until"])
        self.chosen = {}
        for variable in dashboard["templating"]["list"]:
            self.choose(variable)

    def replaced(self, text, interval="10s"):
        own = {"timeFilter": f"time >= {self.begin}000ms and time <= {self.end}000ms", "__interval": interval,
               "__rate_interval": "60s", "__range": f"{self.end - self.begin}s", "__range_s": f"{self.end - self.begin}",
               "__from": f"{self.begin}000", "__to": f"{self.end}000"}

        def value(found):
            name = found.group(1) or found.group(2)
            if name in own:
                return own[name]
            if name not in self.chosen:
                return found.group()
            if self.chosen[name] in (".*", "*"):    # a choice of "All" is not escaped
                return self.chosen[name]
            return formatted(self.chosen[name], found.group(3) or self.default_form[self.kind])
        return VARIABLE.sub(value, text)

    def choose(self, variable):
        name = variable["name"]
        if variable["type"] == "custom":
            choice = self.what.get(name, variable["current"]["text"])
            texts = {option["text"]: option["value"] for option in variable["options"]}
            parsed = [one.replace("\\,", ",").split(" : ", 1)
                      for one in re.findall(r"(?:\\,|[^,])+", variable["query"])]
            result("" if {text.strip(): value for text, value in parsed} == texts else "differ",
                   f"the variable {name} offers what its text says")
            self.chosen[name] = texts[choice]
            return
        found = self.find(variable)
        wanted = self.what[name].split(",")
        missing = [one for one in wanted if one not in found]
        result(f"{missing} not among {found}" if missing else "",
               f"the variable {name} offers {self.what[name]}")
        self.chosen[name] = wanted if variable["multi"] else wanted[0]
        if self.what.get("all") and variable["includeAll"]:
            self.chosen[name] = variable["allValue"]

    def find(self, variable):
        query = self.replaced(variable["query"])
        if self.kind == "influxdb":
            return [row[1] for series in self.influx(query) for row in series["values"]]
        if self.kind == "prometheus":
            selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
            return self.prometheus(f"label/{label}/values", {"match[]": selector, "start": self.begin,
                                                             "end": self.end})
        expand = re.fullmatch(r"expand\((.*)\)", query)
        if not expand:
            found = json.loads(fetch(f"{GRAPHITE}/metrics/find?" + urllib.parse.urlencode(
                {"query": query, "from": self.begin, "until": self.end})))
            return [one["text"] for one in found]
        names = json.loads(fetch(f"{GRAPHITE}/metrics/expand?" + urllib.parse.urlencode(
            {"query": expand.group(1)})))["results"]
        return [re.search(variable["regex"].strip("/"), one).group(1) for one in names]

    def influx(self, query):
        answer = json.loads(fetch(f"{INFLUXDB}?" + urllib.parse.urlencode(
            {"db": self.what.get("database", "collectd"), "epoch": "ms", "q": query})))
        if "error" in answer or "error" in answer["results"][0]:
            print(f"# {query}\n# {answer}")
            return []
        return answer["results"][0].get("series", [])

    def prometheus(self, path, parameters):
        answer = json.loads(fetch(f"{self.what.get('prometheus', PROMETHEUS)}/{path}?{urllib.parse.urlencode(parameters)}"))
        if "data" not in answer:
            print(f"# {parameters}\n# {answer}")
            return []
        return answer["data"]

    def series(self, target, **more):
        """What a query yields: lists of (time in s, value), by name."""
        if self.kind == "prometheus":
            query = {"query": self.replaced(target["expr"], **more)}
            if target["instant"]:
                found = self.prometheus("query", {**query, "time": self.end})
            else:
                found = self.prometheus("query_range", {**query, "step": 1, "start": self.begin,
                                                        "end": self.end})
            return {re.sub(r"\{\{(\w+)\}\}", lambda tag, of=one: of["metric"].get(tag.group(1), ""),
                           target["legendFormat"]):
                    [(when, float(value)) for when, value in one.get("values") or [one["value"]]]
                    for one in (found["result"] if found else [])}
        if self.kind == "influxdb":
            found = {}
            for series in self.influx(self.replaced(target["query"], **more)):
                for row in series["values"]:
                    found.setdefault(self.name(series, target, row), []).append((row[0] / 1000, row[1]))
            return found
        answer = json.loads(self.render(target, {"format": "json", "maxDataPoints": 1000}))
        if "error" in answer:
            print(f"# {answer}")
            return {}
        return {series["target"]: [(when, value) for value, when in series["datapoints"]] for series in answer}

    @staticmethod
    def name(series, target, row):
        """A series' name as Grafana makes it of an alias; a table has tags, or columns of them."""
        tags = series.get("tags", {})
        if target["resultFormat"] == "table":
            return ",".join([*tags.values(), *(cell for cell in row if isinstance(cell, str))])
        return re.sub(r"\$tag_(\w+)", lambda found: tags[found.group(1)], target["alias"])

    def render(self, target, more):
        return fetch(f"{GRAPHITE}/render?" + urllib.parse.urlencode(
            {"target": self.replaced(target["target"]), "from": self.begin, "until": self.end, **more}))


def numbers(points):
    return [value for _, value in points if value is not None]


def words(arguments):
    return dict(argument.split("=", 1) for argument in arguments)


# --- questions to the servers ------------------------------------------------
def row_of(dashboard, word):
    """The dashboard with one row alone, and the variables that its queries need."""
    panels, row = [], ""
    for panel in dashboard["panels"]:
        row = panel["title"] if panel["type"] == "row" else row
        panels += [panel] if row.split()[0] == word else []
    texts = " ".join(asked(target) for _, target in queried({"panels": panels}))
    variables = [variable for variable in dashboard["templating"]["list"]
                 if re.search(r"\$\{?" + variable["name"] + r"\b", texts)]
    return {**dashboard, "panels": panels, "templating": {"list": variables}}


def renamed(panel, name):
    """As Grafana's renameByRegex does it, whose patterns are JavaScript's."""
    for transformation in panel["transformations"]:
        options = transformation["options"]
        name = re.sub(options["regex"], re.sub(r"\$(\d)", r"\\g<\1>", options["renamePattern"]), name)
    return name


def rows_fault(panel, names):
    """Grafana puts the rows of a heat map in order if all their names are numbers."""
    rows = [renamed(panel, name) for name in names]
    wrong = [row for row in rows if not re.fullmatch(r"\d+(e3)?", row)]
    if wrong or len({float(row) for row in rows}) < len(rows):
        return f"rows {wrong}" if wrong else f"the same rows: {rows}"
    return ""


def queries(path, *what):
    what = words(what)
    dashboard = load(path)
    if "row" in what:
        dashboard = row_of(dashboard, what["row"])
    grafana = Grafana(dashboard, what)
    for panel, target in queried(grafana.dashboard):
        found = {name: numbers(points) for name, points in grafana.series(target).items()}
        empty = not any(found.values())
        names = [name for name in found if not name or "$" in name]
        faults = rows_fault(panel, found) if panel["type"] == "heatmap" else ""
        result("empty" if empty else f"names {names}" if names else faults,
               f"{panel['title']}, {target['refId']}: {len(found)} series")


def paths_of(target):
    """The globs of a Graphite target, without braces, for fnmatch."""
    for path in re.findall(r"collectd\.[^()\s\"]+?(?=[,)]*(?:,\s|\)|$))", target):
        path = re.sub(r"\$\w+", "*", path)
        pending = [path]
        while pending:
            path = pending.pop()
            braces = re.search(r"\{([^{}]*)\}", path)
            if not braces:
                yield path
                continue
            pending += [path[:braces.start()] + one + path[braces.end():]
                        for one in braces.group(1).split(",")]


# What is documented and on no panel: of each CPU apart there is CPU time alone, or pages would be endless; of latencies
# the longest and all by length, which say more than the average that their sums and numbers make.
NOT_SHOWN = ["*.perf.*-cpu[0-9]*", "*.percent.*-cpu[0-9]*", "*.ipc.*cpu[0-9]*", "*.cache_ratio.*-cpu[0-9]*",
             "*.derive.latency_*_us", "*.total_operations.latency_*"]


def covers(whisper, *paths):
    globs = set()
    for path in paths:
        for _, target in queried(load(path)):
            globs |= set(paths_of(target["target"]))
    names = [os.path.relpath(name, whisper)[:-4].replace("/", ".")
             for name in glob.glob(whisper + "/collectd/**/*.wsp", recursive=True)]

    def shown(name):
        return any(name.count(".") == one.count(".") and fnmatch.fnmatchcase(name, one) for one in globs)
    lost = sorted(name for name in names if not shown(name) and
                  not any(fnmatch.fnmatchcase(name, one) for one in NOT_SHOWN))
    result("; ".join(lost[:10]) or ("" if len(names) > 50 else f"only {names}"),
           f"each of {len(names)} series is on a panel")


def csv_rows(folder, identifier):
    rows = []
    for path in sorted(glob.glob(f"{glob.escape(os.path.join(folder, identifier))}-20*")):
        with open(path, encoding="utf-8") as file:
            rows += [(float(row[0]), float(row[1])) for row in csv.reader(file) if row[0] != "epoch"]
    return rows


def rates(rows):
    return [(after[0], (after[1] - before[1]) / (after[0] - before[0])) for before, after in zip(rows, rows[1:])]


def compare(grafana, title, letter, rows, factor, tolerance):
    """Each point of a panel lies within what csv has for its time, a second to either side."""
    panel, target = next((panel, target) for panel, target in queried(grafana.dashboard)
                         if panel["title"] == title and target["refId"] == letter)
    points = [point for found in grafana.series(target).values() for point in found if point[1] is not None]
    width = 10 if grafana.kind == "influxdb" else 1
    seen, why = 0, ""
    for when, value in points:
        near = [row[1] * factor for row in rows if when - 1.5 <= row[0] <= when + width + 1.5]
        if not near:
            continue
        seen += 1
        slack = tolerance * max(abs(one) for one in near) + 1e-6
        if not min(near) - slack <= value <= max(near) + slack:
            why = f"{value} at {when}, csv has {near}"
    result(why or ("" if seen else f"nothing to compare in {points[:3]}"),
           f"{title}: {seen} points are those of csv")


def values(path, folder, *what):
    what = words(what)
    grafana = Grafana(load(path), what)
    group = what["csv_group"]
    gauge = csv_rows(folder, f"psi-{group}/percent-cpu-some")
    clock = rates(csv_rows(folder, f"cgroup_perf-{group}/perf-task-clock"))
    total = rates(csv_rows(folder, f"psi-{group}/total_time_in_ms-cpu-some"))
    compare(grafana, "Waiting for a CPU", "A", gauge, 1, 0.001)
    compare(grafana, "CPUs used", "A", clock, 1e-9, 0.02)
    stalled = grafana.dashboard
    for panel, target in queried(stalled):      # of several, the one that csv is asked of
        for key in ("query", "target"):
            if panel["title"] == "Seconds stalled per hour" and key in target:
                target[key] = target[key].replace("/^.*$/", "/^cpu-some$/").replace("in_ms.*", "in_ms.cpu-some")
    compare(grafana, "Seconds stalled per hour", "A", total, 3.6, 0.02)


def takers_of(begin, end, folder, group):
    """The rates of each taker that csv has for a group, within that time, in seconds per second."""
    found = {}
    for name in glob.glob(f"{glob.escape(os.path.join(folder, 'psi-' + group))}/derive-cpu_taken_*"):
        taker = re.fullmatch(r"derive-(cpu_taken_.*_us)-\d{4}-\d\d-\d\d", os.path.basename(name)).group(1)
        rows = rates([row for row in csv_rows(folder, f"psi-{group}/derive-{taker}") if begin <= row[0] <= end])
        if rows:
            found[plain(taker)] = [value * 1e-6 for _, value in rows]
    return found


def plain(name):
    """What is left of a name in each receiver."""
    return re.sub(r"[^A-Za-z0-9]+", "_", name)


def pair_fault(value, expected, kind):
    """A cell is a mean over the time shown; in Prometheus also over what was before a taker's first value."""
    if expected is None:
        return "csv has no such pair"
    mean, most = sum(expected) / len(expected), max(expected)
    least = 0 if kind == "prometheus" else min(expected)
    if not least * 0.99 <= value <= most * 1.01 + 1e-6:
        return f"{value} is not between {least} and {most}"
    # the last values may not have come
    if kind == "influxdb" and abs(value - mean) > 0.1 * mean + 3 * most / len(expected):
        return f"{value} is not {mean}"
    return ""


def target_of(grafana, title):
    (panel, target), = [both for both in queried(grafana.dashboard) if both[0]["title"] == title]
    return panel, target


def takers_fault(found, expected, kind):
    """What a receiver has of a group's takers, against what csv has."""
    why = [f"{taker}: {fault}" for taker, points in found.items() if points
           for fault in [pair_fault(sum(points) / len(points), expected.get(taker), kind)] if fault]
    why += [f"{taker} is missing" for taker, of in expected.items()
            if sum(of) / len(of) > 0.02 and not found.get(taker)]
    return "; ".join(why) or ("" if found else "none")


def matrix(path, folder, *what):
    what = words(what)
    grafana = Grafana(load(path), what)
    expected = takers_of(grafana.begin, grafana.end, folder, what["csv_group"])
    _, target = target_of(grafana, "Who takes the CPUs from which group")
    found = {}
    for name, points in grafana.series(target).items():
        group, taker = re.fullmatch(r"(.*)[.](cpu_taken_.*)", name).groups()
        if plain(group) == plain(what["csv_group"]):
            found[plain(taker)] = numbers(points)
    result(takers_fault(found, expected, grafana.kind), f"{len(found)} pairs of the matrix are those of csv")


def takers(path, folder, *what):
    what = words(what)
    grafana = Grafana(load(path), what)
    expected = takers_of(grafana.begin, grafana.end, folder, what["csv_group"])
    panel, target = target_of(grafana, "Who takes the CPU from $group")
    # Of ten seconds each the first and last point would be of fewer values than the others, and count as much.
    found = {plain(name): numbers(points) for name, points in grafana.series(target, interval="1s").items()}
    mode = panel["fieldConfig"]["defaults"]["custom"]["stacking"]["mode"]
    result(takers_fault(found, expected, grafana.kind) if mode == "normal" else "they aren't stacked",
           f"{len(found)} takers of the group are those of csv, stacked")


# --- pictures ----------------------------------------------------------------
def picture_fault(data):
    return "" if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) > 2000 else f"no picture: {data[:200]!r}"


def save(folder, name, data):
    with open(os.path.join(folder, re.sub(r"\W+", "-", name.lower()).strip("-") + ".png"), "wb") as file:
        file.write(data)


def graphite_web(path, folder, *what):
    what = words(what)
    state = load(path)
    host = what["host"]
    span = {"from": what["from"], "until": what["until"]}
    data = urllib.parse.urlencode({"state": json.dumps(state)}).encode()
    answer = fetch(f"{GRAPHITE}/dashboard/save/headroom", data)
    loaded = json.loads(fetch(f"{GRAPHITE}/dashboard/load/headroom"))
    result("" if loaded.get("state") == state else f"{answer!r} {loaded}", "it is saved, and loaded as it is")
    page = fetch(f"{GRAPHITE}/dashboard/headroom").decode()
    result("" if "does not exist" not in page and "HOST.psi.system" in page else page[-300:], "its page has it")
    # As a template, by README's command, it was saved once.
    for one in (host, "another_example_org"):
        loaded = json.loads(fetch(f"{GRAPHITE}/dashboard/load/headroom/{one}"))
        graphs = loaded.get("state", {}).get("graphs", [])
        hosts = {found for text in strings(graphs) for found in re.findall(r"collectd\.([^.]+)\.", text)}
        result("" if len(graphs) == len(state["graphs"]) and hosts == {one} else f"{hosts} in {loaded}",
               f"the template is one of the host {one}")
        page = fetch(f"{GRAPHITE}/dashboard/headroom/{one}").decode()
        result("" if f"{one}.psi.system" in page else page[-300:], f"and {one} has a page")
    graphs = json.loads(fetch(f"{GRAPHITE}/dashboard/load/headroom/{host}"))["state"]["graphs"]
    for targets, parameters, _ in graphs:
        name = parameters["title"]
        if "groups" in what:
            parameters["target"] = [re.sub(r"[.](psi|cgroup_perf)[.][*]", rf".\1.{{{what['groups']}}}", one)
                                    for one in parameters["target"]]
            targets = urllib.parse.urlencode([("target", one) for one in parameters["target"]])
        if urllib.parse.parse_qs(targets)["target"] != parameters["target"] or "HOST" in targets:
            result(f"{targets} is not {parameters['target']}", name)
            continue
        query = urllib.parse.urlencode({**state["defaultGraphParams"], **parameters, **span}, doseq=True)
        picture = fetch(f"{GRAPHITE}/render?{query}")
        found = json.loads(fetch(f"{GRAPHITE}/render?{query}&format=json"))
        save(folder, name, picture)
        empty = not any(numbers([(when, value) for value, when in one["datapoints"]]) for one in found)
        result(picture_fault(picture) or ("empty" if empty else ""), f"{name} is drawn, of {len(found)} series")


def pictures(path, *what):
    grafana = Grafana(load(path), words(what))
    for panel in grafana.dashboard["panels"]:
        targets = [grafana.replaced(target["target"]) for target in panel.get("targets", [])]
        if targets:
            query = urllib.parse.urlencode(
                {"target": targets, "from": grafana.begin, "until": grafana.end}, doseq=True)
            result(picture_fault(fetch(f"{GRAPHITE}/render?{query}")), f"{panel['title']} is drawn")


# --- what the kernel here doesn't report -------------------------------------
def feed(path, duration):
    """Lines "IDENTIFIER VALUE", or "IDENTIFIER +RATE" for counters: PUTVAL, each second; "VALUE/SECONDS" less often."""
    lines = []
    for line in sys.stdin.read().splitlines():
        identifier, value = line.rsplit(" ", 1)
        value, _, seconds = value.partition("/")
        lines.append((identifier, value, int(seconds or 1)))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        answers = connection.makefile()
        begun, turn = time.time(), 0
        while time.time() < begun + float(duration):
            now = time.time()
            due = [line for line in lines if turn % line[2] == 0]
            connection.sendall("".join(
                f'PUTVAL "{identifier}" interval={seconds} {now:.3f}:'
                f'{int((now - begun) * float(value)) if value.startswith("+") else value}\n'
                for identifier, value, seconds in due).encode())
            for identifier, _, _ in due:
                if not (answer := answers.readline()).startswith("0 "):
                    print(f"# {identifier}: {answer}", file=sys.stderr)
                    return 1
            turn += 1
            time.sleep(max(0, now + 1 - time.time()))
    return 0


COMMANDS = {"model": lambda *paths: model(paths), "queries": queries, "covers": covers, "values": values,
            "matrix": matrix, "takers": takers, "pictures": pictures, "graphite-web": graphite_web, "feed": feed}

if __name__ == "__main__":
    sys.exit(COMMANDS[sys.argv[1]](*sys.argv[2:]))
