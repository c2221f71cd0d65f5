# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# mails.sh - headroom-mail by itself, given notifications as the plugins psi and threshold send them, with its waiting in the
# hands of the test. To be sourced after ../collectd/daemon.sh and alerts.sh.
# shellcheck disable=SC2154

make_handlers
mkdir "$dir/mails" "$dir/own" "$dir/base"
cat >"$dir/bin/sendmail" <<END
#!$BASH
mapfile -t mail
printf '%s\n' "\${mail[@]}" >"$dir/mails/new.\$\$" && exec mv "$dir/mails/new.\$\$" "$dir/mails/\${EPOCHREALTIME/[.,]/}.mail"
END
# A minute goes by when the file is removed; who uses the CPUs is looked at for no time.
cat >"$dir/bin/sleep" <<END
#!/bin/sh
[ "\$1" != 1 ] || exit 0
echo "\$1" >>"$dir/slept"
[ "\${0##*/}" = sleep ] || [ ! -e "$dir/until" ] || { shift && exec "$(type -P timeout)" 600 "\$@"; }
exec "$BASH" "$dir/bin/wait"
END
cat >"$dir/bin/wait" <<END
left=600
while [ -e "$dir/asleep" ] && [ \$left -gt 0 ]; do
    read -rt 0.1 <>"$never"
    left=\$((left - 1))
done
END
# While there is the file "until", only what the time is limited of ends it.
cp "$dir/bin/sleep" "$dir/bin/timeout"
# Its clock is a hundred times as slow, so that no check depends on how fast the machine is.
began_us=${EPOCHREALTIME//[.,]/}
cat >"$dir/bin/date" <<END
#!/bin/sh
[ "\$1" = +%s ] || exec "$(type -P date)" "\$@"
exec "$BASH" -c 'echo \$((($began_us + (\${EPOCHREALTIME//[.,]/} - $began_us) / 100) / 1000000))'
END
chmod 755 "$dir/bin/"*

host=h ago=0
# given SEVERITY PLUGIN LINE...: headroom-mail gets a notification with these lines; it takes its parent for collectd.
given() {
    local now_us=$((began_us + (${EPOCHREALTIME//[.,]/} - began_us) / 100))
    printf '%s\n' "Severity: $1" "Time: $((now_us / 1000000 - ago)).${now_us: -6}" "Host: $host" "Plugin: $2" "${@:3}" "" "${message:-text}" |
        "${mail:-run_mail}"
}
run_mail() { PATH=$dir/bin:$PATH COLLECTD_INTERVAL=10.000 exec "$dir/handlers/headroom-mail" -s "$dir/own" "${options[@]}" root 2>>"$dir/err"; }
options=()
# trigger SEVERITY GROUP PERCENT [LINE...]: of psi's trigger
trigger() {
    given "$1" psi "PluginInstance: ${2//\//_}" "Type: derive" "TypeInstance: trigger_stall" "Trigger: stall" "Cgroup: $2" \
        "Resource: ${resource:-cpu}" "Level: full" "Stall: 1.5e-01" "Window: 1.0e+00" "MeasuredStall: $(($3 * 12)).0e-03" "MeasuredWindow: 1.2e+00" "${@:4}"
}
end_trigger() {
    given OKAY psi "PluginInstance: ${1//\//_}" "Type: derive" "TypeInstance: trigger_stall" "Trigger: stall" "Cgroup: $1" \
        "Resource: ${resource:-cpu}" "Level: full" "${@:2}"
}
# threshold SEVERITY GROUP PERCENT
threshold() {
    given "$1" psi "PluginInstance: ${2//\//_}" "Type: percent" "TypeInstance: ${resource:-cpu}-full" "DataSource: value" \
        "CurrentValue: $3" "WarningMax: 2.5e+01" "FailureMax: 7.5e+01"
}
# begin COMMAND...: runs it beside the test, as collectd does; it may wait for others.
begin() {
    "$@" &
    begun+=($!)
}
# begin_here COMMAND...: the same, of this run of collectd, and not of one that ends with it
begin_here() {
    mail=keep_given "$@"
    run_mail <"$dir/kept" &
    begun+=($!)
}
keep_given() { cat >"$dir/kept.new" && mv "$dir/kept.new" "$dir/kept"; }
begun=()
# a_minute: those that wait go on.
a_minute() {
    rm -f "$dir/asleep"
    wait "${begun[@]}"
    begun=()
    : >"$dir/asleep"
    rm -f "$dir/slept"
}
# later COUNT: so many mails are to be listed; so is_waiting: and a process waits to do that.
later() {
    local lists=("$dir/own/"*.later)
    [ -e "${lists[0]}" ] || lists=()
    [ ${#lists[@]} -eq "$1" ]
}
is_waiting() { [ -s "$dir/slept" ]; }
subjects() { sed -n 's/^Subject: //p' "$dir/mails/"*.mail 2>/dev/null; }
# mailed SUBJECT...: these, in this order, since the last part
mailed() {
    local all IFS=$'\n'
    mapfile -t all < <(subjects)
    [ "${all[*]}" = "$*" ] || same_files <(subjects) <(printf '%s\n' "$@")
}
# last_mail: sets mail_file to it
last_mail() {
    local mails=("$dir/mails/"*.mail)
    mail_file=${mails[-1]}
}
text() { last_mail && sed '1,/^$/d; /^[0-9-]* [0-9:]* [+-][0-9]*\(, since [0-9: -]*\)\?$/d; /^the most CPU time is used by /d; /^$/d; s/, for [0-9]* s: /, for S: /; s/, for [0-9]* s, \(gone\|not watched\) since [0-9:]*: /, for S, \1 since T: /' "$mail_file"; }
is_text() { same_files <(text) <(printf '%s\n' "$@"); }
# part: begins anew
part() {
    a_minute
    rm -f "$dir/own/"* "$dir/mails/"*
}
# waiter: the pids of all that run
waiter() {
    local each words
    for each in /proc/[0-9]*/cmdline; do
        mapfile -d '' -t words <"$each" || continue
        [ "${words[*]::2}" != "/bin/sh $dir/handlers/headroom-mail" ] || { each=${each#/proc/} && echo "${each%/*}"; }
    done 2>/dev/null
}
