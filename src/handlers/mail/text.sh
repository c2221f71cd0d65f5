# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# text.sh - the mail: its head and its text.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

# print_details: the metadata of another plugin's notification, with numbers that people can read. That of ours is in what
# was said.
print_details() {
    ! is_ours && ! is_by_threshold || return 0
    printf '%s' "$details" | while IFS= read -r line; do
        case $line in
            *": "[0-9-]*e+0[6-9] | *": "[0-9-]*e+1[0-9]) number=$(printf '%.0f' "${line#*: }" 2>/dev/null) && line="${line%%: *}: $number" ;;
            *": "[0-9-]*e[-+][0-9]*) number=$(printf '%.6g' "${line#*: }" 2>/dev/null) && line="${line%%: *}: $number" ;;
        esac
        printf '%s\n' "$line"
    done
}

date_format='+%Y-%m-%d %H:%M:%S %z'

# find_dates TIME TIME: sets dates to both, one a line; by one program, but where that can't read them from its standard input.
find_dates() {
    dates=$(date -f - "$date_format" 2>/dev/null <<END
@$1
@$2
END
    ) || dates=$(date -d "@$1" "$date_format" 2>/dev/null; date -d "@$2" "$date_format" 2>/dev/null)
}

# print_time: the notification's, and since when the alarm lasts, if that is known: the mail may come much later, as one
# that waited for others, or that wasn't accepted at first.
print_time() {
    since=""
    if [ "$severity" != OKAY ] && [ -n "$begun" ] && [ "$begun" -lt "$now" ]; then
        find_dates "$now" "$begun"
        at=${dates%%"$newline"*}
        since=${dates##*"$newline"}
        since=${since% *}
        since=${since#"${at%% *} "}     # of another day with its date
    else
        at=$(date -d "@$now" "$date_format" 2>/dev/null)
    fi
    printf '%s%s\n' "$at" "${since:+, since $since}"
}

# print_text: the mail's, without its head. What controls terminals is replaced: anyone may name a group so.
print_text() {
    words=$(print_words)
    case $words in
        *[!\ -~"$tab$newline"]*) printf '%s\n' "$words" | tr '\001-\010\013-\037\177' '?' ;;
        *) printf '%s\n' "$words" ;;
    esac
}
print_words() {
    printf '%s%s\n' "$summary" "$more"
    [ -z "$look" ] || printf 'look here: %s\n' "$look"
    [ -z "$message" ] || [ "$message" = "$summary" ] || printf '\n%s\n' "$message"
    echo
    print_time
    print_details
}

# print_header NAME TEXT: a line; but what isn't printable ASCII becomes encoded words of RFC 2047, each in a line of its
# own, of at most 76 bytes. Bytes that are no UTF-8 are replaced.
print_header() {
    case $2 in
        *[!" "-~]* | *"=?"* | *" ") print_encoded_header "$@" ;;
        *) printf '%s: %s\n' "$1" "$2" ;;
    esac
}

print_encoded_header() {
    printf '%s\n' "$2" | awk -v name="$1" '
        function byte_at(i) { return code[substr(text, i, 1)] + 0 }
        function measure_character(i,    first, second, size, k) {    # in bytes; 0: there is none
            first = byte_at(i)
            second = byte_at(i + 1)
            size = first < 128 ? 1 : first < 194 ? 0 : first < 224 ? 2 : first < 240 ? 3 : first < 245 ? 4 : 0
            if (first == 224 && second < 160 || first == 237 && second > 159 || first == 240 && second < 144 ||
                first == 244 && second > 143)
                return 0
            for (k = 1; k < size; k++)
                if (byte_at(i + k) < 128 || byte_at(i + k) > 191)
                    return 0
            return size
        }
        function encode_byte(byte) {
            if (byte == 32)
                return "_"
            if (byte < 32 || byte == 127)
                return "=3F"
            return byte > 126 || index("=?_", character[byte]) ? sprintf("=%02X", byte) : character[byte]
        }
        function print_encoded(    i, k, size, piece, line) {
            for (i = 1; i <= length(text); i += size ? size : 1) {
                size = measure_character(i)
                piece = size ? "" : "=EF=BF=BD"
                for (k = 0; k < size; k++)
                    piece = piece encode_byte(byte_at(i + k))
                if (length(line piece) > 63) {
                    printf "\n =?UTF-8?Q?%s?=", line
                    line = ""
                }
                line = line piece
            }
            printf "\n =?UTF-8?Q?%s?=", line
        }
        function join(from, to,    i, joined) {
            for (i = from; i <= to; i++)
                joined = joined (i > from ? " " : "") words[i]
            return joined
        }
        BEGIN {
            for (i = 1; i < 256; i++) {
                character[i] = sprintf("%c", i)
                code[character[i]] = i
            }
        }
        {
            sub(/ +$/, "")
            count = split($0, words, / /)
            for (i = 1; i <= count; i++)
                if (words[i] ~ /[^!-~]|=\?/) {
                    begin = begin ? begin : i
                    end = i
                }
            if (!begin) {
                print name ": " $0
                exit
            }
            printf "%s: %s", name, join(1, begin - 1)
            text = join(begin, end)
            print_encoded()
            print end < count ? "\n " join(end + 1, count) : ""
            exit
        }'
}

# print_series: a header of each that is mailed: the end of a burst is that of several.
print_series() {
    if [ -z "$ended" ] || [ -n "$burst" ]; then
        print_header X-Collectd-Notification "$severity on $host: $series"
    fi
    [ -z "$ended" ] || find_in_ended series | while IFS= read -r each; do
        print_header X-Collectd-Notification "$severity on $host: $each"
    done
}

# print_mail ADDRESS...: the whole of it
print_mail() {
    to=$1
    for address in "$@"; do
        [ "$address" = "$to" ] || to="$to, $address"
    done
    printf 'To: %s\n' "$to"
    print_header Subject "$severity on $host: $summary"
    if [ -n "$notified" ]; then
        printf '%s\n' "$notified"
    else
        print_series
    fi
    printf '%s\n' "Auto-Submitted: auto-generated" "MIME-Version: 1.0" "Content-Type: text/plain; charset=UTF-8" \
        "Content-Transfer-Encoding: 8bit" ""
    print_text
    printf '%s\n' "$note"
}
