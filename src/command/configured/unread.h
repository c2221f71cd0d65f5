/* SPDX-License-Identifier: MIT */
/*
 * configured/unread.h - samples that were copied to where configurations of distributions include
 * files from, beside one that doesn't: collectd starts, and knows nothing of them.
 */
#ifndef HEADROOM_COMMAND_CONFIGURED_UNREAD_H
#define HEADROOM_COMMAND_CONFIGURED_UNREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "configured/used_features.h"

/** All zeros: there are none. */
struct unread {
    char directory[192]; /**< where they are */
    char names[192];     /**< "headroom.conf, psi.conf"; the rest is counted: ", 3 more" */
    size_t count, named;
    bool has_socket; /**< one of them loads unixsock */
};

/**
 * Finds files of the directories collectd.conf.d or collectd.d beside a configuration, with names
 * that end in ".conf", that load a plugin of headroom's, or unixsock, and that it doesn't read.
 *
 * @param usage  as of usage_read(), which found one or not.
 */
void unread_find(const struct usage *usage, struct unread *unread);

/** Prints the line that has collectd read them. */
void unread_print_remedy(const struct unread *unread, char *text, size_t size);

/**
 * Explains as client_explain() why collectd can't be asked; where nothing listens, by its
 * configuration: which loads no unixsock, or another socket.
 *
 * @param socket  where it was asked.
 * @param config  NULL: collectd's own, which counts for the default socket only.
 */
void unread_explain_silence(int error, const char *socket, const char *config, char *text,
                            size_t size);

/** What was explained, and when. All zeros: nothing yet. */
struct unread_silence {
    int error;
    uint64_t looked_ns;
    char text[1024];
};

/**
 * The same as unread_explain_silence(), which looks at the configuration again after 10 s, or when
 * the error is another one.
 *
 * @param silence  as it was left by the last call.
 * @return the explanation, good until the next call.
 */
const char *unread_explain_again(struct unread_silence *silence, int error, const char *socket,
                                 const char *config);

#endif
