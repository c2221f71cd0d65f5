# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# privileges.sh - what the tests of contrib/systemd share: the capabilities that its files give, and
# programs and daemons that run as a plain user with just these. To be sourced after daemon.sh.
#
# shellcheck disable=SC2154 # daemon.sh sets what isn't set here
someone=65534 # the plain user: nobody
contrib=$(dirname "${BASH_SOURCE[0]}")/../../contrib
drop_ins=$contrib/systemd/collectd.service.d
headroom=$(realpath -- "${HEADROOM:-./headroom}")

# --- what the files say ------------------------------------------------------

# merge DIRECTIVE FILE...: the values of all lines of a directive, as systemd merges them: they are added
# up, and an empty one removes those before.
merge() {
    local directive=$1
    shift
    awk -F= -v directive="$directive" '
        $1 == directive && $2 == "" { split("", values) }
        $1 == directive { count = split($2, words, " "); for (i = 1; i <= count; i++) values[words[i]] }
        END { for (value in values) print value }' "$@" | sort
}

# capabilities_of NAME...: what 10-plain-user.conf and the files 20-NAME.conf give.
capabilities_of() {
    local name files=("$drop_ins/10-plain-user.conf")
    for name in "$@"; do
        files+=("$drop_ins/20-$name.conf")
    done
    merge AmbientCapabilities "${files[@]}"
}

# less CAPABILITY CAPABILITY...: all but the first, as often as it is among them.
less() {
    local without=$1 capability
    shift
    for capability in "$@"; do
        [ "$capability" = "$without" ] || echo "$capability"
    done
}

# --- the users that have it --------------------------------------------------

# become CAPABILITY...: sets `as`, which goes before a command to run it as the plain user with these
# capabilities and no others, as systemd does. Those that we don't have ourselves can't be given.
become() {
    local capability name given="" bounding
    bounding=$((0x$(awk '/^CapBnd/ { print $2 }' /proc/self/status)))
    lacking=""
    for capability in "$@"; do
        name=${capability#CAP_}
        name=${name,,}
        if ((bounding >> $(number_of "$capability") & 1)); then
            given=$given,+$name
        else
            lacking="$lacking $capability"
        fi
    done
    as=(setpriv --reuid="$someone" --regid="$someone" --clear-groups --no-new-privs
        --inh-caps="-all$given" --ambient-caps="-all$given" --bounding-set="-all$given")
}

# let_perfmon_count: where the sysctl is above 2, as it is with Debian's kernels, CAP_PERFMON is not enough. It
# is put back by forbid_again.
paranoid=/proc/sys/kernel/perf_event_paranoid
paranoid_before=$(cat $paranoid 2>/dev/null || echo 0)
let_perfmon_count() { [ "$paranoid_before" -le 2 ] || echo 2 >$paranoid; }
forbid_again() { [ "$paranoid_before" -le 2 ] || echo "$paranoid_before" >$paranoid; }

# number_of CAPABILITY: the kernel's number of those that we know.
number_of() {
    case $1 in
    CAP_DAC_OVERRIDE) echo 1 ;;
    CAP_DAC_READ_SEARCH) echo 2 ;;
    CAP_NET_ADMIN) echo 12 ;;
    CAP_SYS_PTRACE) echo 19 ;;
    CAP_SYS_ADMIN) echo 21 ;;
    CAP_SYS_NICE) echo 23 ;;
    CAP_SYS_RESOURCE) echo 24 ;;
    CAP_SYSLOG) echo 34 ;;
    CAP_PERFMON) echo 38 ;;
    CAP_BPF) echo 39 ;;
    *) echo "Bail out! a capability that this test doesn't know: $1" >&2 ;;
    esac
}

# effective_of PID: the names of the capabilities that a process has.
effective_of() {
    local set capability
    set=$((0x$(awk '/^CapEff/ { print $2 }' "/proc/$1/status")))
    for capability in CAP_BPF CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_NET_ADMIN CAP_PERFMON CAP_SYS_ADMIN \
        CAP_SYSLOG CAP_SYS_NICE CAP_SYS_PTRACE CAP_SYS_RESOURCE; do
        ((set >> $(number_of $capability) & 1)) && echo $capability
        ((set &= ~(1 << $(number_of $capability))))
    done
    [ "$set" -eq 0 ] || echo "and others"
}

# doctor NAME PLUGIN: what `headroom doctor` reports of a plugin to the user that `as` is, into
# $dir/NAME.doctor: lines of works|PLUGIN: FEATURE, and lacks|PLUGIN: FEATURE: CAUSE: REMEDY.
doctor() {
    "${as[@]}" "$dir/headroom" doctor --config /dev/null "$2" 2>"$dir/err" | sed -n 's/^\(works\|lacks\|untried\)  */\1|/p' >"$dir/$1.doctor"
}
doctor_says() { grep -q -- "$2" "$dir/$1.doctor"; }

# --- several daemons at once -------------------------------------------------

# daemon_as NAME PLUGIN...: starts a collectd of the user that `as` is, with a folder of its own,
# $dir/NAME; the text on standard input is its configuration.
daemon_as() {
    local name=$1 plugin
    shift
    mkdir -p "$dir/$name/base" "$dir/$name/csv" "$dir/plugins"
    for plugin in logfile csv "$@"; do
        [ -e "$dir/plugins/$plugin.so" ] || cp "$our_plugins/$plugin.so" "$dir/plugins/" 2>/dev/null ||
            cp "$collectd_plugins/$plugin.so" "$dir/plugins/" || return 1
    done
    # where the snippets' Include finds it
    cp "$contrib/collectd.conf.d/headroom-cgroups.conf" "$dir/$name/base/" || return 1
    {
        printf '%s\n' 'Hostname "h"' "BaseDir \"$dir/$name/base\"" "PIDFile \"$dir/$name/pid\"" \
            "PluginDir \"$dir/plugins\"" "TypesDB \"$types_db\"" "Interval 1" \
            "LoadPlugin logfile" "<Plugin logfile>" "  LogLevel info" "  File \"$dir/$name/log\"" \
            "  PrintSeverity true" "</Plugin>" "LoadPlugin csv" "<Plugin csv>" \
            "  DataDir \"$dir/$name/csv\"" "</Plugin>" "${@/#/LoadPlugin }"
        cat
    } >"$dir/$name/collectd.conf"
    : >"$dir/$name/log"
    chown -R "$someone:$someone" "$dir/$name"
    (exec "${as[@]}" "$collectd" -f -C "$dir/$name/collectd.conf") >"$dir/$name/out" 2>&1 &
    processes="$processes $!"
    daemon_pid=$!
    echo $! >"$dir/$name/number"
}

# Of the daemon NAME: what it logged, and what it wrote.
says() { grep -q -- "$2" "$dir/$1/log"; }
says_not() { ! says "$@"; }
writes() {
    [ "$(grep -hv '^epoch' "$dir/$1/csv/h/$2"-20* 2>/dev/null | grep -cv ',nan$')" -ge "${3:-1}" ]
}
writes_not() { ! writes "$@"; }

# show: the end of what each daemon logged, for whoever reads of a failure.
show() {
    local log
    for log in "$dir"/*/log; do
        tail -n 30 "$log" | sed "s|^|# ${log#"$dir/"}: |" | cut -c1-400
    done
}

# end_daemons: ends all of them, and then looks at how that went.
end_daemons() {
    local pid status=0
    for pid in $processes; do
        kill "$pid" 2>/dev/null
    done
    for pid in $processes; do
        wait "$pid" 2>/dev/null || status=1
    done
    processes=""
    return $status
}
