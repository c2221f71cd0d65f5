# SPDX-License-Identifier: MIT
"""graphite-web's own dashboard: the graphs of the overview, with HOST where the host's name belongs."""
import copy
from urllib.parse import urlencode

COLOURS = {"orange": "#ff9830", "blue": "#5794f2", "purple": "#b877d9", "red": "#f2495c",
           "green": "#73bf69"}
OTHERS = ["#ff9830", "#5794f2", "#b877d9", "#f2495c", "#73bf69", "#fade2a", "#8ab8ff", "#ffa6b0", "#96d98d",
          "#ca95e5", "#c4162a"]
UNITS = {"percent": "%", "bytes": "bytes", "s": "microseconds", "µs": "microseconds per second",
         "cps": "per second", "m": "minutes", "short": ""}
# A graph has room for so many names below it.
ROOM = 6


def fitted(series, unit):
    """The same series, as few and in such units as a graph here can show."""
    series = copy.copy(series)
    if series.top:
        series.top = (ROOM, series.top[1])
    if series.below:
        series.below = (ROOM, series.below[1])
    if unit == "s":
        series.times *= 1e6     # seconds would be written as 5e-05
    return series


def colours(panel):
    if not panel.colours:
        return OTHERS
    return [COLOURS[panel.colours[series.legend]] for series in panel.series]


def graph(panel, back_end):
    parameters = {
        "target": [back_end.graph(fitted(series, panel.unit)).replace("$host", "HOST")
                   for series in panel.series],
        "title": panel.title,
        "colorList": ",".join(colours(panel)),
        "lineMode": "connected",
        "connectedLimit": "60",
        "hideLegend": "false",
        "hideNullFromLegend": "true",
        "areaMode": "stacked" if panel.stacked else "none",
    }
    if UNITS[panel.unit]:
        parameters["vtitle"] = UNITS[panel.unit]
    if panel.minimum is not None:
        parameters["yMin"] = str(panel.minimum)
    if panel.unit == "bytes":
        parameters["yUnitSystem"] = "binary"
    return parameters


def dashboard(back_end, name, rows):
    graphs = []
    seen = set()
    for title, members in rows:
        for panel in members:
            parameters = graph(panel, back_end) if panel.kind == "timeseries" else None
            if parameters is None or tuple(parameters["target"]) in seen:
                continue
            seen.add(tuple(parameters["target"]))
            targets = urlencode([("target", target) for target in parameters["target"]])
            graphs.append([targets, parameters, "/render?" + urlencode(parameters, doseq=True)])
    return {
        "name": name,
        "timeConfig": {
            "type": "relative", "relativeStartQuantity": "1", "relativeStartUnits": "hours",
            "relativeUntilQuantity": "", "relativeUntilUnits": "now",
            "startDate": "2026-01-01T00:00:00", "startTime": "9:00 AM",
            "endDate": "2026-01-01T00:00:00", "endTime": "5:00 PM"},
        "refreshConfig": {"enabled": True, "interval": 60000},
        "graphSize": {"width": 600, "height": 320},
        "defaultGraphParams": {"from": "-1hours", "until": "now", "width": 600, "height": 320},
        "graphs": graphs,
    }
