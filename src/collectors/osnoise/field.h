/* SPDX-License-Identifier: MIT */
/*
 * osnoise/field.h - numbers in binary data of the running kernel, in its byte order.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_FIELD_H
#define HEADROOM_COLLECTORS_OSNOISE_FIELD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Where it is, in bytes. Empty: there is none. */
struct hr_field {
    size_t offset, size;
};

/** @return the unsigned number of 1, 2, 4 or 8 bytes; 0 where there is none. */
static inline uint64_t hr_field_get(const unsigned char *data, struct hr_field field)
{
    uint8_t of_1;
    uint16_t of_2;
    uint32_t of_4;
    uint64_t of_8;

    data += field.offset;
    switch (field.size) {
    case 0:
        return 0;
    case 1:
        memcpy(&of_1, data, sizeof(of_1));
        return of_1;
    case 2:
        memcpy(&of_2, data, sizeof(of_2));
        return of_2;
    case 4:
        memcpy(&of_4, data, sizeof(of_4));
        return of_4;
    default:
        memcpy(&of_8, data, sizeof(of_8));
        return of_8;
    }
}

#endif
