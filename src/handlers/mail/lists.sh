# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# lists.sh - many groups at once: one list, with one end.
#
# Groups that begin to wait for a resource, each within $together seconds of another, are a burst. The first is mailed
# at once, and the others as a list, which has one end. Each record has the burst's name, behind "single" if it was mailed
# by itself, as is its end.
# Of a host and resource there are these files: .burst, with the last alarm's time, the worst severity mailed, and the
# name; .RECORD.later, a mail that is to be listed, behind four lines for the list; .RECORD.outer, one that was left out,
# as one of a group below was mailed; .waits, locked by the process that
# waits to mail it: a list that none waits for is mailed by whatever runs next; and .turn, locked to change any of them.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

# is_of_group: whether the alarm is one of a group's that waits for a resource.
is_of_group() {
    case $kind:$instance:$resource in
        *:system:*) return 1 ;;
        trigger:*:?* | threshold:*:cpu | threshold:*:memory | threshold:*:io | threshold:*:irq) [ -n "$record" ] ;;
        *) return 1 ;;
    esac
}

turns_of=""

# take_turn: sets turns, how these files begin, and later; lets no others change them, until end_turn.
take_turn() {
    if [ "$turns_of" != "$host $resource" ]; then
        hash_of "$host" "$resource"
        turns=$folder/$hash turns_of="$host $resource"
    fi
    later=$turns.${record##*/}.later
    command exec 7>"$turns.turn" || return 1
    flock 7
}

end_turn() { exec 7>&-; }

# has_kept: whether any mail is to be listed, or was left out.
has_kept() {
    for each in "$turns".*.later "$turns".*.outer; do
        [ ! -e "$each" ] || return 0
    done
    return 1
}

# drop_later: of our group nothing is to be listed any more, or was left out.
drop_later() {
    has_kept || return 0
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
    arrived=$now.${time#*.}
    before=$value burst="$host $resource $arrived" worst=$severity turn=now
    if read -r last worst_yet last_burst 2>/dev/null <"$turns.burst"; then
        apart=$((now - ${last%.*}))
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
    printf '%s\n' "$arrived $worst $burst" >"$turns.burst.new" && mv -f "$turns.burst.new" "$turns.burst" || turn=now
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
    is_listed=true      # it may be left out, and be handled once more
    remember_alarm
    waits=true
    command exec 6>"$turns.waits" && flock -n 6 || waits=false
    end_turn
    exec 3>&- 9>&-
    ! $waits || await_others
    exec 6>&-
}

# list_lines: what a list has of each of the mails whose first lines are read: how much and how long it waits, until now or
# until its group was gone, or wasn't watched any more, and its name as in a subject, or the whole path, if another has that
# name.
list_lines() {
    awk -F "$tab" -v OFS="$tab" -v now="$now" '
        { line[NR] = $0; names[$4]++ }
        END {
            for (i = 1; i <= NR; i++) {
                count = split(line[i], field)
                sub(/, gone by now$/, "", field[7])     # an earlier version has it there
                print field[5], (count < 8 ? now : field[8]), (count < 8 ? "lasts" : count < 9 ? "gone" : field[9]), field[7],
                    (names[field[4]] > 1 ? field[3] : field[4])
            }
        }' | while IFS=$tab read -r its_beginning its_end its_state how called; do
        print_duration $((its_end > its_beginning ? its_end - its_beginning : 1))
        since=""
        [ "$its_state" = lasts ] || since=", $its_state since $(date -d "@$its_end" +%H:%M:%S)"
        printf '%s, for %s%s: %s\n' "$how" "$duration" "$since" "$called"
    done
}

# are_gone: whether all groups of the mails whose first lines are read were gone before, or weren't watched any more.
are_gone() {
    while IFS= read -r line; do
        is_gone "$line" || return 1
    done
}

# describe_list: sets summary, of entries: how many wait for what that no mail has had, and how many more than it said.
describe_list() {
    again=$(printf '%s\n' "$entries" | cut -f 6 | grep -c again)
    fresh=$(($(printf '%s\n' "$entries" | wc -l) - again))
    waiting="$fresh more cgroups wait" waited="$fresh more cgroups waited"
    [ "$fresh" -ne 1 ] || waiting="1 more cgroup waits" waited="1 more cgroup waited"
    ! printf '%s\n' "$entries" | are_gone || waiting=$waited
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
    look=$(sed -n 's/, headroom report .*//; s/\(, sudo headroom blame\) .*/\1/; s/^look here: //p' "$1")
    notified=$(sed -n '/^X-Collectd-Notification:/,/^Auto-Submitted:/{ /^Auto-Submitted:/d; p; }' "$@")
    print_mail "$(sed -n '/^To: /{ s///p; q; }' "$1")"
}

# is_gone LINE: whether the group of a mail whose first line that is was gone before it was mailed, or not watched any more.
is_gone() {
    case $1 in
        *"$tab"*"$tab"*"$tab"*"$tab"*"$tab"*"$tab"*"$tab"*) return 0 ;;
    esac
    return 1
}

# find_past TEXT: sets past to what was so until its group was gone, or wasn't watched any more, of the first line of a mail;
# past_summary, of its subject; and gone to which of both it is.
find_past() {
    past=$1 gone="not watched"
    ! is_group_gone || gone=gone
    case $1 in
        "$who waits for "*) past="$who waited for ${1#"$who waits for "}" ;;
    esac
    past_summary="${past%%"; the limit is "*}, $gone since $(date -d "@$now" +%H:%M:%S)"
    past=$past_summary${past#"${past%%"; the limit is "*}"}
}

# keep_gone: has the mail that is to be listed say that its group is gone, or not watched, and since when: it may be mailed
# a minute later. Fails if that isn't so, or it isn't to be listed.
keep_gone() {
    [ -n "$unwatched" ] && [ -e "$later" ] || return 1
    find_place
    describe_wait
    find_past "$(sed '1,/^$/d' "$later" | head -n 1)"
    IFS= read -r line <"$later"
    line=${line##*"$tab"}
    ENDED="$now$tab$gone" PAST=$past SUBJECT=$(print_header Subject "${line%% *} on $host: $past_summary") awk '
        NR == 1 { print $0 "\t" ENVIRON["ENDED"]; next }
        is_text { print; next }
        is_first { print ENVIRON["PAST"]; is_text = 1; next }
        /^$/ { is_first = 1 }
        is_cut && /^ / { next }
        { is_cut = /^Subject: /; print is_cut ? ENVIRON["SUBJECT"] : $0 }' "$later" >"$later.new" && mv -f "$later.new" "$later"
}

# list_places MAIL...: of the alarms of their burst, that last, one a line; behind a "-" of those that were mailed singly
# and have ended.
list_places() {
    NAME=$(sed -n 4p "$1") awk '
        FNR == 1 { mark = /^OKAY / ? "-" : "" }
        FNR > 3 && /^place / { place = substr($0, 7) }
        FNR > 3 && ($0 == "single " ENVIRON["NAME"] || ($0 == "burst " ENVIRON["NAME"] && mark == "")) { print mark place }' \
        "$folder"/[0-9a-f]*[0-9a-f] 2>/dev/null
}

# leave_out MAIL...: those of groups above others of their burst, that last, or are gone as well: these say more.
leave_out() {
    lasting=$newline$(list_places "$@")
    known=$newline$(awk -F "$tab" 'FNR == 1 { print $3 }' "$@")$(printf '%s\n' "$lasting" | sed 's/^-//')
    for each in "$@"; do
        IFS= read -r line <"$each"
        place=$(printf '%s\n' "$line" | cut -f 3) places=$lasting
        ! is_gone "$line" || places=$known
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
        its_turns=${each%.*.later}
        (
            flock 7
            flock -n 6 || exit 0
            set -- "$its_turns".*.later
            [ -e "$1" ] || exit 0
            leave_out "$@"
            set -- "$its_turns".*.later
            [ -e "$1" ] || exit 0
            mail=$(sed 1,4d "$1")
            [ $# -eq 1 ] || mail=$(print_list "$@")
            if keep_unsent "$mail" || printf '%s\n' "$mail" | sendmail -oi -t 3>&- 6>&- 7>&- 9>&-; then
                rm -f "$@"
            fi
        ) 6>"$its_turns.waits" 7>"$its_turns.turn"
    done
}

# find_in_ended NAME: prints what the records of the burst that has ended have of it.
find_in_ended() {
    [ -n "$ended" ] || return 0
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
    [ ! -e "$later" ] || burst="" unmailed=unmailed
    keep_gone || drop_later
    if $outer; then
        burst="" unmailed=unmailed
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
    # What isn't watched any more may still wait.
    unknown=$(printf '%s\n' "$ends" | grep -c " is no longer watched: ")
    watched=$(($(printf '%s\n' "$ends" | wc -l) - unknown))
    case $watched in
        0) summary="$unknown cgroups that waited for $what are no longer watched, after $duration" ;;
        1) summary="1 cgroup no longer waits too long for $what, after $duration; no longer watched: $unknown" ;;
        *)
            summary="none of $watched cgroups waits too long for $what any more, after $duration"
            [ "$unknown" -eq 0 ] || summary="$summary; no longer watched: $unknown"
            ;;
    esac
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
