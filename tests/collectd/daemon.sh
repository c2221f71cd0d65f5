# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# daemon.sh - what the tests of a real collectd share: results as TAP, a private daemon in a folder of
# its own, cgroups of its own, and an end that leaves nothing behind. To be sourced.
#
# HEADROOM_PLUGIN_DIR  where our plugins were built (default the current folder)
#
# For another daemon than the installed one see contrib/find_collectd.sh.
set -u
export LC_ALL=C.UTF-8 TZ=UTC

# shellcheck source=../../contrib/find_collectd.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../contrib/find_collectd.sh"
find_collectd
our_plugins=${HEADROOM_PLUGIN_DIR:-.}

dir=$(mktemp -d) || exit 1
chmod 755 "$dir"
log=$dir/log
group_name=headroom-test-$$
daemon=""       # pid of the daemon
processes=""    # pids of all else that was started
results=0
# Put before a command that the test starts itself, in no subshell that ends: it ends with the test, whatever ends that,
# though it be in a session of its own.
ending_with_test=()
! command -v setpriv >/dev/null || ending_with_test=(setpriv --pdeathsig KILL)

# The system's own, wherever the user has a wrapper first in the path that chooses among versions, for half a second.
python=/usr/bin/python3
[ -x $python ] || python=python3

skip_all() {
    echo "1..0 # SKIP $1"
    clean_up
    trap - EXIT
    exit 0
}

# ok STATUS NAME: a line of TAP; the end of what was seen goes along with a failure.
ok() {
    results=$((results + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $results - $2"
        return
    fi
    echo "not ok $results - $2"
    tail -n 20 "$log" "$dir/out" "$dir/err" 2>/dev/null | sed 's/^/# /'
}

# check NAME COMMAND...: ok if the command succeeds.
check() {
    local name=$1
    shift
    "$@"
    ok $? "$name"
}

# eventually COMMAND...: tries for $patience seconds, every $pause, and less often what takes longer than ten tries; to
# wait takes no program, as that would be noise where noise is looked for. It is less than the minute after which the
# plugins try again what failed.
patience=50 pause=0.1
[ -z "${HEADROOM_EMULATED:-}" ] || pause=0.3 # where each look takes longer
never=$dir/never
mkfifo "$never"
eventually() {
    local end=$((SECONDS + patience)) pause=$pause tries=0
    until "$@" 2>/dev/null; do
        [ $SECONDS -lt $end ] || return 1
        read -rt "$pause" <>"$never" || :
        tries=$((tries + 1))
        [ $tries -ne 10 ] || [ "$pause" != 0.1 ] || pause=0.3
    done
}

# tries COMMAND...: thrice, as a machine may have other things to do than what is measured.
tries() { "$@" || "$@" || "$@"; }

# same_files FILE FILE: whether they are, and what differs.
same_files() {
    local differences
    differences=$(diff "$1" "$2") && return     # pipes, which are read once
    printf '%s\n' "$differences" | sed 's/^/# /'
    return 1
}

# is_about VALUE EXPECTED TOLERANCE
is_about() {
    awk -v value="$1" -v expected="$2" -v tolerance="$3" 'BEGIN {
        exit !(value >= expected - tolerance && value <= expected + tolerance) }' && return
    echo "# $1 is not $2 +- $3"
    return 1
}

logged() { grep -q -- "$1" "$log"; }
logged_times() { [ "$(grep -c -- "$1" "$log")" -eq "$2" ]; }

# What collectd complains of where the machine is too busy, so that values come late: no fault of ours, or of a
# configuration.
too_busy='above its read interval|the next interval is .* in the past|left after shutting down the write threads|Deleting a metric in family|was locked for up to'

# Nor of what else runs: a machine may have DAMON reclaim memory.
of_others='wss: DAMON is at work'

# complaints: what else is in the log and no mere information; no_complaints: whether there is none.
complaints() { grep '\[\(warning\|error\|notice\)\]' "$log" | grep -vE "$too_busy|$of_others"; }
no_complaints() { ! complaints | sed 's/^/# /' | grep .; }

# --- mounts ------------------------------------------------------------------

# in_own_mounts "$@": runs the test again, in a mount namespace of its own with tracefs, which systemd mounts at
# boot. What perf finds missing it mounts itself, and the machine would keep that. It comes first, or skips.
in_own_mounts() {
    if [ -z "${HEADROOM_OWN_MOUNTS:-}" ]; then
        unshare --mount true 2>/dev/null || skip_all "mount namespaces can't be made (root is needed)"
        rm -rf "$dir"
        HEADROOM_OWN_MOUNTS=1 exec unshare --mount "$BASH" "$0" "$@"
    fi
    # Mounted twice, it would take on the options of the second mount everywhere.
    mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
}

# hiding FOLDER... -- COMMAND...: runs a command in a mount namespace where these folders are empty.
hiding() {
    unshare --mount "$BASH" -c 'while [ "$1" != -- ]; do
            [ ! -d "$1" ] || mount -t tmpfs none "$1" || exit
            shift
        done
        shift
        exec "$@"' hiding "$@"
}

# --- the daemon --------------------------------------------------------------

# what the snippets include
selection=$(realpath -- "$(dirname "${BASH_SOURCE[0]}")/../../contrib/collectd.conf.d/headroom-cgroups.conf")

# write_config PLUGIN...: a configuration that loads csv, logfile and the plugins named, ours or
# collectd's; the text on standard input is appended. One thread writes, or $write_threads.
write_config() {
    local plugin
    mkdir -p "$dir/base" "$dir/plugins" "$dir/csv"
    # collectd knows one folder of plugins and takes no links
    for plugin in logfile csv "$@"; do
        cp "$our_plugins/$plugin.so" "$dir/plugins/" 2>/dev/null ||
            cp "$collectd_plugins/$plugin.so" "$dir/plugins/" || return 1
    done
    # where the snippets' Include finds it
    cp "$selection" "$dir/base/" || return 1
    cat >"$dir/collectd.conf" <<EOF
Hostname "h"
BaseDir "$dir/base"
PIDFile "$dir/pid"
PluginDir "$dir/plugins"
TypesDB "$types_db"
Interval 1
# With several, on a machine that stands still for a while a value may overtake the one before it,
# which collectd then drops; and csv writes the head of a new file over its first line.
WriteThreads ${write_threads:-1}
LoadPlugin logfile
<Plugin logfile>
  LogLevel info
  File "$log"
  PrintSeverity true
</Plugin>
LoadPlugin csv
<Plugin csv>
  DataDir "$dir/csv"
</Plugin>
EOF
    for plugin in "$@"; do
        echo "LoadPlugin $plugin" >>"$dir/collectd.conf"
    done
    cat >>"$dir/collectd.conf"
}

# start_daemon NAME [COMMAND...]: starts collectd, by way of a command if one is given. Without it there
# is nothing to test.
start_daemon() {
    local name=$1
    shift
    : >"$log"
    "${ending_with_test[@]}" "$@" "$collectd" -f -C "$dir/collectd.conf" >"$dir/out" 2>&1 &
    daemon=$!
    check "$name" eventually logged "entering read-loop"
    logged "entering read-loop" && return
    echo "Bail out! collectd doesn't start"
    exit 1
}

# stop_daemon: ends it; its exit status.
stop_daemon() {
    local status
    kill "$daemon" 2>/dev/null
    wait "$daemon" 2>/dev/null
    status=$?
    daemon=""
    return $status
}

# csv SERIES: prints the values of a series such as psi-system/percent-cpu-some, one a line.
csv() {
    grep -hv '^epoch' "$dir/csv/h/$1"-20* | cut -d, -f2
}

# csv_times SERIES: the times of the same.
csv_times() {
    grep -hv '^epoch' "$dir/csv/h/$1"-20* | cut -d, -f1
}

# count_values SERIES: sets count; takes no program, as it is asked again and again.
count_values() {
    local file rows row
    count=0
    for file in "$dir/csv/h/$1"-20*; do
        [ -e "$file" ] || continue
        mapfile -t rows <"$file"
        for row in "${rows[@]}"; do
            [[ $row = epoch* ]] || count=$((count + 1))
        done
    done
}
csv_count() {
    local count
    count_values "$1"
    echo "$count"
}
has_values() {
    local count
    count_values "$1"
    [ "$count" -ge "$2" ]
}

# --- cgroups and loads -------------------------------------------------------

cgroup_mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
groups=$cgroup_mount/$group_name

# mount_of CONTROLLER: where version 1 has it; nothing if it hasn't.
mount_of() { awk -v name="$1" '$3 == "cgroup" && (","$4",") ~ ("," name ",") { print $2; exit }' /proc/self/mounts; }

# require_groups: makes the group that holds all others, or skips.
require_groups() {
    [ -n "$cgroup_mount" ] || skip_all "no cgroup2 hierarchy is mounted"
    mkdir "$groups" 2>/dev/null || skip_all "cgroups can't be made in $cgroup_mount (root is needed)"
}

# require_collectd: or skips.
require_collectd() {
    [ -x "$collectd" ] || skip_all "collectd is missing"
    [ -e "$collectd_plugins/csv.so" ] || skip_all "collectd's plugins are missing"
}

# Tests that run side by side share these groups: each keeps one of its own in there, so that none removes those of
# another; the last one removes a group that tests have made, as another one beside it says.
slices=""
slice_holder=$group_name-holder
made_slice=$cgroup_mount/headroom-test-made

# hold_slice PATH: makes the group unless it is there, and ours in it.
hold_slice() {
    (
        flock 9
        [ -d "$cgroup_mount/$1" ] || mkdir -p "$made_slice-${1//\//-}" 2>/dev/null
        mkdir -p "$cgroup_mount/$1/$slice_holder" 2>/dev/null
    ) 9<"$cgroup_mount"
}

# require_slice PATH...: groups that snippets look below, what is above one before it; systemd makes them, or we do. Or
# skips.
require_slice() {
    local name
    [ -n "$cgroup_mount" ] || skip_all "no cgroup2 hierarchy is mounted"
    for name in "$@"; do
        hold_slice "$name" || skip_all "cgroups can't be made in $cgroup_mount (root is needed)"
        slices="$name $slices"
    done
}

# remove_slices: those that tests have made; where others have groups there, they stay.
remove_slices() {
    local name made
    for name in $slices; do
        made=$made_slice-${name//\//-}
        (
            flock 9
            rmdir "$cgroup_mount/$name/$slice_holder"
            [ ! -d "$made" ] || ! rmdir "$cgroup_mount/$name" 2>/dev/null || rmdir "$made"
        ) 9<"$cgroup_mount"
    done
    slices=""
}

# start_in GROUP COMMAND...: starts a command in a group ("": where we are).
start_in() {
    local group=$1
    shift
    (
        [ -z "$group" ] || echo $BASHPID >"$groups/$group/cgroup.procs"
        exec "${ending_with_test[@]}" "$@"
    ) &
    processes="$processes $!"
}

# start_hog GROUP CPU: a loop that wants all of a CPU.
start_hog() {
    start_in "$1" taskset -c "$2" "$BASH" -c 'while :; do :; done'
}

# start_idle_hog GROUP CPU: the same with the least precedence: several on one CPU wait no less, and other tests have as
# much of the CPU as without them.
start_idle_hog() {
    start_in "$1" taskset -c "$2" chrt --idle 0 "$BASH" -c 'while :; do :; done'
}

# start_ticking CPU SECONDS: a process that wakes there so often, and does nothing.
start_ticking() {
    start_in "" taskset -c "$1" "$BASH" -c 'while :; do read -rt "$1" <>"$0"; done' "$never" "$2"
}

end_processes() {
    local pid
    for pid in $processes; do
        kill -KILL "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    processes=""
}

# removed GROUP...: whether they are; also if they are so in several tries.
removed() {
    local group
    for group in "$@"; do
        [ ! -d "$groups/$group" ] || rmdir "$groups/$group" || return
    done
}

remove_groups() {
    [ ! -d "$groups" ] || find "$groups" -depth -mindepth 1 -type d -exec rmdir {} + 2>/dev/null
}

clean_up() {
    if [ -n "$daemon" ]; then
        kill -KILL "$daemon" 2>/dev/null
        wait "$daemon" 2>/dev/null
    fi
    end_processes
    eventually remove_groups
    [ ! -d "$groups" ] || eventually rmdir "$groups"
    remove_slices
    rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP
