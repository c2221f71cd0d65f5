/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_stall_cause_io_live.c - waiting for I/O of known cause on the running
 * kernel: it must be the first that is given, in each of several rounds, or none where none is
 * known.
 *
 * On a running machine that is its own limit, of a file in /var/tmp; the rest needs a device of its
 * own, /dev/slow of the emulated machine: a request takes it 1 ms, whatever its size, and requests
 * wait for each other.
 */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/room/stall_harness.h"
#include "support/suite.h"

#define KIB       ((size_t)1024)
#define FILE_SIZE (16 * 1024 * KIB)

static int file = -1;      /* what is read and written */
static char device[32];    /* "254:0", which it is on */
static const char *reason; /* why there is none, or NULL */

/* --- The device ---------------------------------------------------------------- */

static bool fill_file(void)
{
    static char piece[64 * KIB];

    memset(piece, 1, sizeof(piece));
    for (size_t written = 0; written < FILE_SIZE; written += sizeof(piece))
        if (write(file, piece, sizeof(piece)) != (ssize_t)sizeof(piece))
            return false;
    return fsync(file) == 0 && fcntl(file, F_SETFL, O_DIRECT) == 0;
}

/* Limits are those of whole disks. */
static void find_disk(dev_t number)
{
    char path[96];

    snprintf(device, sizeof(device), "%u:%u", major(number), minor(number));
    snprintf(path, sizeof(path), "/sys/dev/block/%s/partition", device);
    if (access(path, F_OK) < 0)
        return;
    snprintf(path, sizeof(path), "/sys/dev/block/%s/../dev", device);
    FILE *stream = fopen(path, "re");
    if (stream == NULL || fscanf(stream, "%31s", device) != 1)
        reason = "the disk of a partition can't be found";
    if (stream != NULL)
        fclose(stream);
}

static void open_file(void)
{
    struct stat status;
    const bool is_emulated = getenv("HEADROOM_EMULATED") != NULL;

    file = is_emulated ? open("/dev/slow", O_RDWR | O_DIRECT | O_CLOEXEC)
                       : open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0 || fstat(file, &status) < 0)
        reason = is_emulated ? "there is no /dev/slow" : "no file can be made in /var/tmp";
    else if (!is_emulated && (major(status.st_dev) == 0 || !fill_file()))
        reason = "/var/tmp is not on a disk";
    else
        find_disk(is_emulated ? status.st_rdev : status.st_dev);
}

/* --- Loads --------------------------------------------------------------------- */

struct load {
    size_t piece;
    bool writes;
    useconds_t pause_us;
};

/* Never returns. */
static void work_for_ever(const struct load *load)
{
    void *buffer =
        mmap(NULL, load->piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (buffer == MAP_FAILED)
        _exit(1);
    for (off_t offset = 0;; offset = (offset + (off_t)load->piece) % (off_t)FILE_SIZE) {
        ssize_t done = load->writes ? pwrite(file, buffer, load->piece, offset)
                                    : pread(file, buffer, load->piece, offset);
        if (done != (ssize_t)load->piece)
            _exit(1);
        if (load->pause_us > 0)
            usleep(load->pause_us);
    }
}

static pid_t loads[16];
static size_t load_count;

static void start_load(const char *name, struct load load)
{
    pid_t pid = fork_into_group(name);

    if (pid == 0)
        work_for_ever(&load);
    loads[load_count++] = pid;
}

/* Several, so that on a busy machine there is always one that waits for the limit. */
static void start_loads(const char *name, struct load load)
{
    for (int i = 0; i < 4; i++)
        start_load(name, load);
}

/* One that waits for a limit ends once its request is done. */
static void end_loads(void)
{
    for (size_t i = 0; i < load_count; i++)
        kill(loads[i], SIGKILL);
    for (size_t i = 0; i < load_count; i++)
        waitpid(loads[i], NULL, 0);
    load_count = 0;
}

/* Limits to so much a second: "rbps", "riops", … of version 2, or of version 1 "read_bps", … */
static void limit_io(const char *name, const char *v2_key, const char *v1_key, size_t limit)
{
    char v2[64], v1_file[64], v1[64];

    snprintf(v2, sizeof(v2), "%s %s=%zu", device, v2_key, limit);
    snprintf(v1_file, sizeof(v1_file), "blkio.throttle.%s_device", v1_key);
    snprintf(v1, sizeof(v1), "%s %zu", device, limit);
    limit_group(name, "io.max", v2, v1_file, v1);
}

/* --- Its own limit ------------------------------------------------------------- */

static void set_up(void)
{
    set_up_groups("io");
}

static void tear_down(void)
{
    end_loads();
    tear_down_groups();
}

static void expect_own_limit(enum hr_stall_io io, size_t limit)
{
    struct hr_stall_cause cause = first_cause("a", HR_PSI_IO);

    ck_assert_int_eq(cause.kind, HR_STALL_OWN_LIMIT);
    ck_assert_int_eq(cause.limit_kind, HR_STALL_IO_MAX);
    ck_assert_int_eq(cause.io, io);
    ck_assert_double_eq(cause.limit, (double)limit);
}

START_TEST(finds_its_own_limit_of_bytes)
{
    make_group("a");
    limit_io("a", "rbps", "read_bps", 256 * KIB);
    start_loads("a", (struct load){.piece = 16 * KIB});
    expect_own_limit(HR_STALL_READ_BYTES, 256 * KIB);
}
END_TEST

START_TEST(finds_its_own_limit_of_bytes_in_large_pieces)
{
    make_group("a");
    limit_io("a", "rbps", "read_bps", 1024 * KIB);
    start_loads("a", (struct load){.piece = 256 * KIB});
    expect_own_limit(HR_STALL_READ_BYTES, 1024 * KIB);
}
END_TEST

START_TEST(finds_its_own_limit_of_reads)
{
    make_group("a");
    limit_io("a", "riops", "read_iops", 20);
    start_loads("a", (struct load){.piece = 4 * KIB});
    expect_own_limit(HR_STALL_READS, 20);
}
END_TEST

START_TEST(finds_its_own_limit_of_writes)
{
    make_group("a");
    limit_io("a", "wbps", "write_bps", 512 * KIB);
    start_loads("a", (struct load){.piece = 16 * KIB, .writes = true});
    expect_own_limit(HR_STALL_WRITTEN_BYTES, 512 * KIB);
}
END_TEST

/* --- On a device of its own ---------------------------------------------------- */

START_TEST(finds_the_limit_of_the_group_above)
{
    make_parent("p");
    make_group("p/a");
    limit_io("p", "rbps", NULL, 1024 * KIB);
    start_loads("p/a", (struct load){.piece = 16 * KIB});
    ck_assert_int_eq(first_cause("p/a", HR_PSI_IO).kind, HR_STALL_ANCESTOR_LIMIT);
}
END_TEST

START_TEST(finds_neighbours)
{
    make_group("a");
    make_group("b");
    start_load("a", (struct load){.piece = 4 * KIB});
    for (int i = 0; i < 8; i++)
        start_load("b", (struct load){.piece = 4 * KIB});
    ck_assert_int_eq(first_cause("a", HR_PSI_IO).kind, HR_STALL_NEIGHBOURS);
}
END_TEST

/* Others do more, but what it waits for is its limit. */
START_TEST(finds_its_own_limit_beside_neighbours)
{
    make_group("a");
    make_group("b");
    limit_io("a", "rbps", NULL, 256 * KIB);
    start_loads("a", (struct load){.piece = 16 * KIB});
    start_load("b", (struct load){.piece = 64 * KIB});
    expect_own_limit(HR_STALL_READ_BYTES, 256 * KIB);
}
END_TEST

/* Whoever reads piece by piece waits for the device all the time. */
START_TEST(the_device_itself_is_no_cause)
{
    make_group("a");
    start_load("a", (struct load){.piece = 4 * KIB});
    expect_no_cause("a", HR_PSI_IO);
}
END_TEST

/* Others move more bytes, in few requests, which hardly keep the device from the group's. */
START_TEST(neighbours_that_are_not_in_the_way_are_no_cause)
{
    make_group("a");
    make_group("b");
    start_load("a", (struct load){.piece = 4 * KIB});
    start_load("b", (struct load){.piece = 512 * KIB, .pause_us = 30000});
    expect_no_cause("a", HR_PSI_IO);
}
END_TEST

START_TEST(the_limit_of_a_group_below_is_not_the_neighbours)
{
    make_parent("p");
    make_group("p/a");
    make_group("b");
    limit_io("p/a", "rbps", NULL, 256 * KIB);
    start_loads("p/a", (struct load){.piece = 16 * KIB});
    start_load("b", (struct load){.piece = 64 * KIB});
    start_load("b", (struct load){.piece = 64 * KIB});
    expect_no_cause("p", HR_PSI_IO);
}
END_TEST

static void add_own_limits(TCase *tests)
{
    tcase_add_loop_test(tests, finds_its_own_limit_of_bytes, 0, rounds());
    tcase_add_loop_test(tests, finds_its_own_limit_of_bytes_in_large_pieces, 0, rounds());
    tcase_add_loop_test(tests, finds_its_own_limit_of_reads, 0, rounds());
    tcase_add_loop_test(tests, finds_its_own_limit_of_writes, 0, rounds());
}

static void add_others(TCase *tests)
{
    tcase_add_loop_test(tests, finds_the_limit_of_the_group_above, 0, rounds());
    tcase_add_loop_test(tests, finds_neighbours, 0, rounds());
    tcase_add_loop_test(tests, finds_its_own_limit_beside_neighbours, 0, rounds());
    tcase_add_loop_test(tests, the_device_itself_is_no_cause, 0, rounds());
    tcase_add_loop_test(tests, neighbours_that_are_not_in_the_way_are_no_cause, 0, rounds());
    tcase_add_loop_test(tests, the_limit_of_a_group_below_is_not_the_neighbours, 0, rounds());
}

int main(void)
{
    TCase *tests = tcase_create("live");

    reason = why_not("io", "io.max", "blkio.throttle.read_bps_device");
    if (reason == NULL)
        open_file();
    if (reason != NULL) {
        printf("1..0 # SKIP %s\n", reason);
        return 0;
    }
    tcase_add_checked_fixture(tests, set_up, tear_down);
    add_own_limits(tests);
    if (getenv("HEADROOM_EMULATED") != NULL)
        add_others(tests);
    tcase_set_timeout(tests, 60);
    return run_suite("live", tests);
}
