/*
 * doctor_osnoise.c - what of the plugin osnoise would work. By looking only: the tracer takes time
 * from all CPUs.
 */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct advice tracefs_advice[] = {
    {-ENOENT, "no tracefs is mounted",
     "mount -t tracefs tracefs /sys/kernel/tracing; the kernel needs CONFIG_FTRACE=y"},
    {-EACCES, "no permission to read tracefs", "run collectd as root"},
    {-EPERM, "no permission to read tracefs",
     "run collectd as root; a kernel that is locked down allows no tracing"},
    {-EMFILE, DOCTOR_NO_DESCRIPTORS},
    {0},
};

/* @return the length, or a negative errno. */
static ssize_t read_file(const struct hr_root *root, const char *path, char *buffer, size_t size)
{
    int fd = hr_root_openat(root, path, O_RDONLY);

    if (fd < 0)
        return fd;
    ssize_t length = read(fd, buffer, size - 1);
    int error = errno;
    close(fd);
    if (length < 0)
        return -error;
    buffer[length] = '\0';
    return length;
}

/* The tracers of the kernel: "timerlat osnoise hwlat function nop". */
static int read_tracers(const struct hr_root *root, char *buffer, size_t size)
{
    static const char *const places[] = {
        "sys/kernel/tracing/available_tracers",
        "sys/kernel/debug/tracing/available_tracers",
    };
    ssize_t status = -ENOENT;

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        ssize_t got = read_file(root, places[i], buffer, size);
        if (got >= 0)
            return 0;
        if (status == -ENOENT)
            status = got;
    }
    return (int)status;
}

static bool has_word(char *text, const char *wanted)
{
    char *rest = NULL;

    for (char *word = strtok_r(text, " \n", &rest); word != NULL;
         word = strtok_r(NULL, " \n", &rest))
        if (strcmp(word, wanted) == 0)
            return true;
    return false;
}

void doctor_check_osnoise(const struct hr_root *root, struct findings *findings)
{
    static const char tracer[] = "the tracer osnoise";
    char tracers[512];
    int status = read_tracers(root, tracers, sizeof(tracers));

    findings_advise(findings, "tracefs", status, tracefs_advice);
    if (status < 0)
        findings_add(findings, FINDING_UNTRIED, tracer, "tracefs can't be read", NULL);
    else if (has_word(tracers, "osnoise"))
        findings_add(findings, FINDING_WORKS, tracer, NULL, NULL);
    else
        findings_add(findings, FINDING_LACKS, tracer, "this kernel has no such tracer",
                     "it needs Linux 5.14 or later with CONFIG_OSNOISE_TRACER=y");
}
