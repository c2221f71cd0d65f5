/* SPDX-License-Identifier: MIT */
/*
 * process/taskstats_reply.h - the netlink messages of taskstats: building requests and parsing
 * replies. No I/O.
 */
#ifndef HEADROOM_COLLECTORS_PROCESS_TASKSTATS_REPLY_H
#define HEADROOM_COLLECTORS_PROCESS_TASKSTATS_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "headroom/taskstats.h"

/** Size of the largest request. */
#define HR_TASKSTATS_REQUEST_SIZE 64

/** A request, and thereby what its reply must look like. */
struct hr_taskstats_request {
    uint16_t family;   /**< the kernel's number for taskstats; 0 requests that number */
    uint32_t sequence; /**< the reply has the same */
    bool of_process;   /**< rather than of one thread */
    pid_t pid;         /**< the process or thread */
};

/**
 * Builds the message.
 *
 * @param buffer  of HR_TASKSTATS_REQUEST_SIZE bytes, aligned for 4-byte numbers.
 * @return the message's length.
 */
size_t hr_taskstats_build_request(const struct hr_taskstats_request *request, void *buffer);

/**
 * Parses a datagram that may be the reply.
 *
 * @param datagram  aligned for 4-byte numbers.
 * @param delays    receives the delays of the task.
 * @return 0; -EAGAIN: it answers another request; the negative errno that the kernel replied; or
 *         -EBADMSG.
 */
int hr_taskstats_parse(const void *datagram, size_t length,
                       const struct hr_taskstats_request *request, struct hr_task_delays *delays);

/** Parses the reply to a request with a family of 0. @param family  receives the number. */
int hr_taskstats_parse_family(const void *datagram, size_t length,
                              const struct hr_taskstats_request *request, uint16_t *family);

#endif
