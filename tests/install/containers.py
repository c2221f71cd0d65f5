# SPDX-License-Identifier: MIT
"""containers.py - reads contrib/containers/daemonset.yaml strictly, by the models of Kubernetes' API that Debian's
python3-kubernetes has, and prints what is wrong with it. Without that package it isn't compared with models.

containers.py MANIFEST FOLDER: its ConfigMap is written to FOLDER, a file a key, and what it wants of a container:
mounts, as `PATH: VOLUME`, and capabilities, a line each.
"""
import re
import sys

import yaml
try:
    from kubernetes.client import models
except ImportError:
    models = None

KINDS = {("v1", "Namespace"): "V1Namespace", ("v1", "ConfigMap"): "V1ConfigMap",
         ("apps/v1", "DaemonSet"): "V1DaemonSet"}
PLAIN = {"str": str, "int": int, "bool": bool}
CAPABILITIES = {"ALL", "BPF", "NET_ADMIN", "PERFMON", "SYSLOG", "SYS_PTRACE", "DAC_OVERRIDE", "SYS_RESOURCE"}
problems = []


class Strict(yaml.SafeLoader):
    """Complains of a key that is there twice, of which YAML takes the last."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        problems.extend(f"{key} is there twice" for key in set(keys) if keys.count(key) > 1)
        return super().construct_mapping(node, deep)


def check(value, kind, place):
    """Whether it is of a kind, as the models name it: str, list[V1Volume], dict(str, str), V1Volume."""
    if kind in PLAIN:
        if type(value) is not PLAIN[kind]:
            problems.append(f"{place} is no {kind}: {value!r}")
    elif listed := re.fullmatch(r"list\[(.+)\]", kind):
        if not isinstance(value, list):
            problems.append(f"{place} is no list")
            return
        for index, item in enumerate(value):
            check(item, listed[1], f"{place}[{index}]")
    elif not isinstance(value, dict):
        problems.append(f"{place} has nothing in it")
    elif named := re.fullmatch(r"dict\(str, (.+)\)", kind):
        for key, item in value.items():
            check(item, named[1], f"{place}.{key}")
    else:
        check_model(value, getattr(models, kind), place)


def check_model(value, model, place):
    attributes = {key: name for name, key in model.attribute_map.items()}
    problems.extend(f"{place} has no {key}" for key in value if key not in attributes)
    known = {attributes[key]: item for key, item in value.items() if key in attributes}
    for name, item in known.items():
        check(item, model.openapi_types[name], f"{place}.{model.attribute_map[name]}")
    try:
        model(**known)
    except ValueError as error:     # it wants what isn't there
        problems.append(f"{place}: {error}")


def check_pod(template, labels, config):
    pod = template["spec"]
    if template["metadata"]["labels"] != labels:
        problems.append("the selector's labels aren't the pods'")
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    used = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
    if used != set(volumes):
        problems.append(f"volumes and mounts differ: {sorted(used ^ set(volumes))}")
    if [v["configMap"]["name"] for v in volumes.values() if "configMap" in v] != [config["metadata"]["name"]]:
        problems.append("the ConfigMap that is mounted isn't this one")
    if pod.get("hostPID") is not True:
        problems.append("tasks aren't the host's")


def main():
    manifest, folder = sys.argv[1:]
    with open(manifest, encoding="utf-8") as stream:
        text = stream.read()
    objects = {}
    for item in yaml.load_all(text, Strict):
        kind = item.get("apiVersion"), item.get("kind")
        if kind not in KINDS:
            problems.append(f"{kind} is unknown")
            continue
        if models:
            check(item, KINDS[kind], kind[1])
        objects[kind[1]] = item
    if problems:
        report()
    config, daemons = objects["ConfigMap"], objects["DaemonSet"]
    if {item["metadata"].get("namespace", item["metadata"]["name"]) for item in objects.values()} != {"headroom"}:
        problems.append("not all are in one namespace")
    template = daemons["spec"]["template"]
    check_pod(template, daemons["spec"]["selector"]["matchLabels"], config)
    container = template["spec"]["containers"][0]
    added = container["securityContext"]["capabilities"]["add"]
    named = added + re.findall(r"^ *# - ([A-Z_]+) #", text, re.M)
    problems.extend(f"{name} is no capability" for name in named if name not in CAPABILITIES)
    for name, content in config["data"].items():
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(content)
    with open(f"{folder}/mounts", "w", encoding="utf-8") as file:
        file.writelines(f"{m['mountPath']}: {m['name']}\n" for m in container["volumeMounts"])
    with open(f"{folder}/capabilities", "w", encoding="utf-8") as file:
        file.writelines(f"{name}\n" for name in added)
    report()


def report():
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(1 if problems else 0)


main()
