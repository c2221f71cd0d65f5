# SPDX-License-Identifier: MIT
"""Places the role's files on a host, all at once, as each call of a module costs a host half a second of its CPU."""
import os
import re

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: headroom_files
short_description: Places the files of the role headroom, and removes those that aren't wanted any more
description:
  - All files that it places begin with the marker, by which it knows them again. Others it leaves alone.
options:
  files: {description: The text of each file by its path., type: dict, default: {}}
  folders:
    description: Where files of the role may be; those that are not among the files are removed.
    type: list
    elements: path
    required: true
  marker: {description: The first line of each file., type: str, required: true}
  replace:
    description: Whether files of the same name that the role has not placed are overwritten.
    type: bool
    default: false
  etc: {description: Where collectd's configuration is., type: path, default: /etc}
  dry: {description: Whether to look only whether it could be done., type: bool, default: false}
author: The collectd-headroom authors
"""

# A configuration that loads them keeps collectd from starting without them.
LOADING = re.compile(r'^\s*<?LoadPlugin\s+"?(psi|cgroup_perf|wss|osnoise|headroom)"?[\s>]*(#.*)?$', re.M | re.I)


def read(path):
    """The text of a file, or None where there is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except (FileNotFoundError, IsADirectoryError):
        return None


def is_ours(text, marker):
    return text is not None and text.split("\n", 1)[0] == marker


def files_below(folders):
    for folder in folders:
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.endswith(".conf"):      # a copy that was kept has another name
                yield os.path.join(folder, name)


def confs_below(folders):
    for top in folders:
        for folder, _, names in os.walk(top):
            yield from (os.path.join(folder, name) for name in names if name.endswith(".conf"))


def loading_others(marker, etc, folder):
    """Files of others that load our plugins."""
    for path in [f"{etc}/collectd.conf", *confs_below({f"{etc}/collectd", f"{etc}/collectd.d", folder})]:
        text = read(path) or ""
        if not is_ours(text, marker) and LOADING.search(text):
            yield path


def is_included(folder, etc):
    """Whether collectd reads that folder."""
    line = re.compile(r'^\s*<?Include\s+"?' + re.escape(folder) + r'(/\*[^"\s]*)?/?"?(\s|>|$)', re.M | re.I)
    return any(line.search(read(path) or "") for path in (f"{etc}/collectd/collectd.conf", f"{etc}/collectd.conf"))


def write(module, path, text):
    """As root's, for all to read, at once as a whole."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        os.makedirs(folder, 0o755)
    new = os.path.join(module.tmpdir, "headroom_file")
    with open(new, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    module.atomic_move(new, path)


def has_right_mode(path):
    status = os.stat(path)
    return (status.st_uid, status.st_gid, status.st_mode & 0o7777) == (0, 0, 0o644)


def difference(path, before, after):
    return {"before": before or "", "after": after or "", "before_header": path, "after_header": path}


def place(module, wanted, ours):
    """Those that differ, and those that must go; what was changed by path, with the difference."""
    changed = []
    for path, text in wanted.items():
        before = read(path)
        if before == text and has_right_mode(path):
            continue
        changed.append(difference(path, before, text))
        if not module.check_mode:
            write(module, path, text)
            os.chown(path, 0, 0)
            os.chmod(path, 0o644)
    for path in ours:
        if path not in wanted:
            changed.append(difference(path, read(path), None))
            if not module.check_mode:
                os.unlink(path)
    return changed


def main():
    module = AnsibleModule(
        argument_spec={
            "files": {"type": "dict", "default": {}},
            "folders": {"type": "list", "elements": "path", "required": True},
            "marker": {"type": "str", "required": True},
            "replace": {"type": "bool", "default": False},
            "etc": {"type": "path", "default": "/etc"},
            "dry": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    marker, folders = module.params["marker"], module.params["folders"]
    wanted = {path: f"{marker}\n{text.rstrip()}\n" for path, text in module.params["files"].items()}
    there = list(files_below(folders))
    ours = [path for path in there if is_ours(read(path), marker)]
    in_the_way = sorted(set(there) & set(wanted) - set(ours))
    if in_the_way and not module.params["replace"]:
        module.fail_json(msg=f"{', '.join(in_the_way)}: not placed by this role. Move that away, or leave the name out of "
                             "the role's variables, or set headroom_replace to true, by which it is lost.")
    etc = module.params["etc"]
    loading = [] if wanted else sorted(set(loading_others(marker, etc, folders[0])))
    if loading:
        module.fail_json(msg=f"{', '.join(loading)}: not placed by this role, and with it collectd would not start without "
                             "the plugins. Remove it first.")
    if module.params["dry"]:
        module.exit_json(changed=False)
    if wanted and not module.check_mode and not is_included(folders[0], etc):
        module.fail_json(msg=f'No collectd.conf includes {folders[0]}. Add the line Include "{folders[0]}/*.conf" to it, or '
                             "set headroom_conf_d.")
    changed = place(module, wanted, ours)
    # A folder that was made for them; collectd's own stays.
    for folder in folders[1:] if changed and not module.check_mode else []:
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)
    module.exit_json(changed=bool(changed), diff=changed, paths=[change["after_header"] for change in changed])


if __name__ == "__main__":
    main()
