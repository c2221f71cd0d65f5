# SPDX-License-Identifier: MIT
"""One description of a series, and how each back end is asked for it.

A Series names what collectd-psi(5) and the other man pages document: plugin, instance, type and type instance.
InfluxQL, Graphite and PromQL turn it into their queries. All leave the variables of Grafana in: $host, $group, $target,
$cpu, and $hosts, which may be several.
"""
import re

# Which instances of a plugin are meant, and how Grafana's variables choose them.
WHERE = {
    "system": "the whole machine",
    "group": "the group that was chosen",
    "groups": "all groups but the whole machine",
    "targets": "the chosen targets of wss",
    "cpus": "the chosen CPUs",
    "every": "all there are",
    "machines": "the whole machine, of each of the chosen hosts",
    "worst": "the worst group of each of the chosen hosts: a series that fleet.conf makes of all groups'",
    "troubled": "the groups of the chosen hosts that are beyond a limit: with fleet.conf these leave a host by name",
}
FLEET = ("machines", "worst", "troubled")

# The column of a matrix that has the sums.
SUM = "All"

# The legends that are made of what distinguishes series.
TAGS = {"instance": ["instance"], "type_instance": ["type_instance"], "both": ["instance", "type_instance"],
        "host": ["host"], "cell": ["host", "type_instance"], "row": ["host", "instance", "type_instance"]}

# Names that Grafana can take apart.
PAIRS = {"cell": "host={} of={}", "row": "host={} group={} of={}"}
# How many milliseconds a value is of: collectd's Interval, as contrib/fleet/README.md says, and that of the rules for
# Prometheus, which record each value once.
INTERVAL_MS = 10000


class Series:
    """What is asked for. The type instance may have * and {a,b}, as in Graphite."""

    def __init__(self, plugin, where, type, type_instance="", *, without=None, counter=False,
                 times=1, legend=None, top=None, below=None, total=False, peak=False, lowest=False):
        assert where in WHERE
        self.plugin, self.where, self.type, self.type_instance = plugin, where, type, type_instance
        self.without = without      # a regular expression of type instances that are not meant
        self.counter = counter      # DERIVE: a rate is wanted
        self.times = times          # what values are multiplied by
        self.legend = legend        # a text, or which of TAGS; "cell" is of a list of hosts, "row" of one of groups
        self.top = top              # (how many, above which value): the instances that matter
        self.below = below          # (how many, below which value): likewise
        self.total = total          # the sum of all instances, by type instance
        self.peak = peak            # where several values are one point, the highest, not the mean
        self.lowest = lowest        # in a table: the lowest beside the mean, not the highest

    def names(self, tagged):
        """What the lines are called, where tagged() has a tag's value: by what distinguishes them."""
        names = [tagged(tag) for tag in TAGS.get(self.legend, [])]
        return PAIRS[self.legend].format(*names) if self.legend in PAIRS else ".".join(names) or self.legend


def expression(glob):
    """A regular expression for what a glob of Graphite's means."""
    text = re.sub(r"[.+^$()|\\]", lambda found: "\\" + found.group(), glob)
    text = text.replace("{", "(").replace("}", ")").replace(",", "|")
    return text.replace("*", ".*")


def is_pattern(glob):
    return any(character in glob for character in "*{[")


def number(value):
    return f"{value:.9f}".rstrip("0").rstrip(".")


def list_transformations(column, columns, lowest):
    """Lines that are called by pairs become a row a host and a column a resource, the worst rows first: rows keep the
    order in which their first cell comes."""
    return [
        {"id": "reduce", "options": {"reducers": ["mean"], "mode": "seriesToRows"}},
        {"id": "sortBy", "options": {"fields": {}, "sort": [{"field": "Mean", "desc": not lowest}]}},
        {"id": "extractFields", "options": {"source": "Field", "format": "kvp"}},
        {"id": "groupingToMatrix", "options": {
            "rowField": "host", "columnField": "of", "valueField": "Mean", "emptyValue": "null"}},
        {"id": "organize", "options": {
            "excludeByName": {}, "indexByName": {name: place for place, name in enumerate(["host\\of", *columns])},
            "renameByName": {"host\\of": column, **columns}}},
    ]


def named_columns(fields, columns, without=("Time", "time")):
    """A table has these fields, in this order, under these names, and not others."""
    return [{"id": "organize", "options": {
        "excludeByName": {name: True for name in without},
        "indexByName": {name: place for place, name in enumerate(fields)},
        "renameByName": dict(zip(fields, columns))}}]


def matrix_of_labels(row, taker, column, rename):
    """Lines of one point each become a matrix of two of their labels, with the sum of each row. Grouping to
    Matrix would put texts where a pair has no value, in Grafana 9, and sums of these are wrong."""
    return [
        {"id": "labelsToFields", "options": {"mode": "columns", "valueLabel": taker}},
        {"id": "merge", "options": {}},
        {"id": "renameByRegex", "options": {"regex": f"^{rename[0]}$", "renamePattern": rename[1]}},
        {"id": "calculateField", "options": {
            "mode": "reduceRow", "reduce": {"reducer": "sum"}, "alias": SUM, "replaceFields": False}},
        {"id": "organize", "options": {
            "excludeByName": {"Time": True, "time": True}, "indexByName": {row: 0, SUM: 1},
            "renameByName": {row: column}}},
    ]


class InfluxQL:
    """InfluxDB 1.x, as influxdb.conf fills it, or as network.conf does: there the measurements have _value
    at their ends (a duration's _seconds), and counters are totals, which the variable $counters is for."""

    name = "influxdb"
    title = "InfluxDB"
    host = '"host" =~ /^${host:regex}$/'
    hosts = '"host" =~ /^${hosts:regex}$/'

    def measurement(self, plugins):
        plugins = plugins if isinstance(plugins, str) else "(" + "|".join(plugins) + ")"
        return f"/^{plugins}(_value)?$/"

    def instances(self, series):
        return {
            "system": ["\"instance\" = 'system'"],
            "group": ['"instance" =~ /^${group:regex}$/'],
            "groups": ["\"instance\" != 'system'"],
            "targets": ['"instance" =~ /^${target:regex}$/'],
            "cpus": ['"instance" =~ /^${cpu:regex}$/'],
            "every": [],
            "machines": ["\"instance\" = 'system'"],
            "worst": [f"\"instance\" = '{series.plugin}'"],
            "troubled": ["\"instance\" != 'system'"],
        }[series.where]

    @staticmethod
    def plugin(series):
        return "worst_group" if series.where == "worst" else series.plugin

    def conditions(self, series):
        host = self.hosts if series.where in FLEET else self.host
        of = [host, *self.instances(series), f"\"type\" = '{series.type}'"]
        if is_pattern(series.type_instance):
            of.append(f'"type_instance" =~ /^{expression(series.type_instance)}$/')
        else:
            of.append(f"\"type_instance\" = '{series.type_instance}'")
        if series.without:
            of.append(f'"type_instance" !~ /{series.without}/')
        return " AND ".join(of) + " AND $timeFilter"

    def value(self, series):
        value = 'max("value")' if series.peak else 'mean("value")'
        return value if series.times == 1 else f"{value} * {number(series.times)}"

    def source(self, series):
        """Where values come from, up to GROUP BY: "value" is the value of a gauge, or a counter's rate."""
        where = self.conditions(series)
        if series.type == "duration":
            # The one type here whose value has another name in types.db: it is the field's name with
            # influxdb.conf, the measurement's with network.conf.
            return (f'(SELECT "seconds" AS "value" FROM "{self.plugin(series)}" WHERE {where}),'
                    f' (SELECT "value" FROM "{self.plugin(series)}_seconds" WHERE {where}) WHERE $timeFilter')
        if series.counter:
            return (f'(SELECT ${{counters:raw}} AS "value" FROM {self.measurement(series.plugin)}'
                    f" WHERE {where} GROUP BY {self.tags(self.each(series))}) WHERE $timeFilter")
        return f"{self.measurement(self.plugin(series))} WHERE {where}"

    @staticmethod
    def each(series):
        """By what series are told apart."""
        return [*(["host"] if series.where in FLEET else []), "instance", "type_instance"]

    @staticmethod
    def tags(tags):
        return ", ".join(f'"{tag}"' for tag in tags)

    def select(self, series, tags, alias=""):
        return f"SELECT {self.value(series)}{alias} FROM {self.source(series)} GROUP BY {self.by(tags)}"

    def by(self, tags):
        return ", ".join(["time($__interval)", self.tags(tags)] if tags else ["time($__interval)"])

    def graph(self, series):
        tags = TAGS.get(series.legend, [])
        if series.total:
            points = self.select(series, self.each(series), ' AS "v"')
            summed = (f'FROM ({points} fill(none)) WHERE $timeFilter'
                      f" GROUP BY {self.by(tags)}")
            if not series.top:
                return f'SELECT sum("v") {summed} fill(null)'
            points = f'SELECT sum("v") AS "v" {summed}'
        elif series.top or series.below:
            points = self.select(series, tags, ' AS "v"')
        else:
            return self.select(series, tags) + " fill(null)"
        # InfluxQL can't choose series by their values: only the points that matter are taken, so that what is quiet
        # makes no series.
        matters = f"> {number(series.top[1])}" if series.top else f"< {number(series.below[1])}"
        return f'SELECT "v" FROM ({points} fill(none)) WHERE "v" {matters} GROUP BY {self.tags(tags)}'

    def table(self, series):
        # Not of means per $__interval: the first of these begins before $timeFilter, and then InfluxDB
        # answers nothing at all.
        times = "" if series.times == 1 else f" * {number(series.times)}"
        other = "min" if series.lowest else "max"
        return (f'SELECT mean("value"){times} AS "mean", {other}("value"){times} AS "{other}"'
                f' FROM {self.source(series)} GROUP BY "{TAGS[series.legend][0]}"')

    def list(self, series):
        return f'SELECT mean("value") FROM {self.source(series)} GROUP BY {self.tags(TAGS[series.legend])}'

    def matrix(self, series):
        tags = self.tags(TAGS[series.legend])
        return (f'SELECT "v" FROM (SELECT mean("value") * {number(series.times)} AS "v" FROM {self.source(series)}'
                f' GROUP BY {tags}) WHERE "v" > {number(series.top[1])} GROUP BY {tags}')

    def groups(self, series):
        """Of pressure the mean, where nothing is what isn't above the limit; of room the lowest value."""
        if series.top:
            choose, (count, limit), beyond = "top", series.top, ">="
            value = f'sum("value") * {INTERVAL_MS} / (${{__to}} - ${{__from}})'
        else:
            choose, (count, limit), beyond, value = "bottom", series.below, "<=", 'min("value")'
        tags = self.tags(TAGS[series.legend])
        return (f'SELECT {choose}("v", {count}) AS "v", {tags} FROM (SELECT {value} AS "v" FROM {self.source(series)}'
                f' AND "value" {beyond} {number(limit)} GROUP BY {tags})')

    def target(self, series, letter, kind="timeseries"):
        table = kind in ("table", "groups")
        query = {"table": self.table, "matrix": self.matrix, "list": self.list, "groups": self.groups}.get(
            kind, self.graph)
        return {
            "refId": letter,
            "rawQuery": True,
            "query": query(series),
            "alias": "" if table else series.names(lambda tag: f"$tag_{tag}") or "",
            "resultFormat": "table" if table else "time_series",
        }

    def variable(self, plugins, tag):
        where = "" if tag == "host" else f" WHERE {self.host}"
        query = f'SHOW TAG VALUES FROM {self.measurement(plugins)} WITH KEY = "{tag}"{where}'
        return {"definition": query, "query": query, "regex": ""}

    every = ".*"        # what the choice "All" stands for

    def more_variables(self):
        return [{
            "name": "counters",
            "label": "Counters are stored as",
            "description": "Rates with influxdb.conf; totals with network.conf, that is by InfluxDB's own"
                           " listener for collectd.",
            "type": "custom",
            "query": 'rates (influxdb.conf) : "value",'
                     ' totals (network.conf) : non_negative_derivative("value"\\, 1s)',
            "options": [
                {"selected": True, "text": "rates (influxdb.conf)", "value": '"value"'},
                {"selected": False, "text": "totals (network.conf)",
                 "value": 'non_negative_derivative("value", 1s)'},
            ],
            "current": {"selected": True, "text": "rates (influxdb.conf)", "value": '"value"'},
            "multi": False, "includeAll": False, "hide": 0, "skipUrlSync": False,
        }]

    # A table has a column for the tag; it is named as Graphite's is.
    def table_transformations(self, tag, column, other):
        return [{"id": "organize", "options": {
            "excludeByName": {"Time": True, "time": True},
            "indexByName": {},
            "renameByName": {tag: column, "mean": "Mean", other: other.capitalize()}}}]

    matrix_order = SUM

    def matrix_transformations(self, column, rename):
        return matrix_of_labels("instance", "type_instance", column, rename)

    def groups_transformations(self, columns, _):
        return named_columns(["host", "instance", "type_instance", "v"], columns)


class Graphite:
    """Graphite, as graphite.conf fills it: collectd.HOST.PLUGIN.INSTANCE.TYPE[.TYPE_INSTANCE]."""

    name = "graphite"
    title = "Graphite"

    def path(self, series):
        instance = {"system": "system", "group": "$group", "groups": "*", "targets": "$target", "cpus": "$cpu",
                    "every": "*", "machines": "system", "worst": series.plugin, "troubled": "*"}[series.where]
        host = "$hosts" if series.where in FLEET else "$host"
        plugin = "worst_group" if series.where == "worst" else series.plugin
        path = f"collectd.{host}.{plugin}.{instance}.{series.type}"
        return f"{path}.{series.type_instance}" if series.type_instance else path

    def unnamed(self, series):
        query = self.path(series)
        if series.where in ("groups", "troubled"):
            query = f'exclude({query}, "[.]{series.plugin}[.]system[.]")'
        if series.without:
            query = f'exclude({query}, "{series.without}")'
        if series.times != 1:
            query = f"scale({query}, {number(series.times)})"
        return f'consolidateBy({query}, "max")' if series.peak else query

    def named(self, query, series):
        nodes = [{"host": 1, "instance": 3, "type_instance": 5}[tag] for tag in TAGS.get(series.legend, [])]
        if series.legend in PAIRS:
            places = {tag: f"\\{place}" for place, tag in enumerate(TAGS[series.legend], 1)}
            parts = "[.]".join(["([^.]+)"] * len(nodes))
            return (f"aliasSub(aliasByNode({query}, {', '.join(map(str, nodes))}), \"^{parts}$\","
                    f' "{series.names(places.get)}")')
        if series.total:
            return f'groupByNode({query}, {nodes[0]}, "sum")'
        if nodes:
            return f"aliasByNode({query}, {', '.join(map(str, nodes))})"
        return f'alias({query}, "{series.legend}")' if series.legend else query

    def graph(self, series):
        query = self.unnamed(series)
        if series.below:
            query = f"lowestAverage(minimumBelow({query}, {number(series.below[1])}), {series.below[0]})"
        if series.top and not series.total:
            query = self.highest(query, series)
        query = self.named(query, series)
        return self.highest(query, series) if series.top and series.total else query

    @staticmethod
    def highest(query, series):
        return f"highestAverage(maximumAbove({query}, {number(series.top[1])}), {series.top[0]})"

    def table(self, series):
        return self.named(self.unnamed(series), series)

    def matrix(self, series):
        return self.named(self.highest(self.unnamed(series), series), series)

    def groups(self, series):
        """As of InfluxQL, for Grafana's mean or minimum of the points; of those with most of it."""
        query = self.unnamed(series)
        if series.top:
            query = f"removeBelowValue(maximumAbove({query}, {number(series.top[1])}), {number(series.top[1])})"
            query = f"highestAverage(transformNull({query}, 0), {series.top[0]})"
        else:
            query = f"removeAboveValue(minimumBelow({query}, {number(series.below[1])}), {number(series.below[1])})"
            query = f"lowestAverage({query}, {series.below[0]})"
        return self.named(query, series)

    def target(self, series, letter, kind="timeseries"):
        query = {"table": self.table, "matrix": self.matrix, "list": self.table, "groups": self.groups}.get(
            kind, self.graph)(series)
        return {"refId": letter, "target": query, "textEditor": True}

    def variable(self, plugins, tag):
        plugins = plugins if isinstance(plugins, str) else "{" + ",".join(plugins) + "}"
        if tag == "host":
            query = f"expand(collectd.*.{plugins})"
            return {"definition": query, "query": query, "regex": r"/^collectd\.([^.]+)\./"}
        query = f"collectd.$host.{plugins}.*"
        return {"definition": query, "query": query, "regex": ""}

    every = "*"

    def more_variables(self):
        return []

    def table_transformations(self, _, column, other):
        return [
            {"id": "reduce", "options": {"reducers": ["mean", other], "mode": "seriesToRows"}},
            {"id": "organize", "options": {
                "excludeByName": {}, "indexByName": {}, "renameByName": {"Field": column}}},
        ]

    # Its names have no labels to make rows and columns of: a row for each pair.
    matrix_order = "Mean"

    def matrix_transformations(self, column, rename):
        return [{"id": "renameByRegex", "options": {"regex": f"^(.*)[.]{rename[0]}$", "renamePattern": "$1 < $2"}},
                *self.table_transformations("", f"{column} < taker", "max")]

    def groups_transformations(self, columns, reducer):
        return [
            {"id": "reduce", "options": {"reducers": [reducer], "mode": "seriesToRows"}},
            {"id": "extractFields", "options": {"source": "Field", "format": "kvp"}},
            *named_columns(["host", "group", "of", reducer.capitalize()], columns, ["Field"]),
        ]


class PromQL:
    """Prometheus, as prometheus.conf and the scrape configuration in contrib/prometheus fill it: the metric
    collectd_PLUGIN_TYPE[_total] with the labels instance (the host), group, target or cpu, and type."""

    name = "prometheus"
    title = "Prometheus"
    # What the scrape configuration makes of each plugin's instance.
    labels = {"psi": "group", "cgroup_perf": "group", "headroom": "group", "wss": "target", "osnoise": "cpu"}

    def label(self, plugin, tag):
        return {"host": "instance", "instance": self.labels[plugin], "type_instance": "type"}[tag]

    @staticmethod
    def quoted(text):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def matchers(self, series):
        label = self.labels[series.plugin]
        yield 'instance=~"$hosts"' if series.where in FLEET else 'instance="$host"'
        yield from {
            "system": [f'{label}="system"'],
            "group": [f'{label}="$group"'],
            "groups": [f'{label}!="system"'],
            "targets": [f'{label}=~"$target"'],
            "cpus": [f'{label}=~"$cpu"'],
            "every": [],
            "machines": [f'{label}="system"'],
            "worst": [],
            "troubled": [],
        }[series.where]
        if is_pattern(series.type_instance):
            yield f"type=~{self.quoted(expression(series.type_instance))}"
        else:
            yield f"type={self.quoted(series.type_instance)}"
        if series.without:
            yield f"type!~{self.quoted(f'.*({series.without}).*')}"

    def values(self, series, span="$__rate_interval"):
        """What there is at each point: of a counter its rate, of a gauge the mean since the last point, or its
        peak. Stalls are read from their totals, so that none is lost between two scrapes."""
        counter, type, times = series.counter, series.type, series.times
        if series.where == "worst":
            query = self.worst(series, span)
            return query if times == 1 else f"{query} * {number(times)}"
        stalls = (series.plugin, type) == ("psi", "percent")
        if stalls and re.search("-(some|full|{some,full})$", series.type_instance):
            counter, type, times = True, "total_time_in_ms", times / 10
        metric = f"collectd_{series.plugin}_{type}{self.unit(type)}"
        if counter:
            metric += "_total"
        function = "rate" if counter else "max_over_time" if series.peak else "avg_over_time"
        query = f"{function}({metric}{{{', '.join(self.matchers(series))}}}[{span}])"
        return query if times == 1 else f"{query} * {number(times)}"

    @staticmethod
    def unit(type):
        """The one type here whose value has a name of its own in types.db."""
        return "_seconds" if type == "duration" else ""

    def worst(self, series, span):
        """What comes from fleet.conf; and of hosts that are scraped themselves, with all their groups, what
        headroom-rules.yml records, as a query of all groups of a fleet would be too much for Prometheus."""
        where = ", ".join(self.matchers(series))
        sent = f'collectd_worst_group_{series.type}{self.unit(series.type)}{{worst_group="{series.plugin}", {where}}}'
        recorded = f"collectd_{series.plugin}:{series.type}:worst{{{where}}}"
        worst = "max" if series.plugin == "psi" else "min"
        return f"{worst} by ({self.by(series)}) (avg_over_time({sent}[{span}]) or avg_over_time({recorded}[{span}]))"

    def graph(self, series):
        query = self.values(series)
        if series.total:
            query = self.sum(query, series)
        if series.top:
            return f"topk({series.top[0]}, {query} > {number(series.top[1])})"
        if series.below:
            return f"bottomk({series.below[0]}, {query} < {number(series.below[1])})"
        return query

    def by(self, series):
        return ", ".join(self.label(series.plugin, tag) for tag in TAGS[series.legend])

    def sum(self, query, series):
        return f"sum by ({self.by(series)}) ({query})"

    def list(self, series):
        return self.values(series, "$__range")

    def matrix(self, series):
        query = self.sum(self.values(series, "$__range"), series)
        return f"topk({series.top[0]}, {query} > {number(series.top[1])})"

    def groups(self, series):
        """As of InfluxQL: of what headroom-rules.yml records of groups beyond the limit, each INTERVAL_MS."""
        recorded = f"collectd_{series.plugin}:{series.type}:troubled{{{', '.join(self.matchers(series))}}}[$__range]"
        if series.top:
            share = f"sum_over_time({recorded}) * {INTERVAL_MS // 1000} / $__range_s"
            return f"topk({series.top[0]}, max by ({self.by(series)}) ({share}))"
        return f"bottomk({series.below[0]}, min by ({self.by(series)}) (min_over_time({recorded})))"

    def target(self, series, letter, kind="timeseries"):
        query = {"table": self.values, "matrix": self.matrix, "list": self.list, "groups": self.groups}.get(
            kind, self.graph)(series)
        instant = kind in ("matrix", "list", "groups")
        return {"refId": letter, "editorMode": "code", "expr": query,
                "legendFormat": series.names(lambda tag: f"{{{{{self.label(series.plugin, tag)}}}}}") or "__auto",
                "format": "table" if kind == "groups" else "time_series", "range": not instant, "instant": instant}

    def variable(self, plugins, tag):
        plugins = [plugins] if isinstance(plugins, str) else plugins
        where = "" if tag == "host" else ', instance="$host"'
        query = (f'label_values({{__name__=~"collectd_({"|".join(plugins)})[_:].+"{where}}},'
                 f" {self.label(plugins[0], tag)})")
        return {"definition": query, "query": query, "regex": ""}

    every = ".*"

    def more_variables(self):
        return []

    # Lines become rows, as with Graphite.
    table_transformations = Graphite.table_transformations

    matrix_order = SUM

    def matrix_transformations(self, column, rename):
        return matrix_of_labels(self.label("psi", "instance"), self.label("psi", "type_instance"), column, rename)

    def groups_transformations(self, columns, _):
        return named_columns(["instance", "group", "type", "Value"], columns)
