# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# private_collectd.sh - a collectd of its own in a folder of its own, for what in contrib/ shows the plugins
# at work. To be sourced after setup.sh.
#
# $collectd_interval  seconds between two reads (default 1)

# shellcheck source=find_collectd.sh
. "$(dirname "${BASH_SOURCE[0]}")/find_collectd.sh"

# require_collectd: find_collectd, or ends.
require_collectd() {
    find_collectd
    [ -n "$collectd" ] || fail "collectd is not found"
    [ -n "$collectd_plugins" ] || fail "collectd's own plugins (csv.so and others) are not found"
}

# configure_collectd FOLDER OURS PLUGIN...: makes FOLDER again, with a configuration for the plugins named,
# ours from the folder OURS or collectd's, besides csv and logfile; the text on standard input is appended.
# Values go to FOLDER/csv, messages to FOLDER/log.
configure_collectd() {
    local place=$1 ours=$2 plugin
    shift 2
    rm -rf "$place"
    mkdir -p "$place/plugins" "$place/csv" || fail "The folder $place can't be made"
    # collectd knows one folder of plugins, and takes no links
    for plugin in logfile csv "$@"; do
        cp "$ours/$plugin.so" "$place/plugins/" 2>/dev/null || cp "$collectd_plugins/$plugin.so" "$place/plugins/" 2>/dev/null ||
            fail "The $plugin plugin is not found, neither in $ours nor in $collectd_plugins"
    done
    {
        cat <<EOT
BaseDir   "$place"
PIDFile   "$place/pid"
PluginDir "$place/plugins"
TypesDB   "$types_db"
FQDNLookup false
# before LoadPlugin, which takes what is the default by then
Interval  ${collectd_interval:-1}

LoadPlugin logfile
<Plugin logfile>
  File "$place/log"
  PrintSeverity true
</Plugin>
LoadPlugin csv
<Plugin csv>
  DataDir "$place/csv"
</Plugin>
EOT
        printf 'LoadPlugin %s\n' "$@"
        cat
    } >"$place/collectd.conf"
}

# start COMMAND...: becomes the command, which ends when its parent does, whatever ends that.
start() { exec setpriv --pdeathsig TERM "$@"; }

# start_collectd FOLDER: with the configuration there, until it samples; in a session of its own, as it takes Ctrl-C for its
# end. Sets $daemon.
start_collectd() {
    (start setsid "$collectd" -f -C "$1/collectd.conf" >"$1/out" 2>&1) </dev/null &
    daemon=$!
    for _ in {1..100}; do
        grep -qs "entering read-loop" "$1/log" && return
        kill -0 "$daemon" 2>/dev/null || break
        sleep 0.1
    done
    cat "$1/out" "$1/log" 2>/dev/null | tail -n 10 >&2
    fail "collectd did not start: see $1/log"
}

# end_process PID: ends a process of ours, and waits for its end; by force if it takes ten seconds, as that of a collectd
# may whose writer hangs.
end_process() {
    kill "$1" 2>/dev/null
    for _ in {1..100}; do
        kill -0 "$1" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$1" 2>/dev/null
    # A signal to this shell ends the wait, but not the process.
    while kill -0 "$1" 2>/dev/null; do
        wait "$1"
    done
} 2>/dev/null

# remove_group FOLDER: removes a cgroup, once the last of its processes is really gone.
remove_group() {
    for _ in {1..50}; do
        # 0, as in a trap a bare return has the status from before it
        rmdir "$1" 2>/dev/null && return 0
        sleep 0.1
    done
    return 1
}
