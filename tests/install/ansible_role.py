# SPDX-License-Identifier: MIT
"""ansible_role.py - whether the role of contrib/ansible fits itself, its page, the snippets, and the drop-ins.

ansible_role.py CONTRIB: prints `ok - NAME` or `not ok - NAME` for each result, after what is wrong.
"""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml
from ansible.errors import AnsibleLookupError

contrib = pathlib.Path(sys.argv[1])
role = contrib / "ansible/roles/headroom"


def read(path):
    return path.read_text(encoding="utf-8")


def load(path):
    return yaml.safe_load(read(role / path))


def result(name, problems):
    for problem in problems:
        print(problem)
    print(f"{'not ok' if problems else 'ok'} - {name}")


def functions():
    spec = importlib.util.spec_from_file_location("headroom_wanted", role / "lookup_plugins/headroom_wanted.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def snippet(name):
    return read(contrib / f"collectd.conf.d/{name}.conf")


# The snippets, by what their variables end in.
VARIABLES = {path.stem.replace("-", "_"): path.stem for path in (contrib / "collectd.conf.d").glob("*.conf")}
with_options = functions().with_options

# Snippet, options, and the lines that come in the place of others.
CHANGED = [
    ("graphite", {"Host": "graphite.example.org", "Port": 2004}, ["    Host \"graphite.example.org\"", "    Port 2004"]),
    ("graphite", {"SeparateInstances": False}, ["    SeparateInstances false      # PLUGIN.GROUP rather than PLUGIN-GROUP: "
                                                "dashboards choose by group"]),
    ("influxdb", {"Server": ["influxdb.example.org", "8089"]}, ["  Server \"influxdb.example.org\" \"8089\""]),
    ("network", {"Server": ["central.example.org", "25826"]}, ["  Server \"central.example.org\" \"25826\""]),
    ("central", {"Listen": ["*", "25826"]}, ["  Listen \"*\" \"25826\"    # \"*\" for all addresses; then see SecurityLevel"]),
    ("prometheus", {"Host": None}, ["  # Host"]),
    ("mail", {"NotificationExec": ["nobody", "headroom-mail", "a@example.org", "b@example.org"]},
     ["  NotificationExec \"nobody\" \"headroom-mail\" \"a@example.org\" \"b@example.org\""]),
    ("headroom-cgroups", {"Cgroup": ["a/*", "b\\x2d*", 'c"d']}, ["Cgroup \"a/*\" \"b\\\\x2d*\" \"c\\\"d\""]),
    ("headroom-cgroups", {"MinAge": 60, "NameFrom": ["kubernetes"], "MaxCgroups": 500},
     ["NameFrom \"kubernetes\"", "MinAge 60", "MaxCgroups 500"]),
    ("headroom", {"OOM": True}, ["  OOM true"]),
    ("osnoise", {"CPUs": "isolated", "Mode": "osnoise"}, None),
    ("graphite", {}, []),
]
# Snippet, options, and what it complains of.
REFUSED = [
    ("graphite", {"Hots": "a"}, "graphite.conf has no option Hots"),
    ("psi", {"Resource": "io"}, "psi.conf has Resource 2 times"),
    ("psi", {"Repeat": 3600}, "psi.conf has no option Repeat"),     # prose
    ("graphite", {"Host": "a\nLoadPlugin exec"}, "neither text of one line"),
    ("graphite", {"Host": {"a": "b"}}, "neither text of one line"),
]


def changed_wrongly():
    for name, options, lines in CHANGED:
        before, after = snippet(name).splitlines(), with_options(snippet(name), name, options).splitlines()
        come = [line for line in after if line not in before]
        gone = [line for line in before if line not in after]
        if lines is not None and come != lines:
            yield f"{name}, {options}: {come}"
        # What goes are these options, also in several lines, and else nothing.
        for line in gone:
            if not re.match(rf'\s*(# *)?({"|".join(options) or "-"})\b|\s+"', line):
                yield f"{name}, {options}: lost: {line}"
        if lines and with_options("\n".join(after), name, {k: v for k, v in options.items() if v is not None}).splitlines() != after:
            yield f"{name}, {options}: not the same when it is set again"


def not_refused():
    for name, options, complaint in REFUSED:
        try:
            with_options(snippet(name), name, options)
            yield f"{name}, {options}: taken"
        except AnsibleLookupError as error:
            if complaint not in str(error):
                yield f"{name}, {options}: {error}"


def placing():
    """What the module does to a folder of collectd's and one of systemd's: a table of calls, in this order."""
    with tempfile.TemporaryDirectory() as top:
        first, second = f"{top}/etc/conf.d", f"{top}/etc/drop-ins"
        os.makedirs(first)
        a, b, drop_in = f"{first}/a.conf", f"{first}/b.conf", f"{second}/10.conf"
        pathlib.Path(f"{top}/etc/collectd.conf").write_text(f'Include "{first}/*.conf"\n', encoding="utf-8")

        def call(check=False, **arguments):
            arguments.update({"folders": [first, second], "marker": "# ours", "etc": f"{top}/etc", "_ansible_check_mode": check})
            run = subprocess.run([sys.executable, role / "library/headroom_files.py"], text=True, capture_output=True, check=False,
                                 input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}))
            return json.loads(run.stdout or "{}"), run.stderr

        def there():
            return {path: read(pathlib.Path(path)) for path in (a, b, drop_in) if os.path.exists(path)}

        both, ours = {a: "A\n", drop_in: "D"}, {a: "# ours\nA\n", drop_in: "# ours\nD\n"}
        others = {b: 'LoadPlugin psi\n'}
        steps = [   # what is called, whether that changes something, or what it complains of, and what is there then
            ({"files": both, "check": True}, True, {}),
            ({"files": both, "dry": True}, False, {}),
            ({"files": both}, True, ours),
            ({"files": both}, False, ours),
            ("mode", None, ours),
            ({"files": both}, True, ours),
            ({"files": {a: "A2"}, "check": True}, True, ours),
            ({"files": {a: "A2"}}, True, {a: "# ours\nA2\n"}),
            ("other", None, {a: "# ours\nA2\n"} | others),
            ({"files": {b: "B"}}, "b.conf: not placed by this role", {a: "# ours\nA2\n"} | others),
            ({}, "with it collectd would not start", {a: "# ours\nA2\n"} | others),
            ({"files": {b: "B"}, "replace": True}, True, {b: "# ours\nB\n"}),
            ("excluded", None, {b: "# ours\nB\n"}),
            ({"files": both}, "No collectd.conf includes", {b: "# ours\nB\n"}),
            ({}, True, {}),
            ({}, False, {}),
        ]
        for number, (what, expected, left) in enumerate(steps, 1):
            if what == "mode":
                os.chmod(a, 0o600)
            elif what == "other":
                pathlib.Path(b).write_text(others[b], encoding="utf-8")
            elif what == "excluded":
                os.unlink(f"{top}/etc/collectd.conf")
            else:
                got, errors = call(**what)
                right = expected in got.get("msg", "") if isinstance(expected, str) else got.get("changed") is expected
                if not right or isinstance(expected, str) != got.get("failed", False):
                    yield f"step {number}: {got} {errors}"
            if there() != left:
                yield f"step {number}: {there()} is there"
        if os.path.exists(second) or not os.path.exists(first):
            yield "a folder of drop-ins is left, or one of collectd's is gone"


def unknown_names():
    defaults, specs = load("defaults/main.yml"), load("meta/argument_specs.yml")["argument_specs"]["main"]["options"]
    for name in set(defaults) ^ set(specs):
        yield f"{name} is not in both of defaults and argument_specs"
    for path in ("defaults/main.yml", "../../README.md"):
        for name in re.findall(r"headroom_options_(\w+)", read(role / path)):
            if name not in VARIABLES:
                yield f"{path}: there is no snippet for headroom_options_{name}"
    for name in re.findall(r"\bheadroom_(?!options_)\w+", read(contrib / "ansible/README.md")):
        if name not in defaults:
            yield f"README.md: {name} is no variable"
    for name in defaults["headroom_snippets"]:
        if not (contrib / f"collectd.conf.d/{name}.conf").exists():
            yield f"there is no snippet {name}"
    for name in defaults["headroom_dropins"]:
        if not (contrib / f"systemd/collectd.service.d/{name}.conf").exists():
            yield f"there is no drop-in {name}"


def other_options():
    """Options that the page gives as examples, which the role has to take."""
    for name, text in re.findall(r"`headroom_options_(\w+): (\{[^`]*\})`", read(contrib / "ansible/README.md")):
        with_options(snippet(VARIABLES[name]), VARIABLES[name], yaml.safe_load(text))
    for block in re.findall(r"```yaml\n(.*?)```", read(contrib / "ansible/README.md"), re.S):
        for name, options in yaml.safe_load(block).items():
            if name.startswith("headroom_options_"):
                name = VARIABLES[name.removeprefix("headroom_options_")]
                with_options(snippet(name), name, options)
    return []


def other_needs():
    """What snippets say that they need on Debian."""
    needs, said = load("vars/main.yml")["headroom_needs"]["Debian"], {}
    for path in (contrib / "collectd.conf.d").glob("*.conf"):
        words = re.findall(r"On Debian it needs the packages? ([\w. -]+?)\.(?:\s|$)", read(path))
        if words:
            said[path.stem] = words[0].split(" and ")
    said["alertmanager"] = ["curl"]
    for name in set(said) | set(needs):
        if sorted(said.get(name, [])) != sorted(needs.get(name, [])):
            yield f"{name}: the snippet says {said.get(name)}, the role {needs.get(name)}"


result("variables set options of snippets, and leave all else", list(changed_wrongly()))
result("what can't be set is refused", list(not_refused()))
if os.getuid() == 0:
    result("files are placed and removed as is wanted, those of others left alone", list(placing()))
else:
    print("ok - files are placed and removed # SKIP they are root's")
result("its variables, its page, the snippets and the drop-ins have the same names", list(unknown_names()))
result("what its page sets can be set", list(other_options()))
result("it installs what snippets say that they need", list(other_needs()))
