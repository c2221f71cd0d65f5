#!/bin/sh
# SPDX-License-Identifier: MIT
# headroom-alert - posts one of collectd's notifications to Alertmanager, see headroom-alert(1). collectd's exec
# plugin runs it for each of them, with the notification on standard input.
#
#     headroom-alert [-e SECONDS] [-K FILE] [-l NAME=VALUE]... [-s FOLDER] URL...
#
# To Alertmanager an alert is its labels. The severity is one of them, as routes go by it; so what gets worse ends
# one alert and begins another, in the same request, and what was begun, with all its labels, is on record until
# its end.
#
# A shell and curl: curl brings TLS, proxies and authentication, and neither stays in memory.
#
# shellcheck source=notification.sh
. notification.sh

usage() {
    echo "usage: headroom-alert [-e SECONDS] [-K FILE] [-l NAME=VALUE]... [-s FOLDER] URL... <NOTIFICATION" >&2
    exit 2
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

# detail NAME: sets value to that of the metadata.
detail() {
    value=${newline}$details
    case $value in
        *"$newline$1: "*) value=${value#*"$newline$1: "} value=${value%%"$newline"*} ;;
        *) value="" ;;
    esac
}

lasting=604800 folder=/var/lib/headroom/alert config="" own_labels=""
while getopts e:K:l:s: option; do
    case $option in
        e) lasting=$OPTARG ;;
        K) config=$OPTARG ;;
        l) own_labels=$own_labels$OPTARG$newline ;;
        s) folder=$OPTARG ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
case $lasting in
    "" | *[!0-9]*) usage ;;
esac
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
    tasks="" task=1
    while detail Task$task && [ -n "$value" ]; do
        tasks="$tasks${tasks:+, }$value"
        task=$((task + 1))
    done
    add tasks "$tasks"
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
        -H "Content-Type: application/json" --data-binary @- "${1%/}/api/v2/alerts" 2>&1 9>&-)
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

# post URL: up to five times within about a minute.
post() {
    end=$((${time%.*} - 1)).${time#*.}
    for pause in 1 2 5 10 0; do
        make_request "$end"
        if send "$1"; then
            ! has_ended || return 0
            continue
        fi
        case $answer in
            *"error: 429"*) ;;
            *"error: 4"[0-9][0-9]*) break ;;    # it would be refused again
        esac
        sleep $pause
    done
    complain "$1 has not taken $severity on $host: $series: $answer"
    return 1
}

# post_to_all URL...: side by side, so that none waits for one that hangs. Sets taken to how many took it.
post_to_all() {
    posts="" taken=0
    for url in "$@"; do
        post "$url" &
        posts="$posts $!"
    done
    for post in $posts; do
        ! wait "$post" || taken=$((taken + 1))
    done
}

# --- what begins and what ends -----------------------------------------------
begun="" ended=""
case $severity in
    WARNING) make_labels warning && begun=$labels ;;
    FAILURE) make_labels critical && begun=$labels ;;
esac
if open_record "$folder"; then
    ! is_late || exit 0
    [ "$severity:$known" != OKAY:OKAY ] || exit 0
    [ "$known" = OKAY ] || ended=$(sed -n 2p "$record")
    [ "$ended" != "$begun" ] || ended=""
else
    complain "$folder is no folder of the user $(id -un), see headroom-alert(1)"
    # Either may have begun.
    [ -n "$begun" ] || for each in warning critical; do
        make_labels $each
        ended=$ended$labels$newline
    done
fi
make_annotations
post_to_all "$@"
[ $taken -eq 0 ] || remember "$begun"
[ $taken -eq $# ]
