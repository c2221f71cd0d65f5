# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# waiting.sh - alarms that wait until others have come that may say more.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

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

# find_patience: sets patience to how long it takes, in s, until two more values of each series have come, three for one
# that doesn't say by what there is no room, or for an <Alert>, and five where the machine has none. When another alarm covered
# it until now, it may outlast its cause: an <Alert> by the six intervals of its end, and of CPUs the five minutes that these
# are summed up for, and a trigger's alarm by its quiet time.
find_patience() {
    intervals=2 value=""
    case $kind:$instance:$resource:$alert in
        # A threshold of the machine's CPUs, which comes within two, waits for two, too.
        none:system:cpu: | none:system:room:) intervals=5 ;;
        *:room:* | *:alert) intervals=3 ;;
    esac
    case ${promoted:+$plugin:$alert} in
        "") ;;
        headroom:alert)
            intervals=8
            [ "$resource" != cpu ] || value=300
            ;;
        *) detail Quiet ;;
    esac
    patience=$(awk -v each="${COLLECTD_INTERVAL:-10}" -v intervals=$intervals -v more="${value:-0}" \
        'BEGIN { print intervals * each + more }')
}

# pause COMMAND...: until that ends, or SIGTERM. Sets paused to the command's status.
pause() {
    paused=143
    [ -z "$is_ending" ] || return 0
    "$@" 6>&- >/dev/null 2>&1 & # whatever collectd leaves as the standard output
    wait $!
    paused=$?
    kill $! 2>/dev/null
}

# await_values: until these have come, or SIGTERM; lets others of the subject go on meanwhile, and what is promoted next. All
# get SIGTERM at once, and one may cover another: so one decides after the other, unless that takes long.
await_values() {
    exec 3>&- 5>&- 9>&-
    pause sleep "$patience"
    exec 9>"$lock"
    flock 9
    [ "$paused" -le 128 ] || ! command exec 4>"$folder/ending.lock" || flock -w 30 4 || :
}

# is_awaited: whether a process waits already with this alarm, as severe, for those that say more. An alarm may be notified
# again each interval: if each of these waited instead of the one before, none would be mailed. One that has waited for twice
# as long as it should was killed.
is_awaited() {
    [ "$severity" != OKAY ] && [ "$known:$known_by" = "OKAY:$daemon" ] && was_covered || return 1
    find_known waiting
    case $value:$severity in
        FAILURE\ *:* | WARNING\ *:WARNING) is_number_at_most "$now" "${value#* }" ;;
        *) return 1 ;;
    esac
}

# says_less: whether an alarm begins of which others may say more: of a value of room, or of the machine's CPUs; a lesser
# <Alert>; or of a group that takes a CPU, of which the one that it takes that from. What another one covered until now may
# end with that.
says_less() {
    [ -z "$promoted" ] || return 0
    case $known:$kind:$instance:$resource in
        OKAY:value:*:?* | OKAY:none:*:?* | OKAY:threshold:system:cpu) return 0 ;;
        OKAY:alert:*)
            is_lesser
            return
            ;;
    esac
    has_victim
}

# find_rest: sets patience to what is left of it since the end of what covered ours for a part of that time: ours may end with
# that one's cause. Fails if nothing is left, or none did, or it has waited so once, or collectd ends.
find_rest() {
    [ -n "$covered_until" ] && [ "$paused" -le 128 ] && [ -z "$has_rested" ] || return 1
    has_rested=yes
    patience=$(awk -v since="$covered_until" -v now="$(date +%s)" -v patience="$patience" 'BEGIN {
        rest = since + patience - now
        if (rest > patience)        # the clock was set back
            rest = patience
        if (rest > 0)
            printf "%.0f", rest + 0.5
    }')
    [ -n "$patience" ]
}

# is_left_alone: waits for alarms that say more, in whatever order they come. Fails if there is one, or if ours has ended
# meanwhile. What one covered that has ended meanwhile waits once more. What can't be put on record doesn't wait: it would be
# lost.
is_left_alone() {
    find_patience
    waits_since=${promoted_after:-$time} from=$now has_rested=""
    while remember_covered "waiting $severity $(
        awk -v from="$from" -v patience="$patience" 'BEGIN { printf "%.0f", from + 2 * patience }')"; do
        await_values
        trusting=false has_looked=""
        read -r its_severity its_time its_daemon <"$record" && [ "$its_time:$its_daemon" = "$time:$daemon" ] && was_covered ||
            return 1
        ! stays_covered || return 1
        find_rest || return 0
        from=$(date +%s)
    done
}
