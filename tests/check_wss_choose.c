/*
 * check_wss_choose.c - which method `headroom wss` takes, of collectors that are made up here.
 */
#include "suite.h"

#include "../src/command/wss_choose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* --- collectors ----------------------------------------------------------- */

struct hr_wss {
    enum hr_wss_method method;
};

static struct {
    int error;
    size_t max_windows;
} methods[HR_WSS_METHOD_COUNT];
static enum hr_wss_method auto_takes;
static int open_count;

const char *hr_wss_method_name(enum hr_wss_method method)
{
    static const char *const names[] = {"referenced", "idle", "lru_gen", "damon", "auto"};
    return names[method];
}

int hr_wss_open(const struct hr_root *root, const struct hr_wss_options *options,
                struct hr_wss **wss, struct hr_wss_reason *reason)
{
    enum hr_wss_method method = options->method == HR_WSS_AUTO ? auto_takes : options->method;
    (void)root;
    if (methods[method].error != 0) {
        *reason = (struct hr_wss_reason){.error = methods[method].error, .text = "no"};
        return reason->error;
    }
    *wss = malloc(sizeof(**wss));
    ck_assert_ptr_nonnull(*wss);
    (*wss)->method = method;
    open_count++;
    return 0;
}

void hr_wss_close(struct hr_wss *wss)
{
    open_count -= wss != NULL;
    free(wss);
}

enum hr_wss_method hr_wss_method(const struct hr_wss *wss)
{
    return wss->method;
}

size_t hr_wss_max_windows(const struct hr_wss *wss)
{
    return methods[wss->method].max_windows;
}

/* --- choices -------------------------------------------------------------- */

static const struct wss_plan snapshot = {.mode = WSS_SNAPSHOT, .window_ns = 1},
                             profile = {.mode = WSS_PROFILE, .window_ns = 1, .steps = 4},
                             endless = {.mode = WSS_CUMULATIVE, .window_ns = 1},
                             growth = {.mode = WSS_CUMULATIVE, .window_ns = 1, .total_ns = 3};

static const struct {
    const char *name;
    const struct wss_plan *plan;
    enum hr_wss_method asked, first; /* first: what auto takes */
    enum hr_wss_scope scope;
    bool lacks_idle;
    int rc;
    enum hr_wss_method method;
    const char *text; /* of the reason */
} choices[] = {
    {"as asked", &snapshot, HR_WSS_LRU_GEN, 0, HR_WSS_CGROUP, false, 0, HR_WSS_LRU_GEN, ""},
    {"as auto has it", &snapshot, HR_WSS_AUTO, HR_WSS_DAMON, HR_WSS_SYSTEM, false, 0, HR_WSS_DAMON,
     ""},
    {"often enough", &growth, HR_WSS_DAMON, 0, HR_WSS_PROCESSES, false, 0, HR_WSS_DAMON, ""},
    {"not often enough", &profile, HR_WSS_DAMON, 0, HR_WSS_PROCESSES, false, -E2BIG, 0,
     "damon can be read only 3 times once it has begun, which is too few for -P: choose --method "
     "referenced or idle"},
    {"once, and asked for endlessly", &endless, HR_WSS_LRU_GEN, 0, HR_WSS_CGROUP, false, -E2BIG, 0,
     "lru_gen can be read only 1 time once it has begun, which is too few for -C"},
    {"as often as wanted", &endless, HR_WSS_REFERENCED, 0, HR_WSS_CGROUP, false, 0,
     HR_WSS_REFERENCED, ""},
    {"auto passes over", &profile, HR_WSS_AUTO, HR_WSS_LRU_GEN, HR_WSS_CGROUP, false, 0,
     HR_WSS_IDLE, ""},
    {"auto passes over two", &endless, HR_WSS_AUTO, HR_WSS_DAMON, HR_WSS_PROCESSES, true, 0,
     HR_WSS_REFERENCED, ""},
    {"none of the system can", &profile, HR_WSS_AUTO, HR_WSS_LRU_GEN, HR_WSS_SYSTEM, false, -E2BIG,
     0, "no method that measures the whole system more often"},
    {"none works at all", &profile, HR_WSS_IDLE, 0, HR_WSS_PROCESSES, true, -ENOENT, 0, "no"},
};

START_TEST(chooses)
{
    const struct wss_request request = {.target = {.scope = choices[_i].scope},
                                        .method = choices[_i].asked,
                                        .plan = *choices[_i].plan};
    bool of_system = choices[_i].scope == HR_WSS_SYSTEM;
    struct hr_wss *wss = NULL;
    struct hr_wss_reason reason = {0};

    auto_takes = choices[_i].first;
    methods[HR_WSS_LRU_GEN].max_windows = 1;
    methods[HR_WSS_DAMON].max_windows = 3;
    methods[HR_WSS_IDLE].error = of_system ? -EOPNOTSUPP : choices[_i].lacks_idle ? -ENOENT : 0;
    methods[HR_WSS_REFERENCED].error = of_system ? -EOPNOTSUPP : 0;
    int rc = wss_choose(NULL, &request, &wss, &reason);
    ck_assert_msg(rc == choices[_i].rc, "%s: %d", choices[_i].name, rc);
    if (rc == 0)
        ck_assert_int_eq(hr_wss_method(wss), choices[_i].method);
    else
        ck_assert_msg(strstr(reason.text, choices[_i].text) != NULL, "%s", reason.text);
    hr_wss_close(wss);
    ck_assert_int_eq(open_count, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("wss_choose");

    tcase_add_loop_test(tests, chooses, 0, COUNT(choices));
    return run_suite("wss_choose", tests);
}
