/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_oom_log.c - the kernel's log: whatever the records, each a line, a kill that is found
 * has a victim, and a group that is in the other's whose limit it was.
 */
#include <string.h>

#include "fuzz.h"
#include "headroom/cgroup.h"
#include "oom/kill_log.h"
#include "oom/kmsg_record.h"
#include "oom/victim.h"

const char fuzz_corpus[] = "oom_log";

static void check_kill(const struct hr_kill_log *log, struct hr_kill_logged *logged)
{
    struct hr_oom_kill *kill = &logged->kill;

    require(kill->pid > 0 && strlen(kill->name) < sizeof(kill->name));
    require(logged->has_path == kill->is_exact);
    require(logged->has_path || kill->path[0] == '\0');
    require((kill->limit == HR_OOM_OF_GROUP) <= logged->has_path);
    require(hr_cgroup_is_within(kill->path, kill->limit_path));
    hr_kill_log_fill_limit(log, kill);
}

static void check_record(struct hr_kill_log *log, const char *text, size_t size)
{
    static struct hr_kmsg_record record;
    static struct hr_kill_logged logged;

    if (hr_kmsg_record_parse(text, size, &record) < 0)
        return;
    require(strlen(record.message) <= size);
    hr_kill_log_is_near(record.message);
    if (hr_kill_log_add(log, record.message, &logged))
        check_kill(log, &logged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_kill_log *log = calloc(1, sizeof(*log));
    const char *at = (const char *)data, *end = at + size, *line_end;
    char path[PATH_MAX];

    for (; at < end; at = line_end) {
        line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end != NULL ? line_end + 1 : end;
        char *line = malloc((size_t)(line_end - at)); /* of just this size */
        memcpy(line, at, (size_t)(line_end - at));
        check_record(log, line, (size_t)(line_end - at));
        if (hr_oom_victim_parse(line, (size_t)(line_end - at), 2, path))
            require(strlen(path) < (size_t)(line_end - at));
        free(line);
    }
    free(log);
    return 0;
}
