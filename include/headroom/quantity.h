/* SPDX-License-Identifier: MIT */
/*
 * headroom/quantity.h - amounts of memory and lengths of time as people read them, the same in
 * every message and table.
 */
#ifndef HEADROOM_QUANTITY_H
#define HEADROOM_QUANTITY_H

/** A number and its unit; printed by its member: hr_quantity_bytes(limit).text. */
struct hr_quantity {
    char text[32];
};

/** Bytes in three digits, "256 MiB" or "1.76 GiB"; up to the next unit as a whole number: "1000
 * MiB". */
struct hr_quantity hr_quantity_bytes(double bytes);

/** The same for tables, in up to five characters below 999.5 EiB: "512B", "1.8G", "240M". */
struct hr_quantity hr_quantity_short_bytes(double bytes);

/** CPUs in two digits, or all before the point: "0.64 CPUs", "1 CPU", "12 CPUs". */
struct hr_quantity hr_quantity_cpus(double cpus);

/** A time: "42 s", from two minutes on "42 min", from two hours on "3.5 h"; infinity is "never". */
struct hr_quantity hr_quantity_seconds(double seconds);

#endif
