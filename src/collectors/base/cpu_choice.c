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
    enum hr_cpu_choice_kind kind;
} words[] = {{"isolated", HR_CPUS_ISOLATED}, {"!isolated", HR_CPUS_NOT_ISOLATED}};

int hr_cpu_choice_parse(const char *text, struct hr_cpu_choice *choice)
{
    struct hr_cpu_choice parsed = {.kind = HR_CPUS_LISTED};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(words[i].word, text) == 0) {
            *choice = (struct hr_cpu_choice){.kind = words[i].kind};
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

int hr_cpu_choice_find(const struct hr_cpu_choice *choice, const struct hr_root *root,
                       struct hr_cpu_set *cpus)
{
    const bool inverted = choice->kind == HR_CPUS_ALL || choice->kind == HR_CPUS_NOT_ISOLATED;
    struct hr_cpu_set found = choice->list, without_ticks = {{0}};
    int status = 0;

    if (choice->kind == HR_CPUS_ISOLATED || choice->kind == HR_CPUS_NOT_ISOLATED)
        status = read_list(root, "sys/devices/system/cpu/isolated", &found);
    if (status == 0 && choice->kind != HR_CPUS_ALL && choice->kind != HR_CPUS_LISTED)
        status = read_list(root, "sys/devices/system/cpu/nohz_full", &without_ticks);
    if (status < 0)
        return status;
    for (size_t i = 0; i < sizeof(found.words) / sizeof(found.words[0]); i++) {
        found.words[i] |= without_ticks.words[i];
        if (inverted)
            found.words[i] = ~found.words[i];
    }
    *cpus = found;
    return 0;
}
