# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# place.sh - where it is: the cgroup that a notification is about, and its name, as short as in a subject.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

# find_mount: sets mount to where cgroup2 is. Fails if it isn't.
find_mount() {
    mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
    [ -n "$mount" ]
}

# find_groups FOLDER INSTANCE: appends to groups the cgroups below whose path gives that instance.
find_groups() {
    for child in "$1"/*/; do
        set -- "$1" "$2" "${child%/}"
        name=${3##*/}
        case $2 in
            "$name") groups=$groups$3$newline ;;
            "${name}_"*) find_groups "$3" "${2#"${name}_"}" ;;
        esac
    done
}

# list_shortened INSTANCE: the cgroups whose path is too long for the instance, which has its beginning, "~" and a hash, and
# its end instead, one a line
list_shortened() {
    find "$mount" -mindepth 1 -type d 2>/dev/null | awk -v skipped=$((${#mount} + 1)) '
        BEGIN {
            head = ARGV[1]
            sub(/~.*/, "", head)
            tail = substr(ARGV[1], length(head) + 10)
            ARGC = 1
        }
        {
            name = substr($0, skipped + 1)
            gsub("/", "_", name)
            if (length(name) > 127 && index(name, head) == 1 && substr(name, length(name) - length(tail) + 1) == tail)
                print
        }' "$1"
}

# find_path: sets path to the one of the only cgroup that has the instance, "" if there is none or several.
find_path() {
    groups="" path=""
    find_mount || return 0
    find_groups "$mount" "$instance"
    case $groups:$instance in
        :*~????????*) groups=$(list_shortened "$instance") ;;
    esac
    path=${groups%"$newline"}
    case $path in
        *"$newline"*) path="" ;;
        *) path=${path#"$mount/"} ;;
    esac
}

# find_place: sets place, and shown, as in a subject.
find_place() {
    detail Cgroup
    place=${value:-$instance}
    if [ -z "$value" ]; then
        find_place_of_instance
    elif ! is_named_by_path "$value"; then
        shown=$instance
        return
    fi
    shorten "$place"
    shown=$short
    return 0
}

# is_named_by_path PATH: whether the instance is made of the path, or of one above it; else it says more, such as the name of a
# container. Bytes that aren't safe, which both lack, have no part in it. With a hash at its end it has all of the path or name;
# with one within, its beginning.
is_named_by_path() {
    rest=$1 made=""
    case $instance in
        *~????????) beginning=${instance%\~????????}_ ;;
        *~????????*) beginning=${instance%%\~*} ;;
        *) beginning=${instance}_ ;;
    esac
    while case $rest in */*) true ;; *) false ;; esac; do
        made=$made${rest%%/*}_
        rest=${rest#*/}
    done
    case ${made}${rest}_ in
        "$beginning"*) return 0 ;;
        *[!A-Za-z0-9_.:@\\-]*) return 0 ;;
    esac
    return 1
}

find_place_of_instance() {
    case $plugin:$instance in
        *:system) place="the machine" ;;
        osnoise:cpu*) place="CPU ${instance#cpu}" ;;
        psi:*_* | cgroup_perf:*_* | wss:*_* | headroom:*_*)
            find_path
            find_known place
            place=${path:-${value:-$instance}}      # by now the group may be gone
            ;;
    esac
}

# shorten_paths: of standard input, one a line, to what stands for them in a subject: of a long path the end, of a container
# with its pod; of identifiers as much as Docker and kubectl show.
shorten_paths() {
    sed -E '
        s/([0-9a-f]{12})[0-9a-f]{20,}/\1/g
        s/([0-9a-f]{8})([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}/\1/g
        t long
        :long
        /^.{49}/! q
        s|^.*pod([0-9a-f]{8})(\.slice)?/(.*/)?([^/]+)$|\4 of pod \1|; t end
        s|^.*/([^/]*pod[0-9a-f]{8}(\.slice)?)$|\1|; t end
        s|^([^/]+)/.*/([^/]+)$|\1/.../\2|
        :end
        s/^(.{50}).{4,}(.{27})$/\1...\2/'
}

# shorten PATH: sets short. Nothing is done to what is shorter than all that shorten_paths knows.
shorten() {
    short=$1
    [ ${#1} -lt 32 ] || short=$(printf '%s\n' "$1" | shorten_paths)
}
