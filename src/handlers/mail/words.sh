# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# words.sh - in words: what is so, where and how long, as a subject and the first line of a mail have it.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

# describe_wait: sets who waits for what, by resource and level. While some task in the machine waits, much of it may be
# idle.
describe_wait() {
    who=$shown what=$resource
    case $level:$instance:$severity in
        full:*) who="all of $shown" ;;
        some:system:WARNING | some:system:FAILURE) who="some task in $shown" ;;
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
        osnoise:duration:max_latency_thread) before="a thread that a timer wakes on $shown is late by" unit=seconds ;;
        osnoise:duration:max_latency_irq) before="a timer on $shown is late by" unit=seconds ;;
        osnoise:derive:*_us) before="${type_instance%_us} takes" unit=% factor=0.0001 after=" of $shown" ;;
        headroom:percent:room*)
            describe_room
            before="$shown has" unit=% after=" of room left$by"
            [ "$severity" = OKAY ] || [ "$type_instance" = "${type_instance%-most}" ] || before="$before at most"
            ;;
        headroom:duration:to_trouble)
            before="$shown runs out of memory in" unit=min factor=0.016666667
            [ "$severity" != OKAY ] || before="$shown has memory for"
            ;;
        *) before="$series is" ;;
    esac
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

# want_threshold_figures: of the value, and of the limits that may be told.
want_threshold_figures() {
    for each in WarningMin WarningMax FailureMin FailureMax CurrentValue; do
        detail "$each"
        [ -z "$value" ] || want_quantity "$value"
    done
    case $severity:$plugin:$resource:$type in
        OKAY:psi:?*) want_order "$value" 1 ;;
        OKAY:headroom:room:duration) want_order "$value" 86399 ;;
    esac
    make_figures
}

# describe_threshold: sets summary and more, of a value; fails if it doesn't come any more.
describe_threshold() {
    detail CurrentValue
    [ -n "$value" ] || return 1
    describe_series
    want_threshold_figures
    detail CurrentValue
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
    find_mount || return 0
    if [ ! -d "$mount/$place" ]; then
        [ "$place" = "$instance" ] || why=", as its cgroup is gone"
    elif grep -qsx "populated 0" "$mount/$place/cgroup.events"; then
        why=", as no process is left in it"
    else
        why=", though its cgroup is there" more="${newline}headroom doctor --cgroups lists what is measured"
    fi
}

# describe_what_was: sets was: what the alarm was of, as a group may have several, whose ends come together.
describe_what_was() {
    was=""
    case $plugin:$resource:$type in
        psi:[!:]*:*)
            describe_wait
            was=", which waited for $what,"
            ;;
        headroom:[!:]*:*)
            find_known_kind
            describe_room
            case $known_kind:$type in
                "none "*) was=", which had no room left${by:- by CPU, memory or I/O}," ;;
                *:duration) was=", which was running out of memory," ;;
                *) was=", which had little room left$by," ;;
            esac
            ;;
    esac
}

# describe_unwatched: sets summary, of an end without which it is known whether there is still a stall; fails if it is
# none.
describe_unwatched() {
    detail NoLongerWatched
    [ -n "$value" ] || return 1
    describe_what_was
    why=""
    case $plugin:$instance:$value in
        *:system:* | osnoise:*) ;;
        *:"no value has come "*) find_absence ;;
    esac
    summary="$shown$was is no longer watched: $value$why"
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

# want_trigger_figures: all that psi has measured.
want_trigger_figures() {
    for each in Window MeasuredWindow TakersWindow TakersWait LongestWait LongestWindow; do
        detail "$each"
        [ -z "$value" ] || want_seconds "$value"
    done
    for each in Stall:Window MeasuredStall:MeasuredWindow; do
        detail "${each%:*}"
        stall=$value
        detail "${each#*:}"
        [ -z "$stall" ] || [ -z "$value" ] || want_share "$stall" "$value"
    done
    detail TakersWait
    waited=$value
    detail TakersWindow
    [ -z "$waited" ] || want_order "$waited" "${value:-0}"
    detail Taker1
    amount=${value#"${value%" "*" "*}"}
    [ -z "$waited" ] || [ -z "$amount" ] || want_most "${amount% ms}" "$waited"
    make_figures
}

# describe_trigger: sets summary and share, of a trigger of psi. What was measured may have begun long before what the
# trigger is about, and be a lower share: then it is that of the limit, at least.
describe_trigger() {
    describe_wait
    want_trigger_figures
    if [ "$severity" = OKAY ]; then
        more=""
        describe_trigger_limit
        summary="$who no longer waits for $what"
        # The limit is behind: a threshold's alarm, which this may be the end of, too, had another one.
        [ -z "$limit" ] || summary="$who waits less for $what"
        summary="$summary${duration:+, after $duration}"
        return 0
    fi
    find_main_taker
    find_longest
    [ -z "$longest" ] || own=", longest in $longest"
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

# find_argument NAME: sets argument to a blank and that name, to be pasted into a shell; "" without one that can be.
find_argument() {
    case $1 in
        "" | *"'"* | *[[:cntrl:]]*) argument="" ;;
        *[!A-Za-z0-9_./:@~+-]*) argument=" '$1'" ;;
        *) argument=" $1" ;;
    esac
}

# find_look: sets look to the command that shows more: of a group that waits for a CPU also what says who had it meanwhile;
# of memory and I/O of a group what says which limit binds; of the machine's, which groups wait most, and the same of the
# one that waits longest, if it is known by what name. With a killed process its group may have gone; what is above it is
# there.
find_look() {
    [ "$instance" = system ] || reported=$shown
    ! is_kill || ! find_mount || [ -z "$path" ] || [ -d "$mount/$path" ] || find_reported "$path"
    find_argument "$reported"
    report="headroom report$argument" look="headroom top"
    case $plugin:$resource:$instance:$reported in
        psi:cpu:*) look="$look, sudo headroom blame$argument" ;;
        psi:memory:*:?* | psi:io:*:?*)
            [ "$instance" != system ] || look="$look --sort $resource"
            look="$look, $report"
            ;;
        psi:memory:* | psi:io:*) look="$look --sort $resource" ;;
        psi:* | cgroup_perf:*) ;;
        headroom:*) look=$report ;;
        wss:*) look="$look --sort wss" ;;
        *) look="" ;;
    esac
}

# cut_summary: leaves to the first line of the text who takes what, and who waits, of <Alert>; and says for how long.
cut_summary() {
    whole=$summary
    summary=${summary%%"; taking: "*}
    summary=${summary%%"; waiting: "*}
    more=${whole#"$summary"}
    [ "$message" != "$whole" ] || message=""
    [ "$severity" = OKAY ] || summary="$summary${duration:+, for $duration}"
}

# describe: sets summary: what is so, where and how long; more: what else the first lines of the text have; look: the
# command that shows it; and message to what is left to say.
describe() {
    more="" look="" share="" longest="" reported=""
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
        [ -z "$alert" ] || cut_summary
        ! is_ours || describe_findings
    fi
    describe_user
    describe_waiting
    [ "$shown" = "$place" ] || more="$more${newline}cgroup: $place"
    [ -z "$promoted" ] ||
        more="$more${newline}the figures are of $(date -d "@${time%.*}" +%H:%M:%S): until now another alarm covered this one"
    [ -z "$ended" ] || describe_burst
    [ "$severity" = OKAY ] || find_look
}
