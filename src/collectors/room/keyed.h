/* SPDX-License-Identifier: MIT */
/*
 * room/keyed.h - parsing the two formats of most of a group's files.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst ("Format").
 */
#ifndef HEADROOM_COLLECTORS_ROOM_KEYED_H
#define HEADROOM_COLLECTORS_ROOM_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A wanted key. */
struct hr_keyed {
    const char *name;
    uint64_t value;
    bool found;
};

/**
 * Parses "flat keyed" lines, "NAME VALUE\n", up to the last that is wanted: memory.stat goes on
 * for as many lines. Those of other names are skipped.
 *
 * @param keys  none of them found yet; each receives its value if it is found; unchanged on
 * failure.
 * @return 0; -EBADMSG: a line doesn't end, a wanted one has no number, or occurs twice while others
 *         are looked for.
 */
int hr_keyed_parse_flat(const char *text, size_t length, struct hr_keyed *keys, size_t count);

/** Sums up the keys that were found. @return 0; -ENODATA: none was; -EBADMSG: too large. */
int hr_keyed_sum(const struct hr_keyed *keys, size_t count, uint64_t *sum);

/** The rest of a "nested keyed" text; see hr_keyed_next_device(). */
struct hr_text;

/**
 * Removes the next line about a block device, "MAJOR:MINOR…\n", from the front of a text.
 *
 * @param line  receives what follows the device: nothing, or a blank and more.
 * @return 0; -ENODATA: there is no more; -EBADMSG: a line doesn't end.
 */
int hr_keyed_next_line(struct hr_text *text, uint32_t *major, uint32_t *minor,
                       struct hr_text *line);

/**
 * Parses the next line about a block device, "MAJOR:MINOR NAME=VALUE NAME=VALUE…\n". The value
 * "max" is UINT64_MAX. Fields of other names and lines about anything else are skipped.
 *
 * @param text  the line is removed from its front.
 * @param keys  each receives its value and whether it was found.
 * @return 0; -ENODATA: there is no more; -EBADMSG: a line doesn't end, or a wanted field has no
 *         number or occurs twice.
 */
int hr_keyed_next_device(struct hr_text *text, uint32_t *major, uint32_t *minor,
                         struct hr_keyed *keys, size_t count);

#endif
