# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# notification.sh - what headroom-mail and headroom-alert share: reading a notification as collectd's plugin exec
# writes it, see collectd-exec(5), and a record of what was reported. The build puts it into both.
# shellcheck disable=SC2034,SC2119,SC2120 # for them
set -u
umask 077
export LC_ALL=C         # any bytes
newline='
'
record=""

# complain TEXT: to syslog.
complain() { logger -t "${0##*/}" -- "$1" 2>/dev/null; }

# read_notification: from standard input; sets a variable for each field; details, the lines with metadata; and
# message. Fails if it is none.
read_notification() {
    severity="" time="" host="" plugin="" instance="" type="" type_instance="" details=""
    while IFS= read -r line && [ -n "$line" ]; do
        value=${line#*: }
        case $line in
            "WarningM"??": nan" | "FailureM"??": nan") ;;       # a limit that isn't set
            "Severity: "*) severity=$value ;;
            "Time: "*) time=$value ;;
            "Host: "*) host=$value ;;
            "Plugin: "*) plugin=$value ;;
            "PluginInstance: "*) instance=$value ;;
            "Type: "*) type=$value ;;
            "TypeInstance: "*) type_instance=$value ;;
            *) details=$details$line$newline ;;
        esac
    done
    read_message
    series="$plugin${instance:+ $instance}${type:+ $type}${type_instance:+ $type_instance}"
    case $severity in
        OKAY | WARNING | FAILURE) ;;
        *)
            echo "${0##*/}: no collectd notification on standard input" >&2
            return 1
            ;;
    esac
    case $time in
        "" | *[!0-9.]* | *.*.* | .*) time=$(date +%s) ;;
    esac
    decimals=${time#"${time%.*}"}000        # three
    decimals=${decimals#.}
    time=${time%.*}.${decimals%"${decimals#???}"}
}

# read_message: the rest of standard input, without the ends of lines behind it.
read_message() {
    message=""
    while IFS= read -r line || [ -n "$line" ]; do
        message=$message$line$newline
    done
    while [ "$message" != "${message%"$newline"}" ]; do
        message=${message%"$newline"}
    done
}

# detail NAME: sets value to that of the metadata; "" if there is none.
detail() {
    value=${newline}$details
    case $value in
        *"$newline$1: "*) value=${value#*"$newline$1: "} value=${value%%"$newline"*} ;;
        *) value="" ;;
    esac
}

# details NAME: sets values to those of the metadata NAME1, NAME2 and so on.
details() {
    values="" each=1
    while detail "$1$each" && [ -n "$value" ]; do
        values="$values${values:+, }$value"
        each=$((each + 1))
    done
}

# is_by_threshold: as that plugin marks what it sends; but for that of a value that doesn't come any more.
is_by_threshold() {
    case $newline$details in
        *"${newline}DataSource: "*) return 0 ;;
    esac
    detail Trigger
    case $value:$message in
        :*" has not been updated for "*) return 0 ;;
    esac
    return 1
}

# is_kill: that the kernel has killed a process, of headroom's option OOM: it has no end.
is_kill() { [ "$plugin:$type_instance" = headroom:oom_kill ] && ! is_by_threshold; }

# find_daemon: sets daemon to what distinguishes the collectd that runs us from one before it, even of its pid.
find_daemon() {
    read -r daemon <"/proc/$PPID/stat" || daemon=""
    # shellcheck disable=SC2086 # the fields behind the name, in parentheses
    set -- ${daemon##*) }
    [ $# -lt 20 ] || shift 19
    daemon=$PPID-${1:-0}
}

# --- what was reported -------------------------------------------------------
# A file for each series: the severity last reported, the notification's time, and the collectd that sent it; then
# what the program itself wants to know. Programs that run for the same series take turns, from open_record to
# their ends: so no end is reported before the beginning that is still on its way.

# is_own_folder FOLDER: others could hide alarms in theirs.
is_own_folder() { [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]; }

# join_lines TEXT...: sets text.
join_lines() {
    text=$1
    shift
    for word in "$@"; do
        text=$text$newline$word
    done
}

# hash_of TEXT...: sets hash.
hash_of() {
    join_lines "$@"
    hash=$(sha256sum <<END
$text
END
    ) && hash=${hash%% *}
}

# hash_both SUBJECT TEXT...: sets lock_hash and hash, of the subject and of the texts, by one program; or by two, where that
# can't read a descriptor by its path.
hash_both() {
    subject=$1
    shift
    join_lines "$@"
    if hash=$(sha256sum - /proc/self/fd/3 2>/dev/null <<END 3<<SUBJECT
$text
END
$subject
SUBJECT
    ); then
        lock_hash=${hash#*"$newline"}
        lock_hash=${lock_hash%% *} hash=${hash%% *}
    else
        hash_of "$subject"
        lock_hash=$hash
        hash_of "$@"
    fi
}

# open_record FOLDER SUBJECT [TEXT...]: sets known, the severity last reported, OKAY if none was; known_time, known_by;
# and record, the file, or "" if there is nothing to report. There is one for each series, and texts; those of one
# subject, if it isn't "", take turns, too. Fails if the folder isn't our own.
open_record() {
    known=OKAY known_time=0.000 known_by="" record_folder=$1 subject=$2
    is_own_folder "$1" || return 1
    shift 2
    find_daemon
    if [ -n "$subject" ]; then
        hash_both "$subject" "$host" "$series" "$@"
    else
        hash_of "$host" "$series" "$@"
        lock_hash=$hash
    fi
    own=$record_folder/$hash
    lock=$record_folder/$lock_hash.lock
    # The plugin threshold may start with an OKAY for each of a thousand series that never had an alarm. A trigger's
    # follows a WARNING, which may come later, as programs run side by side.
    detail Trigger
    [ "$severity" != OKAY ] || [ -n "$value" ] || [ -e "$lock" ] || return 0
    command exec 9>"$lock" || return 1
    flock 9
    record=$own
    [ ! -s "$record" ] || read -r known known_time known_by <"$record"
}

# is_late: something newer was reported meanwhile; within minutes, as a clock may have been set back.
is_late() {
    late_ms=$((${known_time%.*}${known_time#*.} - ${time%.*}${time#*.}))
    [ $late_ms -gt 0 ] && [ $late_ms -lt 600000 ]
}

# remember SEVERITY [LINE...]: that this was reported. Series that no longer exist are forgotten some day, when there is
# a new one.
remember() {
    [ -n "$record" ] || return 0
    reported=$1
    shift
    [ -e "$record" ] || find "${record%/*}" -type f -mtime +30 -exec rm -f {} +
    printf '%s\n' "$reported $time $daemon" "$@" >"$record.new" && mv -f "$record.new" "$record"
}
