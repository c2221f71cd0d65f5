/* SPDX-License-Identifier: MIT */
/*
 * headroom/takers.h - which groups take what another lacks, and which wait for it.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_TAKERS_H
#define HEADROOM_PLUGIN_HEADROOM_TAKERS_H

#include "common/message.h"
#include "headroom/cgroup.h"
#include "headroom/subject.h"

/** The groups that are measured; NULL: none. Their data is a struct subject, or NULL. */
struct takers {
    struct hr_cgroup_set *groups;
    size_t count; /**< how many are named at most */
};

/** Copies the path of the group whose limit binds, "" of the machine. */
void takers_binding_path(const struct subject *subject, const struct hr_room *room, char *path,
                         size_t size);

/**
 * Appends who takes, in the group whose limit binds: of memory those that grew, by their part of
 * all growth there; of CPU time those that use most.
 *
 * @param resource  SUBJECT_CPU or SUBJECT_MEMORY.
 */
void takers_append(const struct takers *takers, const struct subject *subject, int resource,
                   struct message *message);

/** Appends who of these waits, from 1 % of the time on. */
void takers_append_waiting(const struct takers *takers, const struct subject *subject, int resource,
                           struct message *message);

#endif
