/* SPDX-License-Identifier: MIT */
#include "process/taskstats_reply.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <string.h>

/* --- Requests ------------------------------------------------------------- */

size_t hr_taskstats_build_request(const struct hr_taskstats_request *request, void *buffer)
{
    memset(buffer, 0, HR_TASKSTATS_REQUEST_SIZE);
    struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
    struct genlmsghdr *generic = mnl_nlmsg_put_extra_header(message, sizeof(*generic));

    message->nlmsg_flags = NLM_F_REQUEST;
    message->nlmsg_seq = request->sequence;
    if (request->family == 0) {
        message->nlmsg_type = GENL_ID_CTRL;
        generic->cmd = CTRL_CMD_GETFAMILY;
        generic->version = 1;
        mnl_attr_put_strz(message, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME);
    } else {
        uint16_t what = request->of_process ? TASKSTATS_CMD_ATTR_TGID : TASKSTATS_CMD_ATTR_PID;
        message->nlmsg_type = request->family;
        generic->cmd = TASKSTATS_CMD_GET;
        generic->version = TASKSTATS_GENL_VERSION;
        mnl_attr_put_u32(message, what, (uint32_t)request->pid);
    }
    return message->nlmsg_len;
}

/* --- Messages and attributes ---------------------------------------------- */

/* Consecutive attributes, or the payload of one. */
struct bytes {
    const char *start;
    size_t length;
};

/* Finds the first attribute of a type. Not by libmnl's iterators: they round the end up to four
 * bytes, and so read past the end of a truncated message.
 * @return whether there is one, and all are well formed. */
static bool find_attribute(struct bytes attributes, uint16_t type, struct bytes *found)
{
    bool is_found = false;

    while (attributes.length > 0) {
        const struct nlattr *attribute = (const void *)attributes.start;
        if (!mnl_attr_ok(attribute, (int)attributes.length))
            return false;
        if (!is_found && mnl_attr_get_type(attribute) == type) {
            *found = (struct bytes){mnl_attr_get_payload(attribute),
                                    mnl_attr_get_payload_len(attribute)};
            is_found = true;
        }
        size_t used = MNL_ALIGN(attribute->nla_len);
        if (used > attributes.length)
            used = attributes.length;
        attributes.start += used;
        attributes.length -= used;
    }
    return is_found;
}

static bool get_u32(struct bytes bytes, uint32_t *value)
{
    if (bytes.length != sizeof(*value))
        return false;
    memcpy(value, bytes.start, sizeof(*value));
    return true;
}

static bool get_u16(struct bytes bytes, uint16_t *value)
{
    if (bytes.length != sizeof(*value))
        return false;
    memcpy(value, bytes.start, sizeof(*value));
    return true;
}

/* Parses struct nlmsgerr: a negative errno, then the request. */
static int parse_error(struct bytes payload)
{
    int error;

    if (payload.length < sizeof(error))
        return -EBADMSG;
    memcpy(&error, payload.start, sizeof(error));
    return error < 0 && error >= -4095 ? error : -EBADMSG;
}

/* Finds the attributes of the reply to a request, after its two headers.
 * @return as hr_taskstats_parse(). */
static int find_reply(struct bytes datagram, uint16_t type, uint32_t sequence, struct bytes *found)
{
    while (datagram.length > 0) {
        const struct nlmsghdr *message = (const void *)datagram.start;
        if (datagram.length < sizeof(*message) || message->nlmsg_len < sizeof(*message) ||
            message->nlmsg_len > datagram.length)
            return -EBADMSG;
        struct bytes payload = {mnl_nlmsg_get_payload(message), mnl_nlmsg_get_payload_len(message)};
        if (message->nlmsg_seq == sequence) {
            if (message->nlmsg_type == NLMSG_ERROR)
                return parse_error(payload);
            if (message->nlmsg_type != type || payload.length < GENL_HDRLEN)
                return -EBADMSG;
            *found = (struct bytes){payload.start + GENL_HDRLEN, payload.length - GENL_HDRLEN};
            return 0;
        }
        size_t used = MNL_ALIGN(message->nlmsg_len);
        if (used >= datagram.length)
            break;
        datagram.start += used;
        datagram.length -= used;
    }
    return -EAGAIN;
}

/* --- struct taskstats ----------------------------------------------------- */

/* Each version appends to the struct, so that a number is there if the kernel's struct is long
 * enough. Only version 15 (Linux 6.14) had two more numbers after each delay; version 16 (6.15)
 * moved them to the end, so that both have the same length. The offsets are given here, as the
 * kernel headers at build time may have either. They are the same on all architectures. */
struct field_offsets {
    uint16_t usual;
    uint16_t in_version_15;
};

static const struct field_offsets delay_offsets[HR_DELAY_COUNT] = {
    [HR_DELAY_CPU] = {24, 24},         [HR_DELAY_BLKIO] = {40, 56},
    [HR_DELAY_SWAPIN] = {56, 88},      [HR_DELAY_FREEPAGES] = {320, 368},
    [HR_DELAY_THRASHING] = {336, 400}, [HR_DELAY_COMPACT] = {360, 440},
    [HR_DELAY_WPCOPY] = {408, 504},    [HR_DELAY_IRQ] = {424, 536},
};

static const struct field_offsets elapsed_offsets = {144, 192};

/* @return whether the kernel's struct has the number. */
static bool get_number(struct bytes stats, const struct field_offsets *offsets, uint64_t *value)
{
    uint16_t version;

    memcpy(&version, stats.start, sizeof(version));
    size_t offset = version == 15 ? offsets->in_version_15 : offsets->usual;
    if (offset + sizeof(*value) > stats.length)
        return false;
    memcpy(value, stats.start + offset, sizeof(*value));
    return true;
}

static int parse_stats(struct bytes stats, bool of_process, struct hr_task_delays *delays)
{
    struct hr_task_delays parsed = {0};

    if (stats.length < sizeof(uint16_t))
        return -EBADMSG;
    for (int i = 0; i < HR_DELAY_COUNT; i++)
        if (get_number(stats, &delay_offsets[i], &parsed.ns[i]))
            parsed.known |= 1u << i;
    if (parsed.known == 0)
        return -EBADMSG;
    if (!of_process) /* for a process, newer kernels report the sum over its threads, older ones
                        nothing */
        get_number(stats, &elapsed_offsets, &parsed.elapsed_us);
    *delays = parsed;
    return 0;
}

/* --- Replies -------------------------------------------------------------- */

int hr_taskstats_parse(const void *datagram, size_t length,
                       const struct hr_taskstats_request *request, struct hr_task_delays *delays)
{
    uint16_t both_type = request->of_process ? TASKSTATS_TYPE_AGGR_TGID : TASKSTATS_TYPE_AGGR_PID;
    uint16_t pid_type = request->of_process ? TASKSTATS_TYPE_TGID : TASKSTATS_TYPE_PID;
    struct bytes attributes, both, pid_bytes, stats;
    uint32_t pid;

    int status = find_reply((struct bytes){datagram, length}, request->family, request->sequence,
                            &attributes);
    if (status < 0)
        return status;
    if (!find_attribute(attributes, both_type, &both) ||
        !find_attribute(both, pid_type, &pid_bytes) || !get_u32(pid_bytes, &pid) ||
        pid != (uint32_t)request->pid || !find_attribute(both, TASKSTATS_TYPE_STATS, &stats))
        return -EBADMSG;
    return parse_stats(stats, request->of_process, delays);
}

int hr_taskstats_parse_family(const void *datagram, size_t length,
                              const struct hr_taskstats_request *request, uint16_t *family)
{
    struct bytes attributes, id;
    uint16_t parsed;

    int status =
        find_reply((struct bytes){datagram, length}, GENL_ID_CTRL, request->sequence, &attributes);
    if (status < 0)
        return status;
    if (!find_attribute(attributes, CTRL_ATTR_FAMILY_ID, &id) || !get_u16(id, &parsed) ||
        parsed < GENL_MIN_ID)
        return -EBADMSG;
    *family = parsed;
    return 0;
}
