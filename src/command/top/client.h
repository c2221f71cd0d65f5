/* SPDX-License-Identifier: MIT */
/*
 * top/client.h - asks a running collectd for its values, through its unixsock plugin.
 *
 * It speaks the plugin's protocol itself (collectd-unixsock(5)) rather than through
 * libcollectdclient: that cuts each field of an identifier at 63 bytes, so that it can't ask for
 * the value of a group with a longer name, nor tell two such groups apart; it waits for answers
 * without a limit and deaf to signals and keys; it sends one request at a time; it reads numbers
 * by the locale.
 *
 * A connection belongs to one thread at a time. Only client_wait blocks.
 */
#ifndef HEADROOM_COMMAND_TOP_CLIENT_H
#define HEADROOM_COMMAND_TOP_CLIENT_H

#include <stddef.h>

struct client;

/**
 * Called when collectd makes us wait.
 *
 * @param context  as given to client_open().
 * @param fd       the connection.
 * @param events   what to wait for on it: POLLIN or POLLOUT.
 * @return 0 when that has come; any other value ends the request, which returns it.
 */
typedef int client_wait(void *context, int fd, short events);

/**
 * Connects.
 *
 * @param path    of the socket; up to 107 bytes.
 * @param result  receives the connection, to be given to client_close(); untouched on failure.
 * @return 0, -ENAMETOOLONG, -ENOMEM, -EAGAIN when more clients wait for collectd than it lets, or
 *         the negative errno of socket(2) or connect(2): -ENOENT no such file, -EACCES no
 *         permission, -ECONNREFUSED nobody listens there.
 */
int client_open(const char *path, client_wait *wait, void *context, struct client **result);

/** Closes the connection and frees it. NULL is fine. */
void client_close(struct client *client);

/**
 * Calls `each` with every identifier collectd holds a value of: HOST/PLUGIN-INSTANCE/TYPE-INSTANCE.
 *
 * @param each     gets `context` and the identifier, which is valid only during the call. A value
 *                 other than 0 ends the listing, and is returned.
 * @return 0, or as client_get(). After any failure the connection can only be closed.
 */
int client_list(struct client *client, int (*each)(void *context, const char *identifier),
                void *context);

/**
 * Fetches values: a GAUGE as it is, of anything else the rate per second.
 *
 * @param identifiers  `count` of them.
 * @param values       receives as many numbers: NaN where collectd has none (any more), or none
 *                     that is known. Of a type with several values, the first.
 * @return 0, or -EPIPE or -ECONNRESET when collectd closed the connection, -EBADMSG when the answer
 *         is not understood, -ENOMEM, or what client_wait returned. After any failure the
 *         connection can only be closed.
 */
int client_get(struct client *client, const char *const *identifiers, double *values, size_t count);

#endif
