/* SPDX-License-Identifier: MIT */
/*
 * main.c - the command `headroom`: finds the subcommand and runs it.
 */
#include <stdio.h>
#include <string.h>

#include "blame/blame.h"
#include "common/output.h"
#include "common/usage.h"
#include "doctor/doctor.h"
#include "osnoise/osnoise.h"
#include "probe/probe.h"
#include "report/report.h"
#include "top/top.h"
#include "wss/wss.h"

#ifndef HEADROOM_VERSION
#error "HEADROOM_VERSION comes from the makefile: -DHEADROOM_VERSION='\"1.2.3\"'"
#endif

struct subcommand {
    const char *name;
    char *title; /* becomes the subcommand's argv[0] */
    int (*run)(int argc, char **argv);
    const char *summary;
};

static char top_title[] = "headroom top", report_title[] = "headroom report",
            blame_title[] = "headroom blame", wss_title[] = "headroom wss",
            probe_title[] = "headroom probe", osnoise_title[] = "headroom osnoise",
            doctor_title[] = "headroom doctor";

static const struct subcommand subcommands[] = {
    {"top", top_title, top_main, "a live table of the pressure collectd measures, by group"},
    {"report", report_title, report_main, "how much room groups have left, and for how long"},
    {"blame", blame_title, blame_main, "who took the CPU from whom"},
    {"wss", wss_title, wss_main, "how much memory a process, a cgroup or the machine touches"},
    {"probe", probe_title, probe_main, "how much memory a cgroup can do without, by taking it"},
    {"osnoise", osnoise_title, osnoise_main, "the time the system takes from what runs on a CPU"},
    {"doctor", doctor_title, doctor_main, "what works on this machine, and what the rest needs"},
};

#define SUBCOMMAND_COUNT (sizeof(subcommands) / sizeof(subcommands[0]))

static void print_usage(FILE *out)
{
    fputs("Usage: headroom SUBCOMMAND [OPTION]...\n"
          "       headroom --help | --version\n\n"
          "Shows how much room this machine has left, and who is taking it.\n\n"
          "Subcommands:\n",
          out);
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", subcommands[i].name, subcommands[i].summary);
    fputs("\nheadroom SUBCOMMAND --help describes its options.\n", out);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return COMMAND_MISUSED;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return output_finish("headroom", output_flush(stdout));
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("headroom " HEADROOM_VERSION);
        return output_finish("headroom", output_flush(stdout));
    }
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++) {
        if (strcmp(argv[1], subcommands[i].name) != 0)
            continue;
        argv[1] = subcommands[i].title;
        return subcommands[i].run(argc - 1, argv + 1);
    }
    fprintf(stderr, "headroom: unknown %s '%s'; headroom --help lists the subcommands\n",
            argv[1][0] == '-' ? "option" : "subcommand", argv[1]);
    return COMMAND_MISUSED;
}
