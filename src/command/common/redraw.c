/* SPDX-License-Identifier: MIT */
#include "common/redraw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Supported by all terminals of today (ECMA-48, and xterm's private modes). */
#define OTHER_SCREEN "\033[?1049h"
#define OWN_SCREEN   "\033[?1049l"
#define WRAP         "\033[?7h"
#define NO_WRAP      "\033[?7l" /* longer lines are cut off */
#define HOME         "\033[H"
#define CLEAR_LINE   "\033[K"
#define CLEAR_BELOW  "\033[J"

bool redraw_fits(FILE *file)
{
    const char *terminal = getenv("TERM");
    return isatty(fileno(file)) && terminal != NULL && terminal[0] != '\0' &&
           strcmp(terminal, "dumb") != 0;
}

void redraw_begin(FILE *file)
{
    fputs(OTHER_SCREEN NO_WRAP, file);
}

void redraw_end(FILE *file)
{
    fputs(WRAP OWN_SCREEN, file);
    fflush(file);
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        count++;
    return count;
}

static size_t height_of(FILE *file)
{
    struct winsize size = {0};
    ioctl(fileno(file), TIOCGWINSZ, &size);
    return size.ws_row > 1 ? size.ws_row : 24;
}

int redraw_draw(FILE *file, const char *text)
{
    size_t lines = count_lines(text), room = height_of(file);
    /* No newline after the last line: it would scroll. */
    size_t shown = lines < room ? lines : room - 1;
    fputs(HOME, file);
    for (size_t i = 0; i < shown; i++) {
        size_t length = strcspn(text, "\n");
        fwrite(text, 1, length, file);
        fputs(CLEAR_LINE "\r\n", file);
        text += length + 1;
    }
    if (shown < lines)
        fprintf(file, "... %zu lines more" CLEAR_LINE, lines - shown);
    fputs(CLEAR_BELOW, file);
    errno = 0;
    return fflush(file) == 0 ? 0 : errno != 0 ? -errno : -EIO;
}
