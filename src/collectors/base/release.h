/* SPDX-License-Identifier: MIT */
/*
 * base/release.h - the release of the kernel, where nothing else shows what it can do.
 */
#ifndef HEADROOM_COLLECTORS_BASE_RELEASE_H
#define HEADROOM_COLLECTORS_BASE_RELEASE_H

#include <stdint.h>

struct hr_root;

/** 6.12.107 of "6.12.107+deb13-amd64"; `patch` is 0 where there is none: "7.3-rc1". */
struct hr_release {
    uint64_t major, minor, patch;
};

/**
 * Reads /proc/sys/kernel/osrelease.
 *
 * @return 0; -EBADMSG: it doesn't begin with such numbers; or the negative errno of reading it.
 */
int hr_release_read(const struct hr_root *root, struct hr_release *release);

#endif
