/* SPDX-License-Identifier: MIT */
#include "wss/resident.h"

#include "headroom/process.h"

int hr_wss_resident_add(struct hr_wss_resident *resident, const struct hr_process *process)
{
    struct hr_process_resident one;

    int status = hr_process_read_resident(process, &one);
    if (status < 0)
        return status;
    resident->sum_bytes += one.bytes;
    resident->own_bytes += one.bytes - one.shareable_bytes;
    if (resident->shareable_bytes < one.shareable_bytes)
        resident->shareable_bytes = one.shareable_bytes;
    return 0;
}

uint64_t hr_wss_resident_bytes(const struct hr_wss_resident *resident)
{
    return resident->own_bytes + resident->shareable_bytes;
}
