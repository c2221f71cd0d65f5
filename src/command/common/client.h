/* SPDX-License-Identifier: MIT */
/*
 * common/client.h - reads the values of a running collectd through its unixsock plugin.
 *
 * It speaks the plugin's protocol itself (collectd-unixsock(5)) rather than through
 * libcollectdclient: that cuts each field of an identifier at 63 bytes, so that it can't request
 * the value of a group with a longer name, nor distinguish two such groups; it waits for answers
 * without a time limit, ignoring signals and keys; it sends one request at a time; it parses
 * numbers by the locale.
 *
 * A connection belongs to one thread at a time. Only client_wait blocks.
 */
#ifndef HEADROOM_COMMAND_COMMON_CLIENT_H
#define HEADROOM_COMMAND_COMMON_CLIENT_H

#include <stddef.h>

/** Where collectd's socket is, unless the unixsock plugin is configured otherwise. */
#define CLIENT_DEFAULT_SOCKET "/var/run/collectd-unixsock"

struct client;

/**
 * Called to wait for collectd.
 *
 * @param context  as given to client_open().
 * @param fd       the connection.
 * @param events   what to wait for on it: POLLIN or POLLOUT.
 * @return 0 once that is possible; any other value ends the request, which returns it.
 */
typedef int client_wait(void *context, int fd, short events);

/**
 * Connects.
 *
 * @param path    of the socket; up to 107 bytes.
 * @param result  the caller ends it with client_close(); untouched on failure.
 * @return 0, -ENAMETOOLONG, -ENOMEM, -EAGAIN when collectd's queue of connections is full, or the
 *         negative errno of socket(2) or connect(2): -ENOENT no such file, -EACCES no permission,
 *         -ECONNREFUSED nothing listens there.
 */
int client_open(const char *path, client_wait *wait, void *context, struct client **result);

/** A client_wait for those that have nothing else to wait for: of 5 s. @param context  NULL.
 * @return 0, -ETIMEDOUT, or the negative errno of poll(2). */
int client_wait_briefly(void *context, int fd, short events);

/** Closes the connection and frees it. NULL is allowed. */
void client_close(struct client *client);

/**
 * Calls `each` with every identifier that collectd has a value of:
 * HOST/PLUGIN-INSTANCE/TYPE-INSTANCE.
 *
 * @param each     gets `context` and the identifier, which is valid only during the call. A value
 *                 other than 0 ends the listing, and is returned.
 * @return 0, or as client_get(). After any failure the connection can only be closed.
 */
int client_list(struct client *client, int (*each)(void *context, const char *identifier),
                void *context);

/** @return when the newest of the values that client_list() has listed last was read, in seconds
 * since 1970; NaN: it has listed none. */
double client_newest(const struct client *client);

/**
 * Fetches values: a GAUGE as it is, of anything else the rate per second.
 *
 * @param identifiers  `count` of them.
 * @param values       receives as many numbers: NaN where collectd has no value, or no longer has
 *                     one. Of a type with several values, the first.
 * @return 0, or -EPIPE or -ECONNRESET when collectd closed the connection, -EBADMSG when the answer
 *         is not understood, -ENOMEM, or what client_wait returned. After any failure the
 *         connection can only be closed.
 */
int client_get(struct client *client, const char *const *identifiers, double *values, size_t count);

/** Says why values can't be had, and what helps. @param error  what one of the above returned. */
void client_explain(int error, const char *path, char *text, size_t size);

/**
 * Checks the value of an option --socket.
 *
 * @param title  the subcommand's argv[0].
 * @return COMMAND_DONE, or COMMAND_MISUSED, which was reported.
 */
int client_check_path(const char *title, const char *path);

#endif
