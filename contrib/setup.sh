# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# setup.sh - what contrib/try, contrib/check and contrib/debian/build share: installing what is missing, and
# building. To be sourced from the top folder.

build_packages=(autoconf automake pkg-config gcc make libc6-dev
    collectd-core collectd-dev clang
    libbpf-dev libcgroup-dev libjansson-dev libmnl-dev libncurses-dev libpfm4-dev libtraceevent-dev)
check_packages=(check clang-format libclang-rt-dev shellcheck strace valgrind tmux python3 python3-kubernetes python3-yaml xz-utils
    binutils util-linux procps man-db locales linux-perf qemu-system-x86 gnuplot-nox rtla libesmtp6 libgcrypt20
    libmicrohttpd12 libprotobuf-c1 libcurl3-gnutls libyajl2 mosquitto-clients libdevmapper1.02.1 libseccomp2
    debhelper dpkg-dev lintian mmdebstrap cpio rpm rpmlint checkpolicy semodule-utils ansible-core ansible-lint graphite-carbon graphite-web curl jq iproute2 systemd)
kernel_packages=(bc bison flex libelf-dev libssl-dev)

installed_packages=()   # those that install_packages has installed, without what these need

say() { printf '%s\n' "$*"; }
fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# missing_packages PACKAGE...: prints those that are not installed, nor provided by one that is, as Debian 13 has libraries
# under new names.
missing_packages() {
    local package
    local -A installed=()
    for package in $(dpkg-query -W -f '${db:Status-Status} ${Package}, ${Provides}\n' 2>/dev/null |
        sed -n 's/ ([^)]*)//g; s/,//g; s/^installed //p'); do
        installed[$package]=yes
    done
    for package in "$@"; do
        [ -n "${installed[$package]:-}" ] || echo "$package"
    done
}

# kernel_sources: the package of the sources that tests/vm/kernel.config is for, or the release's own.
kernel_sources() {
    local package=linux-source-6.12
    apt-cache show $package >/dev/null 2>&1 && echo $package || echo linux-source
}

# has_candidate PACKAGE: whether apt has a version of it to install.
has_candidate() { LC_ALL=C apt-cache policy "$1" | grep '^ *Candidate: [^(]' >/dev/null; }

# fail_without_collectd LACKING OTHER...: says what can be done where apt has no such packages of collectd, but has the others.
fail_without_collectd() {
    cat >&2 <<EOF
apt lacks, of collectd: $1. Ubuntu has collectd in its component universe, 22.04 in the updates of that:
  sudo add-apt-repository universe            # and run this again
Where there is none, take collectd's own release, 5.12, from https://collectd.org/download.html, and in its folder
  ./configure && make && sudo make install    # to /opt/collectd
  mkdir -p headers/collectd && ln -s ../../src headers/collectd/core
Then build headroom from source, with the path of that folder headers for HEADERS; configure says what it lacks:
  sudo apt-get install --no-install-recommends ${*:2}
  autoreconf -fi && mkdir -p build/collectd && cd build/collectd
  ../../configure --prefix=/opt/collectd --with-collectd-includes=HEADERS && make && sudo make install
EOF
    exit 1
}

# install_packages PACKAGE...: on Debian and Ubuntu installs what is missing; elsewhere says what is
# needed, and goes on if the most important of it is there.
install_packages() {
    local missing sudo=()
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        list_requirements
        return
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "Run this as root, or install sudo, as these packages are missing: ${missing[*]}"
        sudo=(sudo)
    fi
    mkdir -p build
    say "Installing, which may take minutes (build/packages.log shows how far that is): ${missing[*]}"
    local package lacking=() others=() is_up_to_date=yes
    "${sudo[@]}" apt-get update -qq || { say "The package lists could not be brought up to date." && is_up_to_date=no; }
    for package in "${missing[@]}"; do
        if [[ $is_up_to_date:$package = yes:collectd-* ]] && ! has_candidate "$package"; then
            lacking+=("$package")
        else
            others+=("$package")
        fi
    done
    [ ${#lacking[@]} -eq 0 ] || fail_without_collectd "${lacking[*]}" "${others[@]}"
    # Where clang brings its runtime library along, perf comes with the kernel's tools, and libraries have other versions,
    # there are no packages of these names; and tests do without some programs.
    for package in libclang-rt-dev linux-perf rtla libcurl3-gnutls mosquitto-clients ansible-core ansible-lint python3-kubernetes; do
        apt-cache show "$package" >/dev/null 2>&1 ||
            mapfile -t missing < <(printf '%s\n' "${missing[@]}" | grep -vxF "$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends \
        "${missing[@]}" </dev/null >build/packages.log 2>&1 && {
        installed_packages+=("${missing[@]}")
        return
    }
    tail -n 5 build/packages.log >&2
    fail "Installing failed. Install these by hand: ${missing[*]}"
}

# say_removable: how to remove what install_packages has installed, without collectd-core, which a collectd needs.
say_removable() {
    local package removable=() stays=""
    for package in "${installed_packages[@]}"; do
        if [ "$package" = collectd-core ]; then
            stays="; collectd-core stays, as collectd needs it"
        else
            removable+=("$package")
        fi
    done
    [ ${#removable[@]} -eq 0 ] || cat <<EOF

These packages were installed to build it. To remove them again, with what they brought along$stays:
  sudo apt-get purge --autoremove ${removable[*]}
EOF
}

# unpack_package PACKAGE FOLDER: Debian's package beneath a folder, without installing it.
unpack_package() {
    rm -rf "$2"
    mkdir -p "$2"
    (
        cd "$2" || exit
        quietly download.log apt-get download "$1" && dpkg-deb -x "$1"_*.deb .
    ) || say "The package $1 could not be had."
}

# install_libraries PACKAGE: those that it needs, as for one that is only unpacked.
install_libraries() {
    local libraries
    mapfile -t libraries < <(apt-cache depends "$1" 2>/dev/null | sed -n 's/^  Depends: \(lib[^ <>]*\)$/\1/p')
    [ ${#libraries[@]} -eq 0 ] || install_packages "${libraries[@]}"
}

list_requirements() {
    local tool lacking=()
    for tool in autoreconf pkg-config cc make; do
        command -v "$tool" >/dev/null || lacking+=("$tool")
    done
    PATH=$PATH:/usr/sbin:/usr/local/sbin command -v collectd >/dev/null || lacking+=(collectd)
    [ ${#lacking[@]} -eq 0 ] && return
    say "This is no Debian or Ubuntu, so nothing is installed. Needed are: a C compiler, make,"
    say "autoconf, automake, pkg-config, collectd with its development headers, and the"
    say "development files of libbpf, libcgroup (if there is one), libjansson, libmnl, libpfm4,"
    say "libtraceevent and ncurses (wide characters), and clang, which compiles what libbpf loads into the kernel."
    fail "Not found: ${lacking[*]}"
}

# quietly LOG COMMAND...: runs a command, its output in a file; the end of that on failure.
quietly() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 && return
    tail -n 30 "$log" >&2
    return 1
}

# bootstrap: makes configure, if it is missing or older than what it comes from.
bootstrap() {
    if [ configure -nt configure.ac ] && [ configure -nt acinclude.m4 ] && [ Makefile.in -nt Makefile.am ]; then
        return
    fi
    say "Making configure, which takes half a minute"
    mkdir -p build
    quietly build/autoreconf.log autoreconf -fi || fail "autoreconf failed: see build/autoreconf.log"
}

# configure_folder FOLDER [ARGUMENT...]: configures, if the arguments are new, for all to be made again.
configure_folder() {
    local folder=$1 top=$PWD
    shift
    mkdir -p "$folder"
    (
        cd "$folder" || exit
        [ ! -e Makefile ] || [ "$(cat arguments 2>/dev/null)" != "$*" ] || exit 0
        # What is there was compiled otherwise, and perhaps without knowing of which headers.
        rm -f arguments
        [ ! -e Makefile ] || quietly configure.log make clean || find . -name '*.[oa]' -delete
        quietly configure.log "$top/configure" "$@" && echo "$*" >arguments
    )
}

# build_in FOLDER [CONFIGURE ARGUMENT...]: the same, and makes all.
build_in() { configure_folder "$@" && quietly "$1/make.log" make -C "$1" -j"$(nproc)"; }

# build_for_try: what contrib/try shows. contrib/check does this while its tests wait.
build_for_try() { build_in build --enable-psi=yes --enable-cgroup_perf=yes --enable-wss=yes --enable-headroom=yes --enable-command=yes; }
