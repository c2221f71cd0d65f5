/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_taskstats.c - hr_taskstats_parse: an input is a datagram, taken for the reply to a
 * request about task 4711 and for that to a request for the family. Whatever it holds, nothing
 * beyond its end is read; an accepted one has each number that its struct covers, and no other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "process/taskstats_reply.h"

const char fuzz_corpus[] = "taskstats";

/* What is known is the first of the numbers, as the struct grows at its end. */
static void require_sensible(const struct hr_task_delays *delays, bool of_process)
{
    require(delays->known != 0 && delays->known < 1u << HR_DELAY_COUNT);
    require((delays->known & (delays->known + 1)) == 0);
    for (int i = 0; i < HR_DELAY_COUNT; i++)
        require((delays->known & 1u << i) != 0 || delays->ns[i] == 0);
    require(!of_process || delays->elapsed_us == 0);
}

static void parse_as_reply(const void *datagram, size_t size, bool of_process)
{
    const struct hr_taskstats_request request = {
        .family = 31, .sequence = 2, .of_process = of_process, .pid = 4711};
    struct hr_task_delays delays;

    memset(&delays, 0xa5, sizeof(delays));
    int status = hr_taskstats_parse(datagram, size, &request, &delays);
    require(status <= 0 && status >= -4095);
    if (status == 0)
        require_sensible(&delays, of_process);
    else
        require(delays.known == 0xa5a5a5a5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct hr_taskstats_request request = {.sequence = 2};
    uint8_t *datagram = malloc(size > 0 ? size : 1); /* of just this size, as above */
    uint16_t family = 0;

    memcpy(datagram, data, size);
    parse_as_reply(datagram, size, true);
    parse_as_reply(datagram, size, false);
    int status = hr_taskstats_parse_family(datagram, size, &request, &family);
    require((status == 0) == (family >= 16));
    free(datagram);
    return 0;
}
