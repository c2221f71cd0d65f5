/* SPDX-License-Identifier: MIT */
#include "common/client.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/usage.h"

#define BRIEFLY_MS 5000

enum {
    LINE_MAX_BYTES = 65536, /* a longer line isn't from collectd */
    COMMAND_MAX = 1000,     /* collectd reads commands into 1,024 bytes */
    REQUESTS_AT_ONCE = 64   /* fit into the socket's buffer; otherwise both sides could block in
                               their writes for ever */
};

struct client {
    int fd;
    client_wait *wait;
    void *context;
    char *buffer; /* the bytes from `start` to `end` are received and not yet parsed */
    size_t start, end, size;
    double newest;                                 /* of what was listed */
    char commands[REQUESTS_AT_ONCE * COMMAND_MAX]; /* being sent */
};

int client_open(const char *path, client_wait *wait, void *context, struct client **result)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, length + 1);

    struct client *client = calloc(1, sizeof(*client));
    if (client == NULL)
        return -ENOMEM;
    client->wait = wait;
    client->context = context;
    client->newest = NAN;
    client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (client->fd < 0 ||
        connect(client->fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        int error = errno;
        client_close(client);
        return -error;
    }
    *result = client;
    return 0;
}

int client_wait_briefly(void *context, int fd, short events)
{
    struct pollfd polled = {.fd = fd, .events = events};
    int ready;

    (void)context;
    do
        ready = poll(&polled, 1, BRIEFLY_MS);
    while (ready < 0 && errno == EINTR);
    if (ready < 0)
        return -errno;
    return ready == 0 ? -ETIMEDOUT : 0;
}

void client_close(struct client *client)
{
    if (client == NULL)
        return;
    if (client->fd >= 0)
        close(client->fd);
    free(client->buffer);
    free(client);
}

/* Waits if the last call would have blocked; 0: retry. */
static int wait_or_fail(struct client *client, int error, short events)
{
    if (error == EAGAIN)
        return client->wait(client->context, client->fd, events);
    return error == EINTR ? 0 : -error;
}

static int send_all(struct client *client, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(client->fd, bytes, length, MSG_NOSIGNAL);
        if (sent >= 0) {
            bytes += sent;
            length -= (size_t)sent;
            continue;
        }
        int status = wait_or_fail(client, errno, POLLOUT);
        if (status != 0)
            return status;
    }
    return 0;
}

/* Frees space in the buffer: first by moving, then by growing. */
static int reserve_space(struct client *client)
{
    if (client->start > 0) {
        memmove(client->buffer, client->buffer + client->start, client->end - client->start);
        client->end -= client->start;
        client->start = 0;
    }
    if (client->end < client->size)
        return 0;
    if (client->size >= LINE_MAX_BYTES)
        return -EBADMSG;
    size_t size = client->size ? 2 * client->size : 16384;
    char *grown = realloc(client->buffer, size);
    if (grown == NULL)
        return -ENOMEM;
    client->buffer = grown;
    client->size = size;
    return 0;
}

static int receive_more(struct client *client)
{
    int status = reserve_space(client);
    while (status == 0) {
        ssize_t got = recv(client->fd, client->buffer + client->end, client->size - client->end, 0);
        if (got > 0) {
            client->end += (size_t)got;
            return 0;
        }
        status = got == 0 ? -EPIPE : wait_or_fail(client, errno, POLLIN);
    }
    return status;
}

/* Removes the next line from the buffer, without its line feed; it is valid until the next call. */
static int read_line(struct client *client, char **line)
{
    for (size_t searched = 0;;) {
        char *start = client->buffer + client->start;
        size_t length = client->end - client->start;
        char *newline =
            length > searched ? memchr(start + searched, '\n', length - searched) : NULL;
        if (newline != NULL) {
            client->start += (size_t)(newline - start) + 1;
            if (newline > start && newline[-1] == '\r')
                newline--;
            *newline = '\0';
            *line = start;
            return 0;
        }
        searched = length;
        int status = receive_more(client);
        if (status != 0)
            return status;
    }
}

/* An answer's first line is "COUNT text": that many lines follow, or it is negative: an error. */
static int read_status(struct client *client, long *count)
{
    char *line, *end;
    int status = read_line(client, &line);
    if (status != 0)
        return status;
    errno = 0;
    long lines = strtol(line, &end, 10);
    if (end == line || errno != 0 || (*end != ' ' && *end != '\0'))
        return -EBADMSG;
    *count = lines;
    return 0;
}

double client_newest(const struct client *client)
{
    return client->newest;
}

/* "1719906000.123 HOST/..."; the identifier may have spaces of its own. */
static int read_listed(struct client *client, const char **identifier)
{
    char *line, *end;
    int status = read_line(client, &line);
    if (status != 0)
        return status;
    double time = strtod(line, &end);
    if (end == line || *end != ' ')
        return -EBADMSG;
    client->newest = fmax(client->newest, time);
    *identifier = end + 1;
    return 0;
}

int client_list(struct client *client, int (*each)(void *context, const char *identifier),
                void *context)
{
    static const char command[] = "LISTVAL\n";
    long count;
    client->newest = NAN;
    int status = send_all(client, command, sizeof(command) - 1);
    if (status == 0)
        status = read_status(client, &count);
    if (status == 0 && count < 0)
        status = -EBADMSG;
    for (long i = 0; status == 0 && i < count; i++) {
        const char *identifier;
        status = read_listed(client, &identifier);
        if (status == 0)
            status = each(context, identifier);
    }
    return status;
}

/* Writes `GETVAL "IDENTIFIER"`. Returns its length, 0 if it is too long for collectd. */
static size_t format_getval(const char *identifier, char *command)
{
    size_t length = (size_t)sprintf(command, "GETVAL \"");
    for (const char *c = identifier; *c != '\0'; c++) {
        if (length + 5 > COMMAND_MAX || *c == '\n' || *c == '\r')
            return 0;
        if (*c == '"' || *c == '\\')
            command[length++] = '\\';
        command[length++] = *c;
    }
    command[length++] = '"';
    command[length++] = '\n';
    return length;
}

/* Reads the answer to one GETVAL: lines "NAME=NUMBER". */
static int read_value(struct client *client, double *value)
{
    long count;
    int status = read_status(client, &count);
    for (long i = 0; status == 0 && i < count; i++) {
        char *line, *end;
        status = read_line(client, &line);
        if (status != 0)
            break;
        char *number = strchr(line, '=');
        if (number == NULL)
            return -EBADMSG;
        double parsed = strtod(number + 1, &end);
        if (end == number + 1 || *end != '\0')
            return -EBADMSG;
        if (i == 0)
            *value = parsed;
    }
    return status;
}

/* Sends up to REQUESTS_AT_ONCE requests, then reads their answers. */
static int request_values(struct client *client, const char *const *identifiers, double *values,
                          size_t count)
{
    bool asked[REQUESTS_AT_ONCE];
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        size_t added = format_getval(identifiers[i], client->commands + length);
        asked[i] = added > 0;
        values[i] = NAN;
        length += added;
    }
    int status = send_all(client, client->commands, length);
    for (size_t i = 0; status == 0 && i < count; i++) {
        if (asked[i])
            status = read_value(client, &values[i]);
    }
    return status;
}

int client_get(struct client *client, const char *const *identifiers, double *values, size_t count)
{
    for (size_t done = 0; done < count; done += REQUESTS_AT_ONCE) {
        size_t some = count - done < REQUESTS_AT_ONCE ? count - done : REQUESTS_AT_ONCE;
        int status = request_values(client, identifiers + done, values + done, some);
        if (status != 0)
            return status;
    }
    return 0;
}

/* --- Problems ---------------------------------------------------- */

/* Why values can't be shown, and the remedy. Each takes the socket's path. */
static const struct problem {
    int error;
    const char *text;
} problems[] = {
    {-ENOENT, "no collectd listens on %s: start it, or name its socket with --socket "
              "(the unixsock plugin's SocketFile)"},
    {-ECONNREFUSED, "nothing listens on %s: start collectd, or name its socket with "
                    "--socket (the unixsock plugin's SocketFile)"},
    {-EACCES, "no permission to use %s: run this as root or as a member of the unixsock plugin's "
              "SocketGroup, and see its SocketPerms"},
    {-ENOTDIR, "part of the path %s is not a directory: name collectd's socket with "
               "--socket (the unixsock plugin's SocketFile)"},
    {-EPROTOTYPE, "%s is not a socket of collectd's unixsock plugin: name that with --socket "
                  "(the plugin's SocketFile)"},
    {-EPIPE, "collectd closed the connection on %s: was it stopped or restarted?"},
    {-ECONNRESET, "collectd closed the connection on %s: was it stopped or restarted?"},
    {-EAGAIN, "too many clients wait for collectd on %s: is it stopped or overloaded?"},
    {-ETIMEDOUT, "collectd does not answer on %s: is it stopped or overloaded?"},
    {-EBADMSG, "what listens on %s does not answer as collectd's unixsock plugin does: name "
               "the plugin's socket with --socket (its SocketFile)"},
};

void client_explain(int error, const char *path, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++) {
        if (problems[i].error == error) {
            snprintf(text, size, problems[i].text, path);
            return;
        }
    }
    snprintf(text, size, "cannot read from collectd on %s: %s", path, strerror(-error));
}

int client_check_path(const char *title, const char *path)
{
    const size_t longest = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;
    if (path[0] == '\0' || strlen(path) > longest)
        return command_misused(title, "--socket takes a path of 1 to %zu bytes, not '%s'", longest,
                               path);
    return COMMAND_DONE;
}
