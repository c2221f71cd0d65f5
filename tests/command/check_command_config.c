/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_config.c - collectd's configuration, as headroom doctor reads it.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config.h"
#include "support/suite.h"
#include "support/tree.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* An item as "key(value,value){child child}". */
static void print_item(FILE *out, const struct config_item *item)
{
    fprintf(out, "%s(", item->key);
    for (size_t i = 0; i < item->value_count; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", item->values[i]);
    fputc(')', out);
    if (item->child_count > 0)
        fputc('{', out);
    for (size_t i = 0; i < item->child_count; i++) {
        if (i > 0)
            fputc(' ', out);
        print_item(out, &item->children[i]);
    }
    if (item->child_count > 0)
        fputc('}', out);
}

static void assert_items(const struct config_item *top, const char *expected)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (size_t i = 0; i < top->child_count; i++) {
        if (i > 0)
            fputc(' ', out);
        print_item(out, &top->children[i]);
    }
    fclose(out);
    ck_assert_str_eq(text, expected);
    free(text);
}

static const struct {
    const char *text, *items;
} understood[] = {
    {"", ""},
    {"\n # nothing\n\t\n", ""},
    {"LoadPlugin psi", "LoadPlugin(psi)"},
    {"LoadPlugin \"psi\"  # ours\r\nInterval 2.5\r\n", "LoadPlugin(psi) Interval(2.5)"},
    {"Cgroup \"a/*\" \\\n       \"b # c\"\n", "Cgroup(a/*,b # c)"},
    {"Cgroup \"a\\\\x2db\" \"say \\\"no\\\"\"", "Cgroup(a\\x2db,say \"no\")"},
    {"Text \"two\nlines\"\nNext 1", "Text(two\nlines) Next(1)"},
    {"<Plugin psi>\n</Plugin>", "Plugin(psi)"},
    {"<Plugin \"psi\">\n  System false\n  <Trigger \"a\" >\n    Window 1\n  "
     "</Trigger>\n</plugin>\n",
     "Plugin(psi){System(false) Trigger(a){Window(1)}}"},
    {"<Include \"/etc\">\n Filter \"*.conf\"\n</Include>\n", "Include(/etc){Filter(*.conf)}"},
    {"Server 127.0.0.1:25826 ::1\n", "Server(127.0.0.1:25826,::1)"},
};

START_TEST(parses)
{
    struct config_item top = {0};
    unsigned line;

    ck_assert_int_eq(config_parse(understood[_i].text, &top, &line), 0);
    assert_items(&top, understood[_i].items);
    config_free(&top);
}
END_TEST

static const struct {
    const char *text;
    unsigned line;
} not_understood[] = {
    {"\nText \"open", 2},
    {"<Plugin psi>\n", 2},
    {"<Plugin psi\n", 1},
    {"<Plugin psi>\n</Plug>\n", 2},
    {"<Plugin psi>\n</Plugin", 2},
    {"<Plugin psi>\n</Plugin> x\n", 2},
    {"</Plugin>\n", 1},
    {"LoadPlugin psi\n\"psi\"\n", 2},
    {"Value a\\b\n", 1},
    {"<>\n</>", 1},
};

START_TEST(refuses)
{
    struct config_item top = {0};
    unsigned line = 0;

    ck_assert_int_eq(config_parse(not_understood[_i].text, &top, &line), -EBADMSG);
    ck_assert_uint_eq(line, not_understood[_i].line);
    config_free(&top);
}
END_TEST

/* As deep as nobody's, so that the stack isn't at anybody's mercy. */
START_TEST(refuses_deep_blocks)
{
    char text[40 * 5] = "";
    struct config_item top = {0};
    unsigned line;

    for (int i = 0; i < 40; i++)
        strcat(text, "<A>\n");
    ck_assert_int_eq(config_parse(text, &top, &line), -EBADMSG);
    config_free(&top);
}
END_TEST

START_TEST(finds_values)
{
    struct config_item top = {0};
    unsigned line;

    ck_assert_int_eq(config_parse("A 1\na 2\nB TRUE\nC \"no\"\nD x\n<E>\n</E>\n", &top, &line), 0);
    ck_assert_double_eq(config_number(config_find(&top, "A"), 7), 2);
    ck_assert_double_eq(config_number(config_find(&top, "D"), 7), 7);
    ck_assert_double_eq(config_number(config_find(&top, "E"), 7), 7);
    ck_assert_double_eq(config_number(config_find(&top, "none"), 7), 7);
    ck_assert(config_boolean(config_find(&top, "b"), false));
    ck_assert(!config_boolean(config_find(&top, "C"), true));
    ck_assert(config_boolean(config_find(&top, "E"), true));
    ck_assert_str_eq(config_text(config_find(&top, "E")), "");
    config_free(&top);
}
END_TEST

/* See src/liboconfig/scanner.l of collectd. */
static const struct {
    const char *text;
    enum hr_option_type type;
    double number;
} values[] = {
    {"true", HR_OPTION_BOOLEAN, 0},  {"off", HR_OPTION_BOOLEAN, 0},
    {"True", HR_OPTION_TEXT, 0},     {"NO", HR_OPTION_TEXT, 0},
    {"\"true\"", HR_OPTION_TEXT, 0}, {"\"1\"", HR_OPTION_TEXT, 0},
    {"1", HR_OPTION_NUMBER, 1},      {"010", HR_OPTION_NUMBER, 10},
    {"0x1F", HR_OPTION_NUMBER, 31},  {"+1.5", HR_OPTION_NUMBER, 1.5},
    {"-.5", HR_OPTION_NUMBER, -.5},  {"2.5e+3", HR_OPTION_NUMBER, 2500},
    {"2.", HR_OPTION_NUMBER, 2},     {"2e3", HR_OPTION_TEXT, 0},
    {"2.5e3", HR_OPTION_TEXT, 0},    {"+inf", HR_OPTION_TEXT, 0},
    {"0x1p3", HR_OPTION_TEXT, 0},    {"1s", HR_OPTION_TEXT, 0},
};

START_TEST(takes_values_as_collectd_does)
{
    struct config_item top = {0};
    char text[32];
    unsigned line;

    snprintf(text, sizeof(text), "A %s\n", values[_i].text);
    ck_assert_int_eq(config_parse(text, &top, &line), 0);
    const struct hr_option_value value = config_value(&top.children[0], 0);
    ck_assert_int_eq(value.type, values[_i].type);
    if (value.type == HR_OPTION_NUMBER)
        ck_assert_double_eq(value.number, values[_i].number);
    config_free(&top);
}
END_TEST

/* --- Files ---------------------------------------------------------------- */

static struct tree *tree;
static struct config_faults faults;

static void set_up(void)
{
    tree = tree_new();
    faults = (struct config_faults){0};
}

static void tear_down(void)
{
    free(faults.list);
    tree_free(tree);
}

static int read_main(struct config_item *top)
{
    char path[300];

    snprintf(path, sizeof(path), "%s/main.conf", tree_path(tree));
    return config_read(path, top, &faults);
}

static void assert_fault(size_t index, const char *name, unsigned line, int status)
{
    ck_assert_uint_gt(faults.count, index);
    ck_assert_str_eq(strrchr(faults.list[index].path, '/'), name);
    ck_assert_uint_eq(faults.list[index].line, line);
    ck_assert_int_eq(faults.list[index].status, status);
}

START_TEST(includes_files_and_directories)
{
    struct config_item top = {0};

    tree_write(tree, "main.conf",
               "A 1\n<Include \"%s/conf.d\">\n  Filter \"*.conf\"\n</Include>\nInclude \"%s/x?\"\n"
               "Include \"%s/none\"\nZ 1\n",
               tree_path(tree), tree_path(tree), tree_path(tree));
    tree_write(tree, "conf.d/b.conf", "B 1\nInclude \"%s/deeper\"\n", tree_path(tree));
    tree_write(tree, "conf.d/a.conf", "<Plugin a>\n Include \"b\"\n</Plugin>\n");
    tree_write(tree, "conf.d/c.conf~", "No 1\n");
    tree_write(tree, "conf.d/.d.conf", "No 1\n");
    tree_write(tree, "deeper", "C 1\n");
    tree_write(tree, "x2", "X 2\n");
    tree_write(tree, "x1", "X 1\n");
    ck_assert_int_eq(read_main(&top), 0);
    ck_assert_uint_eq(faults.count, 0);
    /* not within a block, as collectd's doesn't work there */
    assert_items(&top, "A(1) Plugin(a){Include(b)} B(1) C(1) X(1) X(2) Z(1)");
    config_free(&top);
}
END_TEST

START_TEST(names_what_cannot_be_read)
{
    struct config_item top = {0};

    tree_write(tree, "main.conf", "A 1\n<A>\n");
    ck_assert_int_eq(read_main(&top), -EBADMSG);
    assert_fault(0, "/main.conf", 3, -EBADMSG);
    tree_remove(tree, "main.conf");
    ck_assert_int_eq(read_main(&top), -ENOENT);
    assert_fault(1, "/main.conf", 0, -ENOENT);
    ck_assert_uint_eq(faults.count, 2);
    config_free(&top);
}
END_TEST

/* Of a file that isn't understood, what stands before. */
START_TEST(reads_the_rest)
{
    struct config_item top = {0};

    tree_write(tree, "main.conf", "A 1\nInclude \"%s/conf.d\"\nInclude \"%s/bad\"\nZ 1\n<Z>",
               tree_path(tree), tree_path(tree));
    tree_write(tree, "conf.d/a", "<C>\n");
    tree_write(tree, "conf.d/b", "B 1\n");
    tree_write(tree, "bad", "C 1\n\n<C>\n");
    ck_assert_int_eq(read_main(&top), -EBADMSG);
    assert_items(&top, "A(1) B(1) C(1) Z(1)");
    assert_fault(0, "/a", 2, -EBADMSG);
    assert_fault(1, "/bad", 4, -EBADMSG);
    assert_fault(2, "/main.conf", 5, -EBADMSG);
    ck_assert_uint_eq(faults.count, 3);
    config_free(&top);
}
END_TEST

/* At once: what includes itself twice would be read 256 times. */
START_TEST(ends_where_files_include_one_another)
{
    struct config_item top = {0};

    tree_write(tree, "main.conf", "A 1\nInclude \"%s/main.conf\"\nInclude \"%s/main.conf\"\n",
               tree_path(tree), tree_path(tree));
    ck_assert_int_eq(read_main(&top), -ELOOP);
    assert_fault(0, "/main.conf", 0, -ELOOP);
    ck_assert_uint_eq(faults.count, 1);
    config_free(&top);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("config");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, parses, 0, COUNT(understood));
    tcase_add_loop_test(tests, refuses, 0, COUNT(not_understood));
    tcase_add_test(tests, refuses_deep_blocks);
    tcase_add_test(tests, finds_values);
    tcase_add_loop_test(tests, takes_values_as_collectd_does, 0, COUNT(values));
    tcase_add_test(tests, includes_files_and_directories);
    tcase_add_test(tests, names_what_cannot_be_read);
    tcase_add_test(tests, reads_the_rest);
    tcase_add_test(tests, ends_where_files_include_one_another);
    return run_suite("config", tests);
}
