# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# container_runtime.sh - what the tests of names by a real container runtime have in common. It runs in namespaces of its
# own, and its files, which are where those of the machine's would be, in file systems of their own. To be sourced instead
# of daemon.sh. A test has these functions:
#
# contain ARGUMENT...   runs a container of the image headroom-test, and sets id; its messages go to $dir/err
# remove_container NAME
#
# HEADROOM_RUNTIME  the process of the test outside of these namespaces
# shellcheck source=daemon.sh
. "$(dirname "$0")/daemon.sh"
require_collectd
[ -e /proc/pressure/cpu ] || skip_all "this kernel has no pressure stall information"
PATH=$PATH:/usr/sbin

# enter_namespaces TOOL...: begins the test again within them, where it is process 1, if the tools are there.
enter_namespaces() {
    local tool
    for tool in "$@" cc tar; do
        command -v "$tool" >/dev/null || skip_all "$tool is missing"
    done
    [ -z "${HEADROOM_RUNTIME:-}" ] || return 0
    unshare --mount --net --pid --fork true 2>/dev/null || skip_all "namespaces can't be made (root is needed)"
    rm -rf "$dir"
    HEADROOM_RUNTIME=$$ exec unshare --mount --net --pid --fork --kill-child --mount-proc "$BASH" "$0"
}

# hide FOLDER...: what is written there is gone with the namespace.
hide() {
    local folder
    for folder in "$@"; do
        [ ! -d "$folder" ] || mount -t tmpfs tmpfs "$folder" || skip_all "a tmpfs can't be mounted"
    done
}

# print_image: an archive of a program that waits.
print_image() {
    mkdir "$dir/image"
    echo '#include <unistd.h>
int main(void) { for (;;) pause(); }' | cc -static -x c -o "$dir/image/wait" -
    tar -C "$dir/image" -c wait
}

# Of version 1 each controller has such groups; podman has one more in them, for conmon.
group_name=headroom-test-${HEADROOM_RUNTIME:-}
groups=$cgroup_mount/$group_name
remove_cgroups() {
    ! find "$(dirname "$cgroup_mount")" -maxdepth 3 -depth -type d -path "*/$group_name*" -exec rmdir {} \; 2>&1 | grep -q .
}

# Of version 2 runc switches on, for all groups, each controller that there is.
list_controllers() { tr ' ' '\n' <"$cgroup_mount/cgroup.subtree_control" | sort; }
restore_controllers() {
    local controller
    for controller in $(list_controllers | comm -13 "$dir/controllers" -); do
        echo "-$controller" >"$cgroup_mount/cgroup.subtree_control" || return
    done
}

is_in_group() { [ -n "$id" ] && [ -d "$groups/$prefix$id" ]; }
is_the_new_one() { grep -qxF "shop-web-1	$group_name/$prefix$id" "$dir/base/headroom-psi.names"; }

# check_names RUNTIME PREFIX: that a real collectd has containers by the names that they were given, and that the series of
# one that is made again go on; their cgroups are named by that prefix and their identifiers.
check_names() {
    local first
    prefix=$2
    contain --name shop-web-1
    ok $? "a container runs"
    first=$id
    check "in a cgroup by its identifier" is_in_group
    write_config psi <<EOF
<Plugin psi>
  Cgroup "$group_name/$prefix*"
  NameFrom "$1"
</Plugin>
EOF
    start_daemon "collectd starts"
    check "one that was there is named" eventually has_values psi-shop-web-1/percent-cpu-some 2
    contain --rm --name once
    ok $? "another one runs, which is removed at its end"
    check "one that is new is named" eventually has_values psi-once/percent-cpu-some 2
    remove_container shop-web-1
    contain --name shop-web-1
    ok $? "the first is made again"
    check "in a cgroup of its own" eval '[ "$id" != "$first" ] && is_in_group'
    check "its name is the new one's" eventually is_the_new_one
    count_values psi-shop-web-1/percent-cpu-some
    check "whose series go on" eventually has_values psi-shop-web-1/percent-cpu-some $((count + 3))
    check "there are no others" test "$(find "$dir/csv/h" -name 'psi-*' -printf '%f\n' | sort | xargs)" = \
        "psi-once psi-shop-web-1 psi-system"
    check "nothing of that is a problem" no_complaints
    stop_daemon
    ok $? "collectd ends well"
}
