# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# takers.sh - who uses the CPUs that a group waits for, where psi hasn't measured who had them: by what the groups use
# within a second, how long they wait, and the CPUs that their tasks may run on.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # for it, and by it

# list_usage: the time, in s, what all CPUs and each of them did, in 1/100 s, and of each cgroup the CPU time, in us, and how
# long its tasks wait for a CPU, one a line behind its file
list_usage() {
    head -qn $((online + 1)) /proc/uptime /proc/stat
    read_groups cpu.stat "^usage_usec \| avg10=" --include=cpu.pressure
}

# find_user [again]: looks at the CPUs that the tasks of $place may run on: all, where that isn't known. Sets
#   user       to the path of the cgroup, of those without others below, that uses the most CPU time within a second, and
#              may use it on these CPUs: while they are busy, one whose tasks run on no others; else one that waits itself.
#              None is of those that psi measured, which Taker1 and so on name
#   used       to that, in CPUs, and used_of to of which: "of CPU 1", "of 2 CPUs", or that it may be others
#   part       to "little" if it is less than a tenth of what all use, or than half of what tasks in no cgroup do, or "some"
#   takes      to whether that group takes the CPU from $place: "yes" or "no"
#   elsewhere  to what tasks in no cgroup use, if that is more than the group does and not little, else 0. A container sees
#              its own groups only, so to it those of others are tasks in no cgroup: unseen is " seen here" then, else ""
#   mostly     to whether $place uses more CPU time than all other tasks of the machine: "yes" or "no"
#   victims    to the paths of the groups from which $place takes the CPU, one a line, those first whose tasks run on no
#              other CPUs, and of these who suffers most; "" if there is none, or others use more
#   place_of   to of which CPUs that is
# One group takes the CPU from another as "headroom top" has it: that suffers more, by its "full", or by about as much
# that is a larger part of what it wants; and uses far less. Fails if nothing is known; also of a group whose path isn't, as of a
# container by its name: it would itself seem to be another one that takes its CPU.
find_user() {
    [ -z "$part" ] || [ $# -gt 0 ] || return 0
    find_mount || return 1
    detail Cgroup
    [ "$instance" = system ] || [ -n "$value" ] || [ -d "$mount/$place" ] || return 1
    unseen=""
    [ ! -e "$mount/cgroup.events" ] || unseen=" seen here"      # it isn't the root cgroup
    online=$(getconf _NPROCESSORS_ONLN 2>/dev/null) || online=0
    details Taker
    found=$(
        {
            list_usage
            sleep 1
            list_usage
        } | PLACE=$place TAKERS=$values awk -v mount="$mount/" -v online="$online" '
            /^[0-9]/ { elapsed = $1 - begin; begin = $1 }
            /^cpu/ {
                cpu = substr($1, 4)
                if (cpu in busy_before) {
                    busy[cpu] = ($2 + $3 + $4 - busy_before[cpu]) / 100
                    idle[cpu] = ($5 + $6 - idle_before[cpu]) / 100
                }
                busy_before[cpu] = $2 + $3 + $4
                idle_before[cpu] = $5 + $6
            }
            sub(/\/cpu\.stat:usage_usec /, " ") {
                usage = $NF
                sub(/ [0-9]+$/, "")
                group = substr($0, length(mount) + 1)
                if (group in before && usage - before[group] > 0)
                    used[group] = (usage - before[group]) / 1e6
                before[group] = usage
                while (sub(/\/[^\/]*$/, "", $0) && length($0) > length(mount))
                    has_groups[substr($0, length(mount) + 1)]
            }
            /\/cpu\.pressure:(some|full) avg10=/ {
                match($0, /\/cpu\.pressure:(some|full) avg10=[0-9.]+/)
                group = substr($0, length(mount) + 1, RSTART - length(mount) - 1)
                split(substr($0, RSTART, RLENGTH), words, /[:= ]/)
                if (words[2] == "some")
                    some[group] = words[4]
                else
                    full[group] = words[4]
            }

            function add_cpus(group, list,    ranges, ends, i, cpu) {
                for (i = split(list, ranges, ","); i > 0; i--) {
                    if (split(ranges[i], ends, "-") < 2)
                        ends[2] = ends[1]
                    for (cpu = ends[1] + 0; cpu <= ends[2] + 0; cpu++)
                        if (cpu in busy && !((group, cpu) in may_run)) {
                            may_run[group, cpu]
                            cpu_count[group]++
                        }
                }
            }

            # On how many CPUs its tasks, but for more than a hundred, may run; 0 if that is not known. Those that run, or
            # wait for a CPU, count alone, if there are any.
            function count_cpus(group,    task, line, status, left, runs, others) {
                if (group in cpu_count)
                    return cpu_count[group]
                cpu_count[group] = 0
                for (left = 100; left > 0 && (getline task < (mount group "/cgroup.threads")) > 0; left--) {
                    status = "/proc/" task "/status"
                    while ((getline line < status) > 0)
                        if (line ~ /^State:/)
                            runs = line ~ /\tR/
                        else if (sub(/^Cpus_allowed_list:[ \t]*/, "", line)) {
                            if (runs)
                                add_cpus(group, line)
                            else
                                others = others (others == "" ? "" : ",") line
                        }
                    close(status)
                }
                close(mount group "/cgroup.threads")
                if (!cpu_count[group] && others != "")
                    add_cpus(group, others)
                return cpu_count[group]
            }
            function is_below(group, above) { return index(group, above "/") == 1 }

            # Of the place and the groups below: our_cpus, unless these are all.
            function find_our_cpus(    group, cpu, count) {
                for (group in before)
                    if ((group == place || is_below(group, place)) && count_cpus(group))
                        for (cpu in busy)
                            if (cpu != "" && (group, cpu) in may_run)
                                our_cpus[cpu]
                for (cpu in our_cpus)
                    count++
                is_pinned = count > 0 && count < online
            }
            function count_shared(group,    cpu, count) {
                for (cpu in our_cpus)
                    if ((group, cpu) in may_run)
                        count++
                return count + 0
            }
            function may_share(group) { return !is_pinned || !count_cpus(group) || count_shared(group) > 0 }
            function has_no_others(group) {
                return !is_pinned || (count_cpus(group) && count_shared(group) == cpu_count[group])
            }
            function may_take(group) { return (is_full && has_no_others(group)) || !(group in some) || some[group] >= 1 }
            function is_measured(group,    list, i, name) {
                for (i = split(ENVIRON["TAKERS"], list, ", "); i > 0; i--) {
                    name = list[i]
                    sub(/ [^ ]+ ms$/, "", name)
                    sub(/^\//, "", name)        # as its last component is a word for another taker
                    if (group == name || is_below(group, name))
                        return 1
                }
                return 0
            }

            function cpus_of(group) { return group in used ? used[group] : 0 }
            function missed_part(group) { return full[group] / 100 / (full[group] / 100 + cpus_of(group)) }
            function suffers_less(a, b) {
                return full[a] < full[b] || (full[a] <= 2 * full[b] && missed_part(a) < missed_part(b))
            }
            function takes_from(taker, other) {
                return taker in full && other in full && full[other] >= 5 && suffers_less(taker, other) &&
                    cpus_of(taker) >= 1.5 * cpus_of(other) && cpus_of(taker) >= full[other] / 200
            }
            function is_victim(group) {
                return group != place && !(group in has_groups) && !is_below(place, group) && !is_below(group, place) &&
                    takes_from(place, group) && may_share(group)
            }
            function print_victims(    group, worst, rank, count) {
                for (group in full)
                    if (is_victim(group))
                        rank[group] = full[group] + 1000 * has_no_others(group)
                for (count = 0; count < 5; count++) {
                    worst = ""
                    for (group in rank)
                        if (worst == "" || rank[group] > rank[worst])
                            worst = group
                    if (worst == "")
                        return
                    print worst
                    delete rank[worst]
                }
            }

            # "CPUs 0-3,7"
            function name_cpus(    count, list, i) {
                if (!is_pinned)
                    return (online ? "of " online " " : "") "CPUs"
                for (i = 0; count < online && i < 8192; i++)
                    if (i in busy) {
                        count++
                        if (!(i in our_cpus))
                            continue
                        if (i - 1 in our_cpus) {
                            sub("-" (i - 1) "$", "", list)
                            list = list "-" i
                        } else
                            list = list (list == "" ? "" : ",") i
                    }
                return "of CPU" (list ~ /^[0-9]+$/ ? " " : "s ") list
            }

            END {
                if (elapsed <= 0 || busy[""] <= 0)
                    exit
                place = ENVIRON["PLACE"]
                for (group in used)
                    used[group] /= elapsed
                for (cpu in busy) {
                    busy[cpu] /= elapsed
                    idle[cpu] /= elapsed
                }
                find_our_cpus()
                for (cpu in our_cpus) {
                    ours += busy[cpu]
                    ours_idle += idle[cpu]
                }
                all = is_pinned ? ours : busy[""]
                unused = is_pinned ? ours_idle : idle[""]
                is_full = unused <= (all + unused) / 10
                for (group in used) {
                    if (group !~ /\//)
                        in_groups += used[group]
                    if (group in has_groups)
                        continue
                    if (used[group] >= 0.01 && !may_share(group))
                        on_others += used[group]
                    else if (used[group] > most && (group == place || may_take(group))) {
                        if (is_measured(group)) {
                            if (used[group] > measured)
                                measured = used[group]
                            continue
                        }
                        most = used[group]
                        user = group
                    }
                }
                if (user == place && measured > most)
                    user = ""
                machine = busy[""] > in_groups ? busy[""] : in_groups        # ticks are less exact
                if (!is_pinned)
                    all = machine
                elsewhere = is_full ? all - (in_groups - on_others) : 0
                part = 10 * most < all || 2 * most < elsewhere ? "little" : "some"
                if (elsewhere <= most || 10 * elsewhere < all)
                    elsewhere = 0
                takes = user != "" && takes_from(user, place) ? "yes" : "no"
                its_own = cpus_of(place)
                mostly = !(place in has_groups) && its_own > machine - its_own ? "yes" : "no"
                printf "%s %s %s %.2f %.2f\n", part, takes, mostly, most, elsewhere
                names = name_cpus()
                print names
                print (user == "" || has_no_others(user) ? names : "CPUs, maybe others than " substr(names, 4))
                print user
                if (user == place && elsewhere == 0)
                    print_victims()
            }'
    )
    [ -n "$found" ] || return 1
    {
        read -r part takes mostly used elsewhere
        IFS= read -r place_of
        IFS= read -r used_of
        IFS= read -r user
        victims=""
        while IFS= read -r victim; do
            victims=$victims${victims:+$newline}$victim
        done
    } <<END
$found
END
}

# takes_from_victims: whether $place takes the CPU from another group. Of several tasks, each waits while another group has
# the CPU; so psi may have found that they wait for that most of all, though it is their victim. Else what psi found counts.
takes_from_victims() {
    detail Taker1
    measured=${value%" "*" "*}
    measured=${measured#/}      # as in find_user
    case $newline$victims$newline:$value in
        "$newline$newline":*) return 1 ;;
        *:) return 0 ;;
        *:"itself "*) return 0 ;;
        *"$newline$measured$newline":*) return 0 ;;
    esac
    return 1
}

# find_victim: sets victim to the group from which $place takes the CPU, one that has an alarm, if any has.
find_victim() {
    victim=${victims%%"$newline"*}
    while IFS= read -r each; do
        ! is_waiting_for_cpu "$each" || {
            victim=$each
            return 0
        }
    done <<END
$victims
END
}
