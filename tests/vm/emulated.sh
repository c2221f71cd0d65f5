# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# emulated.sh - what the lists of tests for the emulated machine begin with. To be sourced.
#
# HEADROOM_KERNEL  the kernel's file; build-kernel makes one
here=$(dirname "$0")
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
command -v qemu-system-x86_64 >/dev/null || skip_all "qemu-system-x86_64 is missing"
kernel=${HEADROOM_KERNEL:-}
[ -n "$kernel" ] || skip_all "there is no kernel: HEADROOM_KERNEL is not set (tests/vm/build-kernel builds one)"
[ -r "$kernel" ] || skip_all "the kernel $kernel can't be read"

# emulate CLOCK TEST...: runs them all in one boot, each with ten minutes by the machine's clock, which is what
# HEADROOM_VM_CLOCK is to run.
emulate() {
    HEADROOM_VM_CLOCK=$1
    export HEADROOM_VM_CLOCK
    shift
    exec "$BASH" "$here/run" "$kernel" 600 "$@"
}
