/* SPDX-License-Identifier: MIT */
/*
 * common/state_writer.h - writes a state file in a thread of its own, as disks may be what is
 * stalled: whoever has a new text of it doesn't wait.
 */
#ifndef HEADROOM_PLUGIN_COMMON_STATE_WRITER_H
#define HEADROOM_PLUGIN_COMMON_STATE_WRITER_H

#include <stddef.h>
#include <stdint.h>

/** One version of the file. */
struct state_text {
    char *bytes; /**< on the heap; NULL: there is none */
    size_t length;
    uint64_t number; /**< the caller's */
};

struct state_writer;

/**
 * Starts the thread.
 *
 * @param name     its name, as in ps -L and the like.
 * @param write    writes a text, and logs what fails: called by the thread, or, at the end, by
 *                 whoever closes.
 * @param context  what write gets; must outlive the writer.
 * @param writer   receives it; untouched on failure.
 * @return 0 or a negative errno.
 */
int state_writer_open(const char *name, void (*write)(void *context, const struct state_text *text),
                      void *context, struct state_writer **writer);

/** Has a text written. It takes the place of one that waits, and its bytes are freed. */
void state_writer_put(struct state_writer *writer, const struct state_text *text);

/** Writes what waits, ends the thread, and frees. NULL is allowed. */
void state_writer_close(struct state_writer *writer);

#endif
