#!/bin/sh
# SPDX-License-Identifier: MIT
# headroom-mail - mails one of collectd's notifications, see headroom-mail(1). collectd's exec plugin
# runs it for each of them, with the notification on standard input.
#
#     headroom-mail [-n HITS] [-s DIRECTORY] [-w SECONDS] ADDRESS...
#
# psi reports changes only, so each is mailed; so is what other plugins send. The plugin threshold sends an OKAY
# for every series when collectd starts, and its alarms once more; so does headroom its <Alert>; osnoise reports noises
# that go on, with Repeat. Of these three the beginning of an alarm, a worse severity and its end are mailed. That needs a record of
# what was mailed: collectd's notification doesn't say whether there was an alarm before.
#
# shellcheck source=notification.sh disable=SC2119
. notification.sh
# shellcheck source=takers.sh
. takers.sh
PATH=$PATH:/usr/sbin:/usr/lib
tab='	'

print_usage() { echo "usage: headroom-mail [-n HITS] [-s DIRECTORY] [-w SECONDS] ADDRESS... <NOTIFICATION; see headroom-mail(1)"; }
usage() {
    print_usage >&2
    exit 2
}
[ "${1:-}" != --help ] || {
    print_usage
    exit 0
}
hits=4 folder=/var/lib/headroom/mail together=60
while getopts n:s:w: option; do
    case $option in
        n) hits=$OPTARG ;;
        s) folder=$OPTARG ;;
        w) together=$OPTARG ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
for number in "$hits" "$together"; do
    case $number in
        "" | *[!0-9]* | ?????*) usage ;;
    esac
done
read_notification || exit 2

# --- numbers, as people write them -------------------------------------------

# In awk: what stands for a number, with two digits, or all before the point.
rounding='function rounded(value,    size) {
    size = value < 0 ? -value : value
    return sprintf(size >= 9.95 || value == int(value) ? "%.0f" : size >= 0.995 ? "%.1f" : "%.2g", value)
}'

# print_number VALUE [FACTOR]: sets number.
print_number() {
    number=$(awk -v value="$1" -v factor="${2:-1}" "$rounding"'
        BEGIN { print rounded(value * factor) }')
}

# print_share PART WHOLE: sets share.
print_share() {
    share="$(awk -v part="$1" -v whole="$2" "$rounding"'
        BEGIN { print rounded(sprintf("%.6g", whole > 0 ? 100 * part / whole : 0) + 0) }') %"
}

# is_number_at_most VALUE LIMIT
is_number_at_most() { [ -n "$1" ] && awk -v value="$1" -v limit="$2" 'BEGIN { exit !(value + 0 <= limit + 0) }'; }

# print_scaled VALUE FACTOR UNITS: sets quantity and its number, in the first of the units that leaves less than a thousand
# of it, each being a thousand of the one before.
print_scaled() {
    quantity=$(awk -v value="$1" -v factor="$2" -v units="$3" "$rounding"'
        BEGIN {
            value = sprintf("%.9g", value * factor) + 0
            count = split(units, unit, " ")
            for (i = 1; i < count && value >= 999.5; i++)
                value = sprintf("%.9g", value / 1000) + 0
            print rounded(value), unit[i]
        }')
    number=${quantity% *}
}

# print_seconds VALUE: sets quantity.
print_seconds() { print_scaled "$1" 1e6 "us ms s"; }

# print_quantity VALUE: sets quantity, by the unit of the series.
print_quantity() {
    case $unit in
        bytes) print_scaled "$1" 1 "bytes kB MB GB TB" ;;
        seconds) print_seconds "$1" ;;
        *)
            print_number "$1" "$factor"
            quantity="$number${unit:+ $unit}"
            ;;
    esac
}

# print_duration SECONDS: sets duration: "12 min", "3 h 5 min".
print_duration() {
    if [ "$1" -lt 60 ]; then
        duration="$1 s"
    elif [ "$1" -lt 3570 ]; then
        duration="$((($1 + 30) / 60)) min"
    elif [ "$1" -lt 86400 ]; then
        duration="$((($1 + 30) / 3600)) h $((($1 + 30) % 3600 / 60)) min"
    else
        duration="$(($1 / 86400)) d $(($1 % 86400 / 3600)) h"
    fi
}

# --- where --------------------------------------------------------------------

# find_groups FOLDER INSTANCE: appends to groups the cgroups below whose path gives that instance.
find_groups() {
    for child in "$1"/*/; do
        set -- "$1" "$2" "${child%/}"
        name=${3##*/}
        case $2 in
            "$name") groups=$groups$3$newline ;;
            "${name}_"*) find_groups "$3" "${2#"${name}_"}" ;;
        esac
    done
}

# list_shortened INSTANCE: the cgroups whose path is too long for the instance, which has its beginning, "~" and a hash, and
# its end instead, one a line
list_shortened() {
    find "$mount" -mindepth 1 -type d 2>/dev/null | awk -v skipped=$((${#mount} + 1)) '
        BEGIN {
            head = ARGV[1]
            sub(/~.*/, "", head)
            tail = substr(ARGV[1], length(head) + 10)
            ARGC = 1
        }
        {
            name = substr($0, skipped + 1)
            gsub("/", "_", name)
            if (length(name) > 127 && index(name, head) == 1 && substr(name, length(name) - length(tail) + 1) == tail)
                print
        }' "$1"
}

# find_mount: sets mount to where cgroup2 is. Fails if it isn't.
find_mount() {
    mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
    [ -n "$mount" ]
}

# find_path: sets path to the one of the only cgroup that has the instance, "" if there is none or several.
find_path() {
    groups="" path=""
    find_mount || return 0
    find_groups "$mount" "$instance"
    case $groups:$instance in
        :*~????????*) groups=$(list_shortened "$instance") ;;
    esac
    path=${groups%"$newline"}
    case $path in
        *"$newline"*) path="" ;;
        *) path=${path#"$mount/"} ;;
    esac
}

# find_known NAME: sets value to what the record of the alarm has of it, "" if nothing.
find_known() {
    value=""
    [ -n "$record" ] && [ -e "$record" ] || return 0
    {
        read -r _ && read -r _ && read -r _
        while IFS= read -r known_line; do
            case $known_line in
                "$1 "*) value=${known_line#"$1 "} ;;
            esac
        done
    } <"$record"
}

# find_known_kind: sets known_begun and known_kind to when the alarm began, and what it is about, "" if there is none.
find_known_kind() {
    known_begun="" known_kind=""
    [ -z "$record" ] || [ ! -e "$record" ] ||
        { read -r _ && IFS= read -r known_begun && IFS= read -r known_kind; } <"$record"
    return 0
}

# shorten_paths: of standard input, one a line, to what stands for them in a subject: of a long path the end, of a container
# with its pod; of identifiers as much as Docker and kubectl show.
shorten_paths() {
    sed -E '
        s/([0-9a-f]{12})[0-9a-f]{20,}/\1/g
        s/([0-9a-f]{8})([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}/\1/g
        t long
        :long
        /^.{49}/! q
        s|^.*pod([0-9a-f]{8})(\.slice)?/(.*/)?([^/]+)$|\4 of pod \1|; t end
        s|^.*/([^/]*pod[0-9a-f]{8}(\.slice)?)$|\1|; t end
        s|^([^/]+)/.*/([^/]+)$|\1/.../\2|
        :end
        s/^(.{50}).{4,}(.{27})$/\1...\2/'
}

# shorten PATH: sets short. Nothing is done to what is shorter than all that shorten_paths knows.
shorten() {
    short=$1
    [ ${#1} -lt 32 ] || short=$(printf '%s\n' "$1" | shorten_paths)
}

# shorten_takers: sets values, of "PATH 82 ms" each, to these with the names of takers.
shorten_takers() {
    values="" each=1
    find_named_takers
    while detail "Taker$each" && [ -n "$value" ]; do
        name_taker "$value"
        values=$values${values:+, }$short$amount
        each=$((each + 1))
    done
}

# find_place: sets place, and shown, as in a subject.
find_place() {
    detail Cgroup
    place=${value:-$instance}
    if [ -z "$value" ]; then
        find_place_of_instance
    elif ! is_named_by_path "$value"; then
        shown=$instance
        return
    fi
    shorten "$place"
    shown=$short
    return 0
}
# is_named_by_path PATH: whether the instance is made of the path, or of one above it; else it says more, such as the name of a
# container. Bytes that aren't safe, which both lack, have no part in it. With a hash at its end it has all of the path or name;
# with one within, its beginning.
is_named_by_path() {
    rest=$1 made=""
    case $instance in
        *~????????) beginning=${instance%\~????????}_ ;;
        *~????????*) beginning=${instance%%\~*} ;;
        *) beginning=${instance}_ ;;
    esac
    while case $rest in */*) true ;; *) false ;; esac; do
        made=$made${rest%%/*}_
        rest=${rest#*/}
    done
    case ${made}${rest}_ in
        "$beginning"*) return 0 ;;
        *[!A-Za-z0-9_.:@\\-]*) return 0 ;;
    esac
    return 1
}
find_place_of_instance() {
    case $plugin:$instance in
        *:system) place="the machine" ;;
        osnoise:cpu*) place="CPU ${instance#cpu}" ;;
        psi:*_* | cgroup_perf:*_* | wss:*_* | headroom:*_*)
            find_path
            find_known place
            place=${path:-${value:-$instance}}      # by now the group may be gone
            ;;
    esac
}

# --- what ---------------------------------------------------------------------

# find_resource: sets resource and level, of psi; resource of headroom, "room" of its values that don't say by what that
# is; "" of all else.
find_resource() {
    resource="" level=""
    case $plugin:$type:$type_instance in
        headroom:percent:room | headroom:duration:to_trouble)
            resource=room
            return 0
            ;;
        headroom:percent:room-*)
            resource=${type_instance#room-}
            return 0
            ;;
        psi:*) ;;
        *) return 0 ;;
    esac
    case $type:$type_instance in
        percent:*-some | percent:*-full)
            resource=${type_instance%-*} level=${type_instance##*-}
            return 0
            ;;
    esac
    detail Resource
    resource=$value
    detail Level
    level=$value
}

# describe_wait: sets who waits for what, by resource and level. While something in the machine waits, much of it may be
# idle.
describe_wait() {
    who=$shown what=$resource
    case $level:$instance:$severity in
        full:*) who="all of $shown" ;;
        some:system:WARNING | some:system:FAILURE) who="something in $shown" ;;
    esac
    case $resource in
        cpu) what="a CPU" ;;
        io) what=disks ;;
        irq) what=interrupts who=$shown ;;
    esac
}

# describe_room: sets by: " by memory", "" if the value doesn't say by what there is room.
describe_room() {
    case $resource in
        cpu) by=" by CPU" ;;
        io) by=" by I/O" ;;
        room) by="" ;;
        *) by=" by $resource" ;;
    esac
}

# describe_series: sets before, unit, factor and after: what stands around a value.
describe_series() {
    before="" unit="" factor=1 after=""
    case $plugin:$type:$type_instance in
        psi:percent:*-some | psi:percent:*-full)
            describe_wait
            before="$who waits for $what" unit="% of the time"
            ;;
        cgroup_perf:ipc:) before="$shown runs" unit="instructions per cycle" ;;
        wss:memory:referenced*) before="$shown touches" unit=bytes after=" of memory" ;;
        wss:memory:*) before="$shown holds" unit=bytes after=" of memory" ;;
        osnoise:percent:available) before="programs get" unit=% after=" of $shown" ;;
        osnoise:duration:max_single) before="a single noise takes $shown for" unit=seconds ;;
        osnoise:derive:*_us) before="${type_instance%_us} takes" unit=% factor=0.0001 after=" of $shown" ;;
        headroom:percent:room*)
            describe_room
            before="$shown has" unit=% after=" of room left$by"
            ;;
        headroom:duration:to_trouble)
            before="$shown runs out of memory in" unit=min factor=0.016666667
            [ "$severity" != OKAY ] || before="$shown has memory for"
            ;;
        *) before="$series is" ;;
    esac
}

# find_limit_of SIDE: sets value to the limit, Max or Min, of the WARNING, or of a FAILURE, or the end of what never was
# less; "" if there is none.
find_limit_of() {
    find_known least
    case $severity:$value in
        FAILURE:* | OKAY:FAILURE) value="" ;;
        *) detail "Warning$1" ;;
    esac
    [ -n "$value" ] || detail "Failure$1"
}

# find_limit: sets side to the one on which the value is out of its range, or was until its end, Max or Min; and value to
# the limit there. Fails if that isn't known.
find_limit() {
    detail CurrentValue
    current=$value side=""
    find_limit_of Max
    most=$value
    find_limit_of Min
    minimum=$value
    case $most:$value in
        :) ;;
        :*) side=Min ;;
        *:) side=Max ;;
        *)
            if [ "$severity" = OKAY ]; then
                find_known side
                side=$value value=$minimum
            elif ! is_number_at_most "$current" "$most"; then
                side=Max
            elif ! is_number_at_most "$value" "$current"; then
                side=Min
            fi
            ;;
    esac
    [ "$side" != Max ] || value=$most
    [ -n "$side" ]
}

# --- how long -----------------------------------------------------------------

# find_beginning: sets begun to when the alarm began, and duration to how long that is before now, "" if it isn't known.
find_beginning() {
    begun=${time%.*} duration=""
    if [ -n "$record" ] && { [ "$known" != OKAY ] || was_covered; }; then
        find_known_kind
        begun=$known_begun
        case $begun in
            "" | *[!0-9]*) begun=${known_time%.*} ;;
        esac
    elif detail CurrentValue && [ -n "$value" ] && is_by_threshold && [ "$severity" != OKAY ] &&
        [ "$hits" -gt 0 ] && [ "$plugin" != wss ]; then
        # wss has intervals of its own; that there is no value is notified without hits
        begun=$(awk -v now="$begun" -v each="${COLLECTD_INTERVAL:-0}" -v hits="$hits" \
            'BEGIN { printf "%.0f", now - (hits + 2) * each }')
    fi
    [ "$begun" -ge "$now" ] || print_duration $((now - begun))
}

# --- in words -----------------------------------------------------------------

# has_none: whether nothing is left of a room, or of the time to trouble, by a threshold.
has_none() {
    [ "$plugin" = headroom ] && [ -n "$resource" ] || return 1
    detail CurrentValue
    is_number_at_most "$value" 0
}

# describe_alarm: sets summary, share and more, of a value that is out of range. Where there is no room its number says
# nothing to people.
describe_alarm() {
    if has_none; then
        describe_room
        summary="$shown has no room left${by:- by CPU, memory or I/O}${duration:+, for $duration}"
        return 0
    fi
    [ "$resource:$type" != room:duration ] || duration=""       # trouble is still to come
    summary="$before $quantity$after${duration:+, for $duration}"
    share="$number %"
    find_limit || return 0
    print_quantity "$value"
    more="; the limit is ${quantity% of the time}"
}

# describe_end: sets summary, of a value that is within its range again.
describe_end() {
    summary="$before $quantity$after now"
    case $plugin:$resource:$type in
        psi:[!:]*:*)
            less="waits less for"
            ! is_number_at_most "$value" 1 || less="no longer waits for"
            summary="$who $less $what: $quantity now"
            ;;
        headroom:room:duration)
            if ! is_number_at_most "$value" 86399; then         # there is no trend
                summary="$shown is out of trouble${duration:+, after $duration}"
                return 0
            fi
            ;;
    esac
    [ -n "$duration" ] || return 0
    summary="$summary, after $duration"
    find_limit || return 0
    beyond=over
    [ "$side" = Max ] || beyond=under
    print_quantity "$value"
    summary="$summary $beyond the limit of ${quantity% of the time}"
}

# describe_threshold: sets summary and more, of a value; fails if it doesn't come any more.
describe_threshold() {
    detail CurrentValue
    [ -n "$value" ] || return 1
    describe_series
    print_quantity "$value"
    if [ "$severity" = OKAY ]; then
        describe_end
    else
        describe_alarm
    fi
}

# find_absence: sets why, of a group that has no values any more: what has become of its cgroup, as far as that is known
# on this host.
find_absence() {
    why=", it may be gone"
    [ "${COLLECTD_HOSTNAME:-$host}" = "$host" ] && find_mount || return 0
    if [ ! -d "$mount/$place" ]; then
        [ "$place" = "$instance" ] || why=", as its cgroup is gone"
    elif grep -qsx "populated 0" "$mount/$place/cgroup.events"; then
        why=", as no process is left in it"
    else
        why=", though its cgroup is there" more="${newline}headroom doctor --cgroups lists what is measured"
    fi
}

# describe_unwatched: sets summary, of an end without which it is known whether there is still a stall; fails if it is
# none.
describe_unwatched() {
    detail NoLongerWatched
    [ -n "$value" ] || return 1
    why=""
    case $plugin:$instance:$value in
        *:system:* | osnoise:*) ;;
        *:"no value has come "*) find_absence ;;
    esac
    summary="$shown is no longer watched: $value$why"
}

# describe_trigger_limit: sets more; and limit, the least share of the time, and within, if these are known.
describe_trigger_limit() {
    limit="" within=""
    detail Window
    window=$value
    detail Stall
    [ -n "$value" ] && [ -n "$window" ] || return 0
    print_share "$value" "$window"
    print_seconds "$window"
    limit=$share within=$quantity
    more="; the limit is $limit within any $within"
}

# find_main_taker: sets own to ", mostly for ...", where psi found who had the CPU for most of the time, and no other
# cause first: the takers are those of a moment later.
find_main_taker() {
    own=""
    detail Cause
    cause=$value
    detail TakersWait
    waited=$value
    detail Taker1
    case $value:$cause in
        "itself "*: | "itself "*:itself*) own=", mostly for its own tasks" ;;
        "itself "* | "other tasks "* | "its limit "* | "limits "* | "waking up "* | "unattributed "*) ;;
        ?*: | ?*:neighbours*)
            ! takes_from_victims || return 0
            find_named_takers
            name_taker "$value"
            awk -v amount="${amount% ms}" -v waited="$waited" 'BEGIN { exit !(amount >= 500 * waited && waited > 0) }' || return 0
            own=", mostly for $short"
            ;;
    esac
}

# describe_trigger: sets summary and share, of a trigger of psi. What was measured may have begun long before what the
# trigger is about, and be a lower share: then it is that of the limit, at least.
describe_trigger() {
    describe_wait
    if [ "$severity" = OKAY ]; then
        describe_trigger_limit
        summary="$who no longer waits for $what" more=""
        [ -z "$limit" ] || summary="$who waits for $what less than $limit of the time now"
        summary="$summary${duration:+, after $duration}"
        return 0
    fi
    find_main_taker
    summary="$who waits for $what$own"
    describe_trigger_limit
    detail MeasuredStall
    stall=$value share=""
    detail MeasuredWindow
    if [ -n "$stall" ] && [ -n "$value" ]; then
        print_share "$stall" "$value"
        if [ -n "$limit" ] && ! is_number_at_most "${limit% %}" "${share% %}"; then
            share="at least $limit" more=""
            summary="$summary${own:+,} $share of the time within $within"
        else
            print_seconds "$value"
            summary="$summary${own:+,} $share of the time" duration=${duration:-$quantity}
        fi
    fi
    summary="$summary${duration:+, for $duration}"
}

# is_ours: of one of the plugins whose metadata is known.
is_ours() {
    case $plugin in
        psi | cgroup_perf | wss | osnoise | headroom) return 0 ;;
    esac
    return 1
}

# add_finding TITLE TEXT: appends it to more, unless the message, if that is mailed, has it.
add_finding() {
    case $summary in
        *"$2"*) ;;
        *) more="$more$newline$1: $2" ;;
    esac
}

# describe_findings: appends to more what a message, of at most 255 bytes, may have a part of only: why, by whom, and who
# waits.
describe_findings() {
    detail Cause
    add_finding cause "$value"
    details Part
    add_finding "interrupted by" "$values"
    title="taken by"
    detail TakersWindow
    [ -z "$value" ] || print_seconds "$value"
    [ -z "$value" ] || title="taken in the next $quantity by"
    detail TakersWait
    [ -z "$value" ] || print_seconds "$value"
    [ -z "$value" ] || title="${title% by}, of $quantity that its tasks waited, by"
    shorten_takers
    add_finding "$title" "$values"
    details Task
    case $values:$message in
        :*"; waiting: unknown, as "*) values="unknown, as ${message##*"; waiting: unknown, as "}" ;;
    esac
    detail TasksUnknown
    add_finding "which tasks wait isn't known" "$value"
    detail TasksSampled
    add_finding "waiting${value:+, of $value tasks sampled}" "$values"
}

# describe: sets summary: what is so, where and how long; more: what else the first lines of the text have; look: the
# command that shows it; and message to what is left to say.
describe() {
    more="" look="" share=""
    find_place
    case $plugin:$resource:$severity in
        psi:cpu:WARNING | psi:cpu:FAILURE) find_user ;;
    esac
    find_beginning
    if is_by_threshold && describe_threshold || describe_unwatched; then
        message=""
    elif [ "$plugin:$kind" = psi:trigger ]; then
        describe_trigger
        describe_findings
        message=""
    else
        summary=${message%%"$newline"*}
        case $shown:$summary in
            "$place:"*) ;;
            *"$place"*) summary=${summary%%"$place"*}$shown${summary#*"$place"} ;;
        esac
        ! is_ours || describe_findings
    fi
    describe_user
    [ "$shown" = "$place" ] || more="$more${newline}cgroup: $place"
    [ -z "$ended" ] || describe_burst
    [ "$severity" != OKAY ] || return 0
    case $plugin:$resource in
        psi:cpu) look="headroom top, sudo headroom blame" ;;
        psi:* | cgroup_perf:*) look="headroom top" ;;
        headroom:*) look="headroom report" ;;
        wss:*) look="headroom top --sort wss" ;;
    esac
}

# print_details: the metadata of another plugin's notification, with numbers that people can read. That of ours is in what
# was said.
print_details() {
    ! is_ours && ! is_by_threshold || return 0
    printf '%s' "$details" | while IFS= read -r line; do
        case $line in
            *": "[0-9-]*e+0[6-9] | *": "[0-9-]*e+1[0-9]) number=$(printf '%.0f' "${line#*: }" 2>/dev/null) && line="${line%%: *}: $number" ;;
            *": "[0-9-]*e[-+][0-9]*) number=$(printf '%.6g' "${line#*: }" 2>/dev/null) && line="${line%%: *}: $number" ;;
        esac
        printf '%s\n' "$line"
    done
}

# print_time: the notification's, and since when the alarm lasts, if that is known: the mail may come much later, as one
# that waited for others, or that wasn't accepted at first.
print_time() {
    at=$(date -d "@$now" '+%Y-%m-%d %H:%M:%S %z' 2>/dev/null)
    since=""
    if [ "$severity" != OKAY ] && [ -n "$begun" ] && [ "$begun" -lt "$now" ]; then
        since=$(date -d "@$begun" '+%Y-%m-%d %H:%M:%S' 2>/dev/null)
        since=${since#"${at%% *} "}     # of another day with its date
    fi
    printf '%s%s\n' "$at" "${since:+, since $since}"
}

# print_text: the mail's, without its head.
print_text() {
    printf '%s%s\n' "$summary" "$more"
    [ -z "$look" ] || printf 'look here: %s\n' "$look"
    [ -z "$message" ] || [ "$message" = "$summary" ] || printf '\n%s\n' "$message"
    echo
    print_time
    print_details
}

# print_header NAME TEXT: a line; but what isn't printable ASCII becomes encoded words of RFC 2047, each in a line of its
# own, of at most 76 bytes. Bytes that are no UTF-8 are replaced.
print_header() {
    case $2 in
        *[!" "-~]* | *"=?"* | *" ") print_encoded_header "$@" ;;
        *) printf '%s: %s\n' "$1" "$2" ;;
    esac
}
print_encoded_header() {
    printf '%s\n' "$2" | awk -v name="$1" '
        function byte_at(i) { return code[substr(text, i, 1)] + 0 }
        function measure_character(i,    first, second, size, k) {    # in bytes; 0: there is none
            first = byte_at(i)
            second = byte_at(i + 1)
            size = first < 128 ? 1 : first < 194 ? 0 : first < 224 ? 2 : first < 240 ? 3 : first < 245 ? 4 : 0
            if (first == 224 && second < 160 || first == 237 && second > 159 || first == 240 && second < 144 ||
                first == 244 && second > 143)
                return 0
            for (k = 1; k < size; k++)
                if (byte_at(i + k) < 128 || byte_at(i + k) > 191)
                    return 0
            return size
        }
        function encode_byte(byte) {
            if (byte == 32)
                return "_"
            if (byte < 32 || byte == 127)
                return "=3F"
            return byte > 126 || index("=?_", character[byte]) ? sprintf("=%02X", byte) : character[byte]
        }
        function print_encoded(    i, k, size, piece, line) {
            for (i = 1; i <= length(text); i += size ? size : 1) {
                size = measure_character(i)
                piece = size ? "" : "=EF=BF=BD"
                for (k = 0; k < size; k++)
                    piece = piece encode_byte(byte_at(i + k))
                if (length(line piece) > 63) {
                    printf "\n =?UTF-8?Q?%s?=", line
                    line = ""
                }
                line = line piece
            }
            printf "\n =?UTF-8?Q?%s?=", line
        }
        function join(from, to,    i, joined) {
            for (i = from; i <= to; i++)
                joined = joined (i > from ? " " : "") words[i]
            return joined
        }
        BEGIN {
            for (i = 1; i < 256; i++) {
                character[i] = sprintf("%c", i)
                code[character[i]] = i
            }
        }
        {
            sub(/ +$/, "")
            count = split($0, words, / /)
            for (i = 1; i <= count; i++)
                if (words[i] ~ /[^!-~]|=\?/) {
                    begin = begin ? begin : i
                    end = i
                }
            if (!begin) {
                print name ": " $0
                exit
            }
            printf "%s: %s", name, join(1, begin - 1)
            text = join(begin, end)
            print_encoded()
            print end < count ? "\n " join(end + 1, count) : ""
            exit
        }'
}

# --- what was mailed ----------------------------------------------------------
# Behind the first line of the record stand when the alarm began and what it is about; then, each behind a word, its
# series, its place, the side of its limit, its least severity, when a FAILURE was mailed, its burst, and an end that
# isn't mailed by itself.
# Of an alarm that isn't mailed, as another one covers it, OKAY is on record; then when it began, that it is covered, and
# its severity and kind. One of headroom's, of which nothing is mailed when the other ends, is "silent", or "waiting" for
# alarms that say more.

# was_as_bad: whether the alarm was a FAILURE that was mailed within an hour; if the clock wasn't set back by more.
was_as_bad() {
    find_known failed
    failed=$value
    [ -n "$failed" ] || return 1
    apart=$((${time%.*} - ${failed%.*}))
    [ ${apart#-} -lt 3600 ]
}

# is_due: threshold reports its alarms again after a restart; the same one twice from one daemon is a new one, of a
# series that was gone meanwhile. So may one of osnoise be after an hour's silence, if its open alarms were lost.
# headroom notifies again after a crash only, and maybe of another alarm. A FAILURE that was less meanwhile is the same
# for an hour.
is_due() {
    case $severity:$known in
        OKAY:OKAY | WARNING:FAILURE) return 1 ;;
        OKAY:* | *:OKAY) return 0 ;;
        FAILURE:WARNING)
            ! was_as_bad
            return
            ;;
    esac
    [ -z "$alert" ] || return 0
    if [ "$plugin" != osnoise ] || is_by_threshold; then
        [ "$known_by" = "$daemon" ]
    else
        [ -n "$(find "$record" -mmin +60)" ]
    fi
}

# lasts RECORD: an alarm that isn't ours does. What began a day ago may have ended unnoticed. So may what another run of
# collectd has notified, but for a trigger and <Alert> of headroom, whose end is always notified; and for a threshold, if
# $trusting: it comes again in a moment.
lasts() {
    read -r its_severity its_time its_daemon <"$1" && [ "$its_severity" != OKAY ] && [ "$1" != "$record" ] &&
        [ $((${time%.*} - ${its_time%.*})) -lt 86400 ] || return 1
    [ "$its_daemon" = "$daemon" ] || grep -q -e "^trigger " -e "^alert " -e "^forecast " -- "$1" || { $trusting && grep -q -e "^threshold " -e "^none " -- "$1"; }
}

# covers RECORD: an alarm that isn't ours lasts, and is as severe.
covers() { lasts "$1" && [ "$severity:$its_severity" != FAILURE:WARNING ]; }

# waits_for_itself: whether a CPU is what the group waits for, most of the time while others of its tasks run, and not
# memory; by the kernel's averages over a minute.
waits_for_itself() {
    find_path
    [ -n "$path" ] && awk -F '[ =]' '
        FNR == 1 { some[++files] = $5 }
        FNR == 2 { full[files] = $5 }
        END { exit !(1 in full && some[1] > 2 * full[1] && some[1] >= 40 && some[2] < 10) }' \
        "$mount/$path/cpu.pressure" "$mount/$path/memory.pressure" 2>/dev/null
}

# list_waiting_groups: the records of alarms of triggers and thresholds by CPU time, of any group, one a line
list_waiting_groups() {
    awk -v host="$host" '
        FNR == 3 {
            if (sub(/^(trigger|threshold) /, "") && index($0, host " ") == 1 && / cpu$/)
                print FILENAME
        }' "$folder"/* 2>/dev/null
}

# list_inner: the records of alarms of triggers and thresholds of the same resource, or of any if ours is of none, of the
# groups below ours, one a line
list_inner() {
    find_place
    PLACE=$place/ RESOURCE=$resource awk -v host="$host" '
        FNR == 3 {
            count = split($0, words, " ")
            is_one = sub(/^(trigger|threshold) /, "") && index($0, host " ") == 1 &&
                (words[count] == ENVIRON["RESOURCE"] || ENVIRON["RESOURCE"] == "room")
        }
        FNR > 3 && is_one && index($0, "place " ENVIRON["PLACE"]) == 1 { print FILENAME }' "$folder"/* 2>/dev/null
}

# list_covering: the records that may cover the alarm, one a line: those of its group and resource, of triggers and
# thresholds. What <Alert> of headroom announces covers what the values of its plugin do; where
# nothing is left of these, so do triggers and thresholds of any resource that they are of, and each the other. Those
# of a group cover those of thresholds of the groups above it, and that there is no room left in these; and those of any
# group by CPU time the machine's, and that of a group that has no room as it is what takes that; and those of the group
# from which another one takes the CPU the alarms of that one by CPU time.
list_covering() {
    case $kind:$resource:$victims in
        trigger:cpu:?* | threshold:cpu:?*) printf '%s\n' "$victims" | while IFS= read -r victim; do list_waiting "$victim"; done ;;
    esac
    case $kind:$instance:$resource in
        threshold:system:cpu | none:system:cpu | none:system:room) list_waiting_groups ;;
        none:*:cpu | none:*:room)
            list_inner
            ! waits_for_itself || list_waiting_groups
            ;;
        none:* | threshold:*) list_inner ;;
    esac
    case $kind:$resource in
        forecast:*) return 0 ;;
        value:* | none:*)
            causes="$resource room"
            [ "$resource" != room ] || causes="cpu memory io room"
            set --
            for each in $causes; do
                set -- "$@" -e "forecast $host $instance $each"
                [ $kind = value ] || set -- "$@" -e "trigger $host $instance $each" -e "alert $host $instance $each" \
                    -e "threshold $host $instance $each" -e "none $host $instance $each"
            done
            ;;
        *) set -- -e "trigger $about" -e "alert $about" -e "threshold $about" ;;
    esac
    grep -lxF "$@" -- "$folder"/* 2>/dev/null
}

# is_covered: whether an alarm that says as much was mailed already.
is_covered() {
    [ -n "$about" ] && [ "$severity" != OKAY ] && [ "$known" = OKAY ] || return 1
    while IFS= read -r other && [ -n "$other" ]; do
        ! covers "$other" || return 0
    done <<END
$(list_covering)
END
    return 1
}

# was_covered: whether an alarm of the series was, and hasn't ended.
was_covered() {
    [ -n "$about" ] || return 1
    find_known_kind
    case $known_kind in
        "covered $about" | "silent $about" | "waiting $about") return 0 ;;
    esac
    return 1
}

# is_still_silent: whether a threshold of room that was covered is notified again, as after a restart. <Alert> may be of
# another cause then.
is_still_silent() {
    [ "$severity:$alert" = WARNING: ] && [ -n "$about" ] || return 1
    find_known_kind
    [ "$known_kind" = "silent $about" ]
}

# find_failed: sets failed to when the alarm's last FAILURE was mailed; "" if none was.
find_failed() {
    was_as_bad || [ "$severity" != FAILURE ] || failed=$time
    case $severity:$known in
        FAILURE:OKAY) failed=$time ;;
        OKAY:* | *:OKAY) failed="" ;;
    esac
}

# find_least: sets least to the alarm's least severity so far, also of the time in which another one covered it.
find_least() {
    find_known least
    least=$value
    case $severity:$known in
        WARNING:*) least=WARNING ;;
        FAILURE:OKAY) was_covered && [ -n "$least" ] || least=FAILURE ;;
    esac
}

# remember_alarm: when it began, what it is about, where, on which side of its range the value is, its least severity, when
# a FAILURE was mailed, and its burst, too.
remember_alarm() {
    [ -n "$record" ] || return 0
    find_failed
    find_least
    find_known place
    place=${place:-$value}
    find_limit
    remember "$severity" "$begun" "$kind $about" "series $series" "${place:+place $place}" "${side:+side $side}" "${least:+least $least}" "${failed:+failed $failed}" \
        "${burst:+burst $burst}" "${single:+single $single}" "${end:+end $end}"
}

# remember_covered [waiting]: and its severity, and the least, as it takes the place of that which covers it, if that ends
# before it does. Room doesn't: the sums that it is of go on for some minutes. Of one that waits for alarms that say more
# the record has its severity behind "waiting".
remember_covered() {
    find_beginning
    if [ "$plugin" = headroom ]; then
        remember OKAY "$begun" "${1:-silent} $about" "${1:+$1 $severity}"
    else
        find_least
        remember OKAY "$begun" "covered $about" "$severity $kind" "series $series" "${least:+least $least}" "${1:+$1 $severity}"
    fi
}

# remember_unmailed: what of a notification that isn't due changes the record: the severity, and the run of collectd that
# knows of the alarm. osnoise's time of silence goes by the record's.
remember_unmailed() {
    case $severity:$known in
        OKAY:OKAY) was_covered || return 0 ;;
        WARNING:WARNING | FAILURE:FAILURE) [ "$plugin" != osnoise ] || is_by_threshold || return 0 ;;
    esac
    find_beginning
    find_known burst
    burst=$value
    find_known single
    single=$value
    remember_alarm
}

# begins_to_wait: whether an alarm of a group that waits for a CPU begins.
begins_to_wait() {
    case $kind:$resource:$severity:$known:$instance in
        *:OKAY:OKAY:* | *:system) return 1 ;;
        threshold:cpu:*:OKAY:* | trigger:cpu:*:OKAY:*) return 0 ;;
    esac
    return 1
}

# takes_most: whether a group begins to wait for a CPU that uses more CPU time than all others together: whoever takes the
# CPU from others waits for it when they have it. The kernel's averages alone don't tell who does: a victim with two
# threads on two CPUs that has each for half of the time waits for 75 % and as a whole for 25 %, as a batch job does.
takes_most() { [ "$kind:$severity" = threshold:WARNING ] && begins_to_wait && find_place && find_user && [ "$mostly" = yes ]; }

# has_victim: whether a group begins to wait for a CPU that it takes from another one. When a trigger notifies, the
# kernel's averages, of which it has new ones every two seconds, may be of before the stall. Whoever else handles the same
# subject waits meanwhile.
looked_again=""
has_victim() {
    begins_to_wait && find_place && find_user || return 1
    if may_have_victims; then
        looked_again=yes
        sleep 3
        find_user again
    fi
    takes_from_victims
}

# may_have_victims: whether a later look may find victims of a trigger's group: if it uses the most CPU time itself, and psi
# hasn't found that others had the CPU.
may_have_victims() {
    [ "$kind:$user:$victims$looked_again:$elsewhere" = "trigger:$place::0.00" ] || return 1
    detail Taker1
    case $value in
        "" | "itself "*) return 0 ;;
    esac
    return 1
}

# find_patience: sets patience to how long it takes, in s, until two more values of each series have come, and three for one
# that doesn't say by what there is no room.
find_patience() {
    intervals=2
    [ "$resource" != room ] || intervals=3
    patience=$(awk -v each="${COLLECTD_INTERVAL:-10}" -v intervals=$intervals 'BEGIN { print intervals * each }')
}

# pause COMMAND...: until that ends, or SIGTERM. Sets paused to the command's status.
pause() {
    "$@" 6>&- >/dev/null 2>&1 & # whatever collectd leaves as the standard output
    wait $!
    paused=$?
    kill $! 2>/dev/null
}

# await_values: until these have come, or SIGTERM; lets others of the subject go on meanwhile.
await_values() {
    find_patience
    exec 9>&-
    pause sleep "$patience"
    exec 9>"$lock"
    flock 9
}

# is_awaited: whether a process waits already with this alarm, as severe, for those that say more. An alarm may be notified
# again each interval: if each of these waited instead of the one before, none would be mailed. One that has waited for twice
# as long as it should was killed.
is_awaited() {
    [ "$severity" != OKAY ] && [ "$known:$known_by" = "OKAY:$daemon" ] && was_covered || return 1
    find_known waiting
    case $value:$severity in
        FAILURE:* | WARNING:WARNING) ;;
        *) return 1 ;;
    esac
    find_patience
    is_number_at_most "$((${time%.*} - ${known_time%.*}))" "$(awk -v each="$patience" 'BEGIN { print 2 * each }')"
}

# says_less: whether an alarm begins of which others may say more: of a value of room, or of the machine's CPUs; or of a
# group that takes a CPU, of which the one that it takes that from.
says_less() {
    case $known:$kind:$instance:$resource in
        OKAY:value:*:?* | OKAY:none:*:?* | OKAY:threshold:system:cpu) return 0 ;;
    esac
    has_victim
}

# is_left_alone: waits for alarms that say more, in whatever order they come. Fails if there is one, or if ours has ended
# meanwhile.
is_left_alone() {
    remember_covered waiting
    await_values
    trusting=false
    read -r its_severity its_time its_daemon <"$record" && [ "$its_time:$its_daemon" = "$time:$daemon" ] && was_covered ||
        return 1
    is_covered || return 0
    remember_covered
    return 1
}

# is_kill_to_be_mailed: none by the same limit was within five minutes.
is_kill_to_be_mailed() {
    detail LimitCgroup
    open_record "$folder" "" kill "$value" || record=""
    its_own=$known_time known=OKAY
    [ -z "$record" ] || [ $((${time%.*} - ${its_own%.*})) -ge 300 ] || [ "${time%.*}" -lt "${its_own%.*}" ]
}

# take_place RECORD: an alarm that was covered does, of the one that was mailed, or is to be listed, and is over.
take_place() {
    { read -r _ its_time its_daemon && read -r its_beginning && read -r _ && read -r its_severity its_kind; } <"$1" || return 1
    {
        printf '%s\n' "$its_severity $its_time $its_daemon" "$its_beginning" "${its_kind:-threshold} $about"
        sed -n '4,$ { /^series /p; /^least /p; }' -- "$1"
        sed -n '4,$ { /^place /p; /^burst /p; /^single /p; }' -- "$record"
    } >"$1.new" && mv -f "$1.new" "$1" && take_turn || return 1
    for each in later outer; do
        [ ! -e "${later%later}$each" ] || mv -f "${later%later}$each" "$turns.${1##*/}.$each"
    done
    end_turn
}

# list_lasting: the records of other alarms of the same group and resource that last, one a line, mailed or covered; a
# covered one of a threshold in this run of collectd, as of one before it isn't known.
list_lasting() {
    grep -lxF -e "trigger $about" -e "alert $about" -e "threshold $about" -- "$folder"/* 2>/dev/null |
        while IFS= read -r each; do
            ! lasts "$each" || printf '%s\n' "$each"
        done
    grep -lxF "covered $about" -- "$folder"/* 2>/dev/null | while IFS= read -r each; do
        { read -r _ _ by && read -r _ && read -r _ && read -r _ what_kind; } <"$each" || continue
        [ "$by" = "$daemon" ] || [ "$what_kind" = trigger ] || continue
        ! take_place "$each" || printf '%s\n' "$each"
    done
}

# end_others: alarms of a group that can't be watched any more, of which one end is mailed.
end_others() {
    grep -lxF -e "trigger $about" -e "threshold $about" -- "$folder"/* 2>/dev/null | while IFS= read -r each; do
        lasts "$each" || continue
        { read -r _ && read -r its_beginning && read -r its_kind _; } <"$each"
        {
            printf '%s\n' "OKAY $its_time $its_daemon" "$its_beginning" "covered $about" "$its_severity $its_kind"
            sed 1,3d -- "$each"
        } >"$each.new" && mv -f "$each.new" "$each"
    done
}

# goes_on: whether what ends is a part only of what was mailed, as another alarm of the same group and resource lasts,
# which ends it then. Where a group can't be watched any more, no values come either; a trigger that is no longer
# configured says nothing of its group.
goes_on() {
    [ "$severity" = OKAY ] && [ -n "$about" ] && [ "$known" != OKAY ] || return 1
    case $plugin:$kind:$unwatched in
        psi:trigger: | psi:threshold:* | psi:*" is no longer configured") ;;
        headroom:forecast: | headroom:alert:)
            find_known_kind
            [ "$known_kind" = "alert $about" ] || return 1
            ;;
        *) return 1 ;;
    esac
    [ -n "$(list_lasting)" ]
}

# is_to_be_mailed: the notification; opens the record, and remembers what isn't.
is_to_be_mailed() {
    if is_kill; then
        is_kill_to_be_mailed
        return
    fi
    if is_by_threshold || [ "$plugin" = osnoise ] || [ "$plugin" = headroom ]; then
        # An <Alert> and a threshold may be of one series.
        if ! open_record "$folder" "$about" ${alert:+"$alert"}; then
            record=""
            note="${newline}Its end will not be mailed, see headroom-mail(1): $folder isn't a directory owned by $(id -un)."
            [ "$severity" != OKAY ]
            return
        fi
        ! is_late && ! is_awaited || return 1
        if is_covered || is_still_silent || takes_most || { has_victim && is_covered; }; then
            remember_covered
            return 1
        fi
        if is_due && ! goes_on; then
            ! says_less || is_left_alone
            return
        fi
        remember_unmailed
        return 1
    fi
    [ $kind = trigger ] || return 0
    if ! open_record "$folder" "$about"; then
        record=""
        return 0
    fi
    ! is_late && ! is_awaited || return 1
    if is_covered || { has_victim && is_covered; }; then
        remember_covered
        return 1
    fi
    if goes_on || { [ "$severity" = OKAY ] && was_covered; }; then
        remember_unmailed
        return 1
    fi
    [ -z "$unwatched" ] || end_others
    ! says_less || is_left_alone
}

# list_series: of what is mailed, one a line: the end of a burst is that of several.
list_series() {
    [ -n "$ended" ] && [ -z "$burst" ] || printf '%s\n' "$series"
    find_in_ended series
}

# print_mail ADDRESS...: the whole of it
print_mail() {
    to=$1
    for address in "$@"; do
        [ "$address" = "$to" ] || to="$to, $address"
    done
    printf 'To: %s\n' "$to"
    print_header Subject "$severity on $host: $summary"
    if [ -n "$notified" ]; then
        printf '%s\n' "$notified"
    else
        list_series | while IFS= read -r each; do
            print_header X-Collectd-Notification "$severity on $host: $each"
        done
    fi
    printf '%s\n' "Auto-Submitted: auto-generated" "MIME-Version: 1.0" "Content-Type: text/plain; charset=UTF-8" \
        "Content-Transfer-Encoding: 8bit" ""
    print_text
    printf '%s\n' "$note"
}

# keep_unsent MAIL: in our folder; fails if there is none.
keep_unsent() {
    is_own_folder "$folder" || return 1
    printf '%s\n' "$1" >"$folder/new.$$" && mv -f "$folder/new.$$" "$folder/unsent.$(date +%s%N).$$"
}

# send_unsent: what was kept, the oldest first, until three aren't accepted; one process at a time
send_unsent() {
    for unsent in "$folder"/unsent.*; do
        [ -e "$unsent" ] && is_own_folder "$folder" || return 0
        break
    done
    (
        flock -n 8 || exit 0
        left=3
        for unsent in "$folder"/unsent.*; do
            if sendmail -oi -t <"$unsent" 8>&- 9>&-; then
                rm -f "$unsent"
            else
                left=$((left - 1))
                [ $left -gt 0 ] || exit 0
            fi
        done
    ) 8>"$folder/sending"
}

# send ADDRESS...: mails the notification, or keeps the mail, and remembers that.
send() {
    describe
    mail=$(print_mail "$@")
    sent=0
    printf '%s\n' "$mail" | sendmail -oi -- "$@" 9>&- || sent=1
    again=""
    [ $sent -eq 0 ] || ! keep_unsent "$mail" || again=", and is tried again at the next notification"
    # The end of a threshold that isn't mailed is notified again; no other is.
    if [ $sent -eq 0 ] || [ -n "$again" ] || { [ "$severity" = OKAY ] && ! is_by_threshold; }; then
        remember_alarm
    fi
    [ $sent -ne 0 ] || return 0
    complain "sendmail did not accept a mail$again: $severity on $host: $series"
    return 1
}

# --- many groups at once --------------------------------------------------------
# Groups that begin to wait for a resource, each within $together seconds of another, are a burst. The first is mailed
# at once, and the others as a list, which has one end. Each record has the burst's name, behind "single" if it was mailed
# by itself, as is its end.
# Of a host and resource there are these files: .burst, with the last alarm's time, the worst severity mailed, and the
# name; .RECORD.later, a mail that is to be listed, behind four lines for the list; .RECORD.outer, one that was left out,
# as one of a group below was mailed; .waits, locked by the process that
# waits to mail it: a list that none waits for is mailed by whatever runs next; and .turn, locked to change any of them.

# is_of_group: whether the alarm is one of a group's that waits for a resource.
is_of_group() {
    case $kind:$instance:$resource in
        *:system:*) return 1 ;;
        trigger:*:?* | threshold:*:cpu | threshold:*:memory | threshold:*:io | threshold:*:irq) [ -n "$record" ] ;;
        *) return 1 ;;
    esac
}

# take_turn: sets turns, how these files begin, and later; lets no others change them, until end_turn.
take_turn() {
    hash_of "$host" "$resource"
    turns=$folder/$hash
    later=$turns.${record##*/}.later
    command exec 7>"$turns.turn" || return 1
    flock 7
}
end_turn() { exec 7>&-; }

# drop_later: of our group nothing is to be listed any more, or was left out.
drop_later() {
    grep -lxF -e "trigger $about" -e "threshold $about" -e "covered $about" -- "$folder"/* 2>/dev/null | while IFS= read -r each; do
        rm -f "$turns.${each##*/}.later" "$turns.${each##*/}.outer"
    done
}

# was_mentioned: whether a mail has had the group's wait already, since it began.
was_mentioned() {
    grep -lxF -e "trigger $about" -e "threshold $about" -- "$folder"/* 2>/dev/null | while IFS= read -r each; do
        its_list=$turns.${each##*/}.later
        { read -r its_severity _ <"$each" && [ "$its_severity" != OKAY ]; } || continue
        [ ! -e "${its_list%later}outer" ] || continue       # it was left out
        [ -e "$its_list" ] && [ "$(sed -n 1p "$its_list" | cut -f 6)" != again ] || echo yes
    done | grep -q yes
}

# find_burst: sets burst, for an alarm, and turn to when it is mailed: now, later, or never, as its end wasn't, either; and
# mentioned to "again" if a mail has had it, and it is a FAILURE now. The first FAILURE is mailed now.
find_burst() {
    mentioned=""
    [ "$severity" != FAILURE ] || ! was_mentioned || mentioned=again
    find_known burst
    before=$value burst="$host $resource $time" worst=$severity turn=now
    if read -r last worst_yet last_burst 2>/dev/null <"$turns.burst"; then
        apart=$((${time%.*} - ${last%.*}))
        if [ ${apart#-} -le "$together" ]; then
            burst=$last_burst
            case $severity:$worst_yet:$known:$before in
                FAILURE:WARNING:*) ;;
                "$severity:$worst_yet:OKAY:$burst") turn=never worst=$worst_yet ;;
                *) turn=later worst=$worst_yet ;;
            esac
        fi
    fi
    [ "$known" = OKAY ] || burst=${before:-$burst}
    drop_later
    printf '%s\n' "$time $worst $burst" >"$turns.burst.new" && mv -f "$turns.burst.new" "$turns.burst" || turn=now
}

# await_others: while collectd runs, which ends none of the programs that handle a notification, and until SIGTERM.
await_others() {
    for limited in "timeout $together tail --pid=$PPID -f /dev/null" "sleep $together"; do
        # shellcheck disable=SC2086 # its words
        pause $limited
        case $paused in
            1 | 12[567]) ;;     # there is no such option, or no such program
            *) break ;;
        esac
    done
}

# keep_later ADDRESS...: the mail, for the list, which is mailed some seconds later. Fails if it can't be kept.
keep_later() {
    describe
    rank=1
    [ "$severity" = WARNING ] || rank=2
    percent=${share#at least }
    mail="$rank$tab${percent% %}$tab$place$tab$shown$tab$begun$tab${mentioned:-new}$tab$severity${share:+ $share of the time}$newline$host$newline$what$newline$burst$newline$(print_mail "$@")"
    take_turn || return 1
    if ! { printf '%s\n' "$mail" >"$folder/new.$$" && mv -f "$folder/new.$$" "$later"; }; then
        end_turn
        return 1
    fi
    remember_alarm
    waits=true
    command exec 6>"$turns.waits" && flock -n 6 || waits=false
    end_turn
    exec 9>&-
    ! $waits || await_others
    exec 6>&-
}

# list_lines: what a list has of each of the mails whose first lines are read: how much and how long until now it waits, and
# its name as in a subject, or the whole path, if another has that name.
list_lines() {
    awk -F "$tab" -v OFS="$tab" '
        { line[NR] = $0; names[$4]++ }
        END {
            for (i = 1; i <= NR; i++) {
                split(line[i], field)
                print field[5], field[7], (names[field[4]] > 1 ? field[3] : field[4])
            }
        }' | while IFS=$tab read -r its_beginning how called; do
        print_duration $((now - its_beginning))
        printf '%s, for %s: %s\n' "$how" "$duration" "$called"
    done
}

# describe_list: sets summary, of entries: how many wait for what that no mail has had, and how many more than it said.
describe_list() {
    again=$(printf '%s\n' "$entries" | cut -f 6 | grep -c again)
    fresh=$(($(printf '%s\n' "$entries" | wc -l) - again))
    waiting="$fresh more cgroups wait"
    [ "$fresh" -ne 1 ] || waiting="1 more cgroup waits"
    if [ "$again" -eq 0 ]; then
        summary="$waiting for $what"
    elif [ "$fresh" -eq 0 ]; then
        summary="$again cgroups wait for $what even more now"
        [ "$again" -ne 1 ] || summary="1 cgroup waits for $what even more now"
    else
        summary="$waiting for $what, and $again of those before even more now"
    fi
}

# print_list MAIL...: the mail that stands for these, the worst first
print_list() {
    severity=WARNING begun=""       # each has its own
    now=$(date +%s)
    entries=$(awk 'FNR == 1' "$@" | sort -t "$tab" -k 1,1nr -k 2,2nr | awk -F "$tab" '!seen[$3]++')
    list=$(printf '%s\n' "$entries" | list_lines)
    case $list in
        FAILURE*) severity=FAILURE ;;
    esac
    host=$(sed -n 2p "$1")
    what=$(sed -n 3p "$1")
    describe_list
    more="$newline$list" message="" plugin=psi note=""
    user=$(grep -h -m 1 "^the most CPU time is used by " "$@" | head -n 1)
    more=$more${user:+$newline$user}
    look=$(sed -n 's/^look here: //p' "$1")
    notified=$(sed -n '/^X-Collectd-Notification:/,/^Auto-Submitted:/{ /^Auto-Submitted:/d; p; }' "$@")
    print_mail "$(sed -n '/^To: /{ s///p; q; }' "$1")"
}

# keep_gone: has the list say that its group is gone. Fails if that isn't so, or it isn't to be listed.
gone=", gone by now"
keep_gone() {
    [ -n "$unwatched" ] && [ -e "$later" ] && sed "1s/\$/$gone/" "$later" >"$later.new" && mv -f "$later.new" "$later"
}

# list_places MAIL...: of the alarms of their burst, that last, one a line; behind a "-" of those that were mailed singly
# and have ended.
list_places() {
    NAME=$(sed -n 4p "$1") awk '
        FNR == 1 { mark = /^OKAY / ? "-" : "" }
        FNR > 3 && /^place / { place = substr($0, 7) }
        FNR > 3 && ($0 == "single " ENVIRON["NAME"] || ($0 == "burst " ENVIRON["NAME"] && mark == "")) { print mark place }' \
        "$folder"/* 2>/dev/null
}

# leave_out MAIL...: those of groups above others of their burst, that last, or are gone as well: these say more.
leave_out() {
    lasting=$newline$(list_places "$@")
    known=$newline$(awk -F "$tab" 'FNR == 1 { print $3 }' "$@")$(printf '%s\n' "$lasting" | sed 's/^-//')
    for each in "$@"; do
        IFS= read -r line <"$each"
        place=$(printf '%s\n' "$line" | cut -f 3) places=$lasting
        [ "${line%"$gone"}" = "$line" ] || places=$known
        case $places in
            *"$newline$place/"*) mv -f "$each" "${each%.later}.outer" ;;
        esac
    done
}

# mail_lists: those that no process waits for; behind what is kept.
mail_lists() {
    for each in "$folder"/*.later; do
        if [ ! -e "$each" ] || ! is_own_folder "$folder"; then
            continue
        fi
        turns=${each%.*.later}
        (
            flock 7
            flock -n 6 || exit 0
            set -- "$turns".*.later
            [ -e "$1" ] || exit 0
            leave_out "$@"
            set -- "$turns".*.later
            [ -e "$1" ] || exit 0
            mail=$(sed 1,4d "$1")
            IFS= read -r line <"$1"
            [ "${line%"$gone"}" = "$line" ] || mail="$mail${newline}Its cgroup is gone by now."
            [ $# -eq 1 ] || mail=$(print_list "$@")
            if keep_unsent "$mail" || printf '%s\n' "$mail" | sendmail -oi -t 6>&- 7>&- 9>&-; then
                rm -f "$@"
            fi
        ) 6>"$turns.waits" 7>"$turns.turn"
    done
}

# find_in_ended NAME: prints what the records of the burst that has ended have of it.
find_in_ended() {
    printf '%s' "$ended" | while IFS= read -r each; do
        sed -n "4,\$s/^$1 //p" -- "$each"
    done
}

# list_others WORD: the records of other groups that have the burst behind that word, one a line
list_others() {
    grep -lxF "$1 $name" -- "$folder"/* 2>/dev/null | while IFS= read -r each; do
        [ -e "$turns.${each##*/}.outer" ] ||
            grep -qxF -e "trigger $about" -e "threshold $about" -e "covered $about" -- "$each" || printf '%s\n' "$each"
    done
}

# is_over RECORDS: whether none of these lasts.
is_over() {
    while IFS= read -r each && [ -n "$each" ]; do
        ! lasts "$each" || return 1
    done <<END
$1
END
}

# ends_burst: whether an end is mailed. Of a list one is, when the last of its alarms has ended; none of what wasn't
# mailed yet. Sets ended to the records of the others.
ends_burst() {
    find_known burst
    burst=$value
    find_known single
    single=$value
    name=$burst$single
    [ -n "$name" ] && take_turn || return 0
    outer=false
    [ ! -e "${later%later}outer" ] || outer=true
    others=$(list_others burst)
    [ ! -e "$later" ] || burst=""
    keep_gone || drop_later
    if $outer; then
        burst=""
        find_beginning
        remember_alarm
        end_turn
        return 1
    fi
    is_last=false
    ! is_over "$others" || is_last=true
    if $is_last && { [ -n "$burst" ] || is_over "$(list_others single)"; } && grep -qsF " $name" -- "$turns.burst"; then
        rm -f "$turns.burst"
    fi
    if [ -n "$single" ] || { $is_last && [ -n "$burst$others" ]; }; then
        [ -n "$single" ] || ended=${others:+$others$newline}
        end_turn
        return 0
    fi
    describe
    end=$summary
    remember_alarm
    end_turn
    return 1
}

# describe_burst: sets summary and more, of the end of all of a burst.
describe_burst() {
    ends=$(find_in_ended end)
    [ -z "$burst" ] && [ -n "$ends" ] || ends=$ends${ends:+$newline}$summary
    summary=$ends more=""
    case $ends in
        *"$newline"*) ;;
        *) return 0 ;;
    esac
    describe_wait
    begun=$({
        echo "$begun"
        printf '%s' "$ended" | while IFS= read -r each; do sed -n 2p "$each"; done
    } | sort -n | head -n 1)
    print_duration $((now - begun))
    summary="none of $(printf '%s\n' "$ends" | wc -l) cgroups waits too long for $what any more, after $duration"
    unknown=$(printf '%s\n' "$ends" | grep -c " is no longer watched: ")
    [ "$unknown" -eq 0 ] || summary="$summary; no longer watched: $unknown"
    more=$newline$ends
}

# is_mailed_now ADDRESS...: whether what is to be mailed isn't one of a burst, that waits, or waited, for others.
is_mailed_now() {
    is_of_group || return 0
    if [ "$severity" = OKAY ]; then
        [ "$known" = OKAY ] || ends_burst
        return
    fi
    [ "$together" -gt 0 ] && take_turn || return 0
    find_burst
    end_turn
    case $turn in
        now)
            single=$burst burst=""
            return 0
            ;;
        later) ! keep_later "$@" ;;
        never)
            find_beginning
            remember_alarm
            return 1
            ;;
    esac
}

# find_kind: sets kind: which alarms it covers, see list_covering; "none" and "value" are thresholds of headroom, of which
# the latter, which isn't 0, covers none. And alert: "alert" for the plugin's <Alert>, else "".
find_kind() {
    kind=threshold alert=""
    detail Trigger
    case $plugin:$value in
        psi:?*) kind=trigger ;;
        headroom:*)
            if is_by_threshold; then
                kind=value
                ! has_none || kind=none
                return 0
            fi
            ! is_kill || {
                kind="kill"
                return 0
            }
            kind=forecast alert=alert
            detail TimeToTrouble
            [ -z "$value" ] || return 0
            detail Room
            ! is_number_at_most "$value" 0 || kind=alert
            ;;
    esac
}

# All processes of collectd's service get SIGTERM when it is stopped or restarted. What was notified is mailed nevertheless:
# psi doesn't notify again of an alarm that lasts.
trap : TERM

find_resource
about=${resource:+$host $instance $resource}
find_kind
detail NoLongerWatched
unwatched=$value

record="" note="" place="" now=${time%.*} trusting=true burst="" single="" end="" ended="" notified="" status=0
is_due_now=false
! is_to_be_mailed || ! is_mailed_now "$@" || is_due_now=true
mail_lists
send_unsent
! $is_due_now || send "$@" || status=1
exit $status
