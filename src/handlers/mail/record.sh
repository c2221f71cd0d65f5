# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# record.sh - the record of what was mailed, and of what wasn't as another alarm covers it.
#
# Behind the first line of the record stand when the alarm began and what it is about; then, each behind a word, its
# series, its place, the side of its limit, its least severity, when a FAILURE was mailed, its burst, and an end that
# isn't mailed by itself, or that it is lesser. Of one that has ended there is how severe it was at last, behind "was", and
# that it was unmailed, as it ended before its list. For memory and I/O there is also, each with host and resource, a group's
# path behind "at", and of the machine that of the group that is a main cause behind "longest".
# Of one that is listed there is the notification, too, behind "notified".
# Of an alarm that isn't mailed, as another one covers it, OKAY is on record; then when it began, that it is covered,
# its severity and kind, the record of what was mailed instead, behind "by", and the notification. One of headroom's, of which
# nothing is mailed when the other ends, is "silent", or "waiting" for alarms that say more.
# Its name is of hexadecimal digits alone, by which records are listed: awk ends at a file that isn't there any more, as
# those with other names may do meanwhile.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

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

# was_covered: whether an alarm of the series was, and hasn't ended.
was_covered() {
    [ -n "$about" ] || return 1
    find_known_kind
    case $known_kind in
        "covered $about" | "silent $about" | "waiting $about") return 0 ;;
    esac
    return 1
}

# lasts RECORD: an alarm that isn't ours does. What began a day ago may have ended unnoticed. So may what another run of
# collectd has notified, but for a trigger and <Alert> of headroom, whose end is always notified; and for a threshold, if
# $trusting: it comes again in a moment.
lasts() {
    read -r its_severity its_time its_daemon <"$1" && [ "$its_severity" != OKAY ] && [ "$1" != "$record" ] &&
        [ $((${time%.*} - ${its_time%.*})) -lt 86400 ] || return 1
    [ "$its_daemon" = "$daemon" ] || grep -q -e "^trigger " -e "^alert " -e "^forecast " -- "$1" || { $trusting && grep -q -e "^threshold " -e "^none " -- "$1"; }
}

# was_as_bad: whether the alarm was a FAILURE that was mailed within an hour; if the clock wasn't set back by more.
was_as_bad() {
    find_known failed
    failed=$value
    [ -n "$failed" ] || return 1
    apart=$((${time%.*} - ${failed%.*}))
    [ ${apart#-} -lt 3600 ]
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

# quote_notification: sets quoted to the notification as it was read, each line behind "notified".
quote_notification() {
    join_lines "Severity: $severity" "Time: $time" "Host: $host" "Plugin: $plugin" "PluginInstance: $instance" \
        "Type: $type" "TypeInstance: $type_instance" "$details" "$told"
    rest=$text$newline quoted=""
    while [ -n "$rest" ]; do
        quoted="$quoted${quoted:+$newline}notified ${rest%%"$newline"*}"
        rest=${rest#*"$newline"}
    done
}

# is_for_another_time: whether the alarm that is remembered is listed, or was: it may be left out then, as one of a group below
# says more, and is handled once more when that ends.
is_for_another_time() {
    [ "$severity" != OKAY ] || return 1
    ! $is_listed || return 0
    [ "$known" != OKAY ] && [ -e "$record" ] && grep -q "^notified " -- "$record"
}

# find_cause: sets its_cause to the line, of memory or I/O, by which an alarm of the machine that names a group finds that one's,
# or that one's the machine's; and renamed if the machine's mail names another group than the one before.
find_cause() {
    its_cause="" renamed=""
    case $plugin:$kind:$instance:$resource in
        psi:*:system:memory | psi:*:system:io)
            [ -n "$is_kept" ] || find_cause_path    # what no mail has named covers nothing
            its_cause=${cause_path:+$host $resource $cause_path} value=""
            [ "$known" = OKAY ] || find_known longest
            [ -z "$its_cause" ] || [ -z "$value" ] || [ "$its_cause" = "$value" ] || renamed=yes
            its_cause=${its_cause:-$value}
            its_cause=${its_cause:+longest $its_cause}
            ;;
        psi:*:system:*) ;;
        psi:*:memory | psi:*:io) its_cause=${place:+at $host $resource $place} ;;
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
    find_cause
    find_limit
    known_kind=""
    set --
    ! is_lesser || set -- lesser
    ! is_limited || set -- "$@" limited
    if is_for_another_time; then
        quote_notification
        set -- "$@" "$quoted"
    elif [ "$severity" = OKAY ] && [ "$known" != OKAY ]; then
        find_known_kind
        set -- "was $known" ${unmailed:+"$unmailed"}
    fi
    remember "$severity" "$begun" "${known_kind:-$kind $about}" "series $series" "${place:+place $place}" "${side:+side $side}" "${least:+least $least}" "${failed:+failed $failed}" \
        "${burst:+burst $burst}" "${single:+single $single}" "${end:+end $end}" "${its_cause:-}" "$@"
}

# find_covered_cause: sets its_cause to the same of one that another covers. What waits for others isn't covered yet: of the
# machine it covers nothing.
find_covered_cause() {
    its_cause=""
    case $plugin:$instance:$resource in
        psi:system:memory | psi:system:io)
            [ -z "$covered_by" ] || [ -z "$cause_path" ] || its_cause="longest $host $resource $cause_path"
            ;;
        psi:system:*) ;;
        *) find_cause ;;
    esac
}

# remember_covered ["waiting SEVERITY UNTIL"]: and its severity, and the least, as it takes the place of that which covers it,
# if that ends before it does; and the notification, to be handled once more then if the other is of another group. Room
# isn't, but for an <Alert> that another group's or the machine's covers: the sums that it is of go on for some minutes. One
# may wait for alarms that say more.
remember_covered() {
    find_beginning
    lesser=""
    ! is_lesser || lesser=lesser
    if [ "$plugin" = headroom ] && { [ "$kind" != alert ] || { [ -z "$lesser" ] && has_own_alarm; }; }; then
        [ $# -gt 0 ] || set -- silent
        remember OKAY "$begun" "${1%% *} $about" "$1"
    else
        find_least
        find_covered_cause
        quote_notification
        remember OKAY "$begun" "covered $about" "$severity $kind" "series $series" "${least:+least $least}" ${lesser:+"$lesser"} \
            ${its_cause:+"$its_cause"} ${covered_by:+"by $covered_by"} ${1:+"$1"} "$quoted"
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
    single=$value is_kept=yes cause_path=""
    remember_alarm
}

# take_place RECORD: an alarm that was covered does, of the one that was mailed, or is to be listed, and is over.
take_place() {
    { read -r _ its_time its_daemon && read -r its_beginning && read -r _ && read -r its_severity its_kind; } <"$1" || return 1
    {
        printf '%s\n' "$its_severity $its_time $its_daemon" "$its_beginning" "${its_kind:-threshold} $about"
        sed -n '4,$ { /^series /p; /^least /p; /^lesser$/p; /^notified /p; }' -- "$1"
        sed -n '4,$ { /^place /p; /^burst /p; /^single /p; /^at /p; /^longest /p; }' -- "$record"
    } >"$1.new" && mv -f "$1.new" "$1" && take_turn || return 1
    for each in later outer; do
        [ ! -e "${later%later}$each" ] || mv -f "${later%later}$each" "$turns.${1##*/}.$each"
    done
    end_turn
}
