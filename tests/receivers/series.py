#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Series of collectd, as csv has them and as receivers do, and whether these are the same.

series.py csv FOLDER            what the plugin csv wrote
series.py whisper FOLDER [TIME] what carbon wrote, of this time or later
series.py influxdb              what InfluxDB answered to "select * from /.*/", on standard input
series.py victoria              what VictoriaMetrics exported, on standard input: sent as to Graphite or InfluxDB, or
                                scraped as by Prometheus
                                each prints lines: name, TAB, time, TAB, value
series.py same KIND CSV GOT [FROM UNTIL]...
                                whether files of such lines agree; KIND graphite, influxdb, raw (of
                                InfluxDB's collectd listener) or csv. What differs is printed. Between these
                                times values may be missing.
series.py documented CSV PAGE...   whether the series of our plugins are those of the manual pages
series.py lacks CSV             whether any of the names on standard input, of which * is any text, isn't in
                                the file, or is there twice
series.py names KIND CSV        the names of all series of csv, as a receiver has them
series.py put SOCKET TIMES      gives collectd values of the names on standard input, through unixsock, once
                                a second
series.py counted GOT TIMES     whether the counters among these names, of which csv has rates only, are those
                                that were put so often, up to the last

A name is HOST/PLUGIN-INSTANCE/TYPE-TYPE_INSTANCE; of Graphite it is its own.
"""
import fnmatch
import glob
import json
import math
import os
import re
import socket
import sys
import time


def out(name, when, value):
    print(f'{name}\t{when:.3f}\t{value!r}')


def print_csv(folder):
    for path in sorted(glob.glob(folder + '/*/*/*')):
        name = os.path.relpath(path, folder)
        name = re.sub(r'-\d{4}-\d\d-\d\d$', '', name)
        with open(path) as file:
            for line in file:
                fields = line.rstrip('\n').split(',')
                if fields[0] != 'epoch' and line.endswith('\n'):
                    out(name, float(fields[0]), float(fields[1]))


def print_whisper(folder, since=0):
    import whisper
    for path, _, files in os.walk(folder):
        for file in files:
            full = os.path.join(path, file)
            name = os.path.relpath(full, folder)[:-len('.wsp')].replace('/', '.')
            (start, _, step), values = whisper.fetch(full, int(since))
            for index, value in enumerate(values):
                if value is not None:
                    out(name, start + index * step, value)


def print_influxdb():
    for result in json.load(sys.stdin)['results']:
        for series in result.get('series', []):
            for values in series['values']:
                row = {k: v for k, v in zip(series['columns'], values) if v is not None}
                name = f"{row['host']}/{series['name']}"
                # as types.db calls the data source; [[collectd]] has that in the measurement's name instead
                field = 'value'
                if row['type'] == 'duration' and not series['name'].endswith('_seconds'):
                    field = 'seconds'
                if 'instance' in row:
                    name += '-' + row['instance']
                name += '/' + row['type']
                if 'type_instance' in row:
                    name += '-' + row['type_instance']
                extra = set(row) - {'time', 'host', 'instance', 'type', 'type_instance', field}
                if extra:
                    name += f' with {sorted(extra)}'
                out(name, row['time'] / 1000, float(row.get(field, 'nan')))


def victoria_series(metric):
    name = metric['__name__']
    if '.' in name:
        return name
    scraped = re.fullmatch('collectd_(psi|cgroup_perf|wss|osnoise|headroom)_(.*?)(_total|_seconds)?', name)
    if scraped:
        plugin, kind = scraped.group(1, 2)
        of = [metric[label] for label in ('group', 'target', 'cpu') if label in metric]
        host, instance, type_instance = metric['instance'], of[0], metric.get('type')
    else:
        plugin = name.rpartition('_')[0]
        host, instance, kind, type_instance = (metric.get(tag) for tag in ('host', 'instance', 'type', 'type_instance'))
    return f'{host}/{plugin}' + (f'-{instance}' if instance else '') + f'/{kind}' + (f'-{type_instance}' if type_instance else '')


def print_victoria():
    for line in sys.stdin:
        series = json.loads(line)
        # what is scraped twice is there twice, and so is what comes twice within a second, as to Graphite
        for when, value in dict(zip(series['timestamps'], series['values'])).items():
            out(victoria_series(series['metric']), when / 1000, float('nan') if value is None else float(value))


def split(name):
    """HOST, PLUGIN, INSTANCE, TYPE, TYPE_INSTANCE; no plugin or type has a "-" in its name."""
    host, plugin, kind = name.split('/')
    plugin, _, instance = plugin.partition('-')
    kind, _, type_instance = kind.partition('-')
    return host, plugin, instance, kind, type_instance


def graphite_name(name):
    """As graphite.conf says."""
    parts = [re.sub(r'[\s."\\:!,/()]', '_', part) for part in split(name) if part]
    return '.'.join(['collectd'] + parts)


def influxdb_name(name):
    """write_influxdb_udp writes a backslash twice."""
    return name.replace('\\', '\\\\')


def raw_name(name):
    """InfluxDB's listener appends the data source's name to the plugin's."""
    host, plugin, rest = re.fullmatch(r'([^/]*)/([^-/]*)(.*)', name).groups()
    return f"{host}/{plugin}_{'seconds' if split(name)[3] == 'duration' else 'value'}{rest}"


NAMES = {'graphite': graphite_name, 'influxdb': influxdb_name, 'raw': raw_name, 'csv': str}


def read(path):
    """Name: list of (time, value), of values that are known."""
    series = {}
    with open(path) as file:
        for line in file:
            name, when, value = line.rstrip('\n').split('\t')
            if not math.isnan(float(value)):
                series.setdefault(name, []).append((float(when), float(value)))
    for values in series.values():
        values.sort()
    return series


def places(kind, when):
    """Where a value of that time may stand; csv's times are rounded themselves."""
    if kind != 'graphite':
        return [round(when * 1000) + shift for shift in (0, -1, 1)]
    return sorted({math.floor(when + shift) for shift in (0.4994, 0.5, 0.5006)})


def is_same(one, other):
    # csv and InfluxDB print 6 digits behind the point, or 15 in all
    return abs(one - other) <= 1e-6 + 1e-12 * abs(one)


def is_rate(name):
    return split(name)[3] in ('total_time_in_ms', 'derive', 'perf')


def differences(kind, expected, got, outages):
    """One line each. What comes twice, or at a time at which csv has nothing, is a difference, too."""
    named = {}
    for name in expected:
        other = NAMES[kind](name)
        if other in named:
            yield f'{name} and {named[other]} are both {other}'
        named[other] = name
    for name in sorted(set(got) - set(named)):
        yield f'{name} is not of csv'
    for other, name in sorted(named.items()):
        if other not in got:
            if all(any(begin <= when <= end for begin, end in outages) for when, _ in expected[name]):
                continue
            yield f'{other} did not arrive'
            continue
        arrived = {}
        for when, value in got[other]:
            arrived.setdefault(round(when) if kind == 'graphite' else round(when * 1000), []).append(value)
        values = expected[name]
        claimed = {}        # time there: what csv has
        for index, (when, value) in enumerate(values):
            allowed = [value]
            if is_rate(name) and index + 1 < len(values):
                allowed.append(values[index + 1][1])    # a rate is the latest, whatever the time
            for there in places(kind, when):
                claimed.setdefault(there, []).extend(allowed)
            may_miss = any(begin <= when <= end for begin, end in outages)
            if not may_miss and not any(there in arrived for there in places(kind, when)):
                yield f'{other} has nothing at {when:.3f}'
        for there, values in sorted(arrived.items()):
            if len(values) > 1:
                yield f'{other} has {len(values)} values at {there}'
            if there not in claimed:
                yield f'{other} has {values} at {there}, and csv nothing'
            elif not any(is_same(value, values[0]) for value in claimed[there]):
                yield f'{other} has {values} at {there}, and csv {claimed[there]}'


def print_differences(kind, expected, got, *outages):
    expected, got = read(expected), read(got)
    times = list(map(float, outages))
    outages = list(zip(times[::2], times[1::2]))
    count = 0
    for line in differences(kind, expected, got, outages):
        count += 1
        if count <= 20:
            print('#', line)
    print(f'# {sum(map(len, got.values()))} values of {len(got)} series, {count} differences')
    return count > 0 or not got


# --- the manual page ---------------------------------------------------------

PLACES = {'RESOURCE': '(cpu|memory|io|irq)', 'LEVEL': '(some|full)', 'TRIGGER': r'[\w.-]{1,64}',
          'CAUSE': '(limit|neighbours|itself|steal|irq|reclaim|unknown)',
          'CONTEXT': '(irq|thread)',
          'EVENT': '[^/]+?', 'WINDOW': r'\d+m?s', 'KIND': '(irq|softirq|thread|nmi)', 'CPU': r'cpu\d+',
          'LOWER': r'\d+', 'PERCENTILE': '(p50|p99|p999)', 'NAME': '[^/]+', 'TARGET': '[^/]+', 'TAKER': '[^/]+'}


def documented(page):
    """(name, pattern) of each series in the section SERIES."""
    with open(page) as file:
        section = file.read().split('\n.Sh SERIES')[1].split('\n.Sh ')[0]
    for line in re.findall(r'^\.It Li (.*)$', section, re.M):
        line = re.sub(r' Ns (Li )?', ' ', line.replace('\\-', '-')).replace('Li ', '')
        first = None
        for name in line.split(' , '):
            name = re.sub(r'Ar ([A-Z]+)', r'<\1>', name).replace(' ', '')
            if first is None:
                first = name
            elif name.startswith('-'):
                name = first[:first.rindex('-')] + name
            elif '/' not in name:
                name = first[:first.index('/') + 1] + name
            pattern = re.sub('<([A-Z]+)>', lambda match: PLACES[match[1]], name)
            if name.endswith('/ipc'):
                pattern += '(-[uk])?'           # with these modifiers
            if name.startswith('cgroup_perf'):
                pattern += r'(-cpu\d+)?'        # with ReportPerCPU
            yield name, re.compile(pattern)


def print_undocumented(csv, *pages):
    names = {name.split('/', 1)[1] for name in read(csv)}
    names = {name for name in names if re.match('(psi|cgroup_perf|wss|osnoise|headroom)-', name)}
    page = [series for page in pages for series in documented(page)]
    bad = 0
    for name in sorted(names):
        if not any(pattern.fullmatch(name) for _, pattern in page):
            print(f'# {name} is not documented')
            bad += 1
    for text, pattern in page:
        if not any(pattern.fullmatch(name) for name in names):
            print(f'# {text} is documented, and was not seen')
            bad += 1
    print(f'# {len(names)} series, {len(page)} in the manual pages')
    return bad > 0 or not names or not page


def print_lacking(csv):
    names = set(read(csv))
    bad = 0
    for line in sys.stdin.read().splitlines():
        count = sum(fnmatch.fnmatchcase(name, line) for name in names)
        if count != 1:
            print(f'# {line} is there {count} times')
            bad += 1
    return bad > 0


def print_names(kind, csv):
    for name in read(csv):
        print(NAMES[kind](name))


def put_value(name, number, index):
    """What put() gives of its name of this number, from 0, at this time, from 1."""
    return 1000 * index * (number + 1) if is_rate(name) else index / 7 + number


def put(path, times):
    names = [line.strip() for line in sys.stdin]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        stream = connection.makefile('rw')
        for index in range(1, int(times) + 1):
            for number, name in enumerate(names):
                stream.write(f'PUTVAL "{name}" interval=1 N:{put_value(name, number, index)}\n')
                stream.flush()
                answer = stream.readline()
                if not answer.startswith('0 '):
                    print(f'# {name}: {answer}')
                    return True
            time.sleep(1)


def print_miscounted(got, times):
    series = read(got)
    bad = count = 0
    for number, name in enumerate(line.strip() for line in sys.stdin):
        if not is_rate(name):
            continue
        count += 1
        given = [put_value(name, number, index) for index in range(1, int(times) + 1)]
        values = [value for _, value in series.get(name, [])]
        # those between two scrapes are missing; the last stays
        if set(values) - set(given) or values != sorted(values) or len(set(values)) < 2 or values[-1] != given[-1]:
            print(f'# {name} has {values}, and was given {given}')
            bad += 1
    print(f'# {count} counters, {bad} differ')
    return bad > 0 or not count


COMMANDS = {'csv': print_csv, 'whisper': print_whisper, 'influxdb': print_influxdb, 'victoria': print_victoria,
            'same': print_differences, 'documented': print_undocumented, 'lacks': print_lacking, 'put': put,
            'counted': print_miscounted, 'names': print_names}
sys.exit(COMMANDS[sys.argv[1]](*sys.argv[2:]))
