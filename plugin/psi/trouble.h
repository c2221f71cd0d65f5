/*
 * psi/trouble.h - tells what stands in the way of reading pressure: once, with what to do.
 *
 * Of the system, a trouble is told when it begins and when it is over. Of cgroups, which come and
 * go by the thousand, it is told for the first, and again only when twice as many have it.
 */
#ifndef HEADROOM_PLUGIN_PSI_TROUBLE_H
#define HEADROOM_PLUGIN_PSI_TROUBLE_H

#include "collectd.h"

#include "plugin.h"

#include "common/complaint.h"
#include "headroom/psi.h"

/** Kinds of trouble, as a user can do something about them. */
enum psi_trouble_kind {
    PSI_TROUBLE_ABSENT,
    PSI_TROUBLE_OFF,
    PSI_TROUBLE_PERMISSION,
    PSI_TROUBLE_TEXT,
    PSI_TROUBLE_DESCRIPTORS,
    PSI_TROUBLE_OTHER,
    PSI_TROUBLE_COUNT
};

/** One kind: what is seen in this interval, and what was told. Sets of resources are bit masks. */
struct psi_trouble_state {
    unsigned resources;
    size_t groups;
    char example[256]; /**< the path of the first of these groups */
    int status;        /**< a negative errno */
    unsigned told_resources;
    struct tally told_groups;
};

/** The troubles of the system, or of all groups; all zeros at first. */
struct psi_trouble {
    unsigned fine; /**< resources that were read */
    size_t files;  /**< that were read */
    size_t reopened;
    struct tally told_reopened;
    struct psi_trouble_state kinds[PSI_TROUBLE_COUNT];
};

/**
 * Notes what one snapshot tells.
 *
 * @param group     the group's path; NULL: the system.
 * @param snapshot  of its statuses 0, -ECANCELED and -ENODEV are no trouble.
 */
void psi_trouble_note(struct psi_trouble *trouble, const char *group,
                      const struct hr_psi_snapshot *snapshot);

/** Tells what is new of the system, and begins anew. */
void psi_trouble_tell_system(struct psi_trouble *trouble);

/** Tells what is new of cgroups, and begins anew. */
void psi_trouble_tell_cgroups(struct psi_trouble *trouble);

#endif
