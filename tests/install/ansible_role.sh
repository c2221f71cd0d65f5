# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2119,SC2120,SC2154 # what it uses is of daemon.sh, fresh_machine.sh and debian.test
# ansible_role.sh - runs the role of contrib/ansible on the fresh machine, which has the stock collectd and nothing of ours, from
# its first run to its removal. To be sourced by debian.test.

# The control machine's side: what it writes is below the test's folder. ssh's place takes a program that runs the same
# commands in the machine's namespaces, to which all files go through its standard input.
control=$dir/control
prepare_control() {
    mkdir -p "$control/files" "$control/contrib" "$root/tmp/packages"
    : >"$control/ansible.cfg"
    cp -r "$source"/contrib/{ansible,collectd.conf.d,systemd} "$control/contrib/"
    {
        echo '#!/bin/bash'
        printf '%q ' exec nsenter --target "$machine" --mount --root --uts --ipc --net --pid "${in_root[@]}" sh -c
        echo '"${!#}"'
    } >"$control/ssh"
    chmod 755 "$control/ssh"
    # A repository of what the packages need, the only one that the machine has now.
    cp "$root"/var/cache/apt/archives/*.deb "$root/tmp/packages/"
    (cd "$root/tmp/packages" && dpkg-scanpackages --multiversion . >Packages 2>/dev/null)
    mkdir "$dir/apt" && mv "$root"/etc/apt/sources.list* "$dir/apt/"
    mkdir -p "$root/etc/systemd/system" "$root/etc/apt/sources.list.d" # as on each Debian with systemd
    echo "Interval 2" >"$control/files/00-interval.conf"
    cat >"$control/hosts.yml" <<HOSTS
all:
  hosts:
    fresh:
  vars:
    ansible_become: false
    ansible_connection: ssh
    ansible_python_interpreter: /usr/bin/python3
    headroom_more_snippets: [00-interval, csv]
    headroom_files: $control/files
    headroom_packages: $source/build/debian
    headroom_repository: |
      Types: deb
      URIs: file:/tmp/packages
      Suites: ./
      Trusted: yes
    headroom_options_headroom_cgroups:
      Cgroup: ["system.slice/*"]
HOSTS
}

# role ARGUMENT...: runs it, with its output in $dir/out.
role() {
    ANSIBLE_CONFIG=$control/ansible.cfg ANSIBLE_HOME=$control/ansible ANSIBLE_SSH_EXECUTABLE=$control/ssh ANSIBLE_SSH_ARGS='' ANSIBLE_SSH_TRANSFER_METHOD=piped \
        ANSIBLE_PIPELINING=true ANSIBLE_REMOTE_TMP=/tmp/ansible ANSIBLE_NOCOLOR=true PYTHONDONTWRITEBYTECODE=1 \
        ansible-playbook -i "$control/hosts.yml" "$@" "$control/contrib/ansible/headroom.yml" >"$dir/out" 2>&1
}
# changed COUNT: whether so many tasks have changed something.
changed() { grep -qE "^fresh +: .* changed=$1 .* failed=0 " "$dir/out"; }
# One, as of a restart two may be there.
pid_of_collectd() { on_machine pidof -s collectd | tr -d "\r"; }
# values SERIES: whether collectd has written some.
values() { grep -q '^[0-9.]*,[0-9]' "$root/var/lib/collectd/csv/fresh.example.org/$1"-20*; }
# loads_plugins: whether the collectd that runs does.
loads_plugins() { on_machine grep -q /psi.so "/proc/$(pid_of_collectd)/maps"; }

run_role() {
    local before
    prepare_control
    on_machine service collectd start >"$dir/out" 2>&1
    files >"$dir/before.role"

    check "role: check mode runs through on a fresh machine" role --check --diff
    grep -q '^+  Include "headroom-cgroups.conf"' "$dir/out"
    ok $? "role: and shows what it would place"
    files | same_files "$dir/before.role" -
    ok $? "role: but changes nothing"

    check "role: it installs the packages, and what they need" role
    check "role: collectd was restarted, with the plugins" in_the_end loads_plugins
    for series in psi-system/percent-memory-some "psi-$group/percent-cpu-some" cgroup_perf-system/perf-task-clock \
        headroom-system/percent-room-memory; do
        check "role: collectd writes $series" in_the_end values "$series"
    done
    [ "$(sed 1d "$root$conf_d/psi.conf")" = "$(cat "$source/contrib/collectd.conf.d/psi.conf")" ] &&
        grep -qx 'Cgroup "system.slice/\*"' "$root$conf_d/headroom-cgroups.conf" &&
        [ -e "$root/etc/systemd/system/collectd.service.d/10-limits.conf" ]
    ok $? "role: snippets are ours, but for what variables set, and drop-ins are there"

    before=$(pid_of_collectd)
    role && changed 0
    ok $? "role: the second run changes nothing"
    check "role: nor does it restart collectd" [ "$(pid_of_collectd)" = "$before" ]

    check "role: absent removes it" role -e headroom_state=absent
    [ -n "$(pid_of_collectd)" ] && [ "$(pid_of_collectd)" != "$before" ] && ! loads_plugins
    ok $? "role: collectd runs on, without the plugins"
    on_machine apt-get autoremove -y --purge >"$dir/out" 2>&1
    files | diff "$dir/before.role" - >"$dir/left"
    check "role: and apt-get autoremove, libraries that came along: all is as it was" same_files /dev/null "$dir/left"
    mv "$dir"/apt/sources.list* "$root/etc/apt/"
}

if command -v ansible-playbook >/dev/null; then
    run_role
else
    ok 0 "the role of contrib/ansible # SKIP ansible-playbook is missing"
fi
