# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# promotion.sh - alarms that weren't mailed, as one of another group or of the machine covered them, or that a list left out, as
# it had a group below, and that still last when that ends: then they are handled as if they were notified now, and mailed if
# they last for some intervals more.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts
promoted="" promoted_at="" promoted_after=""

# list_covered: the records of covered alarms of other groups and our resource for which no process waits yet, one a line; and
# those by memory and I/O that ours covered. What is left of our group has taken our place, or ends with it.
list_covered() {
    ABOUT=$about RESOURCE=$resource RECORD=${record##*/} awk -v host="$host" -v now="$now" -v daemon="$daemon" '
        function print_it() {
            if (is_one && is_notified && !is_awaited && (is_same || is_ours))
                print file
        }
        FNR == 1 {
            print_it()
            is_one = is_same = is_ours = is_notified = is_awaited = 0
            file = FILENAME
            its_daemon = $0
            sub(/^[^ ]+ [^ ]+ /, "", its_daemon)
        }
        FNR == 3 {
            count = split($0, words, " ")
            is_one = index($0, "covered " host " ") == 1 && $0 != "covered " ENVIRON["ABOUT"]
            is_same = words[count] == ENVIRON["RESOURCE"]
        }
        FNR > 3 && $0 == "by " ENVIRON["RECORD"] { is_ours = 1 }
        FNR > 3 && /^waiting / { is_awaited = its_daemon == daemon && $3 >= now }
        FNR > 3 && /^notified Severity: / { is_notified = 1 }
        END { print_it() }' "$folder"/[0-9a-f]*[0-9a-f] 2>/dev/null
}

# list_lasting_places: the paths of the groups that have an alarm of our resource, one a line
list_lasting_places() {
    list_placed "" "$tab" | while IFS=$tab read -r each its_place; do
        ! lasts "$each" || printf '%s\n' "$its_place"
    done
}

# list_left_out: the records of alarms of our resource that lists left out, of groups without an alarm below them by now, one
# a line. An earlier version didn't keep what was notified of these.
list_left_out() {
    hash_of "$host" "$resource"
    lasting=""
    for outer in "$folder/$hash".*.outer; do
        IFS= read -r line 2>/dev/null <"$outer" || continue
        its_place=${line#*"$tab"*"$tab"}
        its_place=${its_place%%"$tab"*}
        its_record=${outer%.outer}
        its_record=$folder/${its_record##*.}
        if ! lasts "$its_record" || ! grep -q '^notified Severity: ' -- "$its_record"; then
            continue
        fi
        [ -n "$lasting" ] || lasting=$newline$(list_lasting_places)
        case $lasting in
            *"$newline$its_place/"*) ;;
            *) printf '%s\n' "$its_record" ;;
        esac
    done
}

# cover_left_out: what a list left out is on record as covered from now on; it isn't part of the list any more.
cover_left_out() {
    [ "$known" != OKAY ] && take_turn || return 0
    if [ -e "${later%later}outer" ] && turn_covered "$record"; then
        rm -f "${later%later}outer"
        known=OKAY
    fi
    end_turn
}

# is_outdated: whether what is to be promoted has ended, or was mailed, meanwhile; or if it still lasts isn't known: a
# threshold's of another run of collectd, of which that would have notified again.
is_outdated() {
    [ -n "$promoted" ] || return 1
    cover_left_out
    was_covered && [ "$known_time" = "$time" ] || return 0
    [ "$known_by" != "$daemon" ] && [ "$kind" != trigger ] && [ "$kind" != alert ]
}

# promote RECORD ADDRESS...: to be run in a shell of its own, which begins without a trap
promote() {
    trap is_ending=yes TERM
    promoted=$1 promoted_at=$now promoted_after=$time
    shift
    read_notification 2>/dev/null <<END || return 0
$(sed -n 's/^notified //p' -- "$promoted")
END
    handle "$@"
}

# promote_all ADDRESS...: begins with those that are covered, or were left out. They wait side by side.
promote_all() {
    while IFS= read -r each && [ -n "$each" ]; do
        promote "$each" "$@" &
    done <<END
$(list_covered; list_left_out)
END
}

# is_none_to_promote: whether none is covered, or was left out. Those that others promote are on record as covered meanwhile.
is_none_to_promote() {
    set -- "$folder"/*.outer
    [ ! -e "$1" ] && [ -z "$(list_covered)" ]
}

# promote_uncovered ADDRESS...: at the end of an alarm, or when the machine's names another group, those that it covered.
# Where many end at once, one of us begins with it for all, and once more for those that have ended meanwhile, when these are
# done or wait, which they do for minutes.
promote_uncovered() {
    case $severity:$known:$resource in
        *:OKAY:* | *:) return 0 ;;
        OKAY:*) ;;
        *) [ -n "$renamed" ] || return 0 ;;
    esac
    exec 3>&- 9>&-
    ! is_none_to_promote || return 0
    hash_of "$host" "$resource"
    promotion=$folder/$hash.promotion promoter=$folder/$hash.promoter
    : >"$promotion" && command exec 5>"$promoter" || return 0
    while [ -e "$promotion" ] && flock -n 5; do
        rm -f "$promotion"
        promote_all "$@"
        exec 5>&-       # each that was begun has the lock until it waits, see await_values
        command exec 5>"$promoter" || break
        flock 5 || break
        flock -u 5
    done
    wait
}
