/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_glob.c - hr_glob: an input is a pattern, a newline and a path. Where the syntaxes
 * agree, fnmatch(3) is the reference; always, what a pattern matches must be found by looking where
 * it says.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup/glob.h"
#include "fuzz.h"

const char fuzz_corpus[] = "glob";

/* Paths of cgroups have no empty component. */
static bool is_path(const char *path)
{
    size_t length = strlen(path);

    return length > 0 && path[0] != '/' && path[length - 1] != '/' && strstr(path, "//") == NULL;
}

static void compare_with_fnmatch(const struct hr_glob *glob, const char *pattern, const char *path)
{
    /* Within a set fnmatch(3) has classes of its own, and takes a backslash for an ordinary one. */
    if (strstr(pattern, "**") != NULL || strstr(pattern, "[:") != NULL ||
        strstr(pattern, "[.") != NULL || strstr(pattern, "[=") != NULL || pattern[0] == '/' ||
        pattern[strlen(pattern) - 1] == '/')
        return;
    bool expected = fnmatch(pattern, path, FNM_PATHNAME | FNM_NOESCAPE) == 0;
    require(hr_glob_match(glob, path) == expected);
}

static void require_found_below(const struct hr_glob *glob, const char *path)
{
    char *above = strdup(path);

    for (char *slash; (slash = strrchr(above, '/')) != NULL;) {
        *slash = '\0';
        require(hr_glob_match_below(glob, above));
    }
    require(hr_glob_match_below(glob, ""));
    free(above);
}

static void require_captures_within(const struct hr_glob *glob, const char *path)
{
    const char *text;
    size_t length;

    for (size_t i = 1; i <= hr_glob_wildcards(glob); i++) {
        require(hr_glob_capture(glob, path, i, &text, &length));
        require(text >= path && text + length <= path + strlen(path));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_glob *glob;
    const char *reason = NULL;

    if (size > 200)
        return 0;
    char *pattern = strndup((const char *)data, size);
    char *newline = strchr(pattern, '\n');
    const char *path = newline != NULL ? newline + 1 : "a/b";
    if (newline != NULL)
        *newline = '\0';
    int status = hr_glob_compile(pattern, &glob, &reason);
    require((status == 0) == (reason == NULL));
    if (status == 0) {
        if (is_path(path)) {
            compare_with_fnmatch(glob, pattern, path);
            if (hr_glob_match(glob, path)) {
                require_found_below(glob, path);
                require_captures_within(glob, path);
            }
        }
        hr_glob_free(glob);
    }
    free(pattern);
    return 0;
}
