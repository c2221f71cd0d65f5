/* SPDX-License-Identifier: MIT */
#include "headroom/taskstats.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "process/taskstats_reply.h"

/* A reply has 600 bytes, one about the family 112. */
#define REPLY_SIZE 8192

/* The largest number of unrelated datagrams to skip for a batch of requests. The socket's own limit
 * is lower; this one bounds the loop. */
#define MAX_STALE 1024

struct hr_taskstats {
    struct hr_taskstats_calls calls;
    struct mnl_socket *socket; /* NULL if the caller gave the calls */
    uint16_t family;
    uint32_t sequence; /* of the last request */
    _Alignas(uint64_t) unsigned char reply[REPLY_SIZE];
};

/* --- The real socket ------------------------------------------------------ */

static int open_socket(void *context)
{
    struct hr_taskstats *taskstats = context;
    struct mnl_socket *opened = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (opened == NULL)
        return -errno;
    if (mnl_socket_bind(opened, 0, MNL_SOCKET_AUTOPID) < 0) {
        int status = -errno;
        mnl_socket_close(opened);
        return status;
    }
    taskstats->socket = opened;
    return 0;
}

static int send_to_kernel(void *context, const void *messages, size_t length)
{
    const struct hr_taskstats *taskstats = context;

    return mnl_socket_sendto(taskstats->socket, messages, length) < 0 ? -errno : 0;
}

static ssize_t receive_from_kernel(void *context, void *buffer, size_t size)
{
    const struct hr_taskstats *taskstats = context;
    ssize_t got = mnl_socket_recvfrom(taskstats->socket, buffer, size);

    if (got >= 0)
        return got;
    return errno == ENOSPC ? -EBADMSG : -errno; /* libmnl's errno for a truncated datagram */
}

static void close_socket(void *context)
{
    const struct hr_taskstats *taskstats = context;

    mnl_socket_close(taskstats->socket);
}

static const struct hr_taskstats_calls real_calls = {
    .open = open_socket,
    .send = send_to_kernel,
    .receive = receive_from_kernel,
    .close = close_socket,
};

/* --- Requests and replies ------------------------------------------------- */

static uint32_t take_sequence(struct hr_taskstats *taskstats)
{
    if (++taskstats->sequence == 0) /* unsolicited messages have that number */
        taskstats->sequence = 1;
    return taskstats->sequence;
}

/* Sends all requests at once: that takes half the time of one by one.
 * @param requests  their sequence numbers are set here. */
static int send_requests(struct hr_taskstats *taskstats, struct hr_taskstats_request *requests,
                         size_t count)
{
    _Alignas(uint32_t) unsigned char messages[HR_TASKSTATS_BATCH * HR_TASKSTATS_REQUEST_SIZE];
    const struct hr_taskstats_calls *calls = &taskstats->calls;
    size_t length = 0;

    for (size_t i = 0; i < count; i++) {
        requests[i].sequence = take_sequence(taskstats);
        length += hr_taskstats_build_request(&requests[i], messages + length);
    }
    return calls->send(calls->context, messages, length);
}

static int parse_reply(struct hr_taskstats *taskstats, size_t length,
                       const struct hr_taskstats_request *request, struct hr_task_delays *delays)
{
    if (request->family == 0)
        return hr_taskstats_parse_family(taskstats->reply, length, request, &taskstats->family);
    return hr_taskstats_parse(taskstats->reply, length, request, delays);
}

/* Finds the request that a datagram replies to, among those without a reply (-EAGAIN). Replies come
 * in the order of the requests. @return how many it replies to: 1 or 0. */
static size_t store_reply(struct hr_taskstats *taskstats, size_t length,
                          const struct hr_taskstats_request *requests,
                          struct hr_taskstats_query *queries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (queries[i].status != -EAGAIN)
            continue;
        queries[i].status = parse_reply(taskstats, length, &requests[i], &queries[i].delays);
        if (queries[i].status != -EAGAIN)
            return 1;
    }
    return 0;
}

static void report_loss(struct hr_taskstats_query *queries, size_t count, int loss)
{
    for (size_t i = 0; i < count; i++)
        if (queries[i].status == -EAGAIN)
            queries[i].status = loss;
}

/* The kernel has replied by the time that sending returns; a missing reply is lost. An earlier
 * reply may still be queued, if its own request failed. */
static int receive_replies(struct hr_taskstats *taskstats,
                           const struct hr_taskstats_request *requests,
                           struct hr_taskstats_query *queries, size_t count)
{
    const struct hr_taskstats_calls *calls = &taskstats->calls;
    size_t stored = 0;
    int loss = -EAGAIN;

    for (size_t i = 0; i < MAX_STALE + count && stored < count; i++) {
        ssize_t got = calls->receive(calls->context, taskstats->reply, sizeof(taskstats->reply));
        if (got == -EAGAIN)
            break;
        if (got == -ENOBUFS)
            loss = -ENOBUFS; /* what is queued can still be read */
        if (got == -ENOBUFS || got == -EINTR)
            continue;
        if (got < 0)
            return (int)got;
        stored += store_reply(taskstats, (size_t)got, requests, queries, count);
    }
    report_loss(queries, count, loss);
    return 0;
}

static int perform_requests(struct hr_taskstats *taskstats, struct hr_taskstats_request *requests,
                            struct hr_taskstats_query *queries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        queries[i].status = -EAGAIN;
    int status = send_requests(taskstats, requests, count);
    return status < 0 ? status : receive_replies(taskstats, requests, queries, count);
}

int hr_taskstats_read_batch(struct hr_taskstats *taskstats, struct hr_taskstats_query *queries,
                            size_t count)
{
    struct hr_taskstats_request requests[HR_TASKSTATS_BATCH];

    if (count == 0 || count > HR_TASKSTATS_BATCH)
        return count == 0 ? 0 : -EINVAL;
    for (size_t i = 0; i < count; i++)
        requests[i] = (struct hr_taskstats_request){
            .family = taskstats->family, .of_process = !queries[i].is_thread, .pid = queries[i].id};
    return perform_requests(taskstats, requests, queries, count);
}

static int read_one(struct hr_taskstats *taskstats, struct hr_taskstats_query query,
                    struct hr_task_delays *delays)
{
    int status = hr_taskstats_read_batch(taskstats, &query, 1);

    if (status == 0)
        status = query.status;
    if (status == 0)
        *delays = query.delays;
    return status;
}

int hr_taskstats_read_process(struct hr_taskstats *taskstats, pid_t pid,
                              struct hr_task_delays *delays)
{
    return read_one(taskstats, (struct hr_taskstats_query){.id = pid}, delays);
}

int hr_taskstats_read_thread(struct hr_taskstats *taskstats, pid_t tid,
                             struct hr_task_delays *delays)
{
    return read_one(taskstats, (struct hr_taskstats_query){.id = tid, .is_thread = true}, delays);
}

/* --- Opening and closing -------------------------------------------------- */

/* Any user may request the family's number, but not a task's delays: our own are read to check. */
static int find_family_and_check_access(struct hr_taskstats *taskstats)
{
    struct hr_taskstats_request request = {.family = 0};
    struct hr_taskstats_query reply;
    struct hr_task_delays delays;

    int status = perform_requests(taskstats, &request, &reply, 1);
    if (status == 0)
        status = reply.status;
    return status < 0 ? status : hr_taskstats_read_process(taskstats, getpid(), &delays);
}

int hr_taskstats_open(const struct hr_taskstats_calls *calls, struct hr_taskstats **taskstats)
{
    struct hr_taskstats *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->calls = calls != NULL ? *calls : real_calls;
    if (calls == NULL)
        opened->calls.context = opened;
    int status = opened->calls.open(opened->calls.context);
    if (status < 0) {
        free(opened);
        return status;
    }
    status = find_family_and_check_access(opened);
    if (status < 0) {
        hr_taskstats_close(opened);
        return status;
    }
    *taskstats = opened;
    return 0;
}

void hr_taskstats_close(struct hr_taskstats *taskstats)
{
    if (taskstats == NULL)
        return;
    taskstats->calls.close(taskstats->calls.context);
    free(taskstats);
}
