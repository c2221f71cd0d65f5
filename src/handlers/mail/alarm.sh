# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# alarm.sh - what a notification is about: the resource, what kind of alarm it is, its limit, and since when it lasts.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

# is_ours: of one of the plugins whose metadata is known.
is_ours() {
    case $plugin in
        psi | cgroup_perf | wss | osnoise | headroom) return 0 ;;
    esac
    return 1
}

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
            resource=${resource%-most}
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

# has_none: whether nothing is left of a room, or of the time to trouble, by a threshold.
has_none() {
    [ "$plugin" = headroom ] && [ -n "$resource" ] || return 1
    detail CurrentValue
    is_number_at_most "$value" 0
}

# is_group_gone: whether what ends is no longer watched as its group is gone, and not for another reason.
is_group_gone() {
    case $unwatched in
        "no process is left in it" | "it was removed" | "it has no process any more") return 0 ;;
    esac
    return 1
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

# find_first_hit INTERVAL: sets begun to when the values were taken that have led to an alarm of now.
find_first_hit() {
    seconds=${1%.000}
    case $seconds:$hits in
        0?* | :* | *[!0-9:]* | ?????????*:* | *:0?*)
            begun=$(awk -v now="$begun" -v each="$1" -v hits="$hits" 'BEGIN { printf "%.0f", now - (hits + 2) * each }')
            ;;
        *) begun=$((begun - (hits + 2) * seconds)) ;;
    esac
}

# find_last_seen: sets last_seen to when what the alarm is of was so at last: a trigger's ends its quiet time later.
find_last_seen() {
    last_seen=$now
    [ "$severity" = OKAY ] && detail Quiet && [ -n "$value" ] || return 0
    last_seen=$(awk -v now="$now" -v quiet="$value" 'BEGIN { printf "%.0f", now - quiet }')
}

# find_beginning: sets begun to when the alarm began, and duration to how long it has lasted, "" if that isn't known, or less
# than a second.
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
        find_first_hit "${COLLECTD_INTERVAL:-0}"
    elif detail Lasting && [ -n "$value" ]; then
        begun=$(awk -v now="$begun" -v lasting="$value" 'BEGIN { printf "%.0f", now - lasting }')
    fi
    find_last_seen
    [ "$begun" -ge "$last_seen" ] || print_duration $((last_seen - begun))
}
