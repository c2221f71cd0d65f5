/* SPDX-License-Identifier: MIT */
/*
 * psi/blame_none.c - the same in a build without libbpf.
 */
#include "psi/blame.h"
#include "psi/taken.h"

struct psi_blame *psi_blame_open(const struct hr_root *root,
                                 const struct psi_blame_options *options, size_t max_groups,
                                 bool of_system)
{
    (void)root;
    (void)max_groups;
    (void)of_system;
    psi_blame_log_unavailable(options, "this plugin was built without libbpf: build it with that "
                                       "library (libbpf-dev) and clang");
    return NULL;
}

void psi_blame_close(struct psi_blame *blame)
{
    (void)blame;
}

bool psi_blame_is_ready(const struct psi_blame *blame)
{
    (void)blame;
    return false;
}

bool psi_blame_has_series(const struct psi_blame *blame)
{
    (void)blame;
    return false;
}

void psi_blame_watch_new(struct psi_blame *blame)
{
    (void)blame;
}

void psi_blame_update_groups(struct psi_blame *blame, struct hr_cgroup_set *set, size_t changes)
{
    (void)blame;
    (void)set;
    (void)changes;
}

struct psi_measurement *psi_blame_begin(struct psi_blame *blame, uint64_t id)
{
    (void)blame;
    (void)id;
    return NULL;
}

void psi_blame_end(struct psi_blame *blame, struct psi_measurement *measurement,
                   struct psi_takers *takers)
{
    (void)blame;
    (void)measurement;
    (void)takers;
}

void psi_blame_detach_unused(struct psi_blame *blame)
{
    (void)blame;
}

void psi_taken_sample(struct psi_blame *blame, struct psi_groups *groups, cdtime_t time)
{
    (void)blame;
    (void)groups;
    (void)time;
}

void psi_taken_free(struct psi_taken *taken)
{
    (void)taken;
}
