/* SPDX-License-Identifier: MIT */
/*
 * cgroup/template.c - names of groups, made by a template. headroom/cgroup.h has the syntax.
 */
#include "headroom/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hr_cgroup_template_check(const char *template, size_t wildcards)
{
    for (; (template = strchr(template, '%')) != NULL; template += 2) {
        char c = template[1];
        bool is_wildcard = c >= '1' && c <= '9' && (size_t)(c - '0') <= wildcards;
        if (c != '%' && c != '0' && c != 'l' && c != 'n' && !is_wildcard)
            return false;
    }
    return true;
}

/* Writes the text that one "%" sequence stands for. */
static void expand_sequence(FILE *out, char c, const struct hr_cgroup *group, const char *name)
{
    const char *slash = strrchr(group->path, '/');
    const char *text;
    size_t length;

    if (c == '0')
        fputs(group->path, out);
    else if (c == 'n')
        fputs(name, out);
    else if (c == 'l')
        fputs(slash != NULL ? slash + 1 : group->path, out);
    else if (c == '%')
        fputc('%', out);
    else if (hr_cgroup_wildcard(group, (size_t)(c - '0'), &text, &length) == 0)
        fwrite(text, 1, length, out);
}

char *hr_cgroup_template_expand(const char *template, const struct hr_cgroup *group,
                                const char *name)
{
    char *text = NULL;
    size_t size;

    if (name == NULL)
        name = group->path;
    if (template == NULL)
        return strdup(name);
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    for (const char *c = template; *c != '\0'; c++) {
        if (*c == '%')
            expand_sequence(out, *++c, group, name);
        else
            fputc(*c, out);
    }
    if (fclose(out) != 0 || size > 0)
        return text;
    free(text);
    return strdup(group->path);
}
