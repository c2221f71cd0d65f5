# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# place.sh - where it is: the cgroup that a notification is about, and its name, as short as in a subject.
# shellcheck disable=SC2034,SC2154,SC2119,SC2120 # of and for the other parts

mount=""

# find_mount: sets mount to where cgroup2 is, which is looked for once. Fails if it isn't, or what was notified is another
# host's.
find_mount() {
    [ "${COLLECTD_HOSTNAME:-$host}" = "$host" ] || return 1
    [ -n "$mount" ] || mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
    [ -n "$mount" ]
}

# read_groups FILE PATTERN [--include=FILE]: the lines that match, of that file or of both, of each cgroup but the root, each
# behind the file's path
read_groups() { grep -r --include="$1" ${3:+"$3"} "$2" "$mount"/*/ "$mount"/.[!.]*/ "$mount"/..?*/ 2>/dev/null; }

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

# find_path: sets path to the one of the only cgroup that has the instance, "" if there is none or several. What isn't made of
# the path alone, as the name of a container, the plugin lists in collectd's BaseDir: where that has run us.
find_path() {
    groups="" path=""
    find_mount || return 0
    [ ! -e "headroom-$plugin.names" ] ||
        path=$(NAME=$instance awk -F "$tab" '$1 "" == ENVIRON["NAME"] "" { print substr($0, length($1) + 2); exit }' \
            "headroom-$plugin.names" 2>/dev/null)
    [ -z "$path" ] || [ -d "$mount/$path" ] || path=""
    [ -z "$path" ] || return 0
    find_groups "$mount" "$instance"
    path=${groups%"$newline"}
    case $path in
        *"$newline"*) path="" ;;
        *) path=${path#"$mount/"} ;;
    esac
}

# find_place: sets place, and shown, as in a subject; and path, "" if that isn't known.
find_place() {
    [ -z "$placed" ] || return 0
    placed=yes
    detail Cgroup
    path=$value place=${value:-$instance}
    [ -n "$path" ] || find_place_of_instance
    if [ -n "$path" ] && ! is_named_by_path "$path"; then
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
        psi:* | cgroup_perf:* | wss:*_* | headroom:*)
            find_path
            find_known place
            path=${path:-$value} place=${path:-$instance}       # by now the group may be gone
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
