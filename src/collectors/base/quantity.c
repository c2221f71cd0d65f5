/* SPDX-License-Identifier: MIT */
#include "headroom/quantity.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct hr_quantity hr_quantity_bytes(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct hr_quantity quantity;
    size_t unit = 0;

    for (; bytes >= 1023.5 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
        bytes /= 1024;
    snprintf(quantity.text, sizeof(quantity.text), bytes < 999.5 ? "%.3g %s" : "%.0f %s", bytes,
             units[unit]);
    return quantity;
}

struct hr_quantity hr_quantity_short_bytes(double bytes)
{
    static const char units[] = "BKMGTPE";
    struct hr_quantity quantity;
    size_t unit = 0;

    for (; bytes >= 999.5 && unit + 2 < sizeof(units); unit++)
        bytes /= 1024;
    snprintf(quantity.text, sizeof(quantity.text), "%.*f%c", unit > 0 && bytes < 99.95 ? 1 : 0,
             bytes, units[unit]);
    return quantity;
}

struct hr_quantity hr_quantity_cpus(double cpus)
{
    struct hr_quantity quantity;
    const int length =
        snprintf(quantity.text, sizeof(quantity.text), cpus < 9.95 ? "%.2g" : "%.0f", cpus);
    const bool is_one = strcmp(quantity.text, "1") == 0;

    if (length >= 0 && (size_t)length < sizeof(quantity.text))
        snprintf(quantity.text + length, sizeof(quantity.text) - (size_t)length, " CPU%s",
                 is_one ? "" : "s");
    return quantity;
}

struct hr_quantity hr_quantity_seconds(double seconds)
{
    struct hr_quantity quantity;

    if (isinf(seconds))
        snprintf(quantity.text, sizeof(quantity.text), "never");
    else if (seconds < 120)
        snprintf(quantity.text, sizeof(quantity.text), "%.0f s", seconds);
    else if (seconds < 7200)
        snprintf(quantity.text, sizeof(quantity.text), "%.0f min", seconds / 60);
    else
        snprintf(quantity.text, sizeof(quantity.text), "%.1f h", seconds / 3600);
    return quantity;
}
