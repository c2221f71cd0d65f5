# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# due.sh - whether a notification is to be mailed.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

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

# is_still_silent: whether a threshold of room that was covered is notified again, as after a restart. <Alert> may be of
# another cause then.
is_still_silent() {
    [ "$severity:$alert" = WARNING: ] && [ -n "$about" ] || return 1
    find_known_kind
    [ "$known_kind" = "silent $about" ]
}

# is_kill_to_be_mailed: none by the same limit was within five minutes.
is_kill_to_be_mailed() {
    detail LimitCgroup
    open_record "$folder" "" kill "$value" || record=""
    its_own=$known_time known=OKAY
    [ -z "$record" ] || [ $((${time%.*} - ${its_own%.*})) -ge 300 ] || [ "${time%.*}" -lt "${its_own%.*}" ]
}

# is_said_by_others: whether others say as much, which is on record then.
is_said_by_others() {
    ! stays_covered || return 0
    if is_still_silent || takes_most; then
        remember_covered
        return
    fi
    has_victim && stays_covered
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
        ! is_late && ! is_awaited && ! is_outdated || return 1
        # It waits anyway, and a threshold of an earlier run of collectd that still lasts comes again meanwhile.
        ! is_lesser || trusting=false
        ! is_said_by_others || return 1
        if is_due && ! goes_on; then
            ! says_less || is_left_alone
            return
        fi
        remember_unmailed
        return 1
    fi
    [ "$kind" = trigger ] || return 0
    if ! open_record "$folder" "$about"; then
        record=""
        return 0
    fi
    ! is_late && ! is_awaited && ! is_outdated || return 1
    ! is_said_by_others || return 1
    if goes_on || { [ "$severity" = OKAY ] && was_covered; }; then
        remember_unmailed
        return 1
    fi
    [ -z "$unwatched" ] || end_others
    ! says_less || is_left_alone
}

# is_brief: whether a trigger's alarm ends with its group within a minute, as that of a job does. Its mail is enough then: nothing is
# left that could be waited for, or looked at. The end of a list stands for others, too.
is_brief() {
    [ "$severity" = OKAY ] && [ "$known" != OKAY ] && is_group_gone || return 1
    [ "$kind" = trigger ] && [ -z "$ended$burst" ] || return 1
    find_beginning
    [ $((now - begun)) -lt 60 ] || return 1
    remember_alarm
}
