/* SPDX-License-Identifier: MIT */
/*
 * support/spinner.c - a load of known noise: spins for a time, sleeps, and so on, for ever. On a
 * busy machine a spin may take longer: standard output, a file, has how many microseconds the spins
 * so far took in total, when the last of them ended, on a clock in microseconds, and how many
 * microseconds they were to take.
 *
 *     spinner MILLISECONDS EVERY_MILLISECONDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Overwrites the line before, which is never longer. */
static void write_progress(uint64_t spun_ns, uint64_t wanted_ns)
{
    char line[80];

    snprintf(line, sizeof(line), "%020llu %020llu %020llu\n", (unsigned long long)spun_ns / 1000,
             (unsigned long long)now_ns() / 1000, (unsigned long long)wanted_ns / 1000);
    if (pwrite(STDOUT_FILENO, line, strlen(line), 0) < 0)
        _exit(1);
}

static void spin_until(uint64_t until_ns)
{
    while (now_ns() < until_ns)
        ;
}

static void sleep_until(uint64_t until_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                                   .tv_nsec = (long)(until_ns % 1000000000)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s MILLISECONDS EVERY_MILLISECONDS\n", argv[0]);
        return 2;
    }
    const uint64_t spin_ns = strtoull(argv[1], NULL, 10) * 1000000;
    const uint64_t every_ns = strtoull(argv[2], NULL, 10) * 1000000;

    for (uint64_t spun_ns = 0, wanted_ns = 0;; wanted_ns += spin_ns) {
        const uint64_t begun_ns = now_ns();
        spin_until(begun_ns + spin_ns);
        write_progress(spun_ns, wanted_ns);
        const uint64_t ended_ns = now_ns();
        spun_ns += ended_ns - begun_ns;
        sleep_until(begun_ns + every_ns > ended_ns ? begun_ns + every_ns : ended_ns + every_ns);
    }
}
