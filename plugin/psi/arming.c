#include "psi/arming.h"
#include "common/complaint.h"
#include "utils/common/common.h"

#include <errno.h>

#define PLUGIN "psi"

/* Why the kernel refuses a trigger, and what to do; NULL: the system's own reason must do. */
static const char *explain_refusal(int status)
{
    switch (status) {
    case -EINVAL:
    case -EPERM:
        return "without CAP_SYS_RESOURCE the kernel takes windows of 2, 4, 6, 8 or 10 s only, and "
               "before Linux 6.4 none; before Linux 6.5 it takes none below 0.5 s: add "
               "CAP_SYS_RESOURCE to collectd's service, or choose another Window";
    case -EROFS:
        return "the cgroup mount is read-only here: mount it writable";
    case -EACCES:
        return "the pressure file can't be opened for writing: add CAP_DAC_OVERRIDE to collectd's "
               "service, let its user write the file, or run collectd as root";
    case -EMFILE:
    case -ENFILE:
        return "file descriptors are short: raise LimitNOFILE= of collectd's service (ulimit -n)";
    case -ENOSPC:
        return "epoll watches are short: raise sysctl fs.epoll.max_user_watches";
    case -EBUSY:
    case -EIO:
    case -ENOSYS:
        return "triggers need Linux 5.2 or later";
    default:
        return NULL;
    }
}

/* Why there is nothing to watch. */
static const char *explain_absence(int status)
{
    switch (status) {
    case -ENOENT:
        return "this kernel doesn't measure that";
    case -EOPNOTSUPP:
        return "it is switched off, by psi=0 at boot or by 0 in cgroup.pressure";
    case -EBADMSG:
    case -ENODATA:
        return "the pressure file is in a form that is not understood";
    default:
        return explain_refusal(status);
    }
}

void psi_arming_tell_refusal(struct psi_arming *arming, const struct psi_rule *rule, int status)
{
    if (arming->is_refusal_told)
        return;
    arming->is_refusal_told = true;
    const char *reason = explain_refusal(status);
    NOTICE(PLUGIN ": trigger %s is polled, %d times per window, as the kernel doesn't take it: %s.",
           rule->name, HR_PSI_TRIGGER_POLLS, reason != NULL ? reason : STRERROR(-status));
}

void psi_arming_tell_failure(struct psi_arming *arming, const struct psi_subject *subject,
                             int status)
{
    const struct psi_rule *rule = subject->rule;
    const char *known = explain_absence(status);
    const char *reason = known != NULL ? known : STRERROR(-status);

    if (subject->path == NULL)
        complaint_log(&arming->of_system, LOG_ERR, status,
                      PLUGIN ": trigger %s can't be armed, and is tried again by and by: %s.",
                      rule->name, reason);
    else if (tally_should_log(&arming->of_groups, arming->unarmed_groups))
        ERROR(PLUGIN ": trigger %s can't be armed for %zu of the cgroups, such as %s, and is tried "
                     "again by and by: %s.",
              rule->name, arming->unarmed_groups, subject->path, reason);
}

void psi_arming_tell_success(struct psi_arming *arming, const struct psi_subject *subject)
{
    if (subject->path == NULL)
        complaint_resolve(&arming->of_system, PLUGIN ": trigger %s is armed.", subject->rule->name);
    else if (arming->unarmed_groups == 0)
        tally_should_log(&arming->of_groups, 0);
}
