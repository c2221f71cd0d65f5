# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# installed_files.sh - what is to be installed, for the tests that look whether it is. To be sourced after
# ../collectd/daemon.sh.

source=$(realpath -- "$(dirname "${BASH_SOURCE[0]}")/../..")
# Of the make that runs the test: its jobs and variables are no others'.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

# value NAME: a variable of the build folder's makefile.
value() { printf 'print: ; @echo $(%s)\n' "$1" | make -s --no-print-directory -f Makefile -f - print; }

# samples: the files of contrib/ that users copy or run, below it.
samples() {
    (cd "$source/contrib" &&
        find collectd.conf.d dashboards prometheus systemd -type f \
            '(' -name '*.conf' -o -name '*.json' -o -name '*.yml' ')' 2>/dev/null
        printf '%s\n' containers/{Dockerfile,daemonset.yaml,start} fleet/{README.md,recording,relay.conf,simulate})
}
