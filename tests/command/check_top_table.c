/* SPDX-License-Identifier: MIT */
/*
 * command/check_top_table.c - the parts of `headroom top` that know neither collectd nor a
 * terminal.
 */
#include <check.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/client.h"
#include "common/json.h"
#include "common/label.h"
#include "top/columns.h"
#include "top/layout.h"
#include "top/print.h"
#include "top/table.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static int column_of_key(const char *key)
{
    for (size_t i = 0; i < column_count; i++) {
        if (strcmp(columns[i].key, key) == 0)
            return (int)i;
    }
    ck_abort_msg("no column %s", key);
    return -1;
}

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
};

START_TEST(maps_series_to_column)
{
    struct identifier parts;
    ck_assert_int_eq(identifier_parse(mappings[_i].text, &parts), 0);
    int expected = mappings[_i].key != NULL ? column_of_key(mappings[_i].key) : -ENOENT;
    ck_assert_int_eq(identifier_column(&parts), expected);
}
END_TEST

/* --- Numbers -------------------------------------------------------------- */

static const struct {
    double value;
    int decimals;
    const char *text;
} numbers[] = {
    {0, 1, "0.0"},       {12.34, 1, "12.3"},    {100, 1, "100.0"},     {999.4, 1, "999.4"},
    {999.6, 1, "1.0k"},  {1234, 0, "1.2k"},     {999499, 1, "999k"},   {999500, 1, "1.0M"},
    {1.5e9, 2, "1.5G"},  {9.99e20, 1, "999E"},  {1e21, 1, "-"},        {1.234, 2, "1.23"},
    {-12.5, 1, "-12.5"}, {-1500, 1, "-1.5k"},   {NAN, 1, "-"},         {INFINITY, 1, "-"},
    {-INFINITY, 1, "-"}, {99.994, 2, "99.99"},  {99.996, 2, "100.0"},  {999.44, 2, "999.4"},
    {99940, 0, "99.9k"}, {99960, 0, "100k"},    {123456, 0, "123k"},   {0.4, 0, "0"},
    {-999.4, 1, "-999"}, {-123456, 1, "-123k"}, {99.96e18, 2, "100E"},
};

START_TEST(formats_number)
{
    char text[16];
    format_value(numbers[_i].value, numbers[_i].decimals, text);
    ck_assert_str_eq(text, numbers[_i].text);
    ck_assert_uint_le(strlen(text), VALUE_WIDTH);
}
END_TEST

/* A limit of 256 MiB is the same as in `headroom report` and in messages. */
static const struct {
    const char *key;
    double value;
    const char *text;
} cells[] = {
    {"memory_limit_bytes", 268435456, "256M"}, {"memory_used_bytes", 7.1e6, "6.8M"},
    {"referenced_bytes", 1000, "1.0K"},        {"rss_bytes", 0, "0B"},
    {"memory_limit_bytes", NAN, "-"},          {"memory_limit_bytes", 1e21, "-"},
    {"context_switches", 268435456, "268M"},
};

START_TEST(formats_cell)
{
    const struct column *column = &columns[column_find(cells[_i].key)];
    char text[16];

    column_format(column, cells[_i].value, column->decimals, text);
    ck_assert_str_eq(text, cells[_i].text);
}
END_TEST

START_TEST(finds_severity)
{
    const struct column *column = &columns[column_of_key("cpu_some")];
    ck_assert_int_eq(column_severity(column, NAN), SEVERITY_NONE);
    ck_assert_int_eq(column_severity(column, 0), SEVERITY_CALM);
    ck_assert_int_eq(column_severity(column, 9.99), SEVERITY_CALM);
    ck_assert_int_eq(column_severity(column, 10), SEVERITY_WARN);
    ck_assert_int_eq(column_severity(column, 39.9), SEVERITY_WARN);
    ck_assert_int_eq(column_severity(column, 40), SEVERITY_ALARM);
    column = &columns[column_of_key("context_switches")];
    ck_assert_int_eq(column_severity(column, 1e9), SEVERITY_NONE);
    ck_assert_int_eq(column_severity(column, INFINITY), SEVERITY_NONE);
}
END_TEST

/* --- The table of columns itself ------------------------------------------ */

START_TEST(columns_are_consistent)
{
    for (size_t i = 0; i < column_count; i++) {
        ck_assert_uint_le(strlen(columns[i].title), NUMBER_WIDTH);
        ck_assert_int_ne(columns[i].sort_letter, '?');
        ck_assert(columns[i].divisor > 0);
        ck_assert_int_ge(columns[i].rank, 1);
        for (size_t j = 0; j < i; j++) {
            ck_assert_str_ne(columns[i].key, columns[j].key);
            ck_assert_int_ne(columns[i].rank, columns[j].rank);
        }
    }
    struct sort_key keys[SORT_KEY_MAX];
    size_t count = sort_keys(keys);
    ck_assert_str_eq(keys[0].name, "pressure");
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_ne(keys[i].letter, 'q');
        for (size_t j = 0; j < i; j++) {
            ck_assert_int_ne(keys[i].letter, keys[j].letter);
            ck_assert_str_ne(keys[i].name, keys[j].name);
        }
    }
}
END_TEST

START_TEST(finds_sort_key)
{
    struct sort_key key = {"untouched", 'x', 0};
    ck_assert_int_eq(sort_key_find("mem", 0, &key), -ENOENT);
    ck_assert_int_eq(sort_key_find(NULL, 'z', &key), -ENOENT);
    ck_assert_str_eq(key.name, "untouched");
    ck_assert_int_eq(sort_key_find("memory", 0, &key), 0);
    ck_assert_int_eq(key.column, column_of_key("memory_some"));
    ck_assert_int_eq(sort_key_find(NULL, 'n', &key), 0);
    ck_assert_int_eq(key.column, SORT_NAME);
    static const char *const counters[][2] = {
        {"cpus", "cpus_used"}, {"switches", "context_switches"}, {"faults", "page_faults"}};
    for (int i = 0; i < COUNT(counters); i++) {
        ck_assert_int_eq(sort_key_find(NULL, "usf"[i], &key), 0);
        ck_assert_str_eq(key.name, counters[i][0]);
        ck_assert_int_eq(key.column, column_of_key(counters[i][1]));
    }
}
END_TEST

/* --- Sorting -------------------------------------------------------------- */

/* cpu, memory, io some, CPUs used; cpu full, which must not count as pressure, is 99 everywhere. */
static const struct {
    const char *host, *group;
    double cpu, memory, io, cpus;
} groups[] = {
    {"h", "b", 1, 20, 3, 0.5},         {"h", "a", 1, NAN, NAN, 99}, {"h", "system", 0, 0, 0, NAN},
    {"h", "void", NAN, NAN, NAN, NAN}, {"h", "c", 30, 2, NAN, 0},   {"g", "b", 1, 20, 3, 1.5},
};

static void fill_table(struct table *table)
{
    table->rows = calloc(COUNT(groups), sizeof(*table->rows));
    table->count = COUNT(groups);
    for (int i = 0; i < COUNT(groups); i++) {
        struct row *row = &table->rows[i];
        row->host = strdup(groups[i].host);
        row->group = strdup(groups[i].group);
        for (int column = 0; column < COLUMN_MAX; column++)
            row->values[column] = NAN;
        row->values[column_of_key("cpu_some")] = groups[i].cpu;
        row->values[column_of_key("memory_some")] = groups[i].memory;
        row->values[column_of_key("io_some")] = groups[i].io;
        row->values[column_of_key("cpus_used")] = groups[i].cpus;
        row->values[column_of_key("cpu_full")] = 99;
    }
}

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

/* --- Names ---------------------------------------------------------------- */

#define WIDE  "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e" /* three characters of two columns */
#define DOTS  "\xe2\x80\xa6"
#define ACUTE "\xcc\x81" /* combines with the character before */

static const struct {
    const char *name;
    int width;
    enum label_charset charset;
    const char *label;
} labels[] = {
    {"abcdefgh", 8, LABEL_UTF8, "abcdefgh"},
    {"abcdefgh", 7, LABEL_UTF8, "abc" DOTS "fgh"},
    {"abcdefgh", 6, LABEL_UTF8, "abc" DOTS "gh"},
    {"abcdefgh", 6, LABEL_ASCII, "ab..gh"},
    {"abcdefgh", 2, LABEL_UTF8, "a" DOTS},
    {"abcdefgh", 1, LABEL_UTF8, "a"},
    {"abcdefgh", 2, LABEL_ASCII, "ab"},
    {"abcdefgh", 0, LABEL_UTF8, ""},
    {"abcdefgh", -1, LABEL_UTF8, ""},
    {"", 5, LABEL_UTF8, ""},
    {WIDE, 6, LABEL_UTF8, WIDE},
    {WIDE, 5, LABEL_UTF8, "\xe6\x97\xa5" DOTS "\xe8\xaa\x9e"},
    {WIDE, 4, LABEL_UTF8, "\xe6\x97\xa5" DOTS},
    {WIDE, 1, LABEL_UTF8, ""},
    {WIDE, 9, LABEL_ASCII, "???"},
    {"\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 3, LABEL_UTF8, "\xc3\xbc" DOTS "\xc3\xbc"},
    {"e" ACUTE "e" ACUTE "e" ACUTE, 3, LABEL_UTF8, "e" ACUTE "e" ACUTE "e" ACUTE},
    {"e" ACUTE "xxe" ACUTE, 3, LABEL_UTF8, "e" ACUTE DOTS "e" ACUTE},
    {"xxxe" ACUTE "yy", 5, LABEL_UTF8, "xx" DOTS "yy"},
    {"a\033[31m\n\177", 20, LABEL_UTF8, "a?[31m??"},
    {"a\xc2\x9b"
     "b",
     20, LABEL_UTF8, "a?b"}, /* a control character of 8 bits */
    {"a\xe2\x80\xae"
     "b",
     20, LABEL_UTF8, "a?b"}, /* changes the direction */
    {"\xff\xc3", 20, LABEL_UTF8, "??"},
    {"\xed\xa0\x80", 20, LABEL_UTF8, "???"},     /* a surrogate */
    {"\xc0\xaf", 20, LABEL_UTF8, "??"},          /* overlong */
    {"\xf4\x90\x80\x80", 20, LABEL_UTF8, "????"} /* above U+10FFFF */
};

START_TEST(fits_label)
{
    char label[64];
    int taken =
        label_fit(labels[_i].name, labels[_i].width, labels[_i].charset, label, sizeof(label));
    ck_assert_str_eq(label, labels[_i].label);
    ck_assert_int_eq(taken, label_width(label, LABEL_UTF8));
    ck_assert_int_le(taken, labels[_i].width < 0 ? 0 : labels[_i].width);
}
END_TEST

/* A text that is too long is cut at its end. */
static const struct {
    const char *text;
    int width;
    enum label_charset charset;
    const char *label;
} sentences[] = {
    {"abcdefgh", 8, LABEL_UTF8, "abcdefgh"},
    {"abcdefgh", 7, LABEL_UTF8, "abcdef" DOTS},
    {"abcdefgh", 7, LABEL_ASCII, "abcde.."},
    {"abcdefgh", 2, LABEL_UTF8, "a" DOTS},
    {"abcdefgh", 2, LABEL_ASCII, "ab"},
    {"abcdefgh", 1, LABEL_UTF8, "a"},
    {"abcdefgh", 0, LABEL_UTF8, ""},
    {"abcdefgh", -1, LABEL_UTF8, ""},
    {"", 5, LABEL_UTF8, ""},
    {ACUTE "a", 0, LABEL_UTF8, ""},
    {WIDE, 6, LABEL_UTF8, WIDE},
    {WIDE, 5, LABEL_UTF8, "\xe6\x97\xa5\xe6\x9c\xac" DOTS},
    {WIDE, 4, LABEL_UTF8, "\xe6\x97\xa5" DOTS},
    {"e" ACUTE "xx", 2, LABEL_UTF8, "e" ACUTE DOTS},
    {"a\033[31m\xff\n", 20, LABEL_UTF8, "a?[31m??"},
};

START_TEST(fits_sentence)
{
    char label[64];
    int taken = label_fit_start(sentences[_i].text, sentences[_i].width, sentences[_i].charset,
                                label, sizeof(label));
    ck_assert_str_eq(label, sentences[_i].label);
    ck_assert_int_eq(taken, label_width(label, LABEL_UTF8));
}
END_TEST

START_TEST(label_stays_in_its_buffer)
{
    char label[] = "xxxxxxxx";
    ck_assert_int_eq(label_fit("ab\xc3\xbc", 20, LABEL_UTF8, label, 4), 2);
    ck_assert_str_eq(label, "ab");
    ck_assert_int_eq(label[4], 'x');
    ck_assert_int_eq(label_fit_start("abcdef", 4, LABEL_UTF8, label, 4), 3);
    ck_assert_str_eq(label, "abc");
    ck_assert_int_eq(label[4], 'x');
    ck_assert_int_eq(label_fit("ab", 20, LABEL_UTF8, label, 1), 0);
    ck_assert_str_eq(label, "");
}
END_TEST

/* --- The layout ----------------------------------------------------------- */

#define PSI      "cpu_some cpu_full memory_some memory_full io_some io_full "
#define COUNTERS "cpus_used context_switches page_faults "
#define ALL      PSI "irq_full cpus_used ipc context_switches page_faults "

/* Whether a list of keys, each followed by a space, has this one. */
static bool lists_key(const char *keys, const char *key)
{
    char word[64];
    snprintf(word, sizeof(word), "%s ", key);
    for (const char *found = keys; (found = strstr(found, word)) != NULL; found++) {
        if (found == keys || found[-1] == ' ')
            return true;
    }
    return false;
}

static void mark_present(const char *keys, bool present[COLUMN_MAX])
{
    for (size_t i = 0; i < COLUMN_MAX; i++)
        present[i] = i < column_count && lists_key(keys, columns[i].key);
}

static const struct {
    int width, longest;
    const char *present;
    bool bars;
    int shown; /* how many columns */
} layouts[] = {
    /* psi alone */
    {200, 60, PSI, true, 6},
    {100, 30, PSI, true, 6},
    {80, 60, PSI, true, 6},
    {80, 6, PSI, true, 6},
    {75, 60, PSI, true, 6},
    {74, 60, PSI, false, 6},
    {60, 60, PSI, false, 6},
    {59, 60, PSI, false, 5},
    {59, 6, PSI, true, 6},
    {44, 6, PSI, false, 6},
    {43, 6, PSI, false, 5},
    {40, 60, PSI, false, 3},
    {26, 60, PSI, false, 3},
    {25, 60, PSI, false, 2},
    {20, 60, PSI, false, 2},
    {19, 60, PSI, false, 1},
    {14, 60, PSI, false, 1},
    {13, 60, PSI, false, 0},
    {1, 60, PSI, false, 0},
    /* what a virtual machine has of both plugins */
    {200, 60, PSI COUNTERS, true, 9},
    {120, 60, PSI COUNTERS, true, 9},
    {100, 60, PSI COUNTERS, true, 9},
    {93, 60, PSI COUNTERS, true, 9},
    {92, 60, PSI COUNTERS, false, 9},
    {80, 60, PSI COUNTERS, false, 9},
    {60, 60, PSI COUNTERS, false, 6},
    {60, 12, PSI COUNTERS, false, 8},
    {40, 60, PSI COUNTERS, false, 3},
    {20, 60, PSI COUNTERS, false, 2},
    /* everything */
    {200, 60, ALL, true, 11},
    {120, 60, ALL, true, 11},
    {105, 60, ALL, true, 11},
    {100, 60, ALL, false, 11},
    {80, 60, ALL, false, 9},
    {80, 14, ALL, false, 11},
    {60, 60, ALL, false, 6},
    {40, 60, ALL, false, 3},
    {20, 60, ALL, false, 2},
    /* counters alone */
    {80, 60, COUNTERS, false, 3},
    {26, 60, COUNTERS, false, 3},
    {20, 60, COUNTERS, false, 2},
    {80, 60, "", false, 0},
};

START_TEST(fits_layout)
{
    bool present[COLUMN_MAX];
    struct layout layout;
    int shown = 0, bars = 0;
    mark_present(layouts[_i].present, present);
    layout_fit(layouts[_i].width, layouts[_i].longest, present, &layout);
    for (size_t i = 0; i < column_count; i++) {
        ck_assert(present[i] || !layout.shown[i]);
        shown += layout.shown[i];
        bars += layout.shown[i] && columns[i].drawn == COLUMN_BAR;
    }
    ck_assert_int_eq(layout.bar > 0, layouts[_i].bars);
    ck_assert_int_eq(shown, layouts[_i].shown);
    int bar_field = layout.bar > 0 ? layout.bar + 1 : 0;
    ck_assert_int_eq(layout.name + shown * (NUMBER_WIDTH + 1) + bars * bar_field,
                     layouts[_i].width);
    ck_assert_int_gt(layout.name, 0);
}
END_TEST

static const struct {
    int width;
    const char *shown;
} rankings[] = {
    {90, ALL},
    {89, PSI "irq_full cpus_used ipc context_switches "},
    {83, PSI "cpus_used ipc context_switches "},
    {77, PSI "cpus_used ipc "},
    {71, PSI "cpus_used "},
    {65, "cpu_some cpu_full memory_some memory_full io_some cpus_used "},
    {59, "cpu_some cpu_full memory_some io_some cpus_used "},
    {53, "cpu_some cpu_full memory_some io_some "},
    {47, "cpu_some memory_some io_some "},
    {25, "cpu_some memory_some "},
    {19, "cpu_some "},
    {13, ""},
};

/* A long name has all that bars can spare: with four columns each they are of use. */
START_TEST(bars_leave_room_for_names)
{
    bool present[COLUMN_MAX];
    struct layout layout;
    mark_present(PSI, present);
    layout_fit(100, 49, present, &layout);
    ck_assert_int_ge(layout.name, 49);
    ck_assert_int_ge(layout.bar, 4);
    layout_fit(100, 127, present, &layout);
    ck_assert_int_eq(layout.bar, 4);
}
END_TEST

START_TEST(hides_the_least_useful)
{
    bool present[COLUMN_MAX];
    struct layout layout;
    mark_present(ALL, present);
    layout_fit(rankings[_i].width, 60, present, &layout);
    for (size_t i = 0; i < column_count; i++)
        ck_assert_msg(layout.shown[i] == lists_key(rankings[_i].shown, columns[i].key), "%s",
                      columns[i].key);
}
END_TEST

static const struct {
    int width;
    const char *position, *present, *text;
} footers[] = {
    {80, "", PSI, "q quit  sort: p pressure  c cpu  m memory  i io  n name"},
    {80, "36-43/43", PSI,
     "36-43/43  q quit  sort: p pressure  c cpu  m memory  i io  n name  arrows scroll"},
    {79, "36-43/43", PSI, "36-43/43  q quit  sort: p pressure  c cpu  m memory  i io  n name"},
    {85, "", ALL,
     "q quit  sort: p pressure  c cpu  m memory  i io  u cpus  s switches  f faults  n name"},
    {80, "", ALL,
     "q quit  p pressure  c cpu  m memory  i io  u cpus  s switches  f faults  n name"},
    {80, "1-19/43", ALL,
     "1-19/43  q quit  p pressure  c cpu  m memory  i io  u cpus  s switches  n name"},
    {120, "1-19/43", ALL,
     "1-19/43  q quit  sort: p pressure  c cpu  m memory  i io  u cpus  s switches  f faults  "
     "n name  arrows scroll"},
    {60, "1-19/43", ALL, "1-19/43  q quit  p pressure  c cpu  m memory  i io  n name"},
    {57, "1-19/43", ALL, "1-19/43  q quit  p pressure  c cpu  m memory  i io"},
    {40, "1-19/43", ALL, "1-19/43  q quit  p pressure  c cpu"},
    {20, "1-19/43", ALL, "1-19/43  q quit"},
    {3, "1-19/43", ALL, "q quit"},
    {80, "", "", "q quit  sort: p pressure  n name"},
};

START_TEST(fits_footer)
{
    bool present[COLUMN_MAX];
    char text[FOOTER_SIZE];
    mark_present(footers[_i].present, present);
    footer_fit(footers[_i].width, footers[_i].position, present, text);
    ck_assert_str_eq(text, footers[_i].text);
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

/* --- Output --------------------------------------------------------------- */

static const struct {
    const char *text, *json;
} strings[] = {
    {"", "\"\""},
    {"plain \xc3\xbc", "\"plain \xc3\xbc\""},
    {"a\"b\\c", "\"a\\\"b\\\\c\""},
    {"\x01\n\x7f", "\"\\u0001\\u000a\\u007f\""},
    {"\xff"
     "a\xc3",
     "\"\\ufffda\\ufffd\""},
    {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
};

START_TEST(escapes_json)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    json_print_string(out, strings[_i].text);
    fclose(out);
    ck_assert_str_eq(text, strings[_i].json);
    free(text);
}
END_TEST

START_TEST(prints_json)
{
    struct row rows[] = {{.host = (char *)"h", .group = (char *)"a"}};
    struct table table = {.rows = rows, .count = 1, .time = 12.5};
    for (int i = 0; i < COLUMN_MAX; i++)
        rows[0].values[i] = NAN;
    rows[0].values[column_of_key("cpu_some")] = 0.25;
    rows[0].values[column_of_key("io_full")] = INFINITY;
    rows[0].values[column_of_key("cpus_used")] = 1.25;
    rows[0].values[column_of_key("context_switches")] = 1234567;
    rows[0].values[column_of_key("page_faults")] = 0.5;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    ck_assert_int_eq(print_json(out, &table, NULL), 0);
    fclose(out);
    ck_assert_str_eq(text,
                     "{\"time\":12.500,\"groups\":[{\"host\":\"h\",\"group\":\"a\","
                     "\"cpu_some\":0.25,\"cpu_full\":null,\"cpu_idle\":null,\"memory_some\":null,"
                     "\"memory_full\":null,\"io_some\":null,\"io_full\":null,"
                     "\"irq_full\":null,\"cpus_used\":1.25,\"ipc\":null,"
                     "\"context_switches\":1234567,\"page_faults\":0.5,"
                     "\"referenced_bytes\":null,\"memory_used_bytes\":null,"
                     "\"memory_limit_bytes\":null,\"rss_bytes\":null,\"processes\":null,"
                     "\"takes_most_cpu\":false}]}\n");
    free(text);
}
END_TEST

START_TEST(prints_aligned_lines)
{
    struct table table = {0};
    fill_table(&table);
    free(table.rows[0].group);
    table.rows[0].group = strdup(WIDE);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    ck_assert_int_eq(print_lines(out, &table, NULL), 0);
    fclose(out);
    table_free(&table);

    char *rest = NULL;
    char *line = strtok_r(text, "\n", &rest);
    ck_assert(strncmp(line, "group ", 6) == 0);
    const char *last = columns[column_count - 1].key;
    int heading = (int)(strstr(line, last) - line) + (int)strlen(last), lines = 0;
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        ck_assert_int_eq(label_width(line, LABEL_UTF8), heading);
        ck_assert_str_eq(line + strlen(line) - 2, " -");
        lines++;
    }
    ck_assert_int_eq(lines, COUNT(groups));
    free(text);
}
END_TEST

/* The first was there before. */
static struct alert some_alerts[] = {
    {.time = "2026-11-21 02:31:11", .severity = ALERT_FAILURE, .message = "old"},
    {.time = "2026-11-21 02:31:12",
     .severity = ALERT_WARNING,
     .host = "h",
     .instance = "a\"\xff",
     .type_instance = "trigger_x",
     .message = "memory \033[31m\xff\xc3\xbc\n"},
    {.severity = ALERT_OKAY, .host = "g", .message = "well"},
    {.severity = ALERT_FAILURE},
};

static const struct {
    size_t fresh;
    bool several_hosts;
    const char *lines, *json;
} alert_outputs[] = {
    {0, false, "", ",\"alerts\":[]}\n"},
    {1, false, "alert - FAILURE -\n",
     ",\"alerts\":[{\"time\":null,\"severity\":\"failure\",\"host\":null,\"instance\":null,"
     "\"type_instance\":null,\"message\":null}]}\n"},
    {3, false,
     "alert 02:31:12 WARNING memory ?[31m?\xc3\xbc?\n"
     "alert - OKAY well\n"
     "alert - FAILURE -\n",
     ",\"alerts\":[{\"time\":\"2026-11-21 02:31:12\",\"severity\":\"warning\",\"host\":\"h\","
     "\"instance\":\"a\\\"\\ufffd\",\"type_instance\":\"trigger_x\","
     "\"message\":\"memory \\u001b[31m\\ufffd\xc3\xbc\\u000a\"},"
     "{\"time\":null,\"severity\":\"okay\",\"host\":\"g\",\"instance\":null,"
     "\"type_instance\":null,\"message\":\"well\"},"
     "{\"time\":null,\"severity\":\"failure\",\"host\":null,\"instance\":null,"
     "\"type_instance\":null,\"message\":null}]}\n"},
    {3, true,
     "alert 02:31:12 WARNING h: memory ?[31m?\xc3\xbc?\n"
     "alert - OKAY g: well\n"
     "alert - FAILURE -\n",
     NULL},
};

/* What print_lines() or print_json() prints, with alerts or without. */
static char *print_table(bool json, const struct table *table, const struct alert_list *alerts)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    ck_assert_int_eq(json ? print_json(out, table, alerts) : print_lines(out, table, alerts), 0);
    fclose(out);
    return text;
}

START_TEST(prints_fresh_alerts)
{
    struct alert_list alerts = {some_alerts, COUNT(some_alerts), alert_outputs[_i].fresh};
    struct table table = {0};
    fill_table(&table);
    table.several_hosts = alert_outputs[_i].several_hosts;
    for (int json = 0; json < 2; json++) {
        const char *added = json ? alert_outputs[_i].json : alert_outputs[_i].lines;
        char *without = print_table(json, &table, NULL), *with = print_table(json, &table, &alerts);
        /* The last brace of JSON comes behind the alerts. */
        size_t same = strlen(without) - (json ? strlen("}\n") : 0);
        ck_assert_mem_eq(with, without, same);
        if (added != NULL)
            ck_assert_str_eq(with + same, added);
        free(without);
        free(with);
    }
    table_free(&table);
}
END_TEST

START_TEST(reports_write_errors)
{
    struct table table = {0};
    FILE *full = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(full);
    ck_assert_int_eq(print_lines(full, &table, NULL), -ENOSPC);
    fclose(full);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("table");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, parses_identifier, 0, COUNT(identifiers));
    tcase_add_loop_test(all, maps_series_to_column, 0, COUNT(mappings));
    tcase_add_loop_test(all, formats_number, 0, COUNT(numbers));
    tcase_add_loop_test(all, formats_cell, 0, COUNT(cells));
    tcase_add_test(all, finds_severity);
    tcase_add_test(all, columns_are_consistent);
    tcase_add_test(all, finds_sort_key);
    tcase_add_loop_test(all, sorts, 0, COUNT(sortings));
    tcase_add_test(all, sorts_by_pressure);
    tcase_add_test(all, finds_a_lack_of_groups);
    tcase_add_test(all, finds_columns_present);
    tcase_add_test(all, merges_plugins_into_rows);
    tcase_add_test(all, names_rows);
    tcase_add_loop_test(all, fits_label, 0, COUNT(labels));
    tcase_add_loop_test(all, fits_sentence, 0, COUNT(sentences));
    tcase_add_test(all, label_stays_in_its_buffer);
    tcase_add_loop_test(all, fits_layout, 0, COUNT(layouts));
    tcase_add_test(all, bars_leave_room_for_names);
    tcase_add_loop_test(all, hides_the_least_useful, 0, COUNT(rankings));
    tcase_add_loop_test(all, fits_footer, 0, COUNT(footers));
    tcase_add_test(all, shortens_names_that_are_distinct);
    tcase_add_loop_test(all, escapes_json, 0, COUNT(strings));
    tcase_add_test(all, prints_json);
    tcase_add_test(all, prints_aligned_lines);
    tcase_add_loop_test(all, prints_fresh_alerts, 0, COUNT(alert_outputs));
    tcase_add_test(all, reports_write_errors);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    /* Widths of characters come from the locale. */
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) {
        printf("1..0 # SKIP the locale C.UTF-8 is missing\n");
        return 0;
    }
    SRunner *runner = srunner_create(make_suite());
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    return 0; /* TAP carries the results */
}
