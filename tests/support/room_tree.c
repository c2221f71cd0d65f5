/* SPDX-License-Identifier: MIT */
#include "support/room_tree.h"

#include <stdio.h>

void room_tree_write(struct tree *tree, const char *group, const char *file, const char *text)
{
    char path[256];

    snprintf(path, sizeof(path), TREE_CGROUPS "/%s/%s", group, file);
    tree_write(tree, path, "%s", text);
}

void room_tree_memory(struct tree *tree, const char *group, unsigned anon_mib, unsigned file_mib)
{
    char text[256];

    snprintf(text, sizeof(text), "%llu\n", (anon_mib + 2 * file_mib) * MIB);
    room_tree_write(tree, group, "memory.current", text);
    snprintf(text, sizeof(text),
             "anon %llu\ninactive_file %llu\nactive_file %llu\nunevictable 0\n"
             "slab_reclaimable 0\n",
             anon_mib * MIB, file_mib * MIB, file_mib * MIB);
    room_tree_write(tree, group, "memory.stat", text);
}

void room_tree_cpu(struct tree *tree, const char *group, uint64_t used_us, unsigned periods,
                   unsigned throttled, uint64_t throttled_us)
{
    char text[256];

    snprintf(text, sizeof(text),
             "usage_usec %llu\nuser_usec 0\nnr_periods %u\nnr_throttled %u\nthrottled_usec %llu\n",
             (unsigned long long)used_us, periods, throttled, (unsigned long long)throttled_us);
    room_tree_write(tree, group, "cpu.stat", text);
}

void room_tree_machine(struct tree *tree, unsigned first_s, unsigned second_s,
                       unsigned swap_free_mib)
{
    tree_write(tree, "proc/stat",
               "cpu  %u 0 0 9 9 0 0 0 0 0\ncpu0 %u 0 0 9 9 0 0 0 0 0\ncpu1 %u 0 0 9 9 0 0 0 0 0\n"
               "intr 1\n",
               100 * (first_s + second_s), 100 * first_s, 100 * second_s);
    tree_write(tree, "proc/meminfo",
               "MemTotal:  1024000 kB\nMemFree: 1 kB\nMemAvailable:  307200 kB\n"
               "SwapTotal: 102400 kB\nSwapFree:  %u kB\nHugePages_Total:       0\n",
               1024 * swap_free_mib);
}

void room_tree_add_group(struct tree *tree, const char *group)
{
    tree_add_group(tree, group, true);
    room_tree_write(tree, group, "memory.max", "max\n");
    room_tree_write(tree, group, "memory.high", "max\n");
    room_tree_write(tree, group, "memory.swap.max", "max\n");
    room_tree_write(tree, group, "memory.swap.current", "0\n");
    room_tree_write(tree, group, "memory.events",
                    "low 0\nhigh 0\nmax 0\noom 4\noom_kill 3\noom_group_kill 0\n");
    room_tree_write(tree, group, "memory.events.local",
                    "low 0\nhigh 0\nmax 0\noom 4\noom_kill 3\n");
    room_tree_write(tree, group, "cpu.max", "max 100000\n");
    room_tree_memory(tree, group, 100, 20);
    room_tree_cpu(tree, group, 0, 0, 0, 0);
}
