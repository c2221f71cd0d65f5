# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# sending.sh - sends a mail, or keeps it for the next time.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

# keep_unsent MAIL: in our folder; fails if there is none.
keep_unsent() {
    is_own_folder "$folder" || return 1
    printf '%s\n' "$1" >"$folder/new.$$" && mv -f "$folder/new.$$" "$folder/unsent.$(date +%s%N).$$"
}

# send_unsent: what was kept, the oldest first, until three aren't accepted; one process at a time
send_unsent() {
    for unsent in "$folder"/unsent.*; do
        [ -e "$unsent" ] && is_own_folder "$folder" || return 0
        break
    done
    (
        flock -n 8 || exit 0
        left=3
        for unsent in "$folder"/unsent.*; do
            if sendmail -oi -t <"$unsent" 3>&- 8>&- 9>&-; then
                rm -f "$unsent"
            else
                left=$((left - 1))
                [ $left -gt 0 ] || exit 0
            fi
        done
    ) 8>"$folder/sending"
}

# send ADDRESS...: mails the notification, or keeps the mail, and remembers that.
send() {
    describe
    mail=$(print_mail "$@")
    sent=0
    printf '%s\n' "$mail" | sendmail -oi -- "$@" 3>&- 9>&- || sent=1
    again=""
    [ $sent -eq 0 ] || ! keep_unsent "$mail" || again=", and is tried again at the next notification"
    # The end of a threshold that isn't mailed is notified again; no other is.
    if [ $sent -eq 0 ] || [ -n "$again" ] || { [ "$severity" = OKAY ] && ! is_by_threshold; }; then
        remember_alarm
    fi
    [ $sent -ne 0 ] || return 0
    complain "sendmail did not accept a mail$again: $severity on $host: $series"
    return 1
}
