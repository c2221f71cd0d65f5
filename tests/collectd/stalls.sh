# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# stalls.sh - what the tests of the psi plugin's alerts in a real collectd share: groups that stall, and what is
# notified of them. To be sourced, in the place of daemon.sh.
# shellcheck source=daemon.sh
. "$(dirname "$0")/daemon.sh"
require_collectd
[ -e /proc/pressure/cpu ] || skip_all "this kernel has no pressure stall information"
[ "$(nproc)" -ge 2 ] || skip_all "two CPUs are needed"
require_groups

# notified SEVERITY INSTANCE TRIGGER: the lines of the log about such notifications
notified() {
    grep "Notification: severity = $1.*plugin_instance = $2, type = derive, type_instance = trigger_$3," "$log"
}
notified_times() { notified "$@" | wc -l; }
was_notified() { notified "$@" >/dev/null; }
all_notified() { grep -c "Notification: severity" "$log"; }
# says PATTERN SEVERITY INSTANCE TRIGGER: one of them has a text.
says() { notified "$2" "$3" "$4" | grep -Eq -- "$1"; }

# total GROUP RESOURCE LEVEL: the kernel's total, in us
total() { sed -n "s/^$3 .*total=//p" "$groups/$1/$2.pressure"; }
has_stalled() { [ "$(total "$1" cpu some)" -ge "$2" ]; }
# stalls_on GROUP SECONDS: waits until it was stalled for so much longer.
stalls_on() { eventually has_stalled "$1" $(($(total "$1" cpu some) + $2 * 1000000)); }
# stall GROUP: two loops that fight for CPU 0, and for so long that it stands at 75 % or more.
stall() {
    start_idle_hog "$1" 0
    start_idle_hog "$1" 0
}
quiet_log() { ! complaints | grep -v '\[notice\]'; }
# counts_to SERIES NUMBER: the series has counted so many events.
counts_to() { [ "$(csv "$1" | tail -n 1)" -ge "$2" ]; }

# has_capability: whether the kernel accepts its own triggers: CAP_SYS_RESOURCE is 24.
has_capability() { [ $((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status) >> 24 & 1)) = 1 ]; }

# --- alarms that last --------------------------------------------------------
# cpu_hot: the configuration of a trigger that is polled
cpu_hot() {
    cat <<EOF
<Plugin psi>
  Resource "cpu"
  Cgroup "$group_name/*"
  <Trigger "cpu-hot">
    Resource "cpu"
    Stall 0.1
    Window 1
    Scope "cgroups"
    Quiet 3
  </Trigger>
</Plugin>
EOF
}
state=$dir/base/headroom-psi.state
# is_open GROUP...: the state file has the alarms of these groups, and no others.
is_open() {
    local group
    [ "$(grep -c '^cpu-hot' "$state")" -eq $# ] || return
    for group in "$@"; do
        grep -q "$(printf '\t%s/%s$' "$group_name" "$group")" "$state" || return
    done
}
# were_notified GROUP WARNINGS OKAYS: of a group so many since collectd started
were_notified() {
    [ "$(notified_times WARNING "${group_name}_$1" cpu-hot) $(notified_times OKAY "${group_name}_$1" cpu-hot)" = "$2 $3" ]
}
