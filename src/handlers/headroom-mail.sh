#!/bin/sh
# SPDX-License-Identifier: MIT
# headroom-mail - mails one of collectd's notifications, see headroom-mail(1). collectd's exec plugin
# runs it for each of them, with the notification on standard input.
#
#     headroom-mail [-s FOLDER] ADDRESS...
#
# psi reports changes only, so each is mailed; so is what other plugins send. The plugin threshold sends an OKAY
# for every series when collectd starts, and its alarms once more; osnoise reports noises that are longer and
# longer. Of these two the beginning of an alarm, a worse severity and its end are mailed. That needs a record of
# what was mailed: collectd's notification doesn't say whether there was an alarm before.
#
# shellcheck source=notification.sh disable=SC2119
. notification.sh
PATH=$PATH:/usr/sbin:/usr/lib

usage() {
    echo "usage: headroom-mail [-s FOLDER] ADDRESS... <NOTIFICATION" >&2
    exit 2
}
folder=/var/lib/headroom/mail
while getopts s: option; do
    case $option in
        s) folder=$OPTARG ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
read_notification || exit 2

# is_due: threshold reports its alarms again after a restart; the same one twice from one daemon is a new one, of a
# series that was gone meanwhile. osnoise forgets its alarms at a restart: one after an hour's silence is new.
is_due() {
    case $severity:$known in
        OKAY:OKAY | WARNING:FAILURE) return 1 ;;
        OKAY:* | *:OKAY | FAILURE:WARNING) return 0 ;;
    esac
    if is_by_threshold; then
        [ "$known_by" = "$daemon" ]
    else
        [ -n "$(find "$record" -mmin +60)" ]
    fi
}

note=""
if is_by_threshold || [ "$plugin" = osnoise ]; then
    if open_record "$folder"; then
        ! is_late || exit 0
        if ! is_due; then
            [ "$severity" = "$known" ] || remember
            exit 0
        fi
    else
        [ "$severity" != OKAY ] || exit 0
        note="$newline${newline}Its end will not be mailed, see headroom-mail(1): $folder is no folder of the user $(id -un)."
    fi
fi

to=$1
for address in "$@"; do
    [ "$address" = "$to" ] || to="$to, $address"
done
sendmail -oi -- "$@" 9>&- <<END
To: $to
Subject: $severity on $host: $series
Auto-Submitted: auto-generated
MIME-Version: 1.0
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: 8bit

$message

$(date -d "@${time%.*}" '+%Y-%m-%d %H:%M:%S %z' 2>/dev/null)
${details%?}$note
END
status=$?
if [ $status -eq 0 ]; then
    remember
    exit 0
fi
complain "a mail was not sent: $severity on $host: $series"
exit 1
