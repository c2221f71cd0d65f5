/* SPDX-License-Identifier: MIT */
/*
 * headroom/kills.h - the option OOM: a notification for each process that the kernel kills for lack
 * of memory.
 *
 * A thread of its own finds the kills, another one dispatches them. The thread that reads values
 * says which groups are measured.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_KILLS_H
#define HEADROOM_PLUGIN_HEADROOM_KILLS_H

struct hr_root;
struct kills;

/**
 * Starts to notify of kills, and logs what can't be known of them.
 *
 * @param root  must outlive the object.
 * @return 0 or a negative errno.
 */
int kills_open(const struct hr_root *root, struct kills **kills);

/** NULL is allowed. */
void kills_close(struct kills *kills);

/** Kills in this group, and below it, are of this instance, which must stay until
 * kills_remove_group(). */
void kills_add_group(struct kills *kills, const char *path, const char *instance);

/** Ends that. */
void kills_remove_group(struct kills *kills, const char *path);

#endif
