/* SPDX-License-Identifier: MIT */
#include "support/fake_tracefs_inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    struct tree *tree; /* NULL: nothing is faked */
    char top[PATH_MAX];
    unsigned cpu_count;
    char tracers[128];
    char lacking[64]; /* an event */
    bool has_sample_event;
    struct {
        char file[160];
        int error;
    } failures[16];
    size_t failure_count;
    unsigned nth;
    int nth_error;
    bool nth_failed;
    char log[1 << 16], taken[1 << 16];
    pthread_mutex_t lock; /* no thread reads half-written files */
} fake = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

__attribute__((noreturn)) static void give_up(const char *doing, const char *file)
{
    fprintf(stderr, "fake_tracefs: can't %s %s: %s\n", doing, file, strerror(errno));
    abort();
}

/* --- Files ---------------------------------------------------------------- */

void fake_tracefs_print_name(char text[PATH_MAX], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text, PATH_MAX, format, arguments);
    va_end(arguments);
    if (length >= PATH_MAX)
        give_up("name", format);
}

void fake_tracefs_name_path(char path[PATH_MAX], const char *file)
{
    fake_tracefs_print_name(path, "%s/%s", fake.top, file);
}

void fake_tracefs_set(const char *file, const char *format, ...)
{
    char path[PATH_MAX], text[32 * 1024];
    va_list arguments;

    fake_tracefs_print_name(path, FAKE_TRACEFS "/%s", file);
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&fake.lock);
    tree_write(fake.tree, path, "%s", text);
    pthread_mutex_unlock(&fake.lock);
}

const char *fake_tracefs_get(const char *file)
{
    static __thread char text[1 << 16];
    char path[PATH_MAX];

    fake_tracefs_name_path(path, file);
    FILE *stream = fopen(path, "re");
    size_t length = stream != NULL ? fread(text, 1, sizeof(text) - 1, stream) : 0;
    text[length] = '\0';
    if (stream != NULL)
        fclose(stream);
    return text;
}

bool fake_tracefs_has(const char *file)
{
    char path[PATH_MAX];

    fake_tracefs_name_path(path, file);
    return access(path, F_OK) == 0;
}

/* Finds the file of the fake that a descriptor is of. */
static bool name_descriptor(int fd, char file[PATH_MAX])
{
    char link[64], path[PATH_MAX];
    size_t top = strlen(fake.top);

    if (fake.tree == NULL)
        return false;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    if (length < (ssize_t)top)
        return false;
    path[length] = '\0';
    if (strncmp(path, fake.top, top) != 0 || (path[top] != '/' && path[top] != '\0'))
        return false;
    fake_tracefs_print_name(file, "%s", path[top] == '/' ? path + top + 1 : "");
    return true;
}

/* --- What it starts with -------------------------------------------------- */

static const char *const events[] = {
    "osnoise/irq_noise",     "osnoise/nmi_noise",    "osnoise/sample_threshold",
    "osnoise/softirq_noise", "osnoise/thread_noise", "workqueue/workqueue_execute_start"};

#define EVENT_COUNT (sizeof(events) / sizeof(events[0]))

/* A file that is the same in all directories: what a kernel recorded. */
static void copy_fixture(const char *directory, const char *file)
{
    const char *source = getenv("srcdir");
    char path[PATH_MAX], text[4096];

    fake_tracefs_print_name(path, "%s/tests/fixtures/osnoise/6.12-singles/%s",
                            source ? source : ".", file);
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        give_up("open", path);
    text[fread(text, 1, sizeof(text) - 1, stream)] = '\0';
    fclose(stream);
    fake_tracefs_print_name(path, "%s%s", directory, file);
    fake_tracefs_set(path, "%s", text);
}

static void add_file(const char *directory, const char *file, const char *text)
{
    char made[PATH_MAX];

    fake_tracefs_print_name(made, "%s%s", directory, file);
    fake_tracefs_set(made, "%s", text);
}

/* @param event  "osnoise/irq_noise" */
static void add_event(const char *directory, const char *event)
{
    char made[PATH_MAX];

    fake_tracefs_print_name(made, "%sevents/%s/", directory, event);
    add_file(made, "enable", "0\n");
    add_file(made, "filter", "none\n");
    add_file(made, "trigger", "");
    add_file(made, "hist", "");
    fake_tracefs_print_name(made, "events/%s/format", event);
    copy_fixture(directory, made);
}

static void add_sample_event(const char *directory)
{
    static const char *const fields[][2] = {
        {"u64 runtime", "8"},       {"u64 noise", "8"},        {"u64 max_sample", "8"},
        {"int hw_count", "4"},      {"int irq_count", "4"},    {"int nmi_count", "4"},
        {"int softirq_count", "4"}, {"int thread_count", "4"},
    };
    char made[PATH_MAX], text[2048];
    int offset = 8, length = snprintf(text, sizeof(text),
                                      "name: osnoise_sample\nID: %d\nformat:\n"
                                      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\t"
                                      "signed:0;\n\n",
                                      FAKE_TRACEFS_SAMPLE);

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        length += snprintf(text + length, sizeof(text) - (size_t)length,
                           "\tfield:%s;\toffset:%d;\tsize:%s;\tsigned:%d;\n", fields[i][0], offset,
                           fields[i][1], fields[i][0][0] == 'i');
        offset += atoi(fields[i][1]);
    }
    fake_tracefs_print_name(made, "%sevents/osnoise/osnoise_sample/", directory);
    add_file(made, "enable", "0\n");
    add_file(made, "format", text);
}

void fake_tracefs_add_sample_event(void)
{
    fake.has_sample_event = true;
    add_sample_event("");
}

/* The files that the top level and each instance have. @param directory  "", or with a slash at its
 * end. */
static void add_files(const char *directory)
{
    char made[PATH_MAX];

    add_file(directory, "available_tracers", fake.tracers);
    add_file(directory, "current_tracer", "nop\n");
    add_file(directory, "tracing_on", "1\n");
    add_file(directory, "trace", "");
    add_file(directory, "trace_marker", "");
    add_file(directory, "trace_options", "");
    add_file(directory, "buffer_size_kb", "1410\n");
    add_file(directory, "tracing_cpumask", "f\n");
    for (size_t i = 0; i < EVENT_COUNT; i++)
        add_event(directory, events[i]);
    if (fake.has_sample_event)
        add_sample_event(directory);
    for (unsigned cpu = 0; cpu < fake.cpu_count; cpu++) {
        fake_tracefs_print_name(made, "%sper_cpu/cpu%u/", directory, cpu);
        add_file(made, "buffer_size_kb", "1410\n");
        add_file(made, "trace_pipe_raw", "");
        add_file(made, "stats",
                 "entries: 0\noverrun: 0\ncommit overrun: 0\nbytes: 0\n"
                 "oldest event ts:     0.000000\nnow ts:     1.000000\n"
                 "dropped events: 0\nread events: 0\n");
    }
    if (strcmp(fake.lacking, "sched/sched_process_exit") != 0)
        add_file(directory, "events/sched/sched_process_exit/trigger", "");
    copy_fixture(directory, "events/ftrace/osnoise/format");
    copy_fixture(directory, "events/ftrace/timerlat/format");
    copy_fixture(directory, "events/header_page");
}

void fake_tracefs_begin(struct tree *tree, unsigned cpu_count)
{
    char path[PATH_MAX];

    tree_add_directory(tree, FAKE_TRACEFS "/instances");
    fake_tracefs_print_name(path, "%s/" FAKE_TRACEFS, tree_path(tree));
    if (realpath(path, fake.top) == NULL)
        give_up("find", path);
    fake.tree = tree;
    fake.cpu_count = cpu_count;
    fake.has_sample_event = false;
    fake.failure_count = fake.nth = 0;
    fake.log[0] = fake.lacking[0] = '\0';
    snprintf(fake.tracers, sizeof(fake.tracers), "%s",
             "timerlat osnoise hwlat function_graph function nop\n");
    add_files("");
    fake_tracefs_set("osnoise/cpus", "0-%u\n", cpu_count - 1);
    fake_tracefs_set("osnoise/period_us", "1000000\n");
    fake_tracefs_set("osnoise/runtime_us", "1000000\n");
    fake_tracefs_set("osnoise/timerlat_period_us", "1000\n");
    fake_tracefs_set("osnoise/print_stack", "0\n");
    fake_tracefs_set("osnoise/stop_tracing_us", "0\n");
    fake_tracefs_set("osnoise/stop_tracing_total_us", "0\n");
    fake_tracefs_set("osnoise/options", "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP "
                                        "NO_OSNOISE_PREEMPT_DISABLE NO_OSNOISE_IRQ_DISABLE "
                                        "NO_TIMERLAT_ALIGN \n");
    tree_add_directory(tree, FAKE_TRACEFS "/osnoise/per_cpu");
    fake_tracefs_set("tracing_thresh", "0\n");
    tree_write(tree, "sys/devices/system/cpu/online", "0-%u\n", cpu_count - 1);
}

void fake_tracefs_end(void)
{
    fake.tree = NULL;
}

void fake_tracefs_offer(const char *tracers)
{
    snprintf(fake.tracers, sizeof(fake.tracers), "%s", tracers);
    fake_tracefs_set("available_tracers", "%s", tracers);
}

void fake_tracefs_remove_event(const char *event)
{
    char path[PATH_MAX];

    snprintf(fake.lacking, sizeof(fake.lacking), "%s", event);
    fake_tracefs_print_name(path, FAKE_TRACEFS "/events/%s", event);
    tree_remove(fake.tree, path);
}

/* --- Instances ------------------------------------------------------------ */

void fake_tracefs_add_instance(const char *name)
{
    char directory[PATH_MAX];

    fake_tracefs_print_name(directory, "instances/%s/", name);
    add_files(directory);
}

void fake_tracefs_remove_instance(const char *name)
{
    char path[PATH_MAX];

    fake_tracefs_print_name(path, FAKE_TRACEFS "/instances/%s", name);
    tree_remove(fake.tree, path);
}

bool fake_tracefs_find_instance(const char *pattern, char *file, size_t size)
{
    char path[PATH_MAX];
    struct dirent *entry;
    bool found = false;

    fake_tracefs_name_path(path, "instances");
    DIR *instances = opendir(path);
    while (!found && instances != NULL && (entry = readdir(instances)) != NULL) {
        found = entry->d_name[0] != '.' && fnmatch(pattern, entry->d_name, 0) == 0;
        if (found)
            snprintf(file, size, "instances/%s", entry->d_name);
    }
    if (instances != NULL)
        closedir(instances);
    return found;
}

/* "instances/x", and nothing below it: its name. */
static const char *name_instance(const char *file)
{
    static const char directory[] = "instances/";

    if (strncmp(file, directory, sizeof(directory) - 1) != 0 ||
        file[sizeof(directory) - 1] == '\0' || strchr(file + sizeof(directory) - 1, '/') != NULL)
        return NULL;
    return file + sizeof(directory) - 1;
}

/* @param directory  with a slash at its end. */
bool fake_tracefs_is_open(const char *directory, const char *files)
{
    char file[PATH_MAX], pattern[PATH_MAX];
    bool found = false;
    struct dirent *entry;
    DIR *own = opendir("/proc/self/fd");

    if (own == NULL)
        give_up("open", "/proc/self/fd");
    fake_tracefs_print_name(pattern, "%s%s", directory, files);
    while (!found && (entry = readdir(own)) != NULL)
        found = name_descriptor(atoi(entry->d_name), file) && fnmatch(pattern, file, 0) == 0;
    closedir(own);
    return found;
}

unsigned fake_tracefs_cpu_count(void)
{
    return fake.cpu_count;
}

/* --- Failures, and the log of writes -------------------------------------- */

void fake_tracefs_fail(const char *file, int error)
{
    if (fake.failure_count == sizeof(fake.failures) / sizeof(fake.failures[0]))
        give_up("remember", file);
    snprintf(fake.failures[fake.failure_count].file, sizeof(fake.failures[0].file), "%s", file);
    fake.failures[fake.failure_count++].error = error;
}

void fake_tracefs_fail_nth(unsigned nth, int error)
{
    fake.nth = nth;
    fake.nth_error = error;
    fake.nth_failed = false;
}

bool fake_tracefs_failed(void)
{
    return fake.nth_failed;
}

const char *fake_tracefs_log(void)
{
    pthread_mutex_lock(&fake.lock);
    memcpy(fake.taken, fake.log, sizeof(fake.taken));
    fake.log[0] = '\0';
    pthread_mutex_unlock(&fake.lock);
    return fake.taken;
}

/* @return the errno that is wanted, or 0. What is said last of a file counts. */
static int note(const char *sign, const char *file, const char *text)
{
    size_t length = strlen(fake.log);

    snprintf(fake.log + length, sizeof(fake.log) - length, "%s%s%s%s\n", sign, file,
             text[0] != '\0' ? "=" : "", text);
    if (fake.nth > 0 && --fake.nth == 0) {
        fake.nth_failed = true;
        return fake.nth_error;
    }
    for (size_t i = fake.failure_count; i-- > 0;)
        if (fnmatch(fake.failures[i].file, file, 0) == 0)
            return fake.failures[i].error;
    return 0;
}

void fake_tracefs_add_pages(const char *instance, unsigned cpu, const void *pages, size_t size)
{
    char file[PATH_MAX], path[PATH_MAX];

    fake_tracefs_print_name(file, "instances/%s/per_cpu/cpu%u/trace_pipe_raw", instance, cpu);
    fake_tracefs_name_path(path, file);
    pthread_mutex_lock(&fake.lock);
    FILE *stream = fopen(path, "ae");
    if (stream == NULL || fwrite(pages, 1, size, stream) != size || fclose(stream) != 0)
        give_up("write", file);
    pthread_mutex_unlock(&fake.lock);
}

/* --- The calls ------------------------------------------------------------ */

static int as_call(int error)
{
    if (error == 0 || error == FAKE_TRACEFS_IGNORED)
        return 0;
    errno = error;
    return -1;
}

int openat(int directory, const char *path, int flags, ...)
{
    char file[PATH_MAX];
    mode_t mode = 0;
    va_list arguments;

    va_start(arguments, flags);
    if ((flags & O_CREAT) != 0)
        mode = va_arg(arguments, mode_t);
    va_end(arguments);
    int fd = (int)syscall(SYS_openat, directory, path, flags & ~O_TRUNC, mode);
    if (fd < 0 || (flags & O_TRUNC) == 0)
        return fd;
    if ((!name_descriptor(fd, file) || fnmatch("*/trigger", file, 0) == 0) && ftruncate(fd, 0) < 0)
        give_up("empty", path);
    return fd;
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    char file[PATH_MAX], text[32 * 1024];

    if (!name_descriptor(fd, file) || size >= sizeof(text))
        return syscall(SYS_write, fd, buffer, size);
    memcpy(text, buffer, size);
    text[size] = '\0';
    text[strcspn(text, "\n")] = '\0';
    pthread_mutex_lock(&fake.lock);
    int error = note("", file, text);
    if (error == 0)
        error = fake_tracefs_take(file, text);
    pthread_mutex_unlock(&fake.lock);
    return as_call(error) < 0 ? -1 : (ssize_t)size;
}

ssize_t read(int fd, void *buffer, size_t size)
{
    char file[PATH_MAX];
    struct stat stat;

    if (!name_descriptor(fd, file))
        return syscall(SYS_read, fd, buffer, size);
    if (strcmp(file, "osnoise/cpus") == 0 && fstat(fd, &stat) == 0 && (size_t)stat.st_size >= size)
        return as_call(EINVAL);
    pthread_mutex_lock(&fake.lock);
    ssize_t got = syscall(SYS_read, fd, buffer, size);
    pthread_mutex_unlock(&fake.lock);
    return got == 0 && fnmatch("*/trace_pipe_raw", file, 0) == 0 ? as_call(EAGAIN) : got;
}

/* Finds the file of the fake that a path in a directory of the fake is of. */
static bool name_in(int directory, const char *path, char file[PATH_MAX])
{
    char in[PATH_MAX];

    if (!name_descriptor(directory, in))
        return false;
    fake_tracefs_print_name(file, "%s%s%s", in, in[0] != '\0' ? "/" : "", path);
    return true;
}

int mkdirat(int directory, const char *path, mode_t mode)
{
    char file[PATH_MAX];
    const char *instance = name_in(directory, path, file) ? name_instance(file) : NULL;

    if (instance == NULL)
        return (int)syscall(SYS_mkdirat, directory, path, mode);
    pthread_mutex_lock(&fake.lock);
    int status = as_call(note("+", file, ""));
    if (status == 0)
        status = (int)syscall(SYS_mkdirat, directory, path, mode);
    if (status == 0)
        fake_tracefs_add_instance(instance);
    pthread_mutex_unlock(&fake.lock);
    return status;
}

int unlinkat(int directory, const char *path, int flags)
{
    char file[PATH_MAX], in[PATH_MAX];
    const char *instance = name_in(directory, path, file) ? name_instance(file) : NULL;

    if (instance == NULL || flags != AT_REMOVEDIR || !fake_tracefs_has(file))
        return (int)syscall(SYS_unlinkat, directory, path, flags);
    fake_tracefs_print_name(in, "%s/", file);
    pthread_mutex_lock(&fake.lock);
    int status = as_call(note("-", file, ""));
    if (status == 0 && fake_tracefs_is_open(in, "*"))
        status = as_call(EBUSY);
    if (status == 0)
        fake_tracefs_remove_instance(instance);
    pthread_mutex_unlock(&fake.lock);
    return status;
}
