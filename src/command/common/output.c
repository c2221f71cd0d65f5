/* SPDX-License-Identifier: MIT */
#include "common/output.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/usage.h"

int output_flush(FILE *out)
{
    errno = 0;
    if (fflush(out) == 0 && !ferror(out))
        return 0;
    return errno != 0 ? -errno : -EIO;
}

int output_width(int otherwise)
{
    struct winsize size = {0};

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return otherwise;
    return size.ws_col;
}

void output_fold(FILE *out, const char *text, size_t indent, size_t width)
{
    size_t column = indent;

    for (bool first = true; *text != '\0'; first = false) {
        size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            putc(' ', out);
            column++;
        }
        fwrite(text, 1, length, out);
        column += length;
        text += length + strspn(text + length, " ");
    }
    putc('\n', out);
}

int output_finish(const char *title, int status)
{
    /* Whoever closes the pipe, as head(1), has read enough. */
    if (status == 0 || status == -EPIPE)
        return COMMAND_DONE;
    fprintf(stderr, "%s: cannot write: %s\n", title, strerror(-status));
    return COMMAND_FAILED;
}
