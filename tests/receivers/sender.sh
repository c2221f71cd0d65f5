# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# sender.sh - what the tests of real receivers send: a collectd with the snippets of
# contrib/collectd.conf.d as they stand, of groups with awkward names and real load. To be sourced after
# servers.sh.
# shellcheck disable=SC2154

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
snippets=$here/../../contrib/collectd.conf.d
began_at=$((EPOCHSECONDS - 10))
slice_groups=()     # our groups below what snippets look below, within the mount

# make_group PATH: with all above it.
make_group() {
    local path="" part parts
    IFS=/ read -ra parts <<<"$1"
    for part in "${parts[@]}"; do
        path=$path${path:+/}$part
        [ -d "$cgroup_mount/$path" ] && continue
        mkdir "$cgroup_mount/$path" || return
        slice_groups=("$path" "${slice_groups[@]}")
    done
}

# run_in PATH COMMAND...: starts a command in a group.
run_in() {
    local path=$1
    shift
    (
        echo $BASHPID >"$cgroup_mount/$path/cgroup.procs"
        exec "$@"
    ) &
    processes="$processes $!"
}

# Names as systemd and container runtimes make them: dots, an @, an escaped "-", and 190 bytes.
our_name=$group_name
dotted=system.slice/$our_name-web.example.service
instantiated=system.slice/$our_name-getty@tty1.service
escaped="system.slice/$our_name-dev\\x2ddisk.service"
burstable=kubepods.slice/kubepods-burstable.slice # other tests beside this one have pods there, too
pod=$burstable/kubepods-burstable-pod$(printf '%08d' $$)_9f86_4d08_8b2c_3d1a0b1c5e77.slice
long=$pod/cri-containerd-$(printf '%s' "$our_name" | sha256sum | cut -c1-59)$(printf '%05d' $(($$ % 100000))).scope

# start_load: pressure, switches, page faults and memory that is touched, in all of these.
start_load() {
    local group
    require_slice system.slice kubepods.slice "$burstable"
    for group in "$dotted" "$instantiated" "$escaped" "$long" "$twin"; do
        make_group "$group" || return
        # on one CPU, so that they wait for each other; they rest most of the time, as other tests run here, too, which
        # takes no program, as that would cost as much as the rest
        run_in "$group" taskset -c 0 "$BASH" -c 'while :; do
            for ((i = 0; i < 4000; i++)); do :; done
            /bin/true
            read -rt 0.3 <>"$0"
        done' "$never"
    done
}

remove_slice_groups() {
    local path
    for path in "${slice_groups[@]}"; do
        [ ! -d "$cgroup_mount/$path" ] || eventually rmdir "$cgroup_mount/$path"
    done
}
# The processes first: groups with processes stay.
trap 'stop_servers; end_processes; remove_slice_groups; clean_up' EXIT

# What README says to write before psi.conf and the like, for a group whose name Graphite can't distinguish from
# another: here one that differs from $dotted by "_" for ".". Another test that runs meanwhile has one, too.
twin=system.slice/$our_name-web_example_service
renamed=$(for plugin in psi cgroup_perf; do
    printf 'LoadPlugin %s\n<Plugin %s>\n  <Cgroup "%s">\n    Instance "second-%%l"\n  </Cgroup>\n</Plugin>\n' $plugin $plugin \
        "system.slice/${group_name%-*}-*-web_example_service"
done)

# write_sender_config SNIPPET...: a configuration with these snippets as they stand, and csv with rates, as
# the receivers have them; what is on standard input follows.
write_sender_config() {
    local snippet plugin
    write_config </dev/null || return
    {
        # Of what didn't come for so many intervals the next rate is not known.
        echo "Timeout 60"
        echo "$renamed"
        for snippet in "$@"; do
            echo "Include \"$snippets/$snippet.conf\""
        done
        printf '<Plugin csv>\n  StoreRates true\n</Plugin>\n'
        cat
    } >"$dir/sender.conf"
    while read -r plugin; do
        cp "$our_plugins/$plugin.so" "$dir/plugins/" 2>/dev/null ||
            cp "$collectd_plugins/$plugin.so" "$dir/plugins/" || return
    done < <(set -- "${@/%/.conf}" && cat "$dir/sender.conf" "${@/#/$snippets/}" | loaded)
    cat "$dir/sender.conf" >>"$dir/collectd.conf"
}

# loaded: the plugins that the configuration on standard input loads.
loaded() { sed -n 's/^ *<\{0,1\}LoadPlugin *"\{0,1\}\([a-z_]*\).*/\1/p'; }

# series COMMAND...: see series.py.
series() { "$system_python" "$here/series.py" "$@"; }

now() { date +%s; }

# graphite_has: what csv has, in $dir/csv.tsv or, if $csv is set, in that folder by now; to be asked until it
# is so, as servers take their time. What differs is in $dir/differences.
outages=""      # times, from and until, at which it may lack it
csv=""
# All the hours that there is room for are looked at in the end only.
graphite_has() { graphite_has_since $began_at && graphite_has_since 0; }
graphite_has_since() {
    series whisper "$dir/whisper" "$1" >"$dir/whisper.tsv" && compare graphite "$dir/whisper.tsv"
}
# influxdb_has KIND DATABASE: likewise; but for what was lost on its way.
influxdb_has() {
    influx_ms "SELECT * FROM /.*/" "$2" | series influxdb >"$dir/influxdb.tsv" &&
        outages="$outages $(cat "$dir/losses")" compare "$1" "$dir/influxdb.tsv"
}
compare() {
    # it was asked later, so it has all that the others have
    [ -z "$csv" ] || series csv "$csv" >"$dir/csv.tsv"
    # shellcheck disable=SC2086
    series same "$1" "$dir/csv.tsv" "$2" $outages >"$dir/differences"
}
# arrives NAME COMMAND...: ok as soon as it is so; else what differs is shown.
arrives() {
    local name=$1
    shift
    pause=0.5 eventually "$@"       # it takes long itself
    ok $? "$name"
    cat "$dir/differences"
}

# instance_of PATH: the plugin instance of a group.
instance_of() { printf '%s' "${1//\//_}"; }

# start_toucher: a process with a known working set.
toucher=touch-$$
start_toucher() {
    cp ./toucher "$dir/$toucher"
    mkfifo "$dir/hold"
    exec 9<>"$dir/hold"
    run_in "$dotted" "$BASH" -c 'exec "$@" <"$0"' "$dir/hold" "$dir/$toucher" anon 32 16 >"$dir/ready"
}

# More than the snippets ask for, in blocks of their own: all that is documented.
widened="<Plugin psi>
  ReportAverages true
  Blame \"always\"
</Plugin>
<Plugin cgroup_perf>
  ReportPerCPU true
</Plugin>
<Plugin wss>
  <Process \"windows\">
    Name \"$toucher\"
    Method \"referenced\"
    Window 0.5 2
  </Process>
  # the machine is busy with other tests, too
  MaxScanTime 10
</Plugin>
LoadPlugin unixsock
<Plugin unixsock>
  SocketFile \"$dir/socket\"
  SocketPerms \"0600\"
</Plugin>"

# put_names: what no kernel here reports: irq pressure, counters of a PMU, noise.
put_names() {
    sed 's|^|h/|' <<EOF
psi-elsewhere/percent-irq-full
psi-elsewhere/percent-irq-full-avg10
psi-elsewhere/total_time_in_ms-irq-full
psi-elsewhere/derive-trigger_my.trigger-1
cgroup_perf-elsewhere/perf-cycles
cgroup_perf-elsewhere/percent-cycles-running
cgroup_perf-elsewhere/perf-INST_RETIRED:ANY_P
cgroup_perf-elsewhere/perf-msr_tsc-cpu0
cgroup_perf-elsewhere/ipc
cgroup_perf-elsewhere/ipc-u-cpu1
cgroup_perf-elsewhere/cache_ratio-LLC-load-misses
osnoise-cpu3/percent-available
osnoise-cpu3/duration-max_single
osnoise-cpu3/duration-max_period
osnoise-cpu3/derive-runtime_us
osnoise-cpu3/derive-noise_us
osnoise-cpu3/total_operations-nmi
osnoise-cpu3/total_operations-irq
osnoise-cpu3/total_operations-softirq
osnoise-cpu3/total_operations-thread
osnoise-cpu3/total_operations-hw
osnoise-cpu3/total_operations-lost
osnoise-cpu3/derive-irq_local_timer_us
osnoise-cpu3/derive-thread_migration_us
osnoise-cpu3/derive-other_us
osnoise-cpu3/total_values-noise_65us
osnoise-cpu3/duration-noise_p99
osnoise-cpu3/duration-latency_thread_p999
osnoise-cpu3/duration-max_latency_irq
osnoise-cpu3/derive-latency_thread_us
osnoise-cpu3/total_operations-latency_thread
osnoise-cpu3/total_values-latency_thread_16us
headroom-elsewhere/percent-room
headroom-elsewhere/percent-room-cpu
headroom-elsewhere/percent-room-memory
headroom-elsewhere/percent-room-memory-most
headroom-elsewhere/percent-room-io
headroom-elsewhere/vcpu-room
headroom-elsewhere/memory-room
headroom-elsewhere/memory-need
headroom-elsewhere/memory-limit
headroom-elsewhere/duration-to_trouble
headroom-elsewhere/percent-cpu-by-limit
headroom-elsewhere/total_operations-oom_kill
EOF
}

# put_values TIMES: these come from outside into collectd under their documented names; from there on their way is that
# of all others.
put_values() {
    eventually test -S "$dir/socket"
    put_names | series put "$dir/socket" "$1"
    put_failed=$?
}

# expected_series: what the snippets as they stand must yield of the machine and of each group here. A name
# that is too long has lost its middle.
expected_series() {
    local name short series
    short="*_${long##*/}"
    printf 'h/psi-system/%s\n' {percent,total_time_in_ms}-{cpu-some,{memory,io}-{some,full}} \
        derive-trigger_{memory,io}-stall
    printf 'h/cgroup_perf-system/%s\n' {perf-,percent-}{task-clock,context-switches,page-faults} |
        sed '/percent/s/$/-running/'
    printf 'h/wss-collectd/%s\n' memory-{referenced,rss,pss} duration-{window,scan}
    for name in "$(instance_of "$dotted")" "$(instance_of "$instantiated")" "$(instance_of "$escaped")" \
        "$(instance_of "$pod")" "$short" "second-${twin##*/}"; do
        for series in {percent,total_time_in_ms}-{cpu,memory,io}-{some,full}; do
            printf 'h/psi-%s/%s\n' "$name" "$series"
        done
        # groups of a version 1 hierarchy are others
        grep -q 'cgroup .*perf_event' /proc/self/mounts && continue
        for series in task-clock context-switches page-faults; do
            printf 'h/cgroup_perf-%s/%s\n' "$name" perf-$series "$name" percent-$series-running
        done
    done
}

# all_sent: csv has each of these; else $dir/lacking says what it lacks.
all_sent() { series csv "$dir/csv" >"$dir/csv.tsv" && series lacks "$dir/csv.tsv" < <(expected_series) >"$dir/lacking"; }
