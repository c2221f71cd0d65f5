/* SPDX-License-Identifier: MIT */
/*
 * command/check_top_table.c - the rows of `headroom top`: fetching, sorting, and naming them.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/table_rows.h"
#include "common/client.h"
#include "support/suite.h"
#include "top/columns.h"
#include "top/table.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* --- Identifiers ---------------------------------------------------------- */

static const struct {
    const char *text, *host, *plugin, *instance, *type, *type_instance;
} identifiers[] = {
    {"host/psi-system/percent-cpu-some", "host", "psi", "system", "percent", "cpu-some"},
    {"host/psi-a-b/percent", "host", "psi", "a-b", "percent", ""},
    {"host/load/load", "host", "load", "", "load", ""},
    {"h-1.net/psi-a b\\x2dc~/percent-io-full", "h-1.net", "psi", "a b\\x2dc~", "percent",
     "io-full"},
    {"h/psi-x/percent-a/b", "h", "psi", "x", "percent", "a/b"},
    {"", NULL, NULL, NULL, NULL, NULL},
    {"host", NULL, NULL, NULL, NULL, NULL},
    {"host/psi-system", NULL, NULL, NULL, NULL, NULL},
    {"/psi-system/percent", NULL, NULL, NULL, NULL, NULL},
    {"host/-system/percent", NULL, NULL, NULL, NULL, NULL},
    {"host/psi-system/", NULL, NULL, NULL, NULL, NULL},
};

static void expect_piece(const struct piece *piece, const char *expected)
{
    ck_assert_uint_eq(piece->length, strlen(expected));
    ck_assert(piece->length == 0 || memcmp(piece->start, expected, piece->length) == 0);
}

START_TEST(parses_identifier)
{
    struct identifier parts;
    int status = identifier_parse(identifiers[_i].text, &parts);
    if (identifiers[_i].host == NULL) {
        ck_assert_int_eq(status, -EBADMSG);
        return;
    }
    ck_assert_int_eq(status, 0);
    expect_piece(&parts.host, identifiers[_i].host);
    expect_piece(&parts.plugin, identifiers[_i].plugin);
    expect_piece(&parts.instance, identifiers[_i].instance);
    expect_piece(&parts.type, identifiers[_i].type);
    expect_piece(&parts.type_instance, identifiers[_i].type_instance);
}
END_TEST

static const struct {
    const char *text, *key; /* NULL: shown by no column */
} mappings[] = {
    {"h/psi-system/percent-cpu-some", "cpu_some"},
    {"h/psi-a/percent-cpu-full", "cpu_full"},
    {"h/psi-system/percent-cpu-idle", "cpu_idle"},
    {"h/wss-mysqld/count-processes", "processes"},
    {"h/psi-a/percent-memory-some", "memory_some"},
    {"h/psi-a/percent-memory-full", "memory_full"},
    {"h/psi-a/percent-io-some", "io_some"},
    {"h/psi-a/percent-io-full", "io_full"},
    {"h/psi-a/percent-irq-full", "irq_full"},
    {"h/psi/percent-cpu-some", NULL}, /* no group */
    {"h/psi-a/percent-cpu-some-avg10", NULL},
    {"h/psi-a/percent-cpu", NULL},
    {"h/psi-a/percent", NULL},
    {"h/psi-a/total_time_in_ms-cpu-some", NULL},
    {"h/psix-a/percent-cpu-some", NULL},
    {"h/cpu-0/percent-cpu-some", NULL},
    {"h/cgroup_perf-a/perf-task-clock", "cpus_used"},
    {"h/cgroup_perf-systems/perf-task-clock", "cpus_used"},
    {"h/cgroup_perf-a/ipc", "ipc"},
    {"h/cgroup_perf-system/ipc", "ipc"},
    {"h/cgroup_perf-a/perf-context-switches", "context_switches"},
    {"h/cgroup_perf-system/perf-context-switches", "context_switches"},
    {"h/cgroup_perf-a/perf-page-faults", "page_faults"},
    {"h/wss-mysqld/memory-referenced", "referenced_bytes"},
    {"h/wss-system/memory-referenced", "referenced_bytes"},
    {"h/wss-a/memory-rss", "rss_bytes"},
    {"h/wss-a/memory-pss", NULL},
    {"h/wss-a/memory-referenced-10s", NULL},
    {"h/wss-a/duration-window", NULL},
    {"h/memory/memory-referenced", NULL},
    {"h/cgroup_perf-system/perf-task-clock", NULL}, /* counts CPUs, busy or not */
    {"h/cgroup_perf-a/perf-task-clock-cpu0", NULL},
    {"h/cgroup_perf-a/ipc-cpu0", NULL},
    {"h/cgroup_perf-a/percent-task-clock", NULL},
    {"h/cgroup_perf-a/perf-cycles", NULL},
    {"h/psi-a/perf-task-clock", NULL},
    {"h/cgroup_perf-a/percent-cpu-some", NULL},
    {"h/cgroup_perf/perf-task-clock", NULL},
    {"h/headroom-a/percent-room", "room_pct"},
    {"h/headroom-system/percent-room", "room_pct"},
    {"h/headroom-a/percent-room-cpu", NULL},
    {"h/headroom-a/duration-to_trouble", "trouble_s"},
};

START_TEST(maps_series_to_column)
{
    struct identifier parts;
    ck_assert_int_eq(identifier_parse(mappings[_i].text, &parts), 0);
    int expected = mappings[_i].key != NULL ? column_of_key(mappings[_i].key) : -ENOENT;
    ck_assert_int_eq(identifier_column(&parts), expected);
}
END_TEST

/* --- Sorting -------------------------------------------------------------- */

static const struct {
    const char *key, *order;
} sortings[] = {
    {"pressure", "h/system h/c g/b h/b h/a h/void "}, {"cpu", "h/system h/c h/a g/b h/b h/void "},
    {"memory", "h/system g/b h/b h/c h/a h/void "},   {"io", "h/system g/b h/b h/a h/c h/void "},
    {"name", "h/system h/a g/b h/b h/c h/void "},     {"cpus", "h/system h/a g/b h/b h/c h/void "},
};

START_TEST(sorts)
{
    struct table table = {0};
    struct sort_key key;
    char order[256] = "";
    fill_table(&table);
    ck_assert_int_eq(sort_key_find(sortings[_i].key, 0, &key), 0);
    table_sort(&table, &key);
    for (size_t i = 0; i < table.count; i++) {
        strcat(strcat(order, table.rows[i].host), "/");
        strcat(strcat(order, table.rows[i].group), " ");
    }
    table_free(&table);
    ck_assert_str_eq(order, sortings[_i].order);
}
END_TEST

/* Of room, and of time to trouble, the least is the worst. */
START_TEST(sorts_by_what_is_left)
{
    static const char *const keys[] = {"room", "trouble"}, *const columns_of[] = {"room_pct",
                                                                                  "trouble_s"};
    struct row rows[] = {{.host = "h", .group = "most"},
                         {.host = "h", .group = "unknown"},
                         {.host = "h", .group = "none"},
                         {.host = "h", .group = "some"}};
    static const double values[] = {86400, NAN, 0, 90};
    struct table table = {.rows = rows, .count = COUNT(rows)};
    struct sort_key key;

    for (size_t i = 0; i < table.count; i++) {
        for (size_t column = 0; column < COLUMN_MAX; column++)
            rows[i].values[column] = NAN;
        rows[i].values[column_of_key(columns_of[_i])] = values[i];
    }
    ck_assert_int_eq(sort_key_find(keys[_i], 0, &key), 0);
    table_sort(&table, &key);
    ck_assert_str_eq(rows[0].group, "none");
    ck_assert_str_eq(rows[1].group, "some");
    ck_assert_str_eq(rows[2].group, "most");
    ck_assert_str_eq(rows[3].group, "unknown");
}
END_TEST

/* The hog has the higher "some", the victim the higher "full"; less than a percent of that is
 * chance: there the one that takes the CPU is below those that wait. */
static const struct {
    const char *group;
    double cpu_some, cpu_full, io_full;
    bool takes_most;
} pressures[] = {
    {"victim", 42, 42.2, 0, false}, {"reader", 12, 0, 42.4, false}, {"big", 100, 42.6, 0, true},
    {"hog", 100, 14, 0, false},     {"second", 28, 13.4, 0, false}, {"waits", 30, 0.2, 0.4, false},
    {"old", 20, NAN, NAN, false},   {"batch", 99, 0.4, 0, true},    {"calm", 1, 0.4, 0, false},
};

START_TEST(sorts_by_pressure)
{
    struct row rows[COUNT(pressures)] = {0};
    struct table table = {.rows = rows, .count = COUNT(pressures)};
    struct sort_key key;
    for (int i = 0; i < COUNT(pressures); i++) {
        struct row *row = &rows[COUNT(pressures) - 1 - i];
        for (int column = 0; column < COLUMN_MAX; column++)
            row->values[column] = NAN;
        row->host = (char *)"h";
        row->group = (char *)pressures[i].group;
        row->values[column_of_key("cpu_some")] = pressures[i].cpu_some;
        row->values[column_of_key("cpu_full")] = pressures[i].cpu_full;
        row->values[column_of_key("io_full")] = pressures[i].io_full;
        row->takes_most = pressures[i].takes_most;
    }
    ck_assert_int_eq(sort_key_find("pressure", 0, &key), 0);
    table_sort(&table, &key);
    for (int i = 0; i < COUNT(pressures); i++)
        ck_assert_str_eq(rows[i].group, pressures[i].group);
}
END_TEST

/* Processes are measured by name, whatever patterns match. */
START_TEST(finds_a_lack_of_groups)
{
    struct row rows[] = {{.host = "h", .group = "system"},
                         {.host = "h", .group = "sshd"},
                         {.host = "h", .group = "a.slice"}};
    struct table table = {.rows = rows};

    for (int i = 0; i < COUNT(rows); i++)
        rows[i].values[column_of_key("processes")] = NAN;
    rows[1].values[column_of_key("processes")] = 2;
    ck_assert(!table_lacks_groups(&table));
    for (table.count = 1; table.count < 3; table.count++)
        ck_assert(table_lacks_groups(&table));
    ck_assert(!table_lacks_groups(&table));
}
END_TEST

START_TEST(finds_columns_present)
{
    struct table table = {0};
    bool present[COLUMN_MAX];
    table_present(&table, present);
    ck_assert(!present[0]);
    fill_table(&table);
    table_present(&table, present);
    ck_assert(present[column_of_key("io_some")]);
    ck_assert(!present[column_of_key("io_full")]);
    table_free(&table);
}
END_TEST

/* The values of a collectd: groups known to both plugins, or to either; one name on two hosts. */
static const struct {
    const char *identifier;
    double value;
} held[] = {
    {"h/cgroup_perf-both/perf-task-clock", 1.5e9},
    {"h/psi-alone/percent-cpu-some", 3},
    {"h/cgroup_perf-system/perf-task-clock", 2e9},
    {"g/cgroup_perf-both/perf-page-faults", 4},
    {"h/psi-both/percent-cpu-some", 25},
    {"h/cgroup_perf-system/perf-context-switches", 600},
    {"h/cgroup_perf-counted/perf-context-switches", 5},
    {"h/psi-system/percent-cpu-some", 50},
    {"h/cgroup_perf-both/ipc", 0.75},
};

static const struct {
    const char *host, *group;
    double cpu, cpus, ipc, switches, faults;
} merged[] = {
    {"g", "both", NAN, NAN, NAN, NAN, 4},    {"h", "alone", 3, NAN, NAN, NAN, NAN},
    {"h", "both", 25, 1.5, 0.75, NAN, NAN},  {"h", "counted", NAN, NAN, NAN, 5, NAN},
    {"h", "system", 50, NAN, NAN, 600, NAN},
};

static int wait_for_answer(void *context, int fd, short events)
{
    struct pollfd file = {.fd = fd, .events = events};
    (void)context;
    return poll(&file, 1, 5000) == 1 ? 0 : -ETIMEDOUT;
}

static void send_answer(FILE *in, FILE *out)
{
    char line[256], wanted[256];
    while (fgets(line, sizeof(line), in) != NULL) {
        if (strcmp(line, "LISTVAL\n") == 0) {
            fprintf(out, "%d Values found\n", COUNT(held));
            for (int i = 0; i < COUNT(held); i++)
                fprintf(out, "1.0 %s\n", held[i].identifier);
        }
        for (int i = 0; i < COUNT(held); i++) {
            snprintf(wanted, sizeof(wanted), "GETVAL \"%s\"\n", held[i].identifier);
            if (strcmp(line, wanted) == 0)
                fprintf(out, "1 Value found\nvalue=%e\n", held[i].value);
        }
        fflush(out);
    }
}

/* Fetches the table of a process that answers as collectd does. */
static void fetch_held(struct table *table)
{
    char directory[] = "/tmp/check_table.XXXXXX";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct client *client;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/sock", directory);
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
    ck_assert_int_eq(listen(server, 1), 0);
    pid_t child = fork();
    if (child == 0) {
        int connection = accept(server, NULL, NULL);
        send_answer(fdopen(connection, "r"), fdopen(dup(connection), "w"));
        _exit(0);
    }
    int opened = client_open(address.sun_path, wait_for_answer, NULL, &client);
    int status = opened == 0 ? table_fetch(client, NULL, table) : opened;
    client_close(opened == 0 ? client : NULL);
    close(server);
    unlink(address.sun_path);
    rmdir(directory);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static void expect_value(const struct row *row, const char *key, double expected)
{
    double value = row->values[column_of_key(key)];
    ck_assert_msg(isnan(expected) ? isnan(value) : value == expected, "%s/%s %s: %g, not %g",
                  row->host, row->group, key, value, expected);
}

START_TEST(merges_plugins_into_rows)
{
    struct table table;
    fetch_held(&table);
    ck_assert_uint_eq(table.count, COUNT(merged));
    for (int i = 0; i < COUNT(merged); i++) {
        const struct row *row = &table.rows[i];
        ck_assert_str_eq(row->host, merged[i].host);
        ck_assert_str_eq(row->group, merged[i].group);
        expect_value(row, "cpu_some", merged[i].cpu);
        expect_value(row, "cpus_used", merged[i].cpus);
        expect_value(row, "ipc", merged[i].ipc);
        expect_value(row, "context_switches", merged[i].switches);
        expect_value(row, "page_faults", merged[i].faults);
    }
    table_free(&table);
}
END_TEST

START_TEST(names_rows)
{
    struct row row = {.host = (char *)"h", .group = (char *)"a"};
    struct table table = {.rows = &row, .count = 1};
    char name[ROW_NAME_SIZE];
    row_name(&table, &row, name, sizeof(name));
    ck_assert_str_eq(name, "a");
    table.several_hosts = true;
    row_name(&table, &row, name, sizeof(name));
    ck_assert_str_eq(name, "h: a");
}
END_TEST

/* --- Short names ---------------------------------------------------------- */

#define ID(first) first "0123456789abcdef0123456789abcdef0123456789abcdef0123"

START_TEST(shortens_names_that_are_distinct)
{
    static const char *const named[][3] = {
        {"g", "docker-" ID("748a7a914a7d") ".scope", "docker-748a7a914a7d.scope"},
        {"h", "docker-" ID("748a7a914a7d") ".scope", "docker-748a7a914a7d.scope"},
        {"h", "docker-" ID("999999999999") "a.scope", NULL},
        {"h", "docker-" ID("999999999999") "b.scope", NULL},
        {"h", "docker-999999999999.scope", NULL},
        {"h", "system", NULL},
    };
    struct row rows[COUNT(named)] = {0};
    struct table table = {.rows = rows, .count = COUNT(named)};
    char label[ROW_NAME_SIZE], name[ROW_NAME_SIZE];
    for (int i = 0; i < COUNT(named); i++) {
        rows[i].host = (char *)named[i][0];
        rows[i].group = (char *)named[i][1];
        rows[i].values[column_of_key("processes")] = NAN;
    }
    ck_assert_int_eq(table_shorten_names(&table, NULL), 0);
    for (int i = 0; i < COUNT(named); i++) {
        row_label(&table, &rows[i], label, sizeof(label));
        ck_assert_str_eq(label, named[i][2] != NULL ? named[i][2] : named[i][1]);
        row_name(&table, &rows[i], name, sizeof(name));
        ck_assert_str_eq(name, named[i][1]);
        free(rows[i].short_group);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_loop_test(tests, parses_identifier, 0, COUNT(identifiers));
    tcase_add_loop_test(tests, maps_series_to_column, 0, COUNT(mappings));
    tcase_add_loop_test(tests, sorts, 0, COUNT(sortings));
    tcase_add_loop_test(tests, sorts_by_what_is_left, 0, 2);
    tcase_add_test(tests, sorts_by_pressure);
    tcase_add_test(tests, finds_a_lack_of_groups);
    tcase_add_test(tests, finds_columns_present);
    tcase_add_test(tests, merges_plugins_into_rows);
    tcase_add_test(tests, names_rows);
    tcase_add_test(tests, shortens_names_that_are_distinct);
    return run_utf8_suite("table", tests);
}
