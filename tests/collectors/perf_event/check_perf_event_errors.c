/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf_event/check_perf_event_errors.c - why a text is not a perf event, similar names,
 * and the parsers of single files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/perf_event/perf_event_harness.h"
#include "perf_event/pmu.h"
#include "perf_event/suggest.h"
#include "perf_event/terms.h"
#include "perf_event/tracepoint.h"
#include "support/suite.h"

/* --- Why a text is no event --------------------------------------------------- */

static const struct {
    const char *machine, *text;
    int status;
    const char *reason;
    const char *nearest; /* the most similar name, or NULL */
} faulty[] = {
    {NO_PMU, "", -EINVAL, "there is no name", NULL},
    {NO_PMU, ":u", -EINVAL, "there is no name", NULL},
    {NO_PMU, "cyles", -ENOENT, "this machine knows no such event", "cycles"},
    {NO_PMU, "CYLCES:u", -ENOENT, "this machine knows no such event", "cycles"},
    {NO_PMU, "L1-dcache-load-mises", -ENOENT, "this machine knows no such event",
     "l1-dcache-load-misses"},
    {NO_PMU, "nothing-of-the-kind", -ENOENT, "this machine knows no such event", NULL},
    {NO_PMU, "energy-psys", -ENOENT, "this machine knows no such event", "power/energy-psys/"},
    {NO_PMU, "nopmu::CYCLS", -ENOENT, "this machine knows no such event", "cycles"},
    {NO_PMU, "cycles:p", -EINVAL, "the event \"cycles\" has no unit mask or modifier \"p\"", NULL},
    {NO_PMU, "cycles:u:X:k", -EINVAL, "the event \"cycles\" has no unit mask or modifier \"X\"",
     NULL},
    {NO_PMU, "cycles:u=2", -EINVAL, "the value in \"u=2\" is out of its range", NULL},
    {NO_PMU, "cycles,instructions", -EINVAL, "the name of one event can't contain \",\"", NULL},
    {NO_PMU, "sched:*", -EINVAL, "the name of one event can't contain \"*\"", NULL},
    {NO_PMU, " cycles", -EINVAL, "the name of one event can't contain \" \"", NULL},
    {NO_PMU, "r12345678901234567", -EINVAL, "it has more than 64 bits", NULL},
    {SKYLAKE, "skl::MEM_LOAD_RETIRED:L1_HITS", -EINVAL,
     "the event \"skl::MEM_LOAD_RETIRED\" has no unit mask or modifier \"L1_HITS\"",
     "skl::MEM_LOAD_RETIRED:l1_hit"},
    {SKYLAKE, "skl::MEM_LOAD_RETIRED", -EINVAL, "the event needs a unit mask, or another one",
     NULL},
    {SKYLAKE, "skl::MEM_LOAD_RETIRED:L1_HIT:L2_HIT", -EINVAL,
     "these unit masks and modifiers can't be combined", NULL},
    {SKYLAKE, "skl::INST_RETIRED:ANY_P:c=1:c=2", -EINVAL, "\"c=2\" is set already", NULL},
    {SKYLAKE, "skl::INST_RETIRED:ANY_P:cc", -EINVAL,
     "the event \"skl::INST_RETIRED\" has no unit mask or modifier \"cc\"", NULL},
    {SKYLAKE, "skl::INST_RETIRED:ANY_P:c=256", -EINVAL,
     "the value in \"c=256\" is out of its range", NULL},

    {SKYLAKE, "/tsc/", -EINVAL, "there is no PMU before the slash", NULL},
    {SKYLAKE, "msr/tsc", -EINVAL, "there is no closing slash", NULL},
    {SKYLAKE, "msr//", -EINVAL, "there is no event between the slashes", NULL},
    {SKYLAKE, "cpu/name=x/", -EINVAL, "there is no event between the slashes", NULL},
    {SKYLAKE, "cpu/event=1,/", -EINVAL, "there is an empty term", NULL},
    {SKYLAKE, "cpu/,event=1/", -EINVAL, "there is an empty term", NULL},
    {SKYLAKE, "cpu/=1/", -EINVAL, "there is an empty term", NULL},
    {SKYLAKE, "msr/tsc/p", -EINVAL,
     "the closing slash may be followed by u, k, G and H, not by \"p\"", NULL},
    {SKYLAKE, "msr/tsc/u:", -EINVAL,
     "the closing slash may be followed by u, k, G and H, not by \"u:\"", NULL},
    {SKYLAKE, "msr/tsc/::u", -EINVAL,
     "the closing slash may be followed by u, k, G and H, not by \"::u\"", NULL},
    {SKYLAKE, "msr/tsc/u/", -EINVAL,
     "the closing slash may be followed by u, k, G and H, not by \"u/\"", NULL},
    {SKYLAKE, "mrs/tsc/", -ENOENT, "this machine has no PMU \"mrs\"", "msr/tsc/"},
    {SKYLAKE, "mrs/no-such/", -ENOENT, "this machine has no PMU \"mrs\"", NULL},
    {SKYLAKE, "../tsc/", -ENOENT, "this machine has no PMU \"..\"", NULL},
    {ALDER_LAKE, "cpu/mem-loads-aux/", -ENOENT, "this machine has no PMU \"cpu\"",
     "cpu_core/mem-loads-aux/"},
    {SKYLAKE, "cpu/cache-mises/", -ENOENT, "the PMU \"cpu\" has no event or term \"cache-mises\"",
     "cpu/cache-misses/"},
    {SKYLAKE, "cpu/Cache-Misses/u", -ENOENT,
     "the PMU \"cpu\" has no event or term \"Cache-Misses\"", "cpu/cache-misses/"},
    {SKYLAKE, "cpu/cycles/", -ENOENT, "the PMU \"cpu\" has no event or term \"cycles\"",
     "cpu/bus-cycles/"},
    {SKYLAKE, "cpu/event=0xc0,umsk=1/", -ENOENT, "the PMU \"cpu\" has no term \"umsk\"",
     "cpu/event=0xc0,umask=1/"},
    {SKYLAKE, "cpu/no-such-thing=1/", -ENOENT, "the PMU \"cpu\" has no term \"no-such-thing\"",
     NULL},
    {SKYLAKE, "power/energy-pkg.unit/", -ENOENT,
     "the PMU \"power\" has no event or term \"energy-pkg.unit\"", NULL},
    {SKYLAKE, "cpu/../", -EINVAL, "\"..\" can't be the name of a term", NULL},
    {SKYLAKE, "cpu/a b/", -EINVAL, "\"a b\" can't be the name of a term", NULL},
    {SKYLAKE, "cpu/cache-misses=1/", -EINVAL, "the event \"cache-misses\" takes no value", NULL},
    {SKYLAKE, "cpu/cache-misses,umask=1/", -EINVAL, "the term \"umask\" is given twice", NULL},
    {SKYLAKE, "cpu/event=1,event=1/", -EINVAL, "the term \"event\" is given twice", NULL},
    {SKYLAKE, "cpu/r1,config=2/", -EINVAL, "the term \"config\" is given twice", NULL},
    {SKYLAKE, "cpu/name=a,event=1,name=b/", -EINVAL, "the term \"name\" is given twice", NULL},
    {SKYLAKE, "cpu/event=1,name=/", -EINVAL, "the term \"name\" needs a text", NULL},
    {SKYLAKE, "cpu/event=1,name/", -EINVAL, "the term \"name\" needs a text", NULL},
    {SKYLAKE, "cpu/cache-misses,cache-references/", -EINVAL,
     "there are two events, \"cache-misses\" and \"cache-references\"", NULL},
    {SKYLAKE, "cpu/umask=0x100/", -EINVAL, "the term \"umask\" takes 0 to 0xff", NULL},
    {SKYLAKE, "cpu/edge=2/", -EINVAL, "the term \"edge\" takes 0 to 0x1", NULL},
    {ZEN, "cpu/event=0x1000/", -EINVAL, "the term \"event\" takes 0 to 0xfff", NULL},
    {SKYLAKE, "cpu/umask=/", -EINVAL, "the term \"umask\" takes a number, not \"\"", NULL},
    {SKYLAKE, "cpu/umask=0x/", -EINVAL, "the term \"umask\" takes a number, not \"0x\"", NULL},
    {SKYLAKE, "cpu/umask=-1/", -EINVAL, "the term \"umask\" takes a number, not \"-1\"", NULL},
    {SKYLAKE, "cpu/umask=1x/", -EINVAL, "the term \"umask\" takes a number, not \"1x\"", NULL},
    {SKYLAKE, "cpu/config=18446744073709551616/", -EINVAL,
     "the term \"config\" takes a number, not \"18446744073709551616\"", NULL},
    {SKYLAKE, "cpu/r1c2=5/", -ENOENT, "the PMU \"cpu\" has no term \"r1c2\"", NULL},
    {SKYLAKE, "cpu/r12345678901234567/", -EINVAL,
     "\"r12345678901234567\" has more than the 64 bits of a raw code", NULL},
    {SKYLAKE, "cpu/\001\377/", -EINVAL, "\"??\" can't be the name of a term", NULL},
};

START_TEST(says_what_is_wrong)
{
    open_vocabulary(faulty[_i].machine);
    assert_error(faulty[_i].text, faulty[_i].status, faulty[_i].reason);
    if (faulty[_i].nearest == NULL)
        ck_assert_msg(error.nearest_count == 0, "%s: %s", faulty[_i].text, error.nearest[0]);
    else
        ck_assert_str_eq(error.nearest[0], faulty[_i].nearest);
}
END_TEST

START_TEST(says_it_of_texts_of_any_length)
{
    char *text = malloc(100001);

    open_vocabulary(SKYLAKE);
    memset(text, 'x', 100000);
    text[100000] = '\0';
    assert_error(text, -ENOENT, "this machine knows no such event");
    memcpy(text, "cpu/", 4);
    text[99999] = '/';
    ck_assert_int_eq(find_event(text), -EINVAL);
    memset(text + 4, ',', 99995);
    assert_error(text, -EINVAL, "there is an empty term");
    free(text);
}
END_TEST

START_TEST(takes_thirty_two_terms)
{
    char text[1024] = "odd/";
    size_t length = 4;

    tree_write(tree, EVENT_SOURCE "/odd/type", "20\n");
    for (int i = 0; i < 33; i++) {
        char path[128];
        snprintf(path, sizeof(path), EVENT_SOURCE "/odd/format/t%d", i);
        tree_write(tree, path, "config:%d\n", i);
    }
    open_vocabulary(NULL);
    for (int i = 0; i < 32; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "t%d,", i);
    text[length - 1] = '/';
    assert_found(text);
    ck_assert_uint_eq(event->encodings[0].attr.config, 0xffffffff);
    snprintf(text + length - 1, sizeof(text) - length, ",t32/");
    assert_error(text, -EINVAL, "there are more than 32 terms");
}
END_TEST

/* An event of POWER's hypervisor requires the user to supply a term. */
START_TEST(wants_what_an_event_leaves_open)
{
    tree_write(tree, EVENT_SOURCE "/hv/type", "20\n");
    tree_write(tree, EVENT_SOURCE "/hv/format/domain", "config:0-3\n");
    tree_write(tree, EVENT_SOURCE "/hv/format/chip", "config:16-31\n");
    tree_write(tree, EVENT_SOURCE "/hv/events/PM_XLINK", "domain=1,chip=?\n");
    open_vocabulary(NULL);
    assert_error("hv/PM_XLINK/", -EINVAL,
                 "the event \"PM_XLINK\" needs the term \"chip\" with a value");
    assert_error("hv/PM_XLINK,chip/", -EINVAL,
                 "the event \"PM_XLINK\" needs the term \"chip\" with a value");
    assert_found("hv/PM_XLINK,chip=2/");
    ck_assert_uint_eq(event->encodings[0].attr.config, 0x20001);
}
END_TEST

static const struct {
    const char *file, *content, *text;
    const char *reason; /* NULL: the event is found nevertheless */
} broken[] = {
    {"cpu/format/event", "config:7-0\n", "cpu/event=1/",
     "the file format/event of the PMU \"cpu\" isn't understood"},
    {"cpu/format/event", "config9:0\n", "cpu/cache-misses/",
     "the file format/event of the PMU \"cpu\" isn't understood"},
    {"cpu/format/event", "config9:0\n", "cpu/umask=1/", NULL},
    {"cpu/events/cache-misses", "event=0x2e,,umask=1\n", "cpu/cache-misses/",
     "the file events/cache-misses of the PMU \"cpu\" isn't understood"},
    {"cpu/events/cache-misses", "", "cpu/cache-misses/",
     "the file events/cache-misses of the PMU \"cpu\" isn't understood"},
    {"cpu/events/cache-misses", "nothing=1\n", "cpu/cache-misses/",
     "the file events/cache-misses of the PMU \"cpu\" isn't understood"},
    {"cpu/type", "four\n", "cpu/cache-misses/",
     "a file of the PMU \"cpu\", type, cpus or cpumask, isn't understood"},
    {"cpu/type", "4294967296\n", "cpu/cache-misses/",
     "a file of the PMU \"cpu\", type, cpus or cpumask, isn't understood"},
    {"cpu/type", "four\n", "cycles", NULL},
    {"uncore_imc_0/cpumask", "0-\n", "uncore_imc_0/clockticks/",
     "a file of the PMU \"uncore_imc_0\", type, cpus or cpumask, isn't understood"},
    {"uncore_imc_0/cpumask", "8192\n", "uncore_imc_0/clockticks/",
     "a file of the PMU \"uncore_imc_0\", type, cpus or cpumask, isn't understood"},
    {"stray/uevent", "", "cpu/cache-misses/", NULL},
};

START_TEST(says_which_file_is_not_understood)
{
    char path[256];

    event_source_add(tree, SKYLAKE, EVENT_SOURCE_DIRECTORIES);
    snprintf(path, sizeof(path), EVENT_SOURCE "/%s", broken[_i].file);
    tree_write(tree, path, "%s", broken[_i].content);
    open_vocabulary(NULL);
    if (broken[_i].reason == NULL)
        assert_found(broken[_i].text);
    else
        assert_error(broken[_i].text, -EBADMSG, broken[_i].reason);
}
END_TEST

START_TEST(needs_the_cpus_of_each_kind_of_core)
{
    event_source_add(tree, ALDER_LAKE, EVENT_SOURCE_DIRECTORIES);
    tree_write(tree, EVENT_SOURCE "/cpu_atom/cpus", "16 to 23\n");
    open_vocabulary(NULL);
    assert_error("cycles", -EBADMSG,
                 "a file of the PMU \"cpu_atom\", type or cpus, isn't understood");
    assert_found("cpu_core/cpu-cycles/");
    assert_found("task-clock");
}
END_TEST

START_TEST(fails_where_the_directory_is_a_file)
{
    struct hr_perf_vocabulary *none = NULL;

    tree_write(tree, EVENT_SOURCE, "x");
    ck_assert_int_eq(hr_perf_vocabulary_open(root, &none), -ENOTDIR);
    ck_assert_ptr_null(none);
}
END_TEST

/* --- Parsers -------------------------------------------------------------------- */

static const struct {
    const char *text;
    int status;
    struct hr_perf_format format;
} formats[] = {
    {"config:0-7\n", 0, {0, 0xff}},
    {"config:0-7", 0, {0, 0xff}},
    {"config:0-7,32-35\n", 0, {0, 0xf000000ff}},
    {"config:32-35,0-7\n", 0, {0, 0xf000000ff}},
    {"config1:0-15\n", 0, {1, 0xffff}},
    {"config1:1,6-10,44\n", 0, {1, 0x1000000007c2}},
    {"config2:0-63\n", 0, {2, UINT64_MAX}},
    {"config3:63\n", 0, {3, 0x8000000000000000}},
    {"config2\n", 0, {2, UINT64_MAX}},
    {"config3", 0, {3, UINT64_MAX}},
    {"config4:0-63\n", -EBADMSG, {0}},
    {"config:\n", -EBADMSG, {0}},
    {"config:64\n", -EBADMSG, {0}},
    {"config:0-64\n", -EBADMSG, {0}},
    {"config:7-0\n", -EBADMSG, {0}},
    {"config:0-\n", -EBADMSG, {0}},
    {"config:0,\n", -EBADMSG, {0}},
    {"config:0-7 \n", -EBADMSG, {0}},
    {"config: 0-7\n", -EBADMSG, {0}},
    {"config:18446744073709551616\n", -EBADMSG, {0}},
    {"Config:0\n", -EBADMSG, {0}},
    {"", -EBADMSG, {0}},
    {"\n", -EBADMSG, {0}},
    {"config:0\n\n", -EBADMSG, {0}},
};

START_TEST(parses_formats)
{
    struct hr_perf_format format = {4711, 4711};
    int status = hr_perf_format_parse(formats[_i].text, strlen(formats[_i].text), &format);

    ck_assert_msg(status == formats[_i].status, "%s", formats[_i].text);
    ck_assert_uint_eq(format.word, status == 0 ? formats[_i].format.word : 4711);
    ck_assert_uint_eq(format.bits, status == 0 ? formats[_i].format.bits : 4711);
}
END_TEST

START_TEST(parses_types_and_ids)
{
    uint32_t type = 0;
    uint64_t id = 0;

    ck_assert_int_eq(hr_perf_pmu_type_parse("4294967295\n", 11, &type), 0);
    ck_assert_uint_eq(type, 4294967295);
    ck_assert_int_eq(hr_perf_pmu_type_parse("10", 2, &type), 0);
    ck_assert_int_eq(hr_perf_pmu_type_parse("10", 1, &type), 0);
    ck_assert_uint_eq(type, 1);
    ck_assert_int_eq(hr_perf_pmu_type_parse("10\n\n", 4, &type), -EBADMSG);
    ck_assert_int_eq(hr_perf_pmu_type_parse("", 0, &type), -EBADMSG);
    ck_assert_int_eq(hr_perf_tracepoint_id_parse("18446744073709551615\n", 21, &id), 0);
    ck_assert_uint_eq(id, UINT64_MAX);
    ck_assert_int_eq(hr_perf_tracepoint_id_parse("1x\n", 3, &id), -EBADMSG);
}
END_TEST

static const struct {
    const char *a, *b;
    unsigned distance;
} distances[] = {
    {"", "", 0},
    {"", "abc", 3},
    {"cycles", "cycles", 0},
    {"cycles", "CYCLES", 0},
    {"cyles", "cycles", 1},
    {"cycless", "cycles", 1},
    {"cycler", "cycles", 1},
    {"cylces", "cycles", 1}, /* swapped */
    {"ca", "abc", 3},        /* no letter is edited twice */
    {"kitten", "sitting", 3},
    {"a cat", "an abct", 4},
};

START_TEST(measures_distances)
{
    struct hr_text a = hr_text_of(distances[_i].a), b = hr_text_of(distances[_i].b);

    ck_assert_uint_eq(hr_perf_distance(a, b), distances[_i].distance);
    ck_assert_uint_eq(hr_perf_distance(b, a), distances[_i].distance);
}
END_TEST

static void add_suggestion(struct hr_perf_suggestions *nearest, const char *name)
{
    hr_perf_suggestions_add(nearest, hr_text_of(name), "%s", name);
}

START_TEST(keeps_the_three_nearest)
{
    static const char *const names[] = {"abcdexyz", "abcdefxz", "zzz",      "abcdefgx", "abcdefgh",
                                        "abcdefga", "abcdefgh", "abcdefga", "abcdefgb"};
    struct hr_perf_suggestions nearest = {0};

    hr_perf_suggestions_set_wanted(&nearest, hr_text_of("abcdefgh"));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        add_suggestion(&nearest, names[i]);
    hr_perf_suggestions_copy(&nearest, &error);
    ck_assert_uint_eq(error.nearest_count, 3);
    ck_assert_str_eq(error.nearest[0], "abcdefgh");
    ck_assert_str_eq(error.nearest[1], "abcdefga"); /* sorted alphabetically */
    ck_assert_str_eq(error.nearest[2], "abcdefgb");
}
END_TEST

START_TEST(offers_nothing_too_long)
{
    struct hr_perf_suggestions nearest = {0};
    char name[65];

    memset(name, 'a', 64);
    name[64] = '\0';
    hr_perf_suggestions_set_wanted(&nearest, hr_text_of(name + 1));
    add_suggestion(&nearest, name);
    ck_assert_uint_eq(nearest.count, 0);
    ck_assert_uint_eq(hr_perf_distance(hr_text_of(name), hr_text_of("a")), HR_PERF_FAR);
    hr_perf_suggestions_add(&nearest, hr_text_of(name + 1), "%s/", name + 1);
    ck_assert_uint_eq(nearest.count, 0);
    add_suggestion(&nearest, name + 1);
    ck_assert_uint_eq(nearest.count, 1);
}
END_TEST

int main(void)
{
    TCase *tests = perf_event_tests();

    tcase_add_loop_test(tests, says_what_is_wrong, 0, COUNT(faulty));
    tcase_add_test(tests, says_it_of_texts_of_any_length);
    tcase_add_test(tests, takes_thirty_two_terms);
    tcase_add_test(tests, wants_what_an_event_leaves_open);
    tcase_add_loop_test(tests, says_which_file_is_not_understood, 0, COUNT(broken));
    tcase_add_test(tests, needs_the_cpus_of_each_kind_of_core);
    tcase_add_test(tests, fails_where_the_directory_is_a_file);
    tcase_add_loop_test(tests, parses_formats, 0, COUNT(formats));
    tcase_add_test(tests, parses_types_and_ids);
    tcase_add_loop_test(tests, measures_distances, 0, COUNT(distances));
    tcase_add_test(tests, keeps_the_three_nearest);
    tcase_add_test(tests, offers_nothing_too_long);
    return run_suite("perf_event", tests);
}
