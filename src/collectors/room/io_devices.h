/* SPDX-License-Identifier: MIT */
/*
 * room/io_devices.h - a short list of block devices.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_IO_DEVICES_H
#define HEADROOM_COLLECTORS_ROOM_IO_DEVICES_H

#include "headroom/stall_cause.h"

/** @return the device in the list, or NULL. */
static inline struct hr_stall_device *hr_io_devices_find(struct hr_stall_devices *devices,
                                                         uint32_t major, uint32_t minor)
{
    for (size_t i = 0; i < devices->count; i++)
        if (devices->list[i].major == major && devices->list[i].minor == minor)
            return &devices->list[i];
    return NULL;
}

/** Adds a device without work and limits. @return NULL if the list is full. */
static inline struct hr_stall_device *hr_io_devices_add(struct hr_stall_devices *devices,
                                                        uint32_t major, uint32_t minor)
{
    if (devices->count == HR_STALL_DEVICES)
        return NULL;
    struct hr_stall_device *device = &devices->list[devices->count++];
    *device = (struct hr_stall_device){.major = major, .minor = minor};
    for (int i = 0; i < HR_STALL_IO_COUNT; i++)
        device->limit[i] = HR_STALL_NO_LIMIT;
    return device;
}

#endif
