/* SPDX-License-Identifier: MIT */
/*
 * support/fake_types.h - the types of types.db, for the stand-in daemon.
 */
#ifndef HEADROOM_TESTS_SUPPORT_FAKE_TYPES_H
#define HEADROOM_TESTS_SUPPORT_FAKE_TYPES_H

#include "collectd.h"

#include "plugin.h"

#define FAKE_MAX_SOURCES 8

struct fake_type {
    char name[DATA_MAX_NAME_LEN]; /**< first, so that it can be looked up by its text alone */
    size_t count;
    data_source_t sources[FAKE_MAX_SOURCES];
};

/** Reads the file, see fake_collectd.h; an error in it ends the program with a message. */
void fake_types_read(void);

/** A type by its name; NULL if there is none. */
const struct fake_type *fake_types_find(const char *name);

/** Forgets all types. */
void fake_types_free(void);

#endif
