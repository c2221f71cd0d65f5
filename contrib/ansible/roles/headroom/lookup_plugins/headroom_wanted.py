# SPDX-License-Identifier: MIT
"""The lookup headroom_wanted: the text of each file that a host is to have, by its path, as the variables say."""
import os
import re

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

# What may stand after an option, in several lines if these end in a backslash.
BETWEEN = r"(?:[ \t]|\\\n)+"
TEXT = r'"(?:[^"\\]|\\.)*"'
# In a comment, other words are prose.
LINES = (
    r"^(?P<indent>[ \t]*){option}(?:" + BETWEEN + r"(?:" + TEXT + r'|[^\s"#\\]+))+',
    r"^(?P<indent>[ \t]*)#[ \t]*{option}(?:[ \t]+(?:" + TEXT + r"|[0-9.]+|true|false))+(?=[ \t]*(?:#|$))",
)


def quoted(value):
    """An argument as collectd reads it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    if not isinstance(value, str) or "\n" in value:
        raise AnsibleLookupError(f"{value!r} is neither text of one line, nor a number, nor true or false")
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def with_option(text, name, option, value):
    """The text with that value instead; it has the option once, or in a comment."""
    for line in LINES:
        pattern = re.compile(line.format(option=re.escape(option)), re.M)
        count = len(pattern.findall(text))
        if count > 1:
            raise AnsibleLookupError(f"{name}.conf has {option} {count} times, so it can't be set by a variable: put a "
                                     f"{name}.conf of your own into the folder headroom_files")
        if count == 1:
            values = value if isinstance(value, list) else [value]
            changed = "# " + option if value is None else " ".join([option, *map(quoted, values)])
            return pattern.sub(lambda match: match["indent"] + changed, text)
    raise AnsibleLookupError(f"{name}.conf has no option {option}")


def with_options(text, name, options):
    """The text of the snippet of that name with values for options of it, a dictionary."""
    for option, value in options.items():
        text = with_option(text, name, option, value)
    return text


def read_first(name, folders):
    """The text of NAME.conf in the first of the folders that has it."""
    for folder in folders:
        path = os.path.join(folder, name + ".conf")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    raise AnsibleLookupError(f"there is no {name}.conf in {' or '.join(folders)}")


class LookupModule(LookupBase):
    """What Ansible looks for. All that it needs are the role's variables."""

    def run(self, terms, variables=None, **kwargs):
        def value(name):
            return self._templar.template(variables[name])

        contrib, wanted = value("headroom_contrib"), {}
        for name in value("headroom_snippets") + value("headroom_more_snippets"):
            options = "headroom_options_" + re.sub(r"\W", "_", name)
            text = read_first(name, [value("headroom_files"), contrib + "/collectd.conf.d"])
            wanted[f"{value('headroom_conf_d')}/{name}.conf"] = with_options(
                text, name, value(options) if options in variables else {})
        for name in value("headroom_dropins"):
            wanted[f"{value('headroom_dropin_d')}/{name}.conf"] = read_first(
                name, [contrib + "/systemd/collectd.service.d"])
        return [wanted]
