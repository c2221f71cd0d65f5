#!/bin/sh
# SPDX-License-Identifier: MIT
# headroom-mail - mails one of collectd's notifications, see headroom-mail(1). collectd's exec plugin
# runs it for each of them, with the notification on standard input.
#
#     headroom-mail [-n HITS] [-s DIRECTORY] [-w SECONDS] ADDRESS...
#
# psi reports changes only, so each is mailed; so is what other plugins send. Three notify of more: the plugin threshold of its
# alarms again when collectd starts, and with an OKAY of each series of other plugins than headroom's; headroom of those of its
# <Alert>, after a crash, which may be others and are mailed again; and osnoise of noises that go on, with Repeat. Of these three
# the beginning of an alarm, a worse severity and its end are mailed. That needs a record of what was mailed: collectd's
# notification doesn't say whether there was an alarm before.
#
# Its parts, in the order of the data: what was notified, which alarms are on record, what is decided of it, its words, and
# the mail.
#
# shellcheck source=notification.sh disable=SC2119
. notification.sh
# shellcheck source=mail/numbers.sh
. mail/numbers.sh
# shellcheck source=mail/alarm.sh
. mail/alarm.sh
# shellcheck source=mail/place.sh
. mail/place.sh
# shellcheck source=mail/record.sh
. mail/record.sh
# shellcheck source=mail/covering.sh
. mail/covering.sh
# shellcheck source=mail/takers.sh
. mail/takers.sh
# shellcheck source=mail/waiting.sh
. mail/waiting.sh
# shellcheck source=mail/due.sh
. mail/due.sh
# shellcheck source=mail/promotion.sh
. mail/promotion.sh
# shellcheck source=mail/words.sh
. mail/words.sh
# shellcheck source=mail/findings.sh
. mail/findings.sh
# shellcheck source=mail/text.sh
. mail/text.sh
# shellcheck source=mail/sending.sh
. mail/sending.sh
# shellcheck source=mail/lists.sh
. mail/lists.sh

PATH=$PATH:/usr/sbin:/usr/lib
tab='	'

print_usage() { echo "usage: headroom-mail [-n HITS] [-s DIRECTORY] [-w SECONDS] ADDRESS... <NOTIFICATION; see headroom-mail(1)"; }
usage() {
    print_usage >&2
    exit 2
}
[ "${1:-}" != --help ] || {
    print_usage
    exit 0
}
hits=4 folder=/var/lib/headroom/mail together=60
while getopts n:s:w: option; do
    case $option in
        n) hits=$OPTARG ;;
        s) folder=$OPTARG ;;
        w) together=$OPTARG ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
for number in "$hits" "$together"; do
    case $number in
        "" | *[!0-9]* | ?????*) usage ;;
    esac
done
read_notification || exit 2

# All processes of collectd's service get SIGTERM when it is stopped or restarted. What was notified is mailed nevertheless:
# psi doesn't notify again of an alarm that lasts.
is_ending=""
trap is_ending=yes TERM

# handle ADDRESS...: the notification that was read, now or before. Fails if a mail wasn't accepted.
handle() {
    told=$message       # which is worded later
    find_resource
    about=${resource:+$host $instance $resource}
    find_kind
    detail NoLongerWatched
    unwatched=$value
    record="" note="" place="" now=${promoted_at:-${time%.*}} trusting=true burst="" single="" end="" ended="" notified=""
    known=OKAY user="" part="" victims="" mostly="" looked_again="" waits_since=""
    path="" placed="" longest_path="" cause_path="" covered_by="" has_looked="" renamed="" unmailed="" is_kept=""
    is_due_now=false is_listed=false
    if is_to_be_mailed && is_mailed_now "$@" && ! is_brief; then
        is_due_now=true
    fi
    mail_lists
    send_unsent
    ! $is_due_now || send "$@"
}

status=0
handle "$@" || status=1
promote_uncovered "$@"
exit $status
