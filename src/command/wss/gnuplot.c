/* SPDX-License-Identifier: MIT */
#include "wss/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const struct kind {
    const char *suffix, *terminal;
} kinds[] = {
    {".svg", "svg size 900,560 noenhanced background rgb 'white' font 'sans,14'"},
    {".png", "pngcairo size 900,560 noenhanced background rgb 'white' font 'sans,12'"},
};

struct wss_picture {
    const struct kind *kind;
    char *path;
    int fd;
    bool is_new; /* created by us, and empty so far */
};

/* --- Running gnuplot ------------------------------------------------------ */

/* Restores what waiting_hold_signals() changed: signals are blocked here, and SIGPIPE is ignored.
 */
static void restore_signals(posix_spawnattr_t *attributes)
{
    sigset_t set;
    sigemptyset(&set);
    posix_spawnattr_setsigmask(attributes, &set);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(attributes, &set);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int wait_for_end(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPROTO;
}

/*
 * Runs gnuplot with a script as standard input and the picture as standard output, so that neither
 * a file name nor a shell is involved. -d: without the user's own settings.
 */
static int run_gnuplot(int script, int output)
{
    char *argv[] = {"gnuplot", "-d", "-", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    restore_signals(&attributes);
    posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    int error = posix_spawnp(&pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        return error == ENOENT || error == ENOTDIR || error == EACCES ? -ENOPKG : -error;
    return wait_for_end(pid);
}

/* --- The script ----------------------------------------------------------- */

/* Within single quotes only the quote itself is special. */
static void write_quoted(FILE *script, const char *text)
{
    putc('\'', script);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            putc('\'', script);
        putc(*text, script);
    }
    putc('\'', script);
}

static double highest_mark(const struct chart *chart)
{
    double highest = 0;

    for (size_t i = 0; i < chart->mark_count; i++)
        highest = fmax(highest, chart->marks[i].y);
    return highest;
}

static void write_chart(FILE *script, const struct chart *chart)
{
    fputs("set title ", script);
    write_quoted(script, chart->title);
    fputs("\nset xlabel ", script);
    write_quoted(script, chart->x_name);
    fputs("\nset ylabel ", script);
    write_quoted(script, chart->y_name);
    fputs("\nset format x '%g'\nset grid\nunset key\n", script);
    fputs(chart->linear ? "set xrange [0:*]\n" : "set logscale x\n", script);
    for (size_t i = 0; i < chart->mark_count; i++) {
        fprintf(script, "set arrow from graph 0, first %.9g to graph 1, first %.9g nohead dt 2\n",
                chart->marks[i].y, chart->marks[i].y);
        fputs("set label ", script);
        write_quoted(script, chart->marks[i].name);
        fprintf(script, " at graph %s, first %.9g %s offset 0, 0.6\n", i % 2 == 0 ? "0.01" : "0.99",
                chart->marks[i].y, i % 2 == 0 ? "left" : "right");
    }
    fprintf(script, "set yrange [0:%.9g<*]\n", 1.05 * highest_mark(chart));
    fputs("plot '-' using 1:2 with points pointtype 7 pointsize 0.8\n", script);
    for (size_t i = 0; i < chart->count; i++)
        if (chart->linear || chart->points[i].x > 0)
            fprintf(script, "%.9g %.9g\n", chart->points[i].x, chart->points[i].y);
    fputs("e\n", script);
}

/* Without a chart it only tries whether gnuplot can draw this kind. */
static int run_script(const struct kind *kind, const struct chart *chart, int output)
{
    FILE *script = tmpfile();
    if (script == NULL)
        return -errno;
    fprintf(script, "set encoding utf8\nset terminal %s\n", kind->terminal);
    if (chart != NULL)
        write_chart(script, chart);
    int status = fflush(script) == 0 ? 0 : -errno;
    if (status == 0 && lseek(fileno(script), 0, SEEK_SET) < 0)
        status = -errno;
    if (status == 0)
        status = run_gnuplot(fileno(script), output);
    fclose(script);
    return status;
}

/* --- Pictures ------------------------------------------------------------- */

static const struct kind *find_kind(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t suffix = strlen(kinds[i].suffix);
        if (length > suffix && strcasecmp(path + length - suffix, kinds[i].suffix) == 0)
            return &kinds[i];
    }
    return NULL;
}

bool wss_picture_is_known(const char *path)
{
    return find_kind(path) != NULL;
}

static int try_gnuplot(const struct kind *kind)
{
    int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null_fd < 0)
        return -errno;
    int status = run_script(kind, NULL, null_fd);
    close(null_fd);
    return status;
}

/* An existing file keeps its content until the picture is drawn. */
static int open_file(struct wss_picture *picture)
{
    struct stat info;
    picture->fd = open(picture->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    picture->is_new = picture->fd >= 0;
    if (!picture->is_new && errno == EEXIST)
        picture->fd = open(picture->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (picture->fd < 0)
        return -errno;
    return fstat(picture->fd, &info) == 0 && S_ISREG(info.st_mode) ? 0 : -EINVAL;
}

int wss_picture_open(const char *path, struct wss_picture **picture)
{
    struct wss_picture *opened = calloc(1, sizeof(*opened));
    if (opened == NULL)
        return -ENOMEM;
    opened->fd = -1;
    opened->kind = find_kind(path);
    opened->path = strdup(path);
    int status = opened->kind == NULL ? -EINVAL : opened->path == NULL ? -ENOMEM : 0;
    if (status == 0)
        status = try_gnuplot(opened->kind);
    if (status == 0)
        status = open_file(opened);
    if (status != 0) {
        wss_picture_close(opened);
        return status;
    }
    *picture = opened;
    return 0;
}

int wss_picture_draw(struct wss_picture *picture, const struct chart *chart)
{
    if (ftruncate(picture->fd, 0) != 0)
        return -errno;
    int status = run_script(picture->kind, chart, picture->fd);
    if (status == 0)
        picture->is_new = false;
    return status;
}

void wss_picture_close(struct wss_picture *picture)
{
    if (picture == NULL)
        return;
    if (picture->fd >= 0)
        close(picture->fd);
    if (picture->is_new)
        unlink(picture->path);
    free(picture->path);
    free(picture);
}
