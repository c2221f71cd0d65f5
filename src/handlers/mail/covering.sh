# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# covering.sh - which alarms say what another one says, so that this isn't mailed, or has no end of its own.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

# covers RECORD: whether its alarm, or the one that covers that, was mailed, lasts, isn't ours, and is at least as severe.
covers() { find_mailed "$1" && lasts "$mailed" && [ "$severity:$its_severity" != FAILURE:WARNING ]; }

# find_mailed RECORD: sets mailed to the record of the alarm that was mailed: RECORD's own, or that of the one which covers it.
# Fails if it is ours; and if it was covered, and isn't known to last: as a threshold's of another run of collectd.
find_mailed() {
    mailed=$1 its_kind=""
    [ "$1" != "$record" ] && read -r its_severity its_time its_daemon <"$1" || return 1
    [ "$its_severity" = OKAY ] || return 0
    {
        read -r _ && read -r _ && read -r _ && read -r _ its_kind
        while IFS= read -r line; do
            case $line in
                "by "*) mailed=$folder/${line#by } ;;
            esac
        done
    } <"$1"
    [ "$mailed" != "$1" ] || return 0
    [ $((${time%.*} - ${its_time%.*})) -lt 86400 ] && [ -e "$mailed" ] || return 1
    [ "$its_daemon" = "$daemon" ] || [ "$its_kind" = trigger ] || [ "$its_kind" = alert ]
}

# has_covered RECORD: one did, and has ended after $waits_since, while ours waited.
has_covered() {
    read -r its_severity its_time _ <"$1" && [ "$its_severity" = OKAY ] && [ "$1" != "$record" ] &&
        [ "${its_time%.*}${its_time#*.}" -gt "${waits_since%.*}${waits_since#*.}" ] || return 1
    case $severity:$(sed -n '4,$s/^was //p' -- "$1") in
        *: | FAILURE:WARNING) return 1 ;;
    esac
    [ "${its_time%.*}" -le "$(date +%s)" ]      # unless the clock was set back
}

# list_waiting_groups [PLACE LIST]: the records of alarms by CPU time of any group, by triggers, thresholds, and <Alert> but for
# lesser ones and those of limits, one a line; or of other groups only than that, and those above and below it, that LIST, ", a 42 %, b 9 %", has.
list_waiting_groups() {
    PLACE=${1:-} LIST=${2:-} awk -v host="$host" '
        function print_it() {
            if (is_one && is_listed)
                print file
        }
        function lists(word) { return ENVIRON["LIST"] == "" || index(ENVIRON["LIST"], ", " word " ") > 0 }
        FNR == 1 {
            print_it()
            is_one = 0
            file = FILENAME
        }
        FNR == 3 {
            is_alert = sub(/^alert /, "") && $0 != host " system cpu"
            is_one = (is_alert || sub(/^(trigger|threshold) /, "")) && index($0, host " ") == 1 && / cpu$/
            if (ENVIRON["PLACE"] != "" && $0 == host " system cpu")
                is_one = 0
            is_listed = lists(substr($0, length(host) + 2, length($0) - length(host) - 5))
        }
        FNR > 3 && /^place / && lists(substr($0, 7)) { is_listed = 1 }
        FNR > 3 && ($0 == "lesser" || ($0 == "limited" && ENVIRON["LIST"] == "")) { is_one = 0 }
        FNR > 3 && ENVIRON["PLACE"] != "" && sub(/^place /, "") &&
            (index($0 "/", ENVIRON["PLACE"] "/") == 1 || index(ENVIRON["PLACE"] "/", $0 "/") == 1) { is_one = 0 }
        END { print_it() }' "$folder"/[0-9a-f]*[0-9a-f] 2>/dev/null
}

# list_waiting PATH: the records of alarms of that group by CPU time that last, other than ours, one a line
list_waiting() {
    list_waiting_groups | while IFS= read -r each; do
        ! lasts "$each" || ! sed -n '4,$p' -- "$each" | grep -qxF -e "place $1" || printf '%s\n' "$each"
    done
}

# is_waiting_for_cpu PATH: whether an alarm of that group by CPU time lasts, other than ours
is_waiting_for_cpu() { [ -n "$(list_waiting "$1")" ]; }

# list_placed BEGINNING [SEPARATOR]: the records of alarms of triggers and thresholds of the same resource, or of any if ours is
# of none, of the groups whose paths begin with that, one a line; and the path behind that separator. Without one also the
# machine's that names such a group, whose own alarm it covers.
list_placed() {
    PLACE=$1 RESOURCE=$resource awk -v host="$host" -v separator="${2:-}" '
        function path_of(line) {
            sub(/^[^ ]+ [^ ]+ [^ ]+ /, "", line)
            return line
        }
        FNR == 3 {
            count = split($0, words, " ")
            is_same = words[count] == ENVIRON["RESOURCE"] || ENVIRON["RESOURCE"] == "room"
            is_hidden = is_same && index($0, "covered " host " ") == 1
            is_one = is_same && sub(/^(trigger|threshold) /, "") && index($0, host " ") == 1
        }
        FNR > 3 && is_one && index($0, "place " ENVIRON["PLACE"]) == 1 {
            print FILENAME (separator == "" ? "" : separator substr($0, 7))
        }
        FNR > 3 && is_one && index($0, "longest " host " ") == 1 { naming[path_of($0)] = naming[path_of($0)] FILENAME "\n" }
        FNR > 3 && is_hidden && index($0, "at " host " ") == 1 { hidden[path_of($0)] }
        END {
            for (path in naming)
                if (separator == "" && path in hidden && index(path, ENVIRON["PLACE"]) == 1)
                    printf "%s", naming[path]
        }' \
        "$folder"/[0-9a-f]*[0-9a-f] 2>/dev/null
}

# list_inner PATH: those of the groups below that one
list_inner() { list_placed "$1/"; }

# waits_for_itself: whether a CPU is what the group waits for, most of the time while others of its tasks run, and not
# memory; by the kernel's averages over a minute, or over 10 s where it has begun since.
waits_for_itself() {
    find_path
    [ -n "$path" ] && awk -F '[ =]' '
        FNR == 1 { files++ }
        $1 == "some" { some[files] = $5; begun[files] = $3 }
        $1 == "full" { full[files] = $5; begun_full[files] = $3 }
        function is_itself(some, full) { return some > 2 * full && some >= 40 }
        END {
            exit !(1 in full && some[2] < 10 && begun[2] < 10 &&
                (is_itself(some[1], full[1]) || is_itself(begun[1], begun_full[1])))
        }' \
        "$mount/$path/cpu.pressure" "$mount/$path/memory.pressure" 2>/dev/null
}

# is_lesser: whether another group's alarm would say more than this <Alert> of trouble now by CPU: it is the machine's, or of the
# group that itself takes the most.
is_lesser() {
    [ "$kind:$resource" = alert:cpu ] || return 1
    find_place
    case $instance:$told in
        system:* | *"; taking: $place "* | *"; taking: $instance "* | *"; taking: itself "*) return 0 ;;
    esac
    return 1
}

# has_own_alarm: whether one of a trigger or threshold of our group and resource lasts
has_own_alarm() {
    [ -n "$(grep -lxF -e "trigger $about" -e "threshold $about" -- "$folder"/* 2>/dev/null |
        while IFS= read -r each; do ! lasts "$each" || printf '%s\n' "$each"; done)" ]
}

# is_limited: whether an <Alert> is of a group that its own limit binds, or one above it: so others need not wait.
is_limited() {
    [ "$kind" = alert ] || return 1
    case $told in
        *" (its own limit, "* | *" (the limit of "*) return 0 ;;
    esac
    return 1
}

# list_sufferers: those of other groups that our message lists as waiting, as groups wait for other reasons, too. A list that is
# cut off leaves one mail too many.
list_sufferers() {
    case $told in
        *"; waiting: "*) list_waiting_groups "$place" ", ${told##*"; waiting: "}" ;;
    esac
}

# list_covering: the records that may cover the alarm, one a line. What covers what:
#
#   an alarm of                             those of
#   trigger, threshold, alert               its group and resource by trigger, threshold, alert
#   trigger, threshold of a victim's CPU    the victim by CPU, by trigger, threshold, or alert that isn't lesser
#   threshold of a group                    groups below it by its resource, by trigger or threshold
#   trigger, threshold, alert of memory or  the machine by the same, by trigger or threshold that names the group as a main cause;
#     I/O                                   I/O also both by memory, as what a group lacks memory for is read again
#   trigger, threshold of the machine that  that group by the same, by trigger or threshold, and the machine by memory that names
#     does so                               it; I/O also that group by memory
#   trigger, threshold, alert, none of      the same by I/O, if both began within a minute: which of both comes first is chance
#     memory
#   threshold, none of the machine's CPUs   any group by CPU, by trigger, threshold, or alert that isn't lesser
#   threshold of CPUs                       its group and resource by none, if both began within two minutes
#   alert that is lesser                    others that it lists as waiting by CPU, by trigger, threshold, or alert that isn't lesser
#   value                                   its group and resource by forecast
#   none                                    the same, and by trigger, threshold, alert, none; groups below it by trigger, threshold;
#                                           any by CPU, if it waits for itself; the machine by memory or I/O that names it
#   forecast                                none
#
# For values and none "room" is of any resource. Of memory and I/O one that another covers is as good as that: see covers.
list_covering() {
    case $kind:$resource:$victims in
        trigger:cpu:?* | threshold:cpu:?*) printf '%s\n' "$victims" | while IFS= read -r victim; do list_waiting "$victim"; done ;;
    esac
    case $kind:$instance:$resource in
        threshold:system:cpu | none:system:cpu | none:system:room) list_waiting_groups ;;
        alert:*:cpu) ! is_lesser || list_sufferers ;;
        none:*:cpu | none:*:room)
            find_place
            list_inner "$place"
            ! waits_for_itself || list_waiting_groups
            ;;
        none:* | threshold:*)
            find_place
            list_inner "$place"
            ;;
    esac
    case $kind:$resource in
        forecast:*) return 0 ;;
        value:* | none:*)
            causes="$resource room"
            [ "$resource" != room ] || causes="cpu memory io room"
            set --
            for each in $causes; do
                set -- "$@" -e "forecast $host $instance $each"
                [ "$kind" = value ] || set -- "$@" -e "trigger $host $instance $each" -e "alert $host $instance $each" \
                    -e "threshold $host $instance $each" -e "none $host $instance $each"
            done
            ;;
        *) set -- -e "trigger $about" -e "alert $about" -e "threshold $about" ;;
    esac
    if [ "$instance" = system ]; then
        case $resource:$cause_path in
            memory:?*) set -- "$@" -e "at $host memory $cause_path" -e "longest $host memory $cause_path" ;;
            io:?*) set -- "$@" -e "at $host io $cause_path" -e "at $host memory $cause_path" -e "longest $host memory $cause_path" ;;
        esac
    else
        case $kind:$resource:$path in
            value:* | *:) ;;
            none:io:* | *:memory:*) set -- "$@" -e "longest $host $resource $path" ;;
            *:io:*) set -- "$@" -e "longest $host io $path" -e "longest $host memory $path" -e "at $host memory $path" ;;
            *:room:*) set -- "$@" -e "longest $host memory $path" -e "longest $host io $path" ;;
        esac
    fi
    grep -lxF "$@" -- "$folder"/* 2>/dev/null
}

# list_near SECONDS ABOUT...: the records with such a line of alarms that began within so many seconds of ours, one a line
list_near() {
    near=$1
    shift
    find_beginning
    grep -lxF "$@" -- "$folder"/* 2>/dev/null | while IFS= read -r each; do
        { read -r _ && read -r its_beginning; } <"$each" || continue
        apart=$((begun - its_beginning))
        [ "${apart#-}" -gt "$near" ] || printf '%s\n' "$each"
    done
}

# list_of_same_cause: the records of alarms by I/O of what ours by memory is of, that began within a minute of it, one a line;
# or, where ours is a threshold's of waits for a CPU, of those that there is no room by CPU time: after a restart of collectd
# the threshold may notify only after such an alarm was mailed.
list_of_same_cause() {
    its_path=$path
    [ "$instance" != system ] || its_path=$cause_path
    case $kind:$resource:$its_path in
        threshold:cpu:*) list_near 120 -e "none $about" ;;
        value:* | forecast:* | *:) ;;
        *:memory:*) list_near 60 -e "at $host io $its_path" -e "longest $host io $its_path" ;;
    esac
}

# turn_covered RECORD: an alarm that was mailed, or was to be listed, becomes one that another covers.
turn_covered() {
    { read -r its_severity its_time its_daemon && read -r its_beginning && read -r its_kind its_subject; } <"$1" || return 1
    {
        printf '%s\n' "OKAY $its_time $its_daemon" "$its_beginning" "covered $its_subject" "$its_severity $its_kind"
        sed 1,3d -- "$1"
    } >"$1.new" && mv -f "$1.new" "$1"
}

# outlasts_cause RECORD: whether what headroom says of a group's room goes on for some minutes after that alarm of a threshold
# of the same group, which was mailed: both are of a minute or more. What a trigger, or another group, says may have lasted for
# a second.
outlasts_cause() {
    [ "$plugin:$alert" = headroom: ] && [ "$instance" != system ] && { read -r _ && read -r _ && IFS= read -r its_subject; } <"$1" ||
        return 1
    case $its_subject in
        "threshold $host $instance "*) ! grep -qx unmailed -- "$1" ;;
        *) return 1 ;;
    esac
}

# is_covered: whether an alarm that says as much was mailed already. If one covered ours while that waited, and has ended,
# sets covered_until to when; some cover it for good. Sets covered_by to the record of that which was mailed.
is_covered() {
    covered_until="" covered_by=""
    [ -n "$about" ] && [ "$severity" != OKAY ] && [ "$known" = OKAY ] || return 1
    case $plugin:$kind:$instance:$resource in       # here, as the shell below forgets it
        psi:*:system:memory | psi:*:system:io)
            find_cause_path
            # A short stall of the machine may be a new one, beside a group that has waited for a part of the time for long.
            [ "$kind" != trigger ] || is_half_in_stall || cause_path=""
            ;;
        *:system:*) ;;
        *:threshold:* | *:none:*)
            find_mount
            find_place
            ;;
        *:memory | *:io | *:room) find_place ;;
    esac
    while IFS= read -r other && [ -n "$other" ]; do
        if covers "$other"; then
            covered_by=${mailed##*/}
            return 0
        fi
        if [ -n "$waits_since" ] && has_covered "$mailed"; then
            ! outlasts_cause "$mailed" || return 0
            covered_until=$its_time
        fi
    done <<END
$(list_covering; list_of_same_cause)
END
    return 1
}

# stays_covered: whether it is, and is on record so: also once it is, as the other alarm may end before it has seen that. What
# can't be put on record is mailed. Of memory and I/O one decides after the other: values that several thresholds are of come at
# the same time.
stays_covered() {
    case $severity:$resource in
        OKAY:*) ;;
        *:memory | *:io) ! command exec 3>"$folder/stalls.lock" || flock -w 10 3 || : ;;
    esac
    is_covered && remember_covered && is_covered
}

# list_lasting: the records of other alarms of the same group and resource that last, one a line, mailed or covered; a
# covered one of a threshold in this run of collectd, as of one before it isn't known.
list_lasting() {
    grep -lxF -e "trigger $about" -e "alert $about" -e "threshold $about" -e "covered $about" -- "$folder"/* 2>/dev/null |
        while IFS= read -r each; do
            { read -r _ _ by && read -r _ && IFS= read -r what && read -r _ what_kind; } <"$each" || what=""
            if [ "$what" = "covered $about" ]; then
                [ "$by" = "$daemon" ] || [ "$what_kind" = trigger ] || [ "$what_kind" = alert ] || continue
                take_place "$each" || continue
            else
                lasts "$each" || continue
            fi
            printf '%s\n' "$each"
        done
}

# end_others: alarms of a group that can't be watched any more, of which one end is mailed; nor is one mailed later, when
# another group's that covered it ends.
end_others() {
    grep -lxF -e "trigger $about" -e "threshold $about" -e "covered $about" -- "$folder"/* 2>/dev/null | while IFS= read -r each; do
        [ "$each" != "$record" ] || continue
        ! lasts "$each" || turn_covered "$each"
        ! grep -qxF "covered $about" -- "$each" || { sed '/^notified /d' -- "$each" >"$each.new" && mv -f "$each.new" "$each"; }
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
        headroom:none:* | headroom:value:*)
            find_known_kind
            [ "$known_kind" = "none $host $instance cpu" ] || return 1
            ;;
        *) return 1 ;;
    esac
    [ -n "$(list_lasting)" ]
}
