# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# findings.sh - in words: what was found of an alarm: its cause, who took the CPU, and who waits.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

# find_named_takers: sets named to what the message says of those who took the CPU, "batch 82 ms, itself 9 ms": in the order
# of Taker1 and so on, of which it has the first only.
find_named_takers() {
    named=${message##*" that its tasks waited, by: "}
    [ "$named" != "$message" ] || named=${message##*" that its tasks waited together, by: "}
    [ "$named" != "$message" ] || named=""
}

# name_taker VALUE: of "PATH 82 ms", sets short to how the mail names the group, and amount to the rest: by what the message has
# at its place, if that isn't of the path, such as the name of a container; else by its short path. Removes it from named.
name_taker() {
    amount=${1#"${1%" "*" "*}"}
    taker=${1%"$amount"} its_name=""
    case $named in
        ?*"$amount"*)
            its_name=${named%%"$amount"*}
            named=${named#"$its_name$amount"}
            ;;
        *) named="" ;;
    esac
    case $named in
        ", "*) named=${named#, } ;;
        *) named="" ;;      # it may go on with tasks
    esac
    case $its_name:/$taker in
        :* | *:*/"$its_name") shorten "$taker" ;;
        *) short=$its_name ;;
    esac
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
            is_most "${amount% ms}" "$waited" || return 0
            own=", mostly for $short"
            ;;
    esac
}

# add_finding TITLE TEXT: appends it to more, unless the message, if that is mailed, has it.
add_finding() {
    case $summary in
        *"$2"*) ;;
        *) more="$more$newline$1: $2" ;;
    esac
}

# find_longest: sets longest to where the machine's tasks waited longest, as a mail and "headroom report" name that, and its
# path; "" if psi names none. The message has the name of a container, before the tasks that wait, whose names may be anything.
find_longest() {
    detail LongestCgroup
    longest=$value longest_path=$value
    [ -n "$value" ] || return 0
    its_name=${message#*" in the system"}
    its_name=${its_name%%"; waiting"*}
    case $its_name in
        *[:\;]" longest in "*", "*" of the last "*)
            its_name=${its_name#*[:\;]" longest in "}
            its_name=${its_name%", "*" of the last "*}
            ;;
        *) its_name="" ;;
    esac
    case $its_name:/$longest in
        :* | *:*/"$its_name")
            shorten "$longest"
            longest=$short
            ;;
        *) longest=$its_name ;;
    esac
    reported=$longest
}

# describe_longest: appends to more how long that was.
describe_longest() {
    find_longest
    [ -n "$longest" ] || return 0
    detail LongestWait
    print_seconds "$value"
    waited=$quantity
    detail LongestWindow
    print_seconds "$value"
    more="$more${newline}longest in $longest: $waited of the last $quantity"
    [ "$longest" = "$longest_path" ] || more="$more${newline}its cgroup: $longest_path"
}

# find_waiting: sets longest_path to the path of the cgroup, of those without others below, that waited most of the last minute
# for memory or I/O, by the kernel's averages, and longest_wait to its share of that; "" if none did for 1 % of it; and
# machine_wait to the machine's share, in percent, "" where it isn't known so. Who has waited for less than that minute has less
# of it than of an interval, the machine as a group. Looks once.
find_waiting() {
    [ -z "$has_looked" ] || return 0
    longest_path="" machine_wait="" has_looked=yes
    find_mount || return 0
    machine_wait=$(sed -n 's/^some .* avg60=\([0-9.]*\).*/\1/p' "$mount/$resource.pressure" 2>/dev/null)
    longest_path=$(read_groups "$resource.pressure" "^some " |
        awk -v mount="$mount/" -v line="/${resource}[.]pressure:some avg10=[0-9.]+ avg60=[0-9.]+ avg300=[0-9.]+ total=[0-9]+" "$rounding"'
            match($0, line "$") {       # at its end, as the name of a group may be like it
                group = substr($0, length(mount) + 1, RSTART - length(mount) - 1)
                average = substr($0, RSTART)
                sub(/.* avg60=/, "", average)
                wait[group] = average + 0
                while (sub(/\/[^\/]*$/, "", group))
                    has_groups[group]
            }
            END {
                for (group in wait)
                    if (!(group in has_groups) && wait[group] >= 1 && wait[group] > longest) {
                        longest = wait[group]
                        most = group
                    }
                if (most != "")
                    print rounded(longest), most
            }')
    longest_wait="${longest_path%% *} %"
    longest_path=${longest_path#* }
}

# is_half_of PART WHOLE: whether that is at least half of it
is_half_of() { awk -v part="$1" -v whole="$2" 'BEGIN { exit !(part > 0 && whole > 0 && 2 * part >= whole) }'; }

# find_stall: sets value to how long the machine stalled, at least, in s
find_stall() {
    detail MeasuredStall
    [ -n "$value" ] || detail Stall
}

# is_half_in_stall: whether the group that waits longest is known to have waited for half of the stall
is_half_in_stall() {
    detail LongestInStall
    waited=$value
    find_stall
    is_half_of "$waited" "$value"
}

# find_cause_path: sets cause_path to that of the group that the mail of an alarm of the machine's memory or I/O names, if this
# waited for at least half as long: then one cause is behind both. Else to "", as of many that wait a little.
find_cause_path() {
    cause_path=""
    case $severity:$kind in
        OKAY:*) ;;
        *:trigger)
            detail LongestWait
            waited=$value
            find_stall
            if is_half_of "$waited" "$value"; then
                detail LongestCgroup
                cause_path=$value
            fi
            ;;
        *:threshold)
            find_waiting
            detail CurrentValue
            value=${machine_wait:-$value}
            [ -z "$longest_path" ] || ! is_half_of "${longest_wait% %}" "$value" || cause_path=$longest_path
            ;;
    esac
}

# find_reported PATH: sets reported to the name of the group of that path, or the nearest above it, that the plugin headroom
# lists in collectd's BaseDir, see find_path; "" if it lists none. Which others "headroom report" knows isn't known here: these
# are all groups of the machine.
find_reported() {
    reported=""
    [ -e headroom-headroom.names ] || return 0
    reported=$(GROUP=$1 awk -F "$tab" '
        {
            path = substr($0, length($1) + 2)
            if (path != "" && index(ENVIRON["GROUP"] "/", path "/") == 1 && length(path) > length(nearest)) {
                nearest = path
                name = $1
            }
        }
        END { print name }' headroom-headroom.names 2>/dev/null)
}

# describe_waiting: appends to more which group waits most where a threshold of the machine's memory or I/O doesn't say.
describe_waiting() {
    case $plugin:$instance:$resource:$severity in
        psi:system:memory:OKAY | psi:system:io:OKAY) return 0 ;;
        psi:system:memory:* | psi:system:io:*) is_by_threshold || return 0 ;;
        *) return 0 ;;
    esac
    find_waiting
    [ -n "$longest_path" ] || return 0
    find_reported "$longest_path"
    shorten "$longest_path"
    more="$more${newline}longest in $short: $longest_wait of the last minute"
    [ "$short" = "$longest_path" ] || more="$more${newline}its cgroup: $longest_path"
}

# exceeds SECONDS: whether one of the tasks in values waited longer than that.
exceeds() {
    [ -n "$1" ] && printf '%s\n' "$values" | awk -v most="$1" '
        {
            count = split($0, task, /, /)
            for (i = 1; i <= count; i++) {
                words = split(task[i], word, / /)
                if (word[words] == "ms" && word[words - 1] > 1000 * most)
                    found = 1
            }
        }
        END { exit !found }'
}

# describe_findings: appends to more what a message, of at most 255 bytes, may have a part of only: why, by whom, and who
# waits.
describe_findings() {
    detail Cause
    add_finding cause "$value"
    describe_longest
    details Part
    add_finding "interrupted by" "$values"
    detail Trace
    add_finding "the kernel's records" "$value"
    title="taken by"
    detail TakersWindow
    window=$value
    [ -z "$value" ] || print_seconds "$value"
    [ -z "$value" ] || title="taken in the next $quantity by"
    detail TakersWait
    added=""
    [ -z "$value" ] || is_number_at_most "$value" "${window:-0}" || added=" together"       # by several tasks at once
    [ -z "$value" ] || print_seconds "$value"
    [ -z "$value" ] || title="${title% by}, of $quantity that its tasks waited$added, by"
    shorten_takers
    add_finding "$title" "$values"
    details Task
    case $values:$message in
        :*"; waiting: unknown, as "*) values="unknown, as ${message##*"; waiting: unknown, as "}" ;;
    esac
    detail TasksUnknown
    add_finding "which tasks wait isn't known" "$value"
    detail TasksWindow
    whole=""
    ! exceeds "${value:-}" || whole=", whole waits of all threads"
    detail TasksSampled
    add_finding "waiting${value:+, of $value tasks sampled}$whole" "$values"
}

# describe_user: appends to more who uses the most CPU time, where tasks wait for that and the notification doesn't have
# who took it, or only that it was none of the selected groups; but none that has to wait for it, too, and takes it from no
# other. Of a group that takes it itself it says so.
describe_user() {
    case $plugin:$resource:$severity in
        psi:cpu:WARNING | psi:cpu:FAILURE) find_user || return 0 ;;
        *) return 0 ;;
    esac
    if takes_from_victims; then
        find_victim
        shorten "$victim"
        more="$more${newline}it takes the CPU that $short waits for: $used $place_of, and waits for what it wants beyond its share"
        return 0
    fi
    detail Taker1
    case $value in
        "" | "other tasks "*) ;;
        *) return 0 ;;
    esac
    shorten "$user"
    next=$short
    if [ "$part" = little ]; then
        next=""
    elif [ "$user" = "$place" ]; then
        next=itself
    elif [ "$takes" = no ] && is_waiting_for_cpu "$user"; then
        next=""
    fi
    if [ "$elsewhere" != 0.00 ]; then
        print_number "$elsewhere"
        more="$more${newline}the most CPU time is used by tasks in no cgroup$unseen: $number $place_of${next:+; then by $next: $used}"
    elif [ "$next" = itself ]; then
        more="$more${newline}of all cgroups it uses the most CPU time itself: $used $used_of"
    elif [ -n "$next" ]; then
        more="$more${newline}the most CPU time is used by $next: $used $used_of"
    fi
}
