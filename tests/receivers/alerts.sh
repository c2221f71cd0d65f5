# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# alerts.sh - what the tests of thresholds share: every receiver that an alert may reach, what reached them,
# and loads that are driven through the states of a threshold. To be sourced after
# ../collectd/daemon.sh.
# shellcheck disable=SC2154

here=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")")
snippets=$(readlink -f "$here/../../contrib/collectd.conf.d")

# --- receivers ---------------------------------------------------------------

# make_handlers: our programs, as the build made them, for collectd to run as the user nobody, with the folders that
# the packages make.
make_handlers() {
    local handler
    local -A singly=([mail]="-w 0")     # whatever else waits on this machine
    mkdir -p "$dir/bin" "$dir/handlers" "$dir/state/mail" "$dir/state/alert"
    # The folder of the build may be one that the user nobody may not look into.
    cp src/handlers/headroom-mail src/handlers/headroom-alert "$dir/handlers/"
    for handler in mail alert; do
        chown nobody "$dir/state/$handler"
        printf '#!/bin/sh\nexec "%s/handlers/headroom-%s" -s "%s/state/%s" %s "$@"\n' "$dir" $handler "$dir" $handler \
            "${singly[$handler]:-}" >"$dir/bin/headroom-$handler"
        chmod 755 "$dir/bin/headroom-$handler"
    done
}

# start_receivers: a mail server; programs for collectd to run as the user nobody; and the syslog, in a /dev that
# is to replace the machine's for collectd alone.
start_receivers() {
    local device
    make_handlers
    mkdir "$dir/dev" "$dir/mails" "$dir/received"
    chmod 1777 "$dir/received" "$dir/mails"
    chmod 666 "$never"
    printf '#!/bin/sh\ncat >"%s/$$.new" && mv "%s/$$.new" "%s/$$.received"\n' \
        "$dir/received" "$dir/received" "$dir/received" >"$dir/bin/receive"
    cat >"$dir/bin/sendmail" <<END
#!$BASH
# It does by itself what the mail server does, which would take more time than all else that there is to a mail.
LC_ALL=C
mapfile -t mail
to=("\${@:3}")           # sendmail -oi -- ADDRESS...
for line in "\${mail[@]}"; do
    [ "\$2" = -t ] && [ -n "\$line" ] || break
    [[ \$line != "To: "* ]] || IFS=', ' read -ra to <<<"\${line#To: }"
done
while [ -e "$dir/mails.hang" ]; do
    read -rt 0.1 <>"$never"
done
{
    echo "MAIL FROM:<nobody@localhost>"
    printf 'RCPT TO:<%s>\n' "\${to[@]}"
    printf '%s\n' "\${mail[@]}"
} >"$dir/mails/\$\$.new" && exec mv "$dir/mails/\$\$.new" "$dir/mails/\${EPOCHREALTIME/[.,]/}.\$\$.mail"
END
    for device in null zero full random urandom; do
        : >"$dir/dev/$device"
    done
    cat >"$dir/bin/with-own-dev" <<END
#!$BASH
# The mounts are seen by no other process, and are gone with collectd. It goes ahead of the loads.
for device in null zero full random urandom; do
    mount --bind /dev/\$device "$dir/dev/\$device" || exit 1
done
mount --rbind "$dir/dev" /dev || exit 1
exec setsid "$BASH" -c 'echo -20 >/proc/self/autogroup; exec nice -n -20 "\$@"' collectd "\$@" 2>/dev/null
END
    chmod 755 "$dir/bin/"* "$dir/dev"
    start_in "" /usr/bin/python3 "$here/listen.py" "$dir/mails" "$dir/dev/log" "$dir/syslog" >"$dir/listening"
    eventually grep -q ready "$dir/listening" && return
    echo "Bail out! the mail server doesn't start"
    exit 1
}

# receivers: the configuration of those that run beside collectd: the programs, and syslog.
receivers() {
    cat <<END
<Plugin exec>
  NotificationExec "nobody:nogroup" "$dir/bin/receive"
</Plugin>
Include "$snippets/mail.conf"
Include "$snippets/syslog.conf"
END
}

# start_alerting NAME: collectd, with its receivers.
start_alerting() {
    PATH=$dir/bin:$PATH start_daemon "$1" unshare --mount "$dir/bin/with-own-dev"
}

# --- what reached them -------------------------------------------------------
# Of each notification a line: SEVERITY PLUGIN INSTANCE TYPE TYPE_INSTANCE.

# lines FILE: of what the plugins logfile and syslog write
lines() {
    sed -n 's/.*severity = \([A-Z]*\), host = [^,]*, plugin = \([^,]*\), plugin_instance = \([^,]*\), type = \([^,]*\),\( type_instance = \([^,]*\),\)\{0,1\} message = .*/\1 \2 \3 \4 \6/p' \
        "$1" | sed 's/ *$//'
}
in_log() { lines "$log"; }
alarms_in_log() { in_log | grep -v '^OKAY'; }
in_syslog() { lines "$dir/syslog"; }
by_exec() {
    find "$dir/received" -name '*.received' -exec awk '
        FNR == 1 { plugin = instance = type = which = ""; done = 0 }
        done { next }
        $1 == "Severity:" { severity = $2 }
        $1 == "Plugin:" { plugin = $2 }
        $1 == "PluginInstance:" { instance = $2 }
        $1 == "Type:" { type = $2 }
        $1 == "TypeInstance:" { which = $2 }
        $0 == "" { print severity, plugin, instance, type, which; done = 1 }' {} + | sed 's/ *$//'
}
# Mails of headroom-mail have it all in the head, those of notify_email in the text.
by_mail() { sed -n 's/^X-Collectd-Notification: \([A-Z]*\) on h: /\1 /p' "$dir/mails/"*.mail; }
by_notify_email() {
    cat "$dir/mails/"*.mail | awk '
        /^MAIL FROM/ { ours = 0; plugin = instance = type = which = "" }
        /^Subject: collectd: / { ours = 1; severity = $3 }
        /^Plugin: / { plugin = $2 }
        /^Plugin instance: / { instance = $3 }
        /^Type: / { type = $2 }
        /^Type instance: / { which = $3 }
        /^Message: / && ours { print severity, plugin, instance, type, which }' | sed 's/ *$//'
}
# mails_due: of what is in the log all that psi's triggers notify; else the alarms that begin or get worse, and the
# OKAYs that end one
mails_due() {
    in_log | awk '$5 ~ /^trigger_/ { print; next }
        { key = $0; sub(/^[A-Z]* /, "", key); now = $1 == "FAILURE" ? 2 : $1 == "WARNING" }
        now > state[key] || (!now && state[key]) { print }
        { state[key] = now }'
}

# ours: of lines those that are of the test's own making; what else there is on the machine may have alarms,
# too, whenever it likes
ours=.
ours() { grep -- "$ours"; }
# same COMMAND COMMAND: both print the same lines, in whatever order.
same() { [ "$($1 | ours | sort)" = "$($2 | ours | sort)" ] && [ -n "$($1 | ours)" ]; }
# agree NAME COMMAND COMMAND
agree() {
    eventually same "$2" "$3"
    ok $? "$1"
    same "$2" "$3" || diff <($2 | ours | sort) <($3 | ours | sort) | head -n 20 | sed 's/^/# /'
}
# all_received: what is in the log has reached all receivers.
all_received() {
    agree "the program that exec runs receives all" by_exec in_log
    agree "syslog the alarms" in_syslog alarms_in_log
    agree "headroom-mail mails alarms that begin or get worse, and the ends of these" by_mail mails_due
}

# severities_of SERIES: those that were notified of it, in order, as in: severities_of psi system percent cpu-some
severities_of() {
    in_log | awk -v series="$*" '{ severity = $1; sub(/^[A-Z]* /, "") } $0 == series { printf "%s ", severity }'
}
# was_notified_last SEVERITY SERIES
was_notified_last() {
    local severity=$1 all
    shift
    all=$(severities_of "$@")
    [[ "$all" = *"$severity " ]]
}
# exec_received LINE...: exec gave its program a notification with all these lines
exec_received() {
    local line files=("$dir/received/"*.received)
    for line in "$@"; do
        mapfile -t files < <(grep -lxE -- "$line" "${files[@]}" 2>/dev/null)
        [ ${#files[@]} -gt 0 ] || return 1
    done
}

# --- loads that go through the states ----------------------------------------

# has_begun SERIES: it has values. What is OKAY from the beginning on isn't notified.
has_begun() { has_values "$1-$2/$3${4:+-$4}" "${5:-1}"; }
# read_severities: of what has come to the log since the last time, each series' severity, into notified; takes no program,
# as it is asked again and again.
declare -A notified=()
unfinished=""
read_severities() {
    local line where='.*severity = ([A-Z]*), host = [^,]*, plugin = ([^,]*), plugin_instance = ([^,]*), type = ([^,]*),( type_instance = ([^,]*),)? message = '
    while IFS= read -r -u "$log_file" line; do
        line=$unfinished$line unfinished=""
        [[ $line = *"severity = "* && $line =~ $where ]] || continue
        line="${BASH_REMATCH[2]} ${BASH_REMATCH[3]} ${BASH_REMATCH[4]} ${BASH_REMATCH[6]}"
        notified[${line%% }]=${BASH_REMATCH[1]}
    done
    unfinished=$unfinished$line
}

# drive SECONDS: takes each kind in `series_of` to WARNING, FAILURE and back to OKAY, one state as soon as
# the one before was notified. `load KIND 0|1|2`, the test's own, makes the load for OKAY, WARNING, FAILURE.
# In `states` is how far each came.
declare -A states=() series_of=()
drive() {
    local kind state end=$((SECONDS + $1)) busy=1 log_file
    local wanted=(OKAY WARNING FAILURE OKAY) then=(1 2 0 0)
    for kind in "${!series_of[@]}"; do
        states[$kind]=0
    done
    notified=() unfinished=""
    exec {log_file}<"$log"
    while [ $busy -eq 1 ] && [ $SECONDS -lt $end ]; do
        busy=0
        read_severities
        for kind in "${!series_of[@]}"; do
            state=${states[$kind]}
            [ "$state" -lt 4 ] || continue
            busy=1
            if [ "$state" -eq 0 ]; then
                # shellcheck disable=SC2086 # several words
                has_begun ${series_of[$kind]} || continue
            else
                [ "${notified[${series_of[$kind]}]:-}" = "${wanted[$state]}" ] || continue
            fi
            load "$kind" "${then[$state]}"
            states[$kind]=$((state + 1))
            echo "# $SECONDS s: $kind is ${wanted[$state]}"
        done
        read -rt 0.3 <>"$never"
    done
    exec {log_file}<&-
}

# went_through KIND NAME
went_through() {
    check "$2" test "${states[$1]}" -eq 4
    [ "${states[$1]}" -eq 4 ] || echo "# $1: $(severities_of "${series_of[$1]}")"
}
