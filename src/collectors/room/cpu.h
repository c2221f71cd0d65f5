/* SPDX-License-Identifier: MIT */
/*
 * room/cpu.h - the formulas of the room by CPU time; no input, no output.
 *
 * A group's CPUs are busy for a share B of the time, of which it uses u and the others o = B - u;
 * of its tasks one or more wait for a share s. With more load s follows B by s = B^k, as in a queue
 * (one CPU shared among tasks that come at random: k = 2; several CPUs: more). So at the trouble
 * line X the CPUs are busy for X^(1/k), and the group can have that less o.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_CPU_H
#define HEADROOM_COLLECTORS_ROOM_CPU_H

#include "headroom/room.h"

/** Sums over the same time. */
struct hr_room_cpu_sums {
    double elapsed_us;
    double cpus;       /**< that the group may use */
    double busy_us;    /**< of all of these; has what interrupts and the hypervisor took */
    double used_us;    /**< by the group */
    double stalled_us; /**< without the time in which it was throttled */
};

/**
 * Computes k of the shares s and B.
 *
 * @param is_at_least  receives whether k may be larger, as the group waits too rarely; then k is
 *                     that of the shortest wait that counts, or of one CPU if that is larger.
 * @return k, 0 if it can't be had: the CPUs are always busy.
 */
double hr_room_cpu_exponent(double stalled, double busy, bool *is_at_least);

/** Computes the room by the machine's CPUs. @param line_pct  X. @param room  receives it; its
 * status is -ENODATA if it can't be had, or -EBUSY if its tasks wait for CPUs meanwhile. */
void hr_room_cpu_by_machine(const struct hr_room_cpu_sums *sums, double line_pct,
                            struct hr_room *room);

/** A limit of CPU time, of the group or of one above. */
struct hr_room_cpu_limit {
    double cpus;            /**< the quota per period */
    double used_cpus;       /**< of the group whose limit it is */
    double throttled_share; /**< of the periods, 0..1 */
    size_t level;
};

/** Lowers the room to what a limit leaves; what others in that group use stays theirs. A room that
 * isn't known is so afterwards only if the limit leaves nothing. @param used_cpus  by the group
 * whose room it is. */
void hr_room_cpu_by_limit(const struct hr_room_cpu_limit *limit, double used_cpus,
                          struct hr_room *room);

/** Fills in what follows from used and attainable; also of memory. */
void hr_room_finish(struct hr_room *room);

/** Notes that trouble was measured: there is no room. */
void hr_room_set_trouble(struct hr_room *room);

#endif
