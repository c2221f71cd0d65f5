/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/open_alarms_harness.h - a state file of open alarms, in a folder of its own.
 */
#ifndef HEADROOM_TESTS_PLUGIN_PSI_OPEN_ALARMS_HARNESS_H
#define HEADROOM_TESTS_PLUGIN_PSI_OPEN_ALARMS_HARNESS_H

#include <check.h>

#include "psi/open_alarms.h"

#define BOOT_ID     "6c1a0f6e-5a5c-4a53-b1a5-9f0d3c6c2d11"
#define HEAD        "headroom's open pressure alarms 1\n"
#define BOOT        "boot " BOOT_ID "\n"
#define ALARM       "m\tmemory\tsome\topen\ta_b.service\ta/b.service\n"
#define SYSTEM      "c\tcpu\tfull\tbegins\tsystem\n"
#define GOOD        HEAD BOOT ALARM SYSTEM "end\n"
#define PATIENCE_MS 50000 /**< until what is awaited must have happened */

extern char folder[64], path[128], new_path[160]; /**< the state file's, and how it is written */
extern char our_boot[64];                         /**< BOOT of this machine */
extern struct open_alarms *alarms;                /**< NULL until open_alarms() */
extern struct dispatcher *dispatcher;

extern const struct psi_rule of_memory, of_cpu;
extern const struct psi_subject group, other, machine;

/** Has each test begin without a file, and end with nothing else in the folder. */
void add_open_alarms_fixture(TCase *tests);

/** Writes the state file. */
__attribute__((format(printf, 1, 2))) void put(const char *format, ...);

__attribute__((format(printf, 1, 2))) void assert_file(const char *format, ...);

void open_alarms(void);
void close_alarms(void);

/** Commits the open alarms: a subject each, or NULL. */
void save(const struct psi_subject *first, const struct psi_subject *second);

void await_log(const char *text);

extern enum alarm_sent claimed_sent; /**< of the latest claim() */
bool claim(const struct psi_subject *subject);
size_t count_unclaimed(void);

#endif
