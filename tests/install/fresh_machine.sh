# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # dir and log are of daemon.sh
# fresh_machine.sh - a machine as a user has it, fresh: a root folder of the release of Debian that runs here,
# with the stock collectd, and namespaces of its own for what runs there. To be sourced after
# ../collectd/daemon.sh, whose folder it lies in.

# shellcheck source=../../contrib/archives.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../contrib/archives.sh"

root=$dir/root
machine=""      # the pid of the machine's first process, as seen from here

# require_fresh: what is needed to make one, or skips.
require_fresh() {
    local tool
    for tool in mmdebstrap unshare nsenter python3 apt-get; do
        command -v $tool >/dev/null || skip_all "$tool is missing"
    done
    [ "$(id -u)" -eq 0 ] || skip_all "a root folder can't be made (root is needed)"
    unshare --mount --uts --ipc --net --pid --fork true 2>/dev/null || skip_all "namespaces can't be made here"
    [ -n "$(archives)" ] || skip_all "apt knows no archive of this distribution"
}

# make_root PACKAGE...: the release's own packages, by the way that apt has to them here.
make_root() {
    local VERSION_CODENAME='' packages=$*
    # shellcheck source=/dev/null
    . /etc/os-release
    apt_settings >"$dir/apt.conf"
    archives | mmdebstrap --quiet --variant=apt --include="${packages// /,}" --aptopt="$dir/apt.conf" \
        --dpkgopt=force-unsafe-io --skip=cleanup/apt/lists "$VERSION_CODENAME" "$root" - >"$dir/mmdebstrap.log" 2>&1
}

# start_machine SOURCE: the first process, which sees SOURCE as /src, and no network but lo, which has another address,
# as write_prometheus wants.
start_machine() {
    local unshared
    printf '127.0.0.1 localhost\n127.0.1.1 fresh.example.org fresh\n' >"$root/etc/hosts"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    ln -s ../proc/self/mounts "$root/etc/mtab"
    mkdir -p "$root/src"
    # The mounts are of that namespace alone: nothing of the machine's can be lost by removing $root.
    unshare --mount --uts --ipc --net --pid --fork --kill-child "$BASH" -c '
        hostname fresh && ip link set lo up && ip address add 192.0.2.1/32 dev lo && cd "$0" &&
        mount --bind . . && cd "$0" &&
        mount -t proc proc proc && mount --rbind /sys sys && mount -t tmpfs tmpfs run &&
        mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts && mount --bind -o ro "$1" src && touch "$2/machine" || exit
        while :; do sleep 1000 & wait; done' "$root" "$1" "$dir" &
    unshared=$!
    processes="$processes $unshared"
    eventually [ -e "$dir/machine" ] || return
    machine=$(cat "/proc/$unshared/task/$unshared/children")
    machine=${machine% }
    [ -n "$machine" ]
}

# What runs a command in that root folder, in /src.
in_root=(chroot "$root"
    env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive
    sh -c 'cd /src && exec "$@"' sh)

# on_machine COMMAND...: as its root, without the network. Where these tests run in a root folder of their own, that is
# the machine's, too (--root): a mount namespace's is the host's.
on_machine() { nsenter --target "$machine" --mount --root --uts --ipc --net --pid "${in_root[@]}" "$@"; }

# online COMMAND...: the same with the network that we have.
online() { nsenter --target "$machine" --mount --root --uts --ipc --pid "${in_root[@]}" "$@"; }

# make_stand_ins: what README takes for granted and such a machine lacks: sudo, systemctl, and a mail program,
# whose mails are files in $root/tmp/mails.
make_stand_ins() {
    local bin=$root/usr/local/bin
    mkdir -p "$bin" && mkdir -m 1777 "$root/tmp/mails"
    printf '#!/bin/sh\nexec "$@"\n' >"$bin/sudo"
    # The init script waits for the end of a service for some seconds, and then doesn't start it; systemd waits.
    cat >"$bin/systemctl" <<'END'
#!/bin/sh
[ $# -eq 2 ] || exit 1
case $1 in restart | stop | start) ;; *) exit 1 ;; esac
if [ "$1" != start ]; then
    service "$2" stop
    while pidof "$2" "$2mon" >/dev/null; do sleep 0.2; done
fi
[ "$1" = stop ] || exec service "$2" start
END
    printf '#!/bin/sh\ncat >/tmp/mails/$$.new && mv /tmp/mails/$$.new /tmp/mails/$$.mail\n' >"$root/usr/sbin/sendmail"
    chmod 755 "$bin/sudo" "$bin/systemctl" "$root/usr/sbin/sendmail"
}

# start_listeners: what the machine's programs log appears in $log, what comes to its port of Graphite in
# $dir/graphite, and its mail server takes all mails.
start_listeners() {
    mkdir "$dir/smtp"
    : >"$dir/graphite"
    nsenter --target "$machine" --net "$python" "$(dirname "${BASH_SOURCE[0]}")/../receivers/listen.py" \
        "$dir/smtp" "$root/dev/log" "$log" >"$dir/listening" &
    processes="$processes $!"
    nsenter --target "$machine" --net "$python" -c 'if True:
        import socketserver, sys
        class Lines(socketserver.StreamRequestHandler):
            def handle(self):
                for line in self.rfile:
                    with open(sys.argv[1], "ab") as file:
                        file.write(line)
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 2003), Lines)
        server.daemon_threads = True
        print("ready", flush=True)
        server.serve_forever()' "$dir/graphite" >"$dir/listening.graphite" &
    processes="$processes $!"
    eventually grep -q ready "$dir/listening" && eventually grep -q ready "$dir/listening.graphite" &&
        chmod 666 "$root/dev/log"
}

# files: all that is there, but for what apt, dpkg and collectd keep for themselves.
files() {
    (cd "$root" && find . -xdev \( -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/log \
        -o -path ./var/lib/collectd -o -path ./run -o -path ./tmp -o -path ./dev -o -path ./src \) -prune -o -print) | sort
}
