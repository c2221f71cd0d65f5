#!/bin/sh
# SPDX-License-Identifier: MIT
# headroom-alert - posts one of collectd's notifications to Alertmanager, see headroom-alert(1). collectd's exec
# plugin runs it for each of them, with the notification on standard input.
#
#     headroom-alert [-e SECONDS] [-K FILE] [-l NAME=VALUE]... [-r SECONDS] [-s DIRECTORY] URL...
#
# To Alertmanager an alert is its labels. The severity is one of them, as routes go by it; so what gets worse ends
# one alert and begins another, in the same request, and what was begun, with all its labels, is on record until
# its end.
#
# An Alertmanager that is away may have alerts that end meanwhile. So what is to be posted of a series is on record
# first, and as unsent until it is accepted; one process, which stays, tries that again. A newer notification of the series
# takes its place, and ends all that may have begun: an old end that is posted late would end what is new.
#
# A shell and curl: curl brings TLS, proxies and authentication, and neither stays in memory.
#
# shellcheck source=notification.sh
. notification.sh

print_usage() {
    echo "usage: headroom-alert [-e SECONDS] [-K FILE] [-l NAME=VALUE]... [-r SECONDS] [-s DIRECTORY] URL... <NOTIFICATION;"
    echo "see headroom-alert(1)"
}
usage() {
    print_usage >&2
    exit 2
}
[ "${1:-}" != --help ] || {
    print_usage
    exit 0
}

# escape TEXT: sets escaped to what stands for it between a JSON string's quotes. Bytes that are no UTF-8 stay as
# they are: Alertmanager replaces them.
escape() {
    rest=$1 escaped=""
    while :; do
        plain=${rest%%[\"\\[:cntrl:]]*}
        escaped=$escaped$plain
        [ "$plain" != "$rest" ] || return 0
        rest=${rest#"$plain"}
        char=${rest%"${rest#?}"}
        rest=${rest#?}
        case $char in
            [\"\\]) escaped=$escaped\\$char ;;
            *) escaped=$escaped$(printf '\\u%04x' "'$char") ;;
        esac
    done
}

# add NAME VALUE: a member to the JSON object in members; none without a value.
members=""
add() {
    [ -n "$2" ] || return 0
    escape "$2"
    members=$members${members:+,}\"$1\":\"$escaped\"
}

lasting=604800 retry_after=60 folder=/var/lib/headroom/alert config="" own_labels=""
while getopts e:K:l:r:s: option; do
    case $option in
        e) lasting=$OPTARG ;;
        K) config=$OPTARG ;;
        l) own_labels=$own_labels$OPTARG$newline ;;
        r) retry_after=$OPTARG ;;
        s) folder=$OPTARG ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
for seconds in "$lasting" "$retry_after"; do
    case $seconds in
        "" | *[!0-9]* | 0) usage ;;
    esac
done
while IFS='=' read -r name value && [ -n "$name$value" ]; do
    case $name in
        "" | [0-9]* | *[!A-Za-z0-9_]*) usage ;;
    esac
    add "$name" "$value"
done <<END
$own_labels
END
own_labels=$members
read_notification || exit 2

# --- what an alert is --------------------------------------------------------

# make_labels SEVERITY: sets labels.
make_labels() {
    members=$own_labels
    detail Trigger
    add alertname "${plugin:-collectd}_${value:-${type_instance:-${type:-notification}}}"
    add instance "$host"
    add severity "$1"
    add plugin "$plugin"
    add plugin_instance "$instance"
    add type "$type"
    add type_instance "$type_instance"
    for name in Cgroup:cgroup Resource:resource Level:level Trigger:trigger; do
        detail "${name%:*}"
        add "${name#*:}" "$value"
    done
    labels=$members
}

# make_annotations: sets annotations.
make_annotations() {
    members=""
    add summary "$message"
    detail Cause
    add cause "$value"
    details Taker
    add takers "$values"
    detail LongestCgroup
    add longest "$value"
    detail Trace
    add trace "$value"
    details Task
    add tasks "$values"
    annotations=$members
}

# --- posting -----------------------------------------------------------------

# as_date SECONDS.MILLISECONDS: sets date to that of RFC 3339.
as_date() { date=$(date -u -d "@$1" '+%Y-%m-%dT%H:%M:%S.%3NZ'); }

# make_request END: sets request to the alert that begins, if one does, and those in ended, whose labels are lines.
make_request() {
    request=""
    as_date "$1"
    while IFS= read -r labels && [ -n "$labels" ]; do
        request="$request${request:+,}{\"labels\":{$labels},\"annotations\":{$annotations},\"endsAt\":\"$date\"}"
    done <<END
$ended
END
    [ -n "$begun" ] || return 0
    as_date "$time"
    begin=$date
    as_date "$((${time%.*} + lasting)).${time#*.}"
    request="$request${request:+,}{\"labels\":{$begun},\"annotations\":{$annotations},\"startsAt\":\"$begin\",\"endsAt\":\"$date\"}"
}

# send URL: sets answer to the header, or to what went wrong.
send() {
    answer=$(printf '[%s]' "$request" | curl -q ${config:+-K "$config"} -sSf -m 10 -D - -o /dev/null \
        -H "Content-Type: application/json" --data-binary @- "$1/api/v2/alerts" 2>&1 9>&-)
}

# has_ended: no alert ends later than now by the clock of the Alertmanager that answered, which would take that for
# an alert that lasts as long as it was to at first. Otherwise sets end to a time that is past there.
has_ended() {
    [ -n "$ended" ] || return 0
    clock=$(printf '%s\n' "$answer" | sed -n 's/^[Dd]ate: //p')
    clock=$(date -d "${clock%?}" +%s) || return 0
    [ "${end%.*}" -ge "$clock" ] || return 0
    end=$((clock - 1)).000
    return 1
}

# try URL: once more if its clock is behind ours. Fails with 1 if what is posted is refused, and with 2 if it may be accepted
# another time.
try() {
    end=$((${time%.*} - 1)).${time#*.}
    for _ in 1 2; do
        make_request "$end"
        if ! send "$1"; then
            case $answer in
                *"error: 400"*) return 1 ;;
            esac
            return 2
        fi
        ! has_ended || return 0
    done
    return 2
}

# try_repeatedly URL: up to five times within about a minute
try_repeatedly() {
    for pause in 1 2 5 10 0; do
        try "$1"
        tried=$?
        [ $tried -eq 2 ] || break
        [ $pause -le "$retry_after" ] || pause=$retry_after
        sleep "$pause"
    done
    return "$tried"
}

# --- what is unsent ----------------------------------------------------------
# A file for each series and Alertmanager, beside its record: what remember() writes, then all that posting needs; what
# begins; and what ends. One that is empty, as when power was lost, has nothing.

keep_unsent() {
    [ -n "$record" ] || return 0
    printf '%s\n' "$severity $time $daemon" "$1" "$config" "$lasting" "$annotations" "$begun" "${ended%"$newline"}" \
        >"$record.unsent.new" && mv -f "$record.unsent.new" "$record.unsent"
}

# read_unsent: what keep_unsent() wrote. Fails if there is nothing.
read_unsent() {
    [ -s "$record.unsent" ] || return 1
    {
        read -r severity time daemon
        IFS= read -r url
        IFS= read -r config
        IFS= read -r lasting
        IFS= read -r annotations
        IFS= read -r begun
        ended=$(cat)
    } <"$record.unsent"
    case $time in
        "" | *[!0-9.]*)         # cut off, as when power was lost
            rm -f "$record.unsent"
            return 1
            ;;
    esac
}

# finish_unsent STATUS: after try(). What is refused isn't kept.
finish_unsent() {
    [ "$1" -ne 0 ] || remember "$severity" "$begun"
    [ -z "$record" ] || [ "$1" -eq 2 ] || rm -f "$record.unsent"
}

# retry: what is unsent of a record, whose series has no notification on its way; in a process of its own.
retry() {
    exec 9>"$record.lock"
    flock -n 9 && read_unsent || return 0
    if [ $(($(date +%s) - ${time%.*})) -gt "$lasting" ]; then
        complain "$url did not accept $severity of ${time%.*} within $lasting seconds: given up"
        rm -f "$record.unsent" "$record"      # what was there has ended by itself
        return 0
    fi
    try "$url"
    tried=$?
    finish_unsent "$tried"
    return "$tried"
}

# retry_all: of what is unsent to an Alertmanager that is away, one.
retry_all() {
    away=$newline
    for unsent in "$folder"/*.unsent; do
        record=${unsent%.unsent}
        url=$(sed -n 2p "$unsent" 2>/dev/null)
        case $away in
            *"$newline$url$newline"*) continue ;;
        esac
        (retry)
        [ $? -ne 2 ] || away=$away$url$newline
    done
}

has_unsent() {
    for unsent in "$folder"/*.unsent; do
        [ ! -s "$unsent" ] || return 0
    done
    return 1
}

# retry_until_accepted: by one process for the folder. What one more keeps once this has seen that nothing is left, that one
# tries again itself.
retry_until_accepted() {
    while has_unsent; do
        (
            flock -n 8 || exit 1
            retry_all
            while has_unsent; do
                sleep "$retry_after" 8>&-
                retry_all
            done
        ) 8>"$folder/retrying" || return 0
    done
}

# --- what begins and what ends -----------------------------------------------

# find_open: adds to ended, beside the alert that begins, those that may have begun.
find_open() {
    if [ -s "$record.unsent" ]; then
        sed -n '6,$p' "$record.unsent"
    elif [ -e "$record" ]; then
        sed -n 2p "$record"
    fi
}

# serve URL: in a process of its own; side by side, so that none waits for one that hangs.
serve() {
    if $has_folder; then
        open_record "$folder" "" "$1" || return 1
        [ ! -s "$record.unsent" ] || read -r known known_time known_by <"$record.unsent"
        ! is_late || return 0
        if [ "$severity:$known" = OKAY:OKAY ]; then
            remember OKAY ""    # so that a beginning that comes later is late
            return 0
        fi
        ended=$(find_open | grep -vxF -e "$begun" -e "")
    fi
    keep_unsent "$1"
    try_repeatedly "$1"
    tried=$?
    finish_unsent "$tried"
    [ $tried -ne 0 ] || return 0
    again=""
    [ $tried -eq 1 ] || [ -z "$record" ] || again=" (tried again every $retry_after s)"
    complain "$1 did not accept $severity on $host: $series: $answer$again"
    return 1
}

begun="" ended="" has_folder=false
! is_kill || [ "$lasting" -le 3600 ] || lasting=3600    # no end will come
case $severity in
    WARNING) make_labels warning && begun=$labels ;;
    FAILURE) make_labels critical && begun=$labels ;;
esac
make_annotations
if is_own_folder "$folder"; then
    has_folder=true
else
    complain "$folder isn't a directory owned by $(id -un), see headroom-alert(1)"
    # Either may have begun.
    [ -n "$begun" ] || for each in warning critical; do
        make_labels $each
        ended=$ended$labels$newline
    done
fi
serving="" status=0
for url in "$@"; do
    serve "${url%/}" &
    serving="$serving $!"
done
for each in $serving; do
    wait "$each" || status=1
done
if $has_folder && has_unsent; then
    retry_until_accepted </dev/null >/dev/null 2>&1 &
fi
exit $status
