# SPDX-License-Identifier: MIT
"""containers.py - reads contrib/containers/daemonset.yaml strictly, and prints what is wrong with it.

containers.py MANIFEST FOLDER: its ConfigMap is written to FOLDER, a file a key, and what it wants of a container:
mounts, as `PATH: VOLUME`, and capabilities, a line each.
"""
import re
import sys

import yaml

# What may stand where, and the type of it: what Kubernetes' API has of what is used here. None: any text; [..]: a list.
NAMES = {None: str}
META = {"name": str, "namespace": str, "labels": NAMES}
CONTAINER = {
    "name": str, "image": str,
    "env": [{"name": str, "valueFrom": {"fieldRef": {"fieldPath": str}}}],
    "ports": [{"name": str, "containerPort": int}],
    "securityContext": {"runAsUser": int, "allowPrivilegeEscalation": bool, "readOnlyRootFilesystem": bool,
                        "seccompProfile": {"type": str}, "capabilities": {"drop": [str], "add": [str]}},
    "resources": {"requests": {"cpu": str, "memory": str}, "limits": {"memory": str}},
    "volumeMounts": [{"name": str, "mountPath": str, "readOnly": bool, "mountPropagation": str}],
}
VOLUME = {"name": str, "hostPath": {"path": str, "type": str}, "configMap": {"name": str}, "emptyDir": {"medium": str}}
POD = {"hostPID": bool, "automountServiceAccountToken": bool, "terminationGracePeriodSeconds": int,
       "tolerations": [{"operator": str}], "containers": [CONTAINER], "volumes": [VOLUME]}
KINDS = {
    ("v1", "Namespace"): {"metadata": META},
    ("v1", "ConfigMap"): {"metadata": META, "data": NAMES},
    ("apps/v1", "DaemonSet"): {"metadata": META, "spec": {
        "selector": {"matchLabels": NAMES}, "template": {"metadata": {"labels": NAMES}, "spec": POD}}},
}
CAPABILITIES = {"ALL", "BPF", "NET_ADMIN", "PERFMON", "SYSLOG", "SYS_PTRACE", "DAC_OVERRIDE", "SYS_RESOURCE"}
problems = []


class Strict(yaml.SafeLoader):
    """Complains of a key that is there twice, of which YAML takes the last."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        problems.extend(f"{key} is there twice" for key in set(keys) if keys.count(key) > 1)
        return super().construct_mapping(node, deep)


def check(value, shape, place):
    if isinstance(shape, type):
        if type(value) is not shape:
            problems.append(f"{place} is no {shape.__name__}: {value!r}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            problems.append(f"{place} is no list")
            return
        for index, item in enumerate(value):
            check(item, shape[0], f"{place}[{index}]")
    elif not isinstance(value, dict):
        problems.append(f"{place} has nothing in it")
    else:
        for key, item in value.items():
            if key not in shape and None not in shape:
                problems.append(f"{place} has no {key}")
            else:
                check(item, shape.get(key, str), f"{place}.{key}")


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
        kind = item.pop("apiVersion", None), item.pop("kind", None)
        if kind not in KINDS:
            problems.append(f"{kind} is unknown")
            continue
        check(item, KINDS[kind], kind[1])
        objects[kind[1]] = item
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
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(1 if problems else 0)


main()
