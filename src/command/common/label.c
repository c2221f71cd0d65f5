/* SPDX-License-Identifier: MIT */
#include "common/label.h"

#include <langinfo.h>
#include <string.h>
#include <wchar.h>

#include "headroom/utf8.h"

enum label_charset label_charset(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? LABEL_UTF8 : LABEL_ASCII;
}

/* What one character of a name becomes on the terminal. */
struct glyph {
    const char *text;
    size_t source; /* bytes of the name */
    size_t length; /* bytes of `text` */
    int width;     /* columns */
};

static struct glyph next_glyph(const char *name, enum label_charset charset)
{
    static const char replacement[] = "?";
    uint32_t c = 0;
    size_t length = hr_utf8_decode(name, &c);
    if (length == 0)
        return (struct glyph){replacement, 1, 1, 1};
    if (hr_utf8_is_unsafe(c) || (c >= 0x80 && charset == LABEL_ASCII))
        return (struct glyph){replacement, length, 1, 1};
    /* -1: the locale has no UTF-8, and then neither has the terminal. */
    int width = wcwidth((wchar_t)c);
    return (struct glyph){name, length, length, width < 0 ? 1 : width};
}

/* The label being written. */
struct target {
    char *text;
    size_t used, size;
    int width;
};

static void append_glyph(struct target *target, const struct glyph *glyph)
{
    if (target->used + glyph->length >= target->size)
        return;
    memcpy(target->text + target->used, glyph->text, glyph->length);
    target->used += glyph->length;
    target->width += glyph->width;
}

/*
 * Appends what fits into `width` columns, with the marks that combine with the last character.
 * Returns the rest of the name.
 */
static const char *append_head(struct target *target, const char *name, int width,
                               enum label_charset charset)
{
    while (*name != '\0') {
        struct glyph glyph = next_glyph(name, charset);
        if (target->width + glyph.width > width)
            break;
        append_glyph(target, &glyph);
        name += glyph.source;
    }
    return name;
}

/* Finds the longest end of `name` that fits into `width` columns. */
static const char *find_tail(const char *name, int width, enum label_charset charset)
{
    for (int rest = label_width(name, charset); *name != '\0' && rest > width;) {
        struct glyph glyph = next_glyph(name, charset);
        rest -= glyph.width;
        name += glyph.source;
    }
    /* Leave out marks that combine with a character that is left out. */
    while (*name != '\0') {
        struct glyph glyph = next_glyph(name, charset);
        if (glyph.width > 0)
            break;
        name += glyph.source;
    }
    return name;
}

int label_width(const char *name, enum label_charset charset)
{
    int width = 0;
    while (*name != '\0') {
        struct glyph glyph = next_glyph(name, charset);
        width += glyph.width;
        name += glyph.source;
    }
    return width;
}

static const struct glyph ellipses[] = {
    [LABEL_ASCII] = {"..", 0, 2, 2},
    [LABEL_UTF8] = {"\xe2\x80\xa6", 0, 3, 1},
};

int label_fit(const char *name, int width, enum label_charset charset, char *label, size_t size)
{
    struct target target = {label, 0, size, 0};
    const struct glyph *ellipsis = &ellipses[charset];
    if (width > 0 && (width <= ellipsis->width || label_width(name, charset) <= width)) {
        append_head(&target, name, width, charset);
    } else if (width > 0) {
        int kept = width - ellipsis->width;
        append_head(&target, name, (kept + 1) / 2, charset);
        append_glyph(&target, ellipsis);
        append_head(&target, find_tail(name, width - target.width, charset), width, charset);
    }
    label[target.used] = '\0';
    return target.width;
}

int label_fit_start(const char *text, int width, enum label_charset charset, char *label,
                    size_t size)
{
    struct target target = {label, 0, size, 0};
    const struct glyph *ellipsis = &ellipses[charset];
    if (width > 0 && (width <= ellipsis->width || label_width(text, charset) <= width)) {
        append_head(&target, text, width, charset);
    } else if (width > 0) {
        append_head(&target, text, width - ellipsis->width, charset);
        append_glyph(&target, ellipsis);
    }
    label[target.used] = '\0';
    return target.width;
}
