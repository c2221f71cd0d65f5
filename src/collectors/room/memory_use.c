/* SPDX-License-Identifier: MIT */
#include "room/memory_use.h"

#include <errno.h>

#include "base/text.h"
#include "room/group_file.h"
#include "room/kept_file.h"
#include "room/keyed.h"
#include "room/memory_limit.h"

enum { ACTIVE_FILE, INACTIVE_FILE, SLAB, KEY_COUNT };

static const char *const names[2][KEY_COUNT] = {
    {"total_active_file", "total_inactive_file", "total_slab_reclaimable"},
    {"active_file", "inactive_file", "slab_reclaimable"},
};

/* Before Linux 5.9 refaults are of files only, and one number. */
enum { ACTIVE_ANON, INACTIVE_ANON, MAPPED, REFAULT_ANON, REFAULT_FILE, REFAULT, PART_COUNT };

static const char *const part_names[2][PART_COUNT] = {
    {"total_active_anon", "total_inactive_anon", "total_mapped_file",
     "total_workingset_refault_anon", "total_workingset_refault_file", "total_workingset_refault"},
    {"active_anon", "inactive_anon", "file_mapped", "workingset_refault_anon",
     "workingset_refault_file", "workingset_refault"},
};

int hr_memory_use_parse(const char *text, size_t length, int version, struct hr_memory_use *use)
{
    struct hr_keyed keys[KEY_COUNT] = {{.found = false}};

    for (int i = 0; i < KEY_COUNT; i++)
        keys[i].name = names[version - 1][i];
    int status = hr_keyed_parse_flat(text, length, keys, KEY_COUNT);
    if (status < 0)
        return status;
    for (int i = 0; i < SLAB; i++)
        if (!keys[i].found)
            return -ENODATA;
    use->active_file_bytes = keys[ACTIVE_FILE].value;
    use->inactive_file_bytes = keys[INACTIVE_FILE].value;
    use->slab_reclaimable_bytes = keys[SLAB].value;
    return 0;
}

int hr_memory_parts_parse(const char *text, size_t length, int version,
                          struct hr_memory_parts *parts)
{
    struct hr_keyed keys[PART_COUNT] = {{.found = false}};
    struct hr_memory_parts parsed;

    for (int i = 0; i < PART_COUNT; i++)
        keys[i].name = part_names[version - 1][i];
    int status = hr_keyed_parse_flat(text, length, keys, PART_COUNT);
    if (status < 0)
        return status;
    if (!keys[ACTIVE_ANON].found || !keys[INACTIVE_ANON].found || !keys[MAPPED].found)
        return -ENODATA;
    status = hr_keyed_sum(keys, 2, &parsed.anon_bytes);
    if (status == 0)
        status = hr_keyed_sum(keys + REFAULT_ANON, 3, &parsed.refault_count);
    if (status < 0)
        return status;
    parsed.mapped_file_bytes = keys[MAPPED].value;
    *parts = parsed;
    return 0;
}

static int read_number(const struct hr_memory_use_files *files, int *kept, const char *name,
                       uint64_t *number)
{
    char text[64];
    size_t length;

    int status =
        hr_kept_file_read(kept, files->base, files->level, name, text, sizeof(text), &length);
    return status < 0 ? status : hr_text_number_parse(text, length, UINT64_MAX, number);
}

/* Version 1 counts memory and swap space together. */
static int read_swapped(const struct hr_memory_use_files *files, int version,
                        uint64_t current_bytes, uint64_t *swapped_bytes)
{
    const char *name = version == 1 ? "memory.memsw.usage_in_bytes" : "memory.swap.current";
    uint64_t bytes;

    int status = read_number(files, files->swapped, name, &bytes);
    if (status < 0)
        return status;
    if (version == 1)
        bytes = bytes > current_bytes ? bytes - current_bytes : 0;
    *swapped_bytes = bytes;
    return 0;
}

int hr_memory_use_read(const struct hr_memory_use_files *files, int version,
                       struct hr_memory_use *use)
{
    const char *size_name = version == 1 ? "memory.usage_in_bytes" : "memory.current";
    char text[8192];
    size_t length;

    int status = hr_kept_file_read(files->stat, files->base, files->level, "memory.stat", text,
                                   sizeof(text), &length);
    if (status == 0)
        status = hr_memory_use_parse(text, length, version, use);
    use->has_parts = status == 0 && files->with_parts &&
                     hr_memory_parts_parse(text, length, version, &use->parts) == 0;
    if (status == 0)
        status = read_number(files, files->size, size_name, &use->current_bytes);
    if (status < 0)
        return status;
    use->swapped_bytes = 0;
    if (files->swapped == NULL)
        return 0;
    status = read_swapped(files, version, use->current_bytes, &use->swapped_bytes);
    return status == -ENOENT ? 0 : status;
}

static int read_limit(int dirfd, const char *name, uint64_t *bytes)
{
    char text[64];
    size_t length;

    int status = hr_group_file_read(dirfd, name, text, sizeof(text), &length);
    return status < 0 ? status : hr_memory_limit_parse(text, length, bytes);
}

int hr_swap_limit_read(int dirfd, int version, uint64_t *limit_bytes)
{
    uint64_t of_memory, of_both;

    if (version == 2)
        return read_limit(dirfd, "memory.swap.max", limit_bytes);
    int status = read_limit(dirfd, "memory.limit_in_bytes", &of_memory);
    if (status == 0)
        status = read_limit(dirfd, "memory.memsw.limit_in_bytes", &of_both);
    if (status == 0)
        *limit_bytes = of_both == UINT64_MAX ? of_both : of_both - of_memory;
    return status;
}
