# SPDX-License-Identifier: MIT
"""Grafana's model of a dashboard: panels, grid, variables, links. For Grafana 9 and later: newer versions
bring schema 37 up to date themselves."""
import string

from queries import TAGS, list_transformations

# name: (label, of which plugins, which tag, may be several)
VARIABLES = {
    "host": ("Host", ("psi", "cgroup_perf", "wss", "osnoise", "headroom"), "host", False),
    "group": ("Group", ("psi", "cgroup_perf", "headroom"), "instance", False),
    "target": ("Working set of", "wss", "instance", True),
    "cpu": ("Noise on", "osnoise", "instance", True),
    # With another name than "host", as links keep variables by their names, and one can't be several there.
    "hosts": ("Hosts", ("psi", "headroom", "worst_group"), "host", True),
}
# What they are called in tables, and in links; and to which page these lead.
COLUMN = {"host": "Host", "group": "Group", "target": "Target", "cpu": "CPU"}
THING = {"host": "host", "group": "group", "target": "working set", "cpu": "CPU"}
CLICKED = "${__value.text:percentencode}"      # the cell of a table
PAGE = {"host": "overview", "group": "group", "target": "group", "cpu": "group"}


def uid(back_end, page):
    return f"headroom-{page}-{back_end.name}"


def source(back_end):
    return {"type": back_end.name, "uid": "${DS_COLLECTD}"}


def link_to(back_end, variable, name, **more):
    """The drill-down, with what was clicked in a variable, and more variables, by name; the host, unless it is among
    these, how counters are stored, and the time stay as they are."""
    given = {variable: name, **more}
    kept = [*(["host"] if "host" not in given else []), *(other["name"] for other in back_end.more_variables())]
    return {
        "title": f"Show this {THING[variable]}",
        "url": f"/d/{uid(back_end, PAGE[variable])}/headroom?"
               + "&".join([*(f"${{{each}:queryparam}}" for each in kept),
                           *(f"var-{each}={value}" for each, value in given.items()), "${__url_time_range}"]),
        "targetBlank": False,
    }


def thresholds(steps):
    return {"mode": "absolute",
            "steps": [{"color": colour, "value": value} for value, colour in steps or [(None, "green")]]}


def defaults(panel):
    values = {"unit": panel.unit, "thresholds": thresholds(panel.thresholds), "mappings": []}
    for key, value in (("min", panel.minimum), ("max", panel.maximum), ("noValue", panel.nothing)):
        if value is not None:
            values[key] = value
    return values


def colour_overrides(panel):
    names = [series.legend for series in panel.series]
    return [{"matcher": {"id": "byName", "options": name},
             "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}]}
            for name, colour in panel.colours.items() if name in names]


def bridged(panel):
    """How many milliseconds without a value a line goes on for. A working set may be measured once an hour,
    and noise has intervals of its own; what else is missing for longer was not there."""
    if panel.gaps:
        return 60000
    slow = any(series.plugin in ("wss", "osnoise") for series in panel.series)
    return 3600000 if slow else 120000


def timeseries(panel, back_end):
    values = defaults(panel)
    values["color"] = {"mode": "palette-classic"}
    values["custom"] = {
        "axisCenteredZero": False, "axisColorMode": "text", "axisLabel": "", "axisPlacement": "auto",
        "barAlignment": 0, "drawStyle": "line", "fillOpacity": 40 if panel.stacked else 10,
        "gradientMode": "none", "hideFrom": {"legend": False, "tooltip": False, "viz": False},
        "lineInterpolation": "linear", "lineWidth": 1, "pointSize": 4,
        "scaleDistribution": {"type": "log", "log": 10} if panel.log else {"type": "linear"},
        "showPoints": "auto",
        "spanNulls": bridged(panel),
        "stacking": {"group": "A", "mode": "normal" if panel.stacked else "none"},
        "thresholdsStyle": {"mode": "off"},
    }
    if panel.link:
        values["links"] = [link_to(back_end, panel.link, "${__field.displayName:percentencode}")]
    transformations = []
    if panel.rename:
        transformations.append({"id": "renameByRegex", "options": {
            "regex": f"^{panel.rename[0]}$", "renamePattern": panel.rename[1]}})
    return {
        "fieldConfig": {"defaults": values, "overrides": colour_overrides(panel)},
        "options": {
            "legend": {"calcs": ["mean", "max"], "displayMode": "table", "placement": "bottom",
                       "showLegend": True, "sortBy": "Mean", "sortDesc": True},
            "tooltip": {"mode": "multi", "sort": "desc"}},
        "transformations": transformations,
    }


def table(panel, back_end):
    column = COLUMN[panel.link]
    values = defaults(panel)
    values["custom"] = {"align": "auto", "displayMode": "auto", "inspect": False}
    values["color"] = {"mode": "thresholds"}
    lowest = any(series.lowest for series in panel.series)
    bar = [{"id": "custom.displayMode", "value": "gradient-gauge"}] if panel.thresholds else []
    if panel.thresholds:
        bar += [{"id": "min", "value": 0}, {"id": "max", "value": 100}]
    return {
        "fieldConfig": {"defaults": values, "overrides": [
            {"matcher": {"id": "byName", "options": column}, "properties": [
                {"id": "links", "value": [link_to(back_end, panel.link, CLICKED)]}]},
            *([{"matcher": {"id": "byName", "options": "Mean"}, "properties": bar}] if bar else []),
        ]},
        "options": {"showHeader": True, "cellHeight": "sm",
                    "footer": {"show": False, "reducer": ["sum"], "countRows": False, "fields": ""},
                    "sortBy": [{"displayName": "Mean", "desc": not lowest}]},
        "transformations": back_end.table_transformations(TAGS[panel.series[0].legend][0], column,
                                                          "min" if lowest else "max"),
    }


def cells(panel, back_end, *, links=None, overrides=(), order=(), transformations):
    """A table of cells that have colours; a click on the name of a row leads to what it is of, or as {column: link}."""
    values = defaults(panel)
    values["custom"] = {"align": "auto", "displayMode": "auto", "inspect": False}
    values["color"] = {"mode": "thresholds"}
    return {
        "fieldConfig": {"defaults": values, "overrides": [
            {"matcher": {"id": "byType", "options": "number"}, "properties": [
                {"id": "custom.displayMode", "value": "color-background-solid"}]},
            *({"matcher": {"id": "byName", "options": column}, "properties": [{"id": "links", "value": [link]}]}
              for column, link in (links or {COLUMN[panel.link]: link_to(back_end, panel.link, CLICKED)}).items()),
            *overrides,
        ]},
        "options": {"showHeader": True, "cellHeight": "sm",
                    "footer": {"show": False, "reducer": ["sum"], "countRows": False, "fields": ""},
                    "sortBy": list(order)},
        "transformations": transformations,
    }


def matrix(panel, back_end):
    """Who takes from whom, the worst rows first."""
    return cells(panel, back_end, order=[{"displayName": back_end.matrix_order, "desc": True}],
                 transformations=back_end.matrix_transformations(COLUMN[panel.link], panel.rename))


def heat_list(panel, back_end):
    """A row a host, the worst first; each column may have limits of its own."""
    names = {series: name for series, (name, _) in panel.columns.items()}
    return cells(panel, back_end, transformations=list_transformations(
        COLUMN[panel.link], names, any(series.lowest for series in panel.series)),
        overrides=[{"matcher": {"id": "byName", "options": name},
                    "properties": [{"id": "thresholds", "value": thresholds(limits)}]}
                   for name, limits in panel.columns.values() if limits != panel.thresholds])


def groups_list(panel, back_end):
    """A row for each group of a host and what it waits for or lacks, the worst first."""
    worst, host, group = panel.series[0], COLUMN["host"], COLUMN["group"]
    what, value = panel.columns
    texts = {name: {"index": index, "text": text} for index, (name, text) in enumerate(panel.texts.items())}
    return cells(
        panel, back_end,
        links={host: link_to(back_end, "host", CLICKED),
               group: link_to(back_end, "group", CLICKED, host=f"${{__data.fields.{host}:percentencode}}")},
        overrides=[{"matcher": {"id": "byName", "options": what},
                    "properties": [{"id": "mappings", "value": [{"type": "value", "options": texts}]}]}],
        order=[{"displayName": value, "desc": worst.below is None}],
        transformations=back_end.groups_transformations(
            [host, group, what, value], "min" if worst.below else "mean"))


def heatmap(panel, _):
    """Rows that Grafana puts in order by their names, which are numbers."""
    unit, layout, names = panel.rows
    values = defaults(panel)
    values["custom"] = {"hideFrom": {"legend": False, "tooltip": False, "viz": False},
                        "scaleDistribution": {"type": "linear"}}
    return {
        "fieldConfig": {"defaults": values, "overrides": []},
        "options": {
            "calculate": False, "cellGap": 1, "cellValues": {"unit": panel.unit},
            # What is rare is to be seen beside what is not.
            "color": {"mode": "scheme", "scheme": "Oranges", "fill": "dark-orange", "scale": "exponential",
                      "exponent": 0.3, "steps": 64, "reverse": False},
            "exemplars": {"color": "rgba(255,0,255,0.7)"}, "filterValues": {"le": 1e-9},
            "legend": {"show": True}, "rowsFrame": {"layout": layout}, "showValue": "never",
            "tooltip": {"show": True, "yHistogram": False},
            "yAxis": {"axisPlacement": "left", "reverse": False, "unit": unit}},
        "transformations": [{"id": "renameByRegex", "options": {"regex": f"^{name}$", "renamePattern": number}}
                            for name, number in names],
    }


def stat(panel, back_end):
    values = defaults(panel)
    values["color"] = {"mode": "thresholds"}
    return {
        "fieldConfig": {"defaults": values, "overrides": []},
        "options": {"colorMode": "background", "graphMode": "area", "justifyMode": "auto",
                    "orientation": "auto", "textMode": "value",
                    "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}},
        "transformations": [],
    }


KINDS = {"timeseries": timeseries, "table": table, "matrix": matrix, "list": heat_list, "groups": groups_list,
         "heatmap": heatmap, "stat": stat}


def one(panel, back_end, number, place):
    return {
        "id": number, "type": panel.kind if panel.kind in ("timeseries", "heatmap", "stat") else "table",
        "title": panel.title, "description": panel.description,
        "datasource": source(back_end), "gridPos": place,
        # collectd's own interval: between two values there is nothing to see. A cell has no line to go on for a minute.
        "interval": "1m" if panel.kind == "heatmap" else "10s",
        "targets": [{"datasource": source(back_end),
                     **back_end.target(series, letter, panel.kind)}
                    for letter, series in zip(string.ascii_uppercase, panel.series)],
        **KINDS[panel.kind](panel, back_end),
    }


def laid_out(rows, back_end):
    """Panels of a row stand side by side, as many as fit into 24 columns."""
    panels, y = [], 0
    for title, members in rows:
        panels.append({"id": len(panels) + 1, "type": "row", "title": title, "collapsed": False,
                       "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}, "panels": []})
        x, y, height = 0, y + 1, 0
        for panel in members:
            if x + panel.width > 24:
                x, y, height = 0, y + height, 0
            panels.append(one(panel, back_end, len(panels) + 1,
                              {"x": x, "y": y, "w": panel.width, "h": panel.height}))
            x, height = x + panel.width, max(height, panel.height)
        y += height
    return panels


def variable(name, back_end):
    label, plugins, tag, several = VARIABLES[name]
    return {
        "name": name, "label": label, "type": "query", "datasource": source(back_end),
        **back_end.variable(plugins, tag),
        "refresh": 2,       # whenever the time changes: groups come and go
        "sort": 1, "multi": several, "includeAll": several,
        "allValue": back_end.every if several else None,
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]} if several else {},
        "options": [], "hide": 0, "skipUrlSync": False,
    }


def dashboard(back_end, page, title, description, rows, variables):
    panels = laid_out(rows, back_end)
    kinds = sorted({panel["type"] for panel in panels} - {"row"})
    names = {"timeseries": "Time series", "heatmap": "Heatmap", "table": "Table", "stat": "Stat"}
    tag = f"headroom-{back_end.name}"
    return {
        "__inputs": [{"name": "DS_COLLECTD", "label": back_end.title, "type": "datasource",
                      "description": f"The {back_end.title} that collectd's values are in",
                      "pluginId": back_end.name, "pluginName": back_end.title}],
        "__elements": {},
        "__requires": [
            {"type": "grafana", "id": "grafana", "name": "Grafana", "version": "9.0.0"},
            {"type": "datasource", "id": back_end.name, "name": back_end.title, "version": "1.0.0"},
            *({"type": "panel", "id": kind, "name": names[kind], "version": ""} for kind in kinds),
        ],
        "annotations": {"list": [{
            "builtIn": 1, "datasource": {"type": "grafana", "uid": "-- Grafana --"}, "enable": True,
            "hide": True, "iconColor": "rgba(0, 211, 255, 1)", "name": "Annotations & Alerts",
            "type": "dashboard"}]},
        "id": None, "uid": uid(back_end, page), "title": title, "description": description,
        "tags": ["collectd", "headroom", tag],
        "links": [{"type": "dashboards", "title": "Headroom", "tags": [tag], "asDropdown": False,
                   "includeVars": True, "keepTime": True, "targetBlank": False, "icon": "external link",
                   "tooltip": "", "url": ""}],
        "templating": {"list": [*(variable(name, back_end) for name in variables),
                                *back_end.more_variables()]},
        "panels": panels,
        "time": {"from": "now-1h", "to": "now"}, "refresh": "30s", "timezone": "browser",
        "editable": True, "graphTooltip": 1, "fiscalYearStartMonth": 0, "liveNow": False, "style": "dark",
        "schemaVersion": 37, "version": 1, "weekStart": "",
    }
