# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# numbers.sh - numbers, quantities and durations, as people write them.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

# In awk: what stands for a number, with two digits, or all before the point.
rounding='function rounded(value,    size) {
    size = value < 0 ? -value : value
    return sprintf(size >= 9.95 || value == int(value) ? "%.0f" : size >= 0.995 ? "%.1f" : "%.2g", value)
}'

# A shell has no fractions, and a program costs more than all that it computes. So what a description needs is computed by one
# program as soon as it is known what that is: want_... says it, make_figures computes it. What wasn't wanted before is
# computed when it is needed.
figures="" wanted=""

# want WORD VALUE VALUE [UNITS]: a figure, with the words by which it is found.
want() {
    wanted_line="$1$tab$2$tab$3$tab${4:-}"
    wanted=$wanted$wanted_line$newline
}
want_number() { want number "$1" "${2:-1}"; }
want_share() { want share "$1" "$2"; }
want_order() { want order "$1" "$2"; }
want_most() { want most "$1" "$2"; }
want_scaled() { want scaled "$@"; }
want_seconds() { want_scaled "$1" 1e6 "us ms s"; }
want_quantity() {
    case $unit in
        bytes) want_scaled "$1" 1 "bytes kB MB GB TB" ;;
        seconds) want_seconds "$1" ;;
        *) want_number "$1" "$factor" ;;
    esac
}

# make_figures: all that is wanted.
make_figures() {
    [ -n "$wanted" ] || return 0
    figures=$figures$newline$(awk -F "$tab" "$rounding"'
        function scaled(value, units,    unit, count, i) {
            value = sprintf("%.9g", value) + 0
            count = split(units, unit, " ")
            for (i = 1; i < count && value >= 999.5; i++)
                value = sprintf("%.9g", value / 1000) + 0
            return rounded(value) " " unit[i]
        }
        $1 == "number" { result = rounded($2 * $3) }
        $1 == "share" { result = rounded(sprintf("%.6g", $3 > 0 ? 100 * $2 / $3 : 0) + 0) }
        $1 == "order" { result = $2 + 0 <= $3 + 0 ? "at most" : "more" }
        $1 == "most" { result = $2 >= 500 * $3 && $3 > 0 ? "yes" : "no" }
        $1 == "scaled" { result = scaled($2 * $3, $4) }
        { print $0 "\t" result }' <<END
${wanted%"$newline"}
END
    )
    wanted=""
}

# find_figure: sets figure to the one that was wanted last.
find_figure() {
    case $figures in
        *"$newline$wanted_line$tab"*) ;;
        *) make_figures ;;
    esac
    wanted=""
    figure=${figures##*"$newline$wanted_line$tab"}
    figure=${figure%%"$newline"*}
}

# print_number VALUE [FACTOR]: sets number.
print_number() {
    want_number "$@"
    find_figure
    number=$figure
}

# print_share PART WHOLE: sets share.
print_share() {
    want_share "$@"
    find_figure
    share="$figure %"
}

# is_number_at_most VALUE LIMIT
is_number_at_most() {
    [ -n "$1" ] || return 1
    case $1:$2 in
        *[!0-9:]* | *: | ????????????????*:* | *:????????????????*) ;;
        *)
            [ "$1" -le "$2" ]
            return
            ;;
    esac
    want_order "$@"
    find_figure
    [ "$figure" = "at most" ]
}

# is_most MILLISECONDS SECONDS: whether that is at least half of it.
is_most() {
    want_most "$@"
    find_figure
    [ "$figure" = yes ]
}

# print_scaled VALUE FACTOR UNITS: sets quantity and its number, in the first of the units that leaves less than a thousand
# of it, each being a thousand of the one before.
print_scaled() {
    want_scaled "$@"
    find_figure
    quantity=$figure number=${figure% *}
}

# print_seconds VALUE: sets quantity.
print_seconds() { print_scaled "$1" 1e6 "us ms s"; }

# print_quantity VALUE: sets quantity, by the unit of the series.
print_quantity() {
    want_quantity "$1"
    find_figure
    case $unit in
        bytes | seconds) quantity=$figure number=${figure% *} ;;
        *) number=$figure quantity="$figure${unit:+ $unit}" ;;
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
