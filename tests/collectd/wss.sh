# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# wss.sh - what the tests of the wss plugin in a real collectd share: programs of a known working set, and
# what the plugin reports of them. To be sourced, in the place of daemon.sh.
# shellcheck source=daemon.sh
. "$(dirname "$0")/daemon.sh"
require_collectd
[ -x ./toucher ] || skip_all "the program toucher isn't built here"
[ -w /proc/self/clear_refs ] || skip_all "this kernel has no /proc/PID/clear_refs"
[ "$(id -u)" -eq 0 ] || skip_all "root is needed"
require_groups

# Names of our own, as other tests may run the same program.
name=touch-$$
other=other-$$
cp ./toucher "$dir/$name"
cp ./toucher "$dir/$other"
# What the programs read from; they end when the test does.
mkfifo "$dir/hold"
exec 9<>"$dir/hold"

# touch_in NAME GROUP HOLD TOUCH: a program that holds some MiB and touches fewer; its pid is $toucher.
touch_in() {
    start_in "$2" "$BASH" -c 'exec "$@" <"$0"' "$dir/hold" "$dir/$1" anon "$3" "$4" >"$dir/ready"
    toucher=${processes##* }
    eventually grep -q ready "$dir/ready"
}
end_toucher() {
    kill -KILL "$1"
    wait "$1" 2>/dev/null
}
mib() { awk -v bytes="$1" 'BEGIN { printf "%.2f", bytes / 1048576 }'; }
last() { csv "$1" | tail -n 1; }
last_mib() { mib "$(last "$1")"; }
# latest_is_about SERIES MIB TOLERANCE: or one of those to come, if the program just had no time.
latest_is_about() {
    eventually is_about_now "$@" || is_about "$(last_mib "$1")" "$2" "$3"
}
is_about_now() { is_about "$(last_mib "$1")" "$2" "$3" >/dev/null; }

name_option="Name \"$name\""

# refuses WHAT REASON: collectd doesn't start with a configuration (standard input), and says why.
refuses() {
    write_config wss
    : >"$log"
    timeout 20 "$collectd" -f -C "$dir/collectd.conf" >"$dir/out" 2>&1
    ok $((! ($? != 0 && $? != 124))) "collectd refuses to start with $1"
    check "and says why" grep -q "$2" "$dir/out" "$log"
}
