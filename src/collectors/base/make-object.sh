#!/bin/bash
# SPDX-License-Identifier: MIT
# make-object.sh SOURCE HEADER TARGET - compiles a BPF program, for bpfel or bpfeb, into a header with the
# bytes of the object. Environment: CLANG, CPPFLAGS, and LLVM_STRIP, which may be empty.
set -eu
source=$1 header=$2 target=$3
object=$header.o
trap 'rm -f "$object" "$header.new"' EXIT
needed="needed to compile the BPF programs, which each release has"
: "${CLANG:?clang is $needed: install it, and configure again}"
# shellcheck disable=SC2086 # CPPFLAGS are several words
if ! "$CLANG" -target "$target" ${CPPFLAGS:-} -include bpf/bpf_helpers.h -E -x c /dev/null >/dev/null 2>&1; then
    echo "libbpf's headers are $needed: install libbpf-dev, and configure again" >&2
    exit 1
fi

# The types of the program (BTF) come with -g; what else comes with it, and has the names of folders, is
# stripped where that can be done.
# shellcheck disable=SC2086 # CPPFLAGS are several words
"$CLANG" -g -O2 -Wall -Wextra -Wno-unused-parameter -Wno-missing-declarations -Werror -target "$target" \
    -fdebug-compilation-dir=. ${CPPFLAGS:-} -I"${source%/*}/.." -c "$source" -o "$object"
[ -z "${LLVM_STRIP:-}" ] || "$LLVM_STRIP" -g "$object"
od -An -v -tx1 "$object" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g' >"$header.new"
mv "$header.new" "$header"
