/* SPDX-License-Identifier: MIT */
/*
 * support/toucher.c - a process with a known working set, for measuring it.
 *
 *     toucher KIND HOLD TOUCH [FILE]
 *
 * Holds HOLD MiB of memory, all of it touched once, and touches the first TOUCH MiB of it again and
 * again, each page, in every 20 ms or so, until its standard input ends. It says "ready" when it
 * does. KIND:
 *
 *   anon    anonymous memory in pages of 4 KiB
 *   huge    anonymous memory in transparent huge pages; fails if the kernel gives none
 *   file    FILE, of HOLD MiB, mapped and read
 *   read    FILE, of HOLD MiB, read by read(2) and not mapped
 *   shared  anonymous memory shared with a child, which touches the same pages
 *   swap    like anon, with what isn't touched swapped out
 *   still   like anon, but nothing is touched any more
 *   thread  like anon, but another thread touches it, and the first one has ended
 *   grow    like anon; for each byte that comes it maps TOUCH MiB more, and touches these, too
 *
 * TOUCHER_NAME   the name that it takes, for tests that find processes by name
 * TOUCHER_PAUSE  milliseconds between two rounds, instead of 15
 *
 * Exits with 0 at the end of standard input, with 77 if this machine can't do that, else with 1.
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB       ((size_t)1 << 20)
#define PAGE      ((size_t)4096)
#define HUGE_PAGE (2 * MIB)
#define CANNOT    77
#define GROWTHS   16

static void read_file(int fd, size_t size)
{
    static char buffer[16 * PAGE];

    for (size_t i = 0; i < size; i += sizeof(buffer))
        if (pread(fd, buffer, sizeof(buffer), (off_t)i) != (ssize_t)sizeof(buffer))
            err(1, "read");
}

static char *map_memory(const char *kind, size_t size, const char *file)
{
    int flags = strcmp(kind, "shared") == 0 ? MAP_SHARED : MAP_PRIVATE;
    char *memory;

    if (strcmp(kind, "file") == 0) {
        struct stat status;
        int fd = open(file, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &status) < 0 || (size_t)status.st_size < size)
            err(1, "%s", file);
        memory = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    } else {
        memory = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    }
    if (memory == MAP_FAILED)
        err(1, "mmap");
    if (strcmp(kind, "file") == 0)
        return memory;
    memory += HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE;
    if (strcmp(kind, "huge") != 0)
        madvise(memory, size, MADV_NOHUGEPAGE);
    else if (madvise(memory, size, MADV_HUGEPAGE) < 0)
        err(CANNOT, "no huge pages");
    memset(memory, 1, size);
    return memory;
}

/* Reads a byte of each page; that sets the page's bit just as writing does. */
static void touch_pages(const volatile char *memory, size_t size)
{
    for (size_t i = 0; i < size; i += PAGE)
        (void)memory[i];
}

/* Reads one number of smaps_rollup, in bytes. */
static size_t read_rollup(const char *name)
{
    char line[256];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "re");

    if (file == NULL)
        err(CANNOT, "smaps_rollup");
    while (fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtoul(line + strlen(name), NULL, 10);
    fclose(file);
    return kib << 10;
}

/* @return 0: nothing has come; 1: a byte; -1: the end. */
static int read_input(int milliseconds)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char byte;

    if (poll(&input, 1, milliseconds) <= 0)
        return 0;
    return read(STDIN_FILENO, &byte, 1) > 0 ? 1 : -1;
}

static int pause_ms(void)
{
    const char *text = getenv("TOUCHER_PAUSE");

    return text != NULL ? (int)strtoul(text, NULL, 10) : 15;
}

static int be_reader(const char *file, size_t hold, size_t touched)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        err(1, "%s", file);
    read_file(fd, hold);
    if (puts("ready") < 0 || fflush(stdout) != 0)
        return 1;
    do
        read_file(fd, touched);
    while (read_input(pause_ms()) >= 0);
    return 0;
}

static void touch_until_end(const char *kind, char *memory, size_t touched)
{
    char *more[GROWTHS];
    size_t count = 0;
    int input;

    do {
        if (strcmp(kind, "still") != 0)
            touch_pages(memory, touched);
        for (size_t i = 0; i < count; i++)
            touch_pages(more[i], touched);
        input = read_input(pause_ms());
        if (input > 0 && count < GROWTHS)
            more[count++] = map_memory("anon", touched, NULL);
    } while (input >= 0);
}

static bool has_first_thread_ended(void)
{
    char text[256] = "";
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

    if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
        err(1, "/proc/self/stat");
    close(fd);
    return strstr(text, ") Z ") != NULL;
}

static size_t touched_by_thread;

/* Allocates nothing, which would be memory of its own. */
static void *be_only_thread(void *memory)
{
    while (!has_first_thread_ended())
        usleep(1000);
    if (dprintf(STDOUT_FILENO, "ready\n") < 0)
        _exit(1);
    touch_until_end("anon", memory, touched_by_thread);
    _exit(0);
}

static void touch_in_thread(char *memory, size_t touched)
{
    pthread_t thread;

    touched_by_thread = touched;
    if (pthread_create(&thread, NULL, be_only_thread, memory) != 0)
        errx(1, "no thread");
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        errx(1, "toucher KIND HOLD TOUCH [FILE]");
    const char *kind = argv[1];
    size_t hold = strtoul(argv[2], NULL, 10) * MIB, touched = strtoul(argv[3], NULL, 10) * MIB;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getenv("TOUCHER_NAME") != NULL)
        prctl(PR_SET_NAME, getenv("TOUCHER_NAME"));
    if (strcmp(kind, "read") == 0)
        return be_reader(argv[4], hold, touched);
    char *memory = map_memory(kind, hold, argv[4]);
    touch_pages(memory, hold);
    if (strcmp(kind, "huge") == 0 && read_rollup("AnonHugePages:") < hold)
        errx(CANNOT, "the kernel gives no huge pages");
    if (strcmp(kind, "swap") == 0) {
        if (madvise(memory + touched, hold - touched, MADV_PAGEOUT) < 0)
            err(CANNOT, "no memory can be swapped out");
        if (read_rollup("Swap:") < (hold - touched) / 2)
            errx(CANNOT, "there is no swap space");
    }
    if (strcmp(kind, "shared") == 0) {
        pid_t parent = getpid();
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (; getppid() == parent; usleep(15000))
                touch_pages(memory, touched);
            return 0;
        }
    }
    if (strcmp(kind, "thread") == 0)
        touch_in_thread(memory, touched);
    if (puts("ready") < 0 || fflush(stdout) != 0)
        return 1;
    touch_until_end(kind, memory, touched);
    return 0;
}
