/* SPDX-License-Identifier: MIT */
/*
 * common/short_name.h - names of groups as short as those of headroom-mail(1), as far as they can
 * be known from a plugin instance, or the path.
 */
#ifndef HEADROOM_COMMAND_COMMON_SHORT_NAME_H
#define HEADROOM_COMMAND_COMMON_SHORT_NAME_H

#include <stdbool.h>
#include <stddef.h>

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
 * The same of a path, which keeps its slashes, as headroom-mail(1) has it: identifiers are
 * shortened; of what is still longer than 48 bytes the end, "user.slice/.../app-x.scope", of a
 * container with its pod.
 */
void short_path(const char *path, char text[SHORT_NAME_SIZE]);

/** A group whose name is to be short. */
struct short_name_of {
    const char *host, *instance;
    const char *path; /**< NULL: not known */
};

/**
 * Finds the short names of some groups, where these are distinct on their host.
 *
 * @param names  receives of each its name, for free(); NULL: its instance is none too long. What is
 *               there on failure is to be freed, too.
 * @return 0 or -ENOMEM.
 */
int short_names_find(const struct short_name_of *groups, size_t count, char **names);

/**
 * Whether a text may be short for a group: its name as above, or as a mail has it, also with an
 * ellipsis for what a narrow terminal had no room for; that of a container without its pod; or the
 * last parts of the path.
 *
 * @param kind  of `group`: of an instance it isn't known where parts begin.
 */
bool short_name_means(const char *text, const char *group, enum name_kind kind);

#endif
