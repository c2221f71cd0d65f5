/* SPDX-License-Identifier: MIT */
#include "headroom/cpu_choice.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "headroom/root.h"

static const struct {
    const char *word;
    enum hr_cpu_word bit;
} words[] = {
    {"isolated", HR_CPUS_ISOLATED},
    {"!isolated", HR_CPUS_NOT_ISOLATED},
    {"nohz_full", HR_CPUS_NOHZ_FULL},
};

int hr_cpu_choice_parse(const char *text, struct hr_cpu_choice *choice)
{
    struct hr_cpu_choice parsed = {0};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(words[i].word, text) == 0) {
            *choice = (struct hr_cpu_choice){.words = words[i].bit};
            return 0;
        }
    if (text[0] == '\0' || strchr(text, '\n') != NULL)
        return -EBADMSG;
    int status = hr_cpu_set_parse(text, strlen(text), &parsed.list);
    if (status == 0)
        *choice = parsed;
    return status;
}

/* Whether a list is the kernel's text for none, padded on the left to as many characters as there
 * may be CPUs. */
static bool is_null(const char *text, size_t length)
{
    static const char null[] = "(null)\n";
    size_t blanks = 0;

    while (blanks < length && text[blanks] == ' ')
        blanks++;
    return length - blanks == strlen(null) && memcmp(text + blanks, null, strlen(null)) == 0;
}

/*
 * A list, as hr_cpu_set_parse() takes it. Without the boot parameter, nohz_full is empty or, on
 * some kernels (of 8 CPUs):
 *
 *       (null)
 */
static int read_list(const struct hr_root *root, const char *path, struct hr_cpu_set *cpus)
{
    char text[4096];
    size_t length;

    int status =
        hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), text, sizeof(text), &length);
    *cpus = (struct hr_cpu_set){{0}};
    if (status == -ENOENT)
        return 0;
    if (status < 0 || is_null(text, length))
        return status;
    status = hr_cpu_set_parse(text, length, cpus);
    return status == -ERANGE ? -EBADMSG : status;
}

static void invert_cpus(struct hr_cpu_set *cpus)
{
    for (size_t i = 0; i < sizeof(cpus->words) / sizeof(cpus->words[0]); i++)
        cpus->words[i] = ~cpus->words[i];
}

void hr_cpu_choice_add(struct hr_cpu_choice *choice, const struct hr_cpu_choice *more)
{
    choice->words |= more->words;
    hr_cpu_set_merge(&choice->list, &more->list);
}

bool hr_cpu_choice_is_all(const struct hr_cpu_choice *choice)
{
    return choice->words == 0 && hr_cpu_set_count(&choice->list) == 0;
}

int hr_cpu_choice_find(const struct hr_cpu_choice *choice, const struct hr_root *root,
                       struct hr_cpu_set *cpus)
{
    const unsigned isolated_or_not = choice->words & (HR_CPUS_ISOLATED | HR_CPUS_NOT_ISOLATED);
    struct hr_cpu_set found = choice->list, isolated = {{0}}, without_ticks = {{0}};
    int status = 0;

    if (isolated_or_not != 0)
        status = read_list(root, "sys/devices/system/cpu/isolated", &isolated);
    if (status == 0 && choice->words != 0)
        status = read_list(root, "sys/devices/system/cpu/nohz_full", &without_ticks);
    if (status < 0)
        return status;
    hr_cpu_set_merge(&isolated, &without_ticks);
    if ((choice->words & HR_CPUS_NOHZ_FULL) != 0)
        hr_cpu_set_merge(&found, &without_ticks);
    if ((choice->words & HR_CPUS_ISOLATED) != 0)
        hr_cpu_set_merge(&found, &isolated);
    invert_cpus(&isolated);
    if ((choice->words & HR_CPUS_NOT_ISOLATED) != 0)
        hr_cpu_set_merge(&found, &isolated);
    if (hr_cpu_choice_is_all(choice))
        invert_cpus(&found);
    *cpus = found;
    return 0;
}

const char *hr_cpu_choice_explain_none(const struct hr_cpu_choice *choice)
{
    if (choice->words == HR_CPUS_NOHZ_FULL)
        return "no CPU is without ticks, as \"nohz_full\" asks for: boot the kernel with "
               "nohz_full=LIST, or list the CPUs";
    return "no CPU is isolated: boot the kernel with isolcpus=LIST or nohz_full=LIST, or list the "
           "CPUs";
}
