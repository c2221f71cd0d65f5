/* SPDX-License-Identifier: MIT */
#include "support/fake_taskstats.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_REPLY 2048

struct fake_reply {
    struct fake_reply *next;
    ssize_t length; /* or a negative errno */
    _Alignas(8) unsigned char bytes[MAX_REPLY];
};

struct fake_task {
    struct fake_task *next;
    bool is_process;
    pid_t id;
    struct hr_task_delays delays;
};

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "fake_taskstats: %s\n", what);
    abort();
}

/* --- Tasks ---------------------------------------------------------------- */

static struct fake_task **find_task(struct fake_taskstats *fake, bool is_process, pid_t id)
{
    struct fake_task **link = &fake->tasks;

    while (*link != NULL && ((*link)->id != id || (*link)->is_process != is_process))
        link = &(*link)->next;
    return link;
}

static void set_task(struct fake_taskstats *fake, bool is_process, pid_t id,
                     const struct hr_task_delays *delays)
{
    struct fake_task **link = find_task(fake, is_process, id), *task = *link;

    if (delays == NULL) {
        if (task != NULL)
            *link = task->next;
        free(task);
        return;
    }
    if (task == NULL) {
        task = *link = calloc(1, sizeof(*task));
        require(task != NULL, "no memory");
    }
    task->is_process = is_process;
    task->id = id;
    task->delays = *delays;
}

void fake_taskstats_set_process(struct fake_taskstats *fake, pid_t pid,
                                const struct hr_task_delays *delays)
{
    set_task(fake, true, pid, delays);
}

void fake_taskstats_set_thread(struct fake_taskstats *fake, pid_t tid,
                               const struct hr_task_delays *delays)
{
    set_task(fake, false, tid, delays);
}

/* --- Messages ------------------------------------------------------------- */

static void append_bytes(unsigned char *bytes, size_t *length, const void *data, size_t size)
{
    require(*length + size + 4 <= MAX_REPLY, "a message is too long");
    memcpy(bytes + *length, data, size);
    *length += size;
    while (*length % 4 != 0)
        bytes[(*length)++] = 0;
}

static void append_attribute(unsigned char *bytes, size_t *length, uint16_t type, const void *data,
                             size_t size)
{
    const struct nlattr head = {.nla_len = (uint16_t)(sizeof(head) + size), .nla_type = type};

    append_bytes(bytes, length, &head, sizeof(head));
    append_bytes(bytes, length, data, size);
}

/* @return the length of a message so far: its two headers. */
static size_t begin_message(unsigned char *bytes, uint16_t type, uint32_t sequence, uint8_t command)
{
    const struct nlmsghdr head = {.nlmsg_type = type, .nlmsg_seq = sequence, .nlmsg_pid = 4711};
    const struct genlmsghdr generic = {.cmd = command, .version = 1};
    size_t length = 0;

    append_bytes(bytes, &length, &head, sizeof(head));
    append_bytes(bytes, &length, &generic, sizeof(generic));
    return length;
}

static size_t end_message(unsigned char *bytes, size_t length)
{
    struct nlmsghdr *head = (void *)bytes;

    head->nlmsg_len = (uint32_t)length;
    return length;
}

static size_t make_error(unsigned char *bytes, int error, const struct nlmsghdr *request)
{
    const struct nlmsghdr head = {.nlmsg_type = NLMSG_ERROR, .nlmsg_seq = request->nlmsg_seq};
    size_t length = 0;

    append_bytes(bytes, &length, &head, sizeof(head));
    append_bytes(bytes, &length, &error, sizeof(error));
    append_bytes(bytes, &length, request, request->nlmsg_len);
    return end_message(bytes, length);
}

static size_t make_family(unsigned char *bytes, uint32_t sequence)
{
    static const uint16_t number = FAKE_FAMILY;
    static const uint32_t version = 1;
    size_t length = begin_message(bytes, GENL_ID_CTRL, sequence, CTRL_CMD_NEWFAMILY);

    append_attribute(bytes, &length, CTRL_ATTR_FAMILY_NAME, "TASKSTATS", sizeof("TASKSTATS"));
    append_attribute(bytes, &length, CTRL_ATTR_FAMILY_ID, &number, sizeof(number));
    append_attribute(bytes, &length, CTRL_ATTR_VERSION, &version, sizeof(version));
    return end_message(bytes, length);
}

/* All other numbers get a value that would be noticed. */
static void fill_stats(const struct fake_taskstats *fake, const struct hr_task_delays *delays,
                       struct fake_stats *stats)
{
    const uint64_t *ns = delays->ns;

    memset(stats, 0xa5, sizeof(*stats));
    stats->version = fake->version;
    stats->cpu_total = ns[HR_DELAY_CPU];
    stats->blkio_total = ns[HR_DELAY_BLKIO];
    stats->swapin_total = ns[HR_DELAY_SWAPIN];
    stats->freepages_total = ns[HR_DELAY_FREEPAGES];
    stats->thrashing_total = ns[HR_DELAY_THRASHING];
    stats->compact_total = ns[HR_DELAY_COMPACT];
    stats->wpcopy_total = ns[HR_DELAY_WPCOPY];
    stats->irq_total = ns[HR_DELAY_IRQ];
    stats->etime = delays->elapsed_us;
}

static void fill_stats_15(const struct hr_task_delays *delays, struct fake_stats_15 *stats)
{
    const uint64_t *ns = delays->ns;

    memset(stats, 0xa5, sizeof(*stats));
    stats->version = 15;
    stats->cpu_total = ns[HR_DELAY_CPU];
    stats->blkio_total = ns[HR_DELAY_BLKIO];
    stats->swapin_total = ns[HR_DELAY_SWAPIN];
    stats->freepages_total = ns[HR_DELAY_FREEPAGES];
    stats->thrashing_total = ns[HR_DELAY_THRASHING];
    stats->compact_total = ns[HR_DELAY_COMPACT];
    stats->wpcopy_total = ns[HR_DELAY_WPCOPY];
    stats->irq_total = ns[HR_DELAY_IRQ];
    stats->etime = delays->elapsed_us;
}

static size_t make_stats(const struct fake_taskstats *fake, unsigned char *bytes, uint32_t sequence,
                         const struct fake_task *task)
{
    unsigned char nested[MAX_REPLY];
    unsigned char stats[1024] = {0}; /* a later version's is longer */
    uint32_t pid = (uint32_t)(task->id + (fake->trouble == FAKE_OTHER_PID));
    size_t inner = 0;

    if (fake->version == 15)
        fill_stats_15(&task->delays, (void *)stats);
    else
        fill_stats(fake, &task->delays, (void *)stats);
    append_attribute(nested, &inner, task->is_process ? TASKSTATS_TYPE_TGID : TASKSTATS_TYPE_PID,
                     &pid, sizeof(pid));
    append_attribute(nested, &inner, TASKSTATS_TYPE_STATS, stats, fake->size);

    uint16_t family = fake->trouble == FAKE_OTHER_FAMILY ? FAKE_FAMILY + 1 : FAKE_FAMILY;
    size_t length = begin_message(bytes, family, sequence, TASKSTATS_CMD_NEW);
    append_attribute(bytes, &length,
                     task->is_process ? TASKSTATS_TYPE_AGGR_TGID : TASKSTATS_TYPE_AGGR_PID, nested,
                     inner);
    length = end_message(bytes, length);
    if (fake->bad_offset != 0)
        bytes[fake->bad_offset] = fake->bad_byte;
    return length - (size_t)fake->cut;
}

size_t fake_taskstats_reply(struct fake_taskstats *fake, uint32_t sequence, bool of_process,
                            pid_t pid, void *buffer, size_t size)
{
    _Alignas(8) unsigned char bytes[MAX_REPLY];
    const struct fake_task *task = *find_task(fake, of_process, pid);

    require(task != NULL, "no such task");
    size_t length = make_stats(fake, bytes, sequence, task);
    require(length <= size, "the buffer is too small");
    memcpy(buffer, bytes, length);
    return length;
}

/* --- The socket ----------------------------------------------------------- */

static struct fake_reply *append_reply(struct fake_taskstats *fake)
{
    struct fake_reply **link = &fake->first, *reply = calloc(1, sizeof(*reply));

    require(reply != NULL, "no memory");
    while (*link != NULL)
        link = &(*link)->next;
    *link = reply;
    return reply;
}

static void reply_stale(struct fake_taskstats *fake, const struct nlmsghdr *request,
                        const struct fake_task *task)
{
    struct fake_task other = *task;
    struct fake_reply *reply = append_reply(fake);

    for (int i = 0; i < HR_DELAY_COUNT; i++)
        other.delays.ns[i] += 999;
    reply->length = (ssize_t)make_stats(fake, reply->bytes, request->nlmsg_seq - 1, &other);
}

static void reply_about(struct fake_taskstats *fake, const struct nlmsghdr *request,
                        const struct fake_task *task)
{
    enum fake_trouble trouble = fake->trouble;
    bool stale = trouble == FAKE_STALE_FIRST || trouble == FAKE_STALE_ONLY;

    if (stale)
        reply_stale(fake, request, task);
    if (trouble == FAKE_STALE_ONLY || trouble == FAKE_SILENT)
        return;
    struct fake_reply *reply = append_reply(fake);
    if (trouble == FAKE_LOST || trouble == FAKE_OVERRUN) {
        reply->length = -ENOBUFS;
        if (trouble == FAKE_LOST)
            return;
        reply = append_reply(fake);
    }
    size_t before = 0;
    if (trouble == FAKE_TWO_MESSAGES)
        before = make_error(
            reply->bytes, -ESRCH,
            &(struct nlmsghdr){.nlmsg_len = sizeof(*request), .nlmsg_seq = request->nlmsg_seq - 1});
    reply->length =
        (ssize_t)(before + make_stats(fake, reply->bytes + before, request->nlmsg_seq, task));
}

static void reply_error(struct fake_taskstats *fake, const struct nlmsghdr *request, int error)
{
    struct fake_reply *reply = append_reply(fake);

    reply->length = (ssize_t)make_error(reply->bytes, error, request);
}

static void reply_family(struct fake_taskstats *fake, const struct nlmsghdr *request,
                         const struct nlattr *attribute)
{
    require(attribute->nla_type == CTRL_ATTR_FAMILY_NAME &&
                strcmp((const char *)(attribute + 1), "TASKSTATS") == 0,
            "another family is requested");
    if (fake->family_error != 0) {
        reply_error(fake, request, fake->family_error);
        return;
    }
    struct fake_reply *reply = append_reply(fake);
    reply->length = (ssize_t)make_family(reply->bytes, request->nlmsg_seq);
}

static void answer(struct fake_taskstats *fake, const struct nlmsghdr *request)
{
    const struct genlmsghdr *generic = (const void *)(request + 1);
    const struct nlattr *attribute = (const void *)(generic + 1);
    uint32_t id;

    require(request->nlmsg_seq != 0 && request->nlmsg_seq != fake->sequence,
            "the sequence number isn't new");
    fake->sequence = request->nlmsg_seq;
    require((request->nlmsg_flags & NLM_F_REQUEST) &&
                request->nlmsg_len >= sizeof(*request) + sizeof(*generic) + attribute->nla_len,
            "the request isn't whole");
    if (request->nlmsg_type == GENL_ID_CTRL) {
        require(generic->cmd == CTRL_CMD_GETFAMILY, "it isn't asked for a family");
        reply_family(fake, request, attribute);
        return;
    }
    require(request->nlmsg_type == FAKE_FAMILY && generic->cmd == TASKSTATS_CMD_GET &&
                attribute->nla_len == sizeof(*attribute) + sizeof(id),
            "it isn't asked for a task");
    memcpy(&id, attribute + 1, sizeof(id));
    fake->requests++;
    const struct fake_task *task =
        *find_task(fake, attribute->nla_type == TASKSTATS_CMD_ATTR_TGID, (pid_t)id);
    if (fake->error != 0 || task == NULL)
        reply_error(fake, request, fake->error != 0 ? fake->error : -ESRCH);
    else
        reply_about(fake, request, task);
}

static int fake_send(void *context, const void *messages, size_t length)
{
    struct fake_taskstats *fake = context;
    const unsigned char *message = messages, *end = message + length;

    require(fake->is_open, "it is closed");
    while (message < end) {
        const struct nlmsghdr *request = (const void *)message;
        require((size_t)(end - message) >= sizeof(*request) &&
                    (size_t)(end - message) >= request->nlmsg_len && request->nlmsg_len > 0,
                "the request isn't whole");
        answer(fake, request);
        message += NLMSG_ALIGN(request->nlmsg_len);
    }
    return 0;
}

static ssize_t fake_receive(void *context, void *buffer, size_t size)
{
    struct fake_taskstats *fake = context;
    struct fake_reply *reply = fake->first;

    if (reply == NULL)
        return -EAGAIN;
    ssize_t length = reply->length;
    if (length > 0) {
        require((size_t)length <= size, "the buffer is too small");
        memcpy(buffer, reply->bytes, (size_t)length);
    }
    fake->first = reply->next;
    free(reply);
    return length;
}

static int fake_open(void *context)
{
    struct fake_taskstats *fake = context;

    require(!fake->is_open, "it is open already");
    fake->is_open = fake->open_error == 0;
    fake->sequence = 0;
    return fake->open_error;
}

static void fake_close(void *context)
{
    struct fake_taskstats *fake = context;

    require(fake->is_open, "it is closed already");
    fake->is_open = false;
}

struct hr_taskstats_calls fake_taskstats_calls(struct fake_taskstats *fake)
{
    return (struct hr_taskstats_calls){.open = fake_open,
                                       .send = fake_send,
                                       .receive = fake_receive,
                                       .close = fake_close,
                                       .context = fake};
}

struct fake_taskstats *fake_taskstats_new(void)
{
    struct fake_taskstats *fake = calloc(1, sizeof(*fake));

    require(fake != NULL, "no memory");
    fake->version = 16;
    fake->size = sizeof(struct fake_stats);
    fake_taskstats_set_process(fake, getpid(), &(struct hr_task_delays){0});
    return fake;
}

void fake_taskstats_free(struct fake_taskstats *fake)
{
    require(!fake->is_open, "it was left open");
    while (fake->tasks != NULL)
        set_task(fake, fake->tasks->is_process, fake->tasks->id, NULL);
    while (fake->first != NULL) {
        struct fake_reply *reply = fake->first;
        fake->first = reply->next;
        free(reply);
    }
    free(fake);
}
