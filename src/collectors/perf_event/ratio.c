/* SPDX-License-Identifier: MIT */
#include "perf_event/ratio.h"

#include "perf_event/pfm.h"

/* `cache` of the generic cache events; those of a level have smaller numbers: the level, and the
 * kind of access times 256. */
#define ANY_LEVEL 0x10000

static struct hr_perf_ratio_role role_of_hardware(uint64_t config)
{
    static const struct hr_perf_ratio_role roles[] = {
        [PERF_COUNT_HW_CPU_CYCLES] = {HR_PERF_CYCLES, 0},
        [PERF_COUNT_HW_INSTRUCTIONS] = {HR_PERF_INSTRUCTIONS, 0},
        [PERF_COUNT_HW_CACHE_REFERENCES] = {HR_PERF_CACHE_REFERENCES, ANY_LEVEL},
        [PERF_COUNT_HW_CACHE_MISSES] = {HR_PERF_CACHE_MISSES, ANY_LEVEL},
    };

    if (config >= sizeof(roles) / sizeof(roles[0]))
        return (struct hr_perf_ratio_role){0};
    return roles[config];
}

/* level | access << 8 | result << 16 */
static struct hr_perf_ratio_role role_of_cache(uint64_t config)
{
    bool missed = config >> 16 == PERF_COUNT_HW_CACHE_RESULT_MISS;

    return (struct hr_perf_ratio_role){missed ? HR_PERF_CACHE_MISSES : HR_PERF_CACHE_REFERENCES,
                                       config & 0xffff};
}

struct hr_perf_ratio_role hr_perf_role_of_generic(uint32_t type, uint64_t config)
{
    if (type == PERF_TYPE_HARDWARE)
        return role_of_hardware(config);
    if (type == PERF_TYPE_HW_CACHE)
        return role_of_cache(config);
    return (struct hr_perf_ratio_role){0};
}

struct hr_perf_ratio_role hr_perf_role_of_alias(struct hr_text alias, const struct hr_perf_pmu *pmu,
                                                bool is_hybrid)
{
    /* Arm's names */
    static const struct {
        const char *name;
        uint64_t config;
    } others[] = {
        {"cpu_cycles", PERF_COUNT_HW_CPU_CYCLES},
        {"inst_retired", PERF_COUNT_HW_INSTRUCTIONS},
    };
    struct hr_perf_ratio_role role = {0};
    struct perf_event_attr attr;

    if (hr_perf_pfm_encode_generic(alias, &attr))
        role = hr_perf_role_of_generic(attr.type, attr.config);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (hr_text_is(alias, others[i].name))
            role = role_of_hardware(others[i].config);
    if (is_hybrid && role.role != HR_PERF_OTHER)
        role.cache |= (uint64_t)pmu->type << PERF_PMU_TYPE_SHIFT;
    return role;
}
