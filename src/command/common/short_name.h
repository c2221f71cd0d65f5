/* SPDX-License-Identifier: MIT */
/*
 * common/short_name.h - names of groups as short as those of headroom-mail(1), as far as they can
 * be known from a plugin instance, or the path.
 */
#ifndef HEADROOM_COMMAND_COMMON_SHORT_NAME_H
#define HEADROOM_COMMAND_COMMON_SHORT_NAME_H

#include <stdbool.h>

/** What the name of a group is. */
enum name_kind {
    NAME_PATH,    /**< below the mount, with slashes between its parts */
    NAME_INSTANCE /**< of a plugin, with "_" for slashes, which look like those of names */
};

/** Fits any: collectd's plugin instances have up to 127 bytes. */
#define SHORT_NAME_SIZE 288

/**
 * Shortens the name of a group: identifiers to as much as Docker and kubectl show; of what is still
 * longer than 48 bytes the end, of a container with its pod: "cri-containerd-748a7a914a7d.scope of
 * pod 00000007". Which "_" stand for slashes is known behind systemd's units, and behind the "~"
 * and hash of a shortened instance.
 *
 * @param instance  a longer one is cut.
 * @param path      of the group, which has the pod where the instance doesn't; NULL: not known.
 */
void short_name(const char *instance, const char *path, char text[SHORT_NAME_SIZE]);

/**
 * Whether a text may be short for a group: its name as above, or as a mail has it, also with an
 * ellipsis for what a narrow terminal had no room for; that of a container without its pod; or the
 * last parts of the path.
 *
 * @param kind  of `group`: of an instance it isn't known where parts begin.
 */
bool short_name_means(const char *text, const char *group, enum name_kind kind);

#endif
