/* SPDX-License-Identifier: MIT */
#include "plugin/osnoise/life_harness.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "support/fake_tracefs.h"

const char *const harness_plugin = "osnoise";

/* What a test waits for comes at once, but the machine may be busy. */
#define PATIENCE_MS 50000
#define RECORDED    "6.12-singles"

static const char *const settings[SETTINGS] = {
    "osnoise/cpus",    "osnoise/period_us",       "osnoise/runtime_us",
    "osnoise/options", "osnoise/stop_tracing_us", "osnoise/stop_tracing_total_us",
    "tracing_thresh",  "current_tracer",
};
char original[SETTINGS][256];

/* Takes the place of libc's. The CPUs of the tree aren't this machine's: a thread of the plugin's
 * that tries whether one has time for it may run anywhere, as on a busy machine its time might not
 * be enough. */
int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *cpus)
{
    if (!pthread_equal(thread, pthread_self()))
        return EINVAL;
    return sched_setaffinity(0, size, cpus) == 0 ? 0 : errno;
}

/* --- Before and after ----------------------------------------------------- */

static void set_daemon(void)
{
    fake_set_base_dir(tree_path(tree));
    fake_set_interval(NS_TO_CDTIME_T(20000000)); /* so often is read */
}

void start_again(void)
{
    fake_stop();
    fake_start(harness_plugin);
    set_daemon();
}

static void set_up(void)
{
    harness_set_up();
    fake_tracefs_begin(tree, 2);
    fake_tracefs_set("osnoise/cpus", "0-1\n");
    fake_tracefs_set("tracing_thresh", "77\n");
    for (size_t i = 0; i < SETTINGS; i++)
        snprintf(original[i], sizeof(original[i]), "%s", fake_tracefs_get(settings[i]));
    set_daemon();
}

static void tear_down(void)
{
    harness_tear_down();
    fake_tracefs_end();
}

bool tree_has(const char *file)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", tree_path(tree), file);
    return access(path, F_OK) == 0;
}

void assert_restored(const char *except)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < SETTINGS; i++)
        if (except == NULL || strcmp(settings[i], except) != 0)
            ck_assert_str_eq(fake_tracefs_get(settings[i]), original[i]);
    ck_assert(!tree_has(STATE));
    snprintf(path, sizeof(path), "%s/" FAKE_TRACEFS "/instances", tree_path(tree));
    ck_assert_msg(rmdir(path) == 0, "an instance is left");
    ck_assert_int_eq(mkdir(path, 0755), 0);
}

/* --- Waiting -------------------------------------------------------------- */

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void await_log(size_t count, const char *containing)
{
    const uint64_t end_ms = now_ms() + PATIENCE_MS;

    while (fake_logs(0, containing) < count && now_ms() < end_ms)
        usleep(2000);
    ck_assert_msg(fake_logs(0, containing) == count, "%zu times \"%s\" in: %s",
                  fake_logs(0, containing), containing, fake_log(0) != NULL ? fake_log(0) : "");
}

void await_value(const char *identifier)
{
    const uint64_t end_ms = now_ms() + PATIENCE_MS;

    do {
        ck_assert_msg(now_ms() < end_ms, "%s doesn't come: %s", identifier,
                      fake_log(0) != NULL ? fake_log(0) : "");
        usleep(2000);
        harness_read();
    } while (fake_find(identifier) == NULL);
}

void await_notification(void)
{
    const uint64_t end_ms = now_ms() + PATIENCE_MS;

    while (fake_notifications() == 0 && now_ms() < end_ms)
        usleep(2000);
    ck_assert_uint_eq(fake_notifications(), 1);
}

const char *in_instance_of(pid_t pid, const char *file)
{
    static char path[256];
    char pattern[64], instance[128] = "instances/none";

    snprintf(pattern, sizeof(pattern), "headroom_osnoise_%d_*", (int)pid);
    fake_tracefs_find_instance(pattern, instance, sizeof(instance));
    snprintf(path, sizeof(path), "%s%s%s", instance, file[0] != '\0' ? "/" : "", file);
    return path;
}

void await_run(pid_t pid)
{
    const uint64_t end_ms = now_ms() + PATIENCE_MS;

    while (strcmp(fake_tracefs_get(in_instance_of(pid, "current_tracer")), "osnoise\n") != 0) {
        ck_assert_msg(now_ms() < end_ms, "the tracer doesn't run: %s",
                      fake_log(0) != NULL ? fake_log(0) : "");
        usleep(2000);
    }
}

void await_attached(void)
{
    const uint64_t end_ms = now_ms() + PATIENCE_MS;

    while (
        strcmp(fake_tracefs_get(in_instance_of(getpid(), "events/osnoise/osnoise_sample/enable")),
               "1\n") != 0) {
        ck_assert_msg(now_ms() < end_ms, "it isn't attached");
        usleep(2000);
    }
}

/* --- Fixtures ------------------------------------------------------------- */

static size_t read_fixture(const char *file, char *buffer, size_t size)
{
    const char *folder = getenv("srcdir");
    char path[512];

    snprintf(path, sizeof(path), "%s/tests/fixtures/osnoise/" RECORDED "/%s",
             folder != NULL ? folder : ".", file);
    FILE *stream = fopen(path, "r");
    ck_assert_msg(stream != NULL, "%s", path);
    size_t length = fread(buffer, 1, size - 1, stream);
    fclose(stream);
    buffer[length] = '\0';
    return length;
}

void add_recorded_page(void)
{
    char page[8192], name[256];
    size_t size = read_fixture("page", page, sizeof(page));

    snprintf(name, sizeof(name), "%s", in_instance_of(getpid(), ""));
    fake_tracefs_add_pages(strchr(name, '/') + 1, 1, page, size);
}

void set_recorded_tables(void)
{
    static const char *const events[] = {"irq_noise", "softirq_noise", "nmi_noise", "thread_noise",
                                         "sample_threshold"};
    char file[128], text[4096];

    for (size_t i = 0; i < COUNT(events); i++) {
        snprintf(file, sizeof(file), "%s.hist", events[i]);
        read_fixture(file, text, sizeof(text));
        snprintf(file, sizeof(file), "events/osnoise/%s/hist", events[i]);
        fake_tracefs_set(in_instance_of(getpid(), file), "%s", text);
    }
}

/* --- The fixture ---------------------------------------------------------- */

/* A test changes its working directory. */
static void find_fixtures(void)
{
    char path[PATH_MAX];
    const char *folder = getenv("srcdir");

    if (realpath(folder != NULL ? folder : ".", path) != NULL)
        setenv("srcdir", path, 1);
}

void add_life_fixture(TCase *tests)
{
    find_fixtures();
    tcase_add_checked_fixture(tests, set_up, tear_down);
}
