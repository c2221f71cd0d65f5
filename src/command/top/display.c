/* SPDX-License-Identifier: MIT */
#include "top/display.h"

#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "headroom/utf8.h"

attr_t display_attribute(const struct display *display, enum severity severity)
{
    static const attr_t plain[] = {
        [SEVERITY_NONE] = A_NORMAL,
        [SEVERITY_CALM] = A_NORMAL,
        [SEVERITY_WARN] = A_BOLD,
        [SEVERITY_ALARM] = A_REVERSE,
    };
    if (!display->colours || severity == SEVERITY_NONE)
        return plain[severity];
    return (attr_t)COLOR_PAIR(severity);
}

int display_text(const struct display *display, int y, int x, const char *text, int width)
{
    char label[DISPLAY_LINE_SIZE];
    int taken = label_fit(text, width, display->charset, label, sizeof(label));
    mvaddstr(y, x, label);
    return taken;
}

void display_sentence(const struct display *display, int y, int x, const char *text, int width)
{
    char label[DISPLAY_LINE_SIZE];
    label_fit_start(text, width, display->charset, label, sizeof(label));
    mvaddstr(y, x, label);
}

/* Returns the bytes of a safe text that fit into `width` columns: at least one character. */
static size_t fitting_length(const char *text, int width)
{
    size_t length = 0;
    while (text[length] != '\0') {
        uint32_t character;
        size_t bytes = hr_utf8_decode(text + length, &character);
        int taken = wcwidth((wchar_t)character);
        width -= taken < 0 ? 1 : taken;
        if (width < 0 && length > 0)
            break;
        length += bytes;
    }
    return length;
}

/*
 * Removes a line of at most `width` columns from a text that label_fit() made safe. It ends at a
 * blank; only words longer than a line are broken. Returns its bytes.
 */
static size_t split_line(const char **rest, int width)
{
    const char *text = *rest;
    size_t length = fitting_length(text, width);
    const char *space = memrchr(text, ' ', length);
    if (text[length] != '\0' && text[length] != ' ' && space != NULL && space > text &&
        fitting_length(space + 1, width) >= strcspn(space + 1, " "))
        length = (size_t)(space - text);
    *rest = text + length + strspn(text + length, " ");
    return length;
}

int display_count_lines(const char *text, int width)
{
    int lines = 0;
    for (; *text != '\0'; lines++)
        split_line(&text, width);
    return lines;
}

void display_lines(int y, int bottom, int x, const char *text, int width)
{
    for (; *text != '\0' && y < bottom; y++) {
        const char *line = text;
        size_t length = split_line(&text, width - x);
        mvaddnstr(y, x, line, (int)length);
    }
}
