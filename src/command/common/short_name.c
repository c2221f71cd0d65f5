/* SPDX-License-Identifier: MIT */
/*
 * Source: src/handlers/headroom-mail.sh, shorten_paths(), which knows the path; and
 * headroom/instance.h.
 */
#include "common/short_name.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 48, ID_LENGTH = 32, ID_SHOWN = 12, UUID_LENGTH = 36, UUID_SHOWN = 8 };

static size_t count_hex(const char *text)
{
    return strspn(text, "0123456789abcdef");
}

/* "00000007-1111-2222-3333-444444444444", or with "_" */
static bool is_uuid(const char *text)
{
    static const size_t lengths[] = {8, 4, 4, 4, 12};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        if (i > 0 && *text != '-' && *text != '_')
            return false;
        text += i > 0;
        if (count_hex(text) < lengths[i])
            return false;
        text += lengths[i];
    }
    return true;
}

/* @param slash  what a slash becomes. */
static void shorten_text(const char *from, char slash, char *to, size_t size)
{
    size_t used = 0;

    while (*from != '\0' && used + ID_SHOWN < size) {
        const size_t hex = count_hex(from);
        const bool is_id = hex >= ID_LENGTH, has_uuid = !is_id && is_uuid(from);
        const size_t shown = is_id ? ID_SHOWN : has_uuid ? UUID_SHOWN : 1;
        memcpy(to + used, from, shown);
        if (*from == '/')
            to[used] = slash;
        used += shown;
        from += is_id ? hex : has_uuid ? UUID_LENGTH : 1;
    }
    to[used] = '\0';
}

/* Of a path as if it were an instance. */
static void shorten_identifiers(const char *from, char to[SHORT_NAME_SIZE])
{
    shorten_text(from, '_', to, SHORT_NAME_SIZE);
}

/* The bytes of what ends a part of a path here, with its "_"; 0: none does. */
static size_t end_of_part(const char *text)
{
    static const char *const ends[] = {".slice_", ".scope_", ".service_"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (strncmp(text, ends[i], strlen(ends[i])) == 0)
            return strlen(ends[i]);
    return *text == '~' && count_hex(text + 1) >= 8 && text[9] == '_' ? 10 : 0;
}

/* What is behind the last end of a part. */
static const char *find_leaf(const char *name)
{
    const char *leaf = name;

    for (const char *at = name; *at != '\0'; at++)
        if (end_of_part(at) > 0)
            leaf = at + end_of_part(at);
    return leaf;
}

/* Finds the "00000007" of a "pod00000007.slice_" or "pod00000007_", the last one, and what is
 * behind it. @return NULL: there is none. */
static const char *find_pod(const char *name, const char **inside)
{
    const char *pod = NULL;

    for (const char *at = name; (at = strstr(at, "pod")) != NULL; at++) {
        const char *end = at + strlen("pod") + UUID_SHOWN;
        if (count_hex(at + strlen("pod")) < UUID_SHOWN)
            continue;
        if (strncmp(end, ".slice_", strlen(".slice_")) == 0)
            end += strlen(".slice");
        if (*end != '_')
            continue;
        pod = at + strlen("pod");
        *inside = end + 1;
    }
    return pod;
}

static bool is_pod(const char *leaf)
{
    for (const char *id = leaf; (id = strstr(id, "pod")) != NULL;) {
        id += strlen("pod");
        if (count_hex(id) == UUID_SHOWN)
            return id[UUID_SHOWN] == '\0' || strcmp(id + UUID_SHOWN, ".slice") == 0;
    }
    return false;
}

/* "first/.../last"; a name with one known slash stays as it is. */
static void write_ends(const char *name, const char *leaf, char text[SHORT_NAME_SIZE])
{
    const char *end = name;

    while (end_of_part(end) == 0)
        end++;
    const bool is_cut = *end == '~';
    const size_t length = is_cut ? 0 : end_of_part(end);
    if (!is_cut && end + length == leaf)
        snprintf(text, SHORT_NAME_SIZE, "%s", name);
    else
        snprintf(text, SHORT_NAME_SIZE, "%.*s%s.../%.200s",
                 (int)(end - name) + (int)(is_cut ? 0 : length - 1), name, is_cut ? "" : "/", leaf);
}

/* @return whether a name is that of a container, and too long. @param last  of the path; NULL: not
 * known. */
static bool write_container(const char *name, const char *last, char text[SHORT_NAME_SIZE])
{
    const char *inside = NULL, *pod = find_pod(name, &inside), *leaf = find_leaf(name);

    if (pod == NULL || strlen(name) <= LONGEST)
        return false;
    if (last == NULL)
        last = leaf > inside ? leaf : inside;
    snprintf(text, SHORT_NAME_SIZE, "%.250s of pod %.*s", last, UUID_SHOWN, pod);
    return true;
}

static bool write_container_of_path(const char *path, char text[SHORT_NAME_SIZE])
{
    const char *slash = strrchr(path, '/');
    char name[SHORT_NAME_SIZE], last[SHORT_NAME_SIZE];

    shorten_identifiers(path, name);
    shorten_identifiers(slash != NULL ? slash + 1 : path, last);
    return write_container(name, last, text);
}

/* A name that is made of a path, shortened or not, ends as that does; one that doesn't says
 * something else, as the name of a container. */
static bool is_made_of(const char *instance, const char *path)
{
    enum { COMPARED = 12 };
    size_t length = strlen(instance), end = strlen(path);

    if (length < COMPARED || end < COMPARED)
        return false;
    for (size_t i = 1; i <= COMPARED; i++)
        if (instance[length - i] != path[end - i] &&
            (instance[length - i] != '_' || path[end - i] != '/'))
            return false;
    return true;
}

void short_name(const char *instance, const char *path, char text[SHORT_NAME_SIZE])
{
    char name[SHORT_NAME_SIZE];

    if (path != NULL && is_made_of(instance, path) && write_container_of_path(path, text))
        return;
    shorten_identifiers(instance, name);
    const char *leaf = find_leaf(name);
    if (write_container(name, NULL, text))
        return;
    if (strlen(name) <= LONGEST)
        strcpy(text, name);
    else if (is_pod(leaf))
        strcpy(text, leaf);
    else if (leaf == name)
        strcpy(text, name);
    else
        write_ends(name, leaf, text);
}

void short_path(const char *path, char text[SHORT_NAME_SIZE])
{
    char name[PATH_MAX];

    if (write_container_of_path(path, text))
        return;
    shorten_text(path, '/', name, sizeof(name));
    const char *first = strchr(name, '/'), *last = strrchr(name, '/');
    if (strlen(name) <= LONGEST || first == NULL)
        snprintf(text, SHORT_NAME_SIZE, "%.280s", name);
    else if (is_pod(last + 1))
        snprintf(text, SHORT_NAME_SIZE, "%.280s", last + 1);
    else if (first == last)
        snprintf(text, SHORT_NAME_SIZE, "%.280s", name);
    else
        snprintf(text, SHORT_NAME_SIZE, "%.*s/.../%.200s",
                 first - name < 60 ? (int)(first - name) : 60, name, last + 1);
}

/* --- Names of several ---------------------------------------------------------- */

/* One of them, with what it would be called. */
struct named {
    const char *host, *called;
    char **name;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *first = a, *second = b;
    int order = strcmp(first->host, second->host);

    return order != 0 ? order : strcmp(first->called, second->called);
}

/* Of names that several groups would have, none is short. */
static void drop_same_names(struct named *all, size_t count)
{
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && compare_named(&all[i], &all[end]) == 0;)
            end++;
        for (size_t same = i; end - i > 1 && same < end; same++) {
            free(*all[same].name);
            *all[same].name = NULL;
        }
    }
}

int short_names_find(const struct short_name_of *groups, size_t count, char **names)
{
    struct named *all = calloc(count + 1, sizeof(*all));
    char name[SHORT_NAME_SIZE];
    int status = all == NULL ? -ENOMEM : 0;

    for (size_t i = 0; i < count; i++)
        names[i] = NULL;
    for (size_t i = 0; i < count && status == 0; i++) {
        short_name(groups[i].instance, groups[i].path, name);
        if (strcmp(name, groups[i].instance) != 0 && (names[i] = strdup(name)) == NULL)
            status = -ENOMEM;
        all[i] = (struct named){groups[i].host, names[i] != NULL ? names[i] : groups[i].instance,
                                &names[i]};
    }
    if (status == 0 && count > 0) {
        qsort(all, count, sizeof(*all), compare_named);
        drop_same_names(all, count);
    }
    free(all);
    return status;
}

/* --- What is meant by one ------------------------------------------------------ */

static bool begins_with(const char *text, const char *head, size_t length)
{
    return strncmp(text, head, length) == 0;
}

/* Behind a whole part, if it isn't the whole text. */
static bool ends_with_part(const char *text, const char *parts, char between)
{
    const size_t length = strlen(text), wanted = strlen(parts);

    return wanted > 0 && wanted <= length && strcmp(text + length - wanted, parts) == 0 &&
           (wanted == length || text[length - wanted - 1] == between);
}

static bool is_end(const char *parts, const char *group, enum name_kind kind)
{
    const char between = kind == NAME_PATH ? '/' : '_';
    char wanted[SHORT_NAME_SIZE], name[PATH_MAX];

    shorten_text(parts, between, wanted, sizeof(wanted));
    shorten_text(group, between, name, sizeof(name));
    return ends_with_part(name, wanted, between);
}

/* "cri-containerd-748a7a914a7d.scope of pod 00000007"; a shortened instance may lack the pod. */
static bool is_container(const char *text, const char *group, enum name_kind kind)
{
    static const char of_pod[] = " of pod ";
    const char *at = strstr(text, of_pod), *inside;
    char part[SHORT_NAME_SIZE], name[PATH_MAX];

    if (at == NULL || at == text || (size_t)(at - text) >= sizeof(part))
        return false;
    snprintf(part, sizeof(part), "%.*s", (int)(at - text), text);
    shorten_text(group, '_', name, sizeof(name));
    const char *pod = find_pod(name, &inside), *wanted = at + strlen(of_pod);
    return is_end(part, group, kind) && strlen(wanted) == UUID_SHOWN &&
           (pod == NULL || begins_with(pod, wanted, UUID_SHOWN));
}

/* The beginning and the end of a name, around an ellipsis. @return NULL: there is none. */
static const char *find_ellipsis(const char *text, size_t *length)
{
    static const char *const ellipses[] = {"...", "\xe2\x80\xa6", ".."};

    for (size_t i = 0; i < sizeof(ellipses) / sizeof(ellipses[0]); i++) {
        const char *at = strstr(text, ellipses[i]);
        *length = strlen(ellipses[i]);
        if (at != NULL && at != text && at[*length] != '\0')
            return at;
    }
    return NULL;
}

static bool has_ends(const char *name, const char *head, size_t head_length, const char *tail)
{
    const size_t length = strlen(name), tail_length = strlen(tail);

    return head_length + tail_length <= length && begins_with(name, head, head_length) &&
           strcmp(name + length - tail_length, tail) == 0;
}

static bool is_cut(const char *text, const char *group, enum name_kind kind)
{
    size_t ellipsis;
    const char *at = find_ellipsis(text, &ellipsis);
    char head[SHORT_NAME_SIZE], tail[SHORT_NAME_SIZE], name[PATH_MAX], shown[SHORT_NAME_SIZE];

    if (at == NULL || strlen(text) >= SHORT_NAME_SIZE)
        return false;
    short_name(group, kind == NAME_PATH ? group : NULL, shown);
    if (has_ends(shown, text, (size_t)(at - text), at + ellipsis))
        return true;
    snprintf(shown, sizeof(shown), "%.*s", (int)(at - text), text);
    shorten_identifiers(shown, head);
    shorten_identifiers(at + ellipsis, tail);
    shorten_text(group, '_', name, sizeof(name));
    return has_ends(name, head, strlen(head), tail);
}

bool short_name_means(const char *text, const char *group, enum name_kind kind)
{
    char name[PATH_MAX], wanted[SHORT_NAME_SIZE];

    if (strlen(text) >= SHORT_NAME_SIZE)
        return false;
    shorten_text(group, '_', name, sizeof(name));
    shorten_identifiers(text, wanted);
    return strcmp(name, wanted) == 0 || is_end(text, group, kind) ||
           is_container(text, group, kind) || is_cut(text, group, kind);
}
