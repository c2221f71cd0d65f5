# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# numbers.sh - numbers, quantities and durations, as people write them.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

# In awk: what stands for a number, with two digits, or all before the point.
rounding='function rounded(value,    size) {
    size = value < 0 ? -value : value
    return sprintf(size >= 9.95 || value == int(value) ? "%.0f" : size >= 0.995 ? "%.1f" : "%.2g", value)
}'

# print_number VALUE [FACTOR]: sets number.
print_number() {
    number=$(awk -v value="$1" -v factor="${2:-1}" "$rounding"'
        BEGIN { print rounded(value * factor) }')
}

# print_share PART WHOLE: sets share.
print_share() {
    share="$(awk -v part="$1" -v whole="$2" "$rounding"'
        BEGIN { print rounded(sprintf("%.6g", whole > 0 ? 100 * part / whole : 0) + 0) }') %"
}

# is_number_at_most VALUE LIMIT
is_number_at_most() { [ -n "$1" ] && awk -v value="$1" -v limit="$2" 'BEGIN { exit !(value + 0 <= limit + 0) }'; }

# print_scaled VALUE FACTOR UNITS: sets quantity and its number, in the first of the units that leaves less than a thousand
# of it, each being a thousand of the one before.
print_scaled() {
    quantity=$(awk -v value="$1" -v factor="$2" -v units="$3" "$rounding"'
        BEGIN {
            value = sprintf("%.9g", value * factor) + 0
            count = split(units, unit, " ")
            for (i = 1; i < count && value >= 999.5; i++)
                value = sprintf("%.9g", value / 1000) + 0
            print rounded(value), unit[i]
        }')
    number=${quantity% *}
}

# print_seconds VALUE: sets quantity.
print_seconds() { print_scaled "$1" 1e6 "us ms s"; }

# print_quantity VALUE: sets quantity, by the unit of the series.
print_quantity() {
    case $unit in
        bytes) print_scaled "$1" 1 "bytes kB MB GB TB" ;;
        seconds) print_seconds "$1" ;;
        *)
            print_number "$1" "$factor"
            quantity="$number${unit:+ $unit}"
            ;;
    esac
}

# print_duration SECONDS: sets duration: "12 min", "3 h 5 min".
print_duration() {
    if [ "$1" -lt 60 ]; then
        duration="$1 s"
    elif [ "$1" -lt 3570 ]; then
        duration="$((($1 + 30) / 60)) min"
    elif [ "$1" -lt 86400 ]; then
        duration="$((($1 + 30) / 3600)) h $((($1 + 30) % 3600 / 60)) min"
    else
        duration="$(($1 / 86400)) d $(($1 % 86400 / 3600)) h"
    fi
}
