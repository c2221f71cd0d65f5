#include "psi/trouble.h"

#include "common/complaint.h"
#include "utils/common/common.h"

#include <errno.h>

#define PLUGIN "psi"

#define IRQ (1u << HR_PSI_IRQ)

/* What to say of a kind, after "… pressure of …": of the system, of cgroups, of irq in both. */
static const struct {
    const char *of_system, *of_cgroups, *of_irq;
} texts[PSI_TROUBLE_COUNT] = {
    [PSI_TROUBLE_ABSENT] =
        {"is not there: it needs Linux 4.20 or later with CONFIG_PSI=y, and "
         "psi=1 at boot if CONFIG_PSI_DEFAULT_DISABLED=y",
         "has no files: boot with psi=1 and without cgroup_disable=pressure",
         "is not there: it needs Linux 6.1 or later with CONFIG_IRQ_TIME_ACCOUNTING=y"},
    [PSI_TROUBLE_OFF] = {"is switched off: boot with psi=1",
                         "is switched off: write 1 to cgroup.pressure",
                         "is switched off: the kernel accounts no irq time on this machine"},
    [PSI_TROUBLE_PERMISSION] =
        {"can't be read for lack of permission: let collectd's user read "
         "/proc/pressure, or run collectd as root",
         "can't be read for lack of permission: let collectd's user read the "
         "cgroup mount, or run collectd as root",
         NULL},
    [PSI_TROUBLE_TEXT] = {"is in a form that is not understood: a newer version of headroom may "
                          "know it",
                          NULL, NULL},
    [PSI_TROUBLE_DESCRIPTORS] = {"can't be opened as file descriptors ran out: raise LimitNOFILE= "
                                 "of collectd's service (ulimit -n)",
                                 NULL, NULL},
    [PSI_TROUBLE_OTHER] = {NULL, NULL, NULL},
};

static enum psi_trouble_kind kind_of(int status)
{
    switch (status) {
    case -ENOENT:
        return PSI_TROUBLE_ABSENT;
    case -EOPNOTSUPP:
        return PSI_TROUBLE_OFF;
    case -EACCES:
    case -EPERM:
        return PSI_TROUBLE_PERMISSION;
    case -EBADMSG:
    case -ENODATA:
        return PSI_TROUBLE_TEXT;
    case -EMFILE:
    case -ENFILE:
        return PSI_TROUBLE_DESCRIPTORS;
    default:
        return PSI_TROUBLE_OTHER;
    }
}

void psi_trouble_note(struct psi_trouble *trouble, const char *group,
                      const struct hr_psi_snapshot *snapshot)
{
    const int *status = snapshot->status;
    bool counted[PSI_TROUBLE_COUNT] = {false};

    trouble->reopened += snapshot->reopened_count;
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++) {
        if (status[i] == 0) {
            trouble->fine |= 1u << i;
            trouble->files++;
        }
        if (status[i] == 0 || status[i] == -ECANCELED || status[i] == -ENODEV)
            continue;
        enum psi_trouble_kind kind = kind_of(status[i]);
        struct psi_trouble_state *state = &trouble->kinds[kind];
        state->resources |= 1u << i;
        state->status = status[i];
        if (group == NULL || counted[kind])
            continue;
        counted[kind] = true;
        if (state->groups++ == 0)
            sstrncpy(state->example, group, sizeof(state->example));
    }
}

/* "cpu, memory, io" */
static void list_resources(unsigned resources, char *buffer, size_t size)
{
    size_t used = 0;

    buffer[0] = '\0';
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT && used < size; i++)
        if (resources & (1u << i))
            used += snprintf(buffer + used, size - used, "%s%s", used > 0 ? ", " : "",
                             hr_psi_resource_name(i));
}

static void warn(unsigned resources, const char *whose, const char *text, int status)
{
    char names[64];

    if (resources == 0)
        return;
    list_resources(resources, names, sizeof(names));
    if (text != NULL)
        WARNING(PLUGIN ": %s pressure of %s %s.", names, whose, text);
    else
        WARNING(PLUGIN ": %s pressure of %s can't be read: %s.", names, whose, STRERROR(-status));
}

/* irq pressure has reasons of its own, so it may get a line of its own. */
static void warn_kind(enum psi_trouble_kind kind, unsigned resources, const char *whose,
                      bool of_system, int status)
{
    const char *text = texts[kind].of_system;

    if (!of_system && texts[kind].of_cgroups != NULL)
        text = texts[kind].of_cgroups;
    if (texts[kind].of_irq != NULL) {
        warn(resources & IRQ, whose, texts[kind].of_irq, status);
        resources &= ~IRQ;
    }
    warn(resources, whose, text, status);
}

void psi_trouble_tell_system(struct psi_trouble *trouble)
{
    unsigned relieved = 0;

    for (int kind = 0; kind < PSI_TROUBLE_COUNT; kind++) {
        struct psi_trouble_state *state = &trouble->kinds[kind];
        warn_kind(kind, state->resources & ~state->told_resources, "the system", true,
                  state->status);
        relieved |= state->told_resources & trouble->fine;
        state->told_resources = state->resources;
        state->resources = 0;
    }
    if (relieved != 0) {
        char names[64];
        list_resources(relieved, names, sizeof(names));
        INFO(PLUGIN ": %s pressure of the system is being read again.", names);
    }
    trouble->fine = 0;
}

static void tell_reopened(struct psi_trouble *trouble)
{
    if (tally_should_log(&trouble->told_reopened, trouble->reopened))
        NOTICE(PLUGIN
               ": file descriptors are short, so %zu of %zu pressure files are opened anew at "
               "each interval, which costs more: raise LimitNOFILE= of collectd's service "
               "(ulimit -n).",
               trouble->reopened, trouble->files);
    trouble->reopened = 0;
    trouble->files = 0;
}

void psi_trouble_tell_cgroups(struct psi_trouble *trouble)
{
    char whose[384];

    for (int kind = 0; kind < PSI_TROUBLE_COUNT; kind++) {
        struct psi_trouble_state *state = &trouble->kinds[kind];
        if (tally_should_log(&state->told_groups, state->groups)) {
            if (state->groups == 1)
                snprintf(whose, sizeof(whose), "cgroup %s", state->example);
            else
                snprintf(whose, sizeof(whose), "%zu cgroups (such as %s)", state->groups,
                         state->example);
            warn_kind(kind, state->resources, whose, false, state->status);
        }
        state->resources = 0;
        state->groups = 0;
    }
    tell_reopened(trouble);
}
