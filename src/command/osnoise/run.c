/* SPDX-License-Identifier: MIT */
#include "osnoise/run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/live_text.h"
#include "common/output.h"
#include "common/usage.h"
#include "common/waiting.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "osnoise/json.h"
#include "osnoise/table.h"

#define READ_NS HR_NS_PER_S /* the interval of readings */

/* The number of single noises on the screen, and below the final table. */
#define SINGLE_NOISES_LIVE  5
#define SINGLE_NOISES_FINAL 20

struct run {
    const struct osnoise_request *request;
    struct hr_root *root;
    struct hr_osnoise *osnoise;
    struct osnoise_totals totals;
    struct hr_numa numa;
    struct timespec begin;
    enum label_charset charset;
    int warned;               /* the error of the last reading's warning; 0: none */
    struct hr_reason warning; /* the last warning printed */
    struct hr_reason ended;   /* why the run ended by itself; error 0 if it didn't */
    struct live_text *screen; /* NULL: not on a screen */
    enum osnoise_order order; /* of the CPUs on it */
    bool is_ordered;          /* as the user wants it */
    bool has_quit;            /* by a key */
    void (*on_stop)(int);     /* the previous handler of Ctrl-Z */
    FILE *later;              /* messages meanwhile, which the screen would overwrite */
    char *later_text;
    size_t later_size;
};

/* Each step returns COMMAND_DONE, COMMAND_FAILED after a message, or STOP: the run ends. */
enum { STOP = -1 };

/* --- Messages ------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void print_error(const struct run *run,
                                                              const char *format, ...)
{
    FILE *file = run->later != NULL ? run->later : stderr;
    va_list arguments;
    va_start(arguments, format);
    fprintf(file, "%s: ", run->request->title);
    vfprintf(file, format, arguments);
    va_end(arguments);
    putc('\n', file);
}

static int flush_output(const struct run *run)
{
    int status = output_flush(stdout);
    if (status == 0)
        return COMMAND_DONE;
    /* A reader that closes the pipe has read enough. */
    if (status == -EPIPE)
        return STOP;
    print_error(run, "cannot write: %s", strerror(-status));
    return COMMAND_FAILED;
}

static int out_of_memory(const struct run *run)
{
    print_error(run, "%s", strerror(ENOMEM));
    return COMMAND_FAILED;
}

static struct osnoise_report make_report(struct run *run)
{
    struct osnoise_report report = {
        .options = &run->request->options,
        .cpus = run->request->cpus,
        .sources = run->request->sources,
        .max_latency_ns = run->request->max_latency_ns,
        .totals = &run->totals,
        .begin = run->begin,
        .ended = run->ended.error != 0 ? run->ended.text : NULL,
        .warning = run->warning.error != 0 ? run->warning.text : NULL,
        .charset = run->charset,
    };
    clock_gettime(CLOCK_REALTIME, &report.end);
    return report;
}

/* Prints the last single noises, and how many there were. */
static void print_single_noises(const struct run *run, FILE *file, size_t most)
{
    const struct osnoise_totals *totals = &run->totals;
    if (run->request->options.max_single_ns == 0)
        return;
    fprintf(file, "\n%llu single noise%s above %.6g us%s\n",
            (unsigned long long)totals->single_noise_total,
            totals->single_noise_total == 1 ? "" : "s",
            (double)run->request->options.max_single_ns / 1e3,
            totals->single_noise_total > most ? ", of which the last:"
            : totals->single_noise_total > 0  ? ":"
                                              : "");
    size_t first = totals->single_noise_count > most ? totals->single_noise_count - most : 0;
    for (size_t i = first; i < totals->single_noise_count; i++)
        osnoise_single_noise_print(file, osnoise_totals_single_noise(totals, i), run->charset);
}

/* --- On a screen ---------------------------------------------------------- */

static void begin_screen(struct run *run)
{
    if (run->request->json)
        return;
    /* Stopped by Ctrl-Z it would leave the tracer running with no reader. */
    void (*on_stop)(int) = signal(SIGTSTP, SIG_IGN);
    const int status = live_text_open(run->charset, &run->screen);
    if (status == -EOPNOTSUPP)
        print_error(run,
                    "this terminal can't show tables that are redrawn: they are printed at the "
                    "end");
    if (status != 0) {
        signal(SIGTSTP, on_stop);
        return;
    }
    run->on_stop = on_stop;
    hr_numa_read(run->root, &run->numa); /* without, there is one sum of all CPUs */
    run->later = open_memstream(&run->later_text, &run->later_size);
}

/* Messages are printed after it, where they stay. */
static void end_screen(struct run *run)
{
    if (run->screen == NULL)
        return;
    live_text_close(run->screen);
    run->screen = NULL;
    signal(SIGTSTP, run->on_stop);
    if (run->later == NULL)
        return;
    fclose(run->later);
    run->later = NULL;
    if (run->later_text != NULL)
        fputs(run->later_text, stderr);
    free(run->later_text);
    run->later_text = NULL;
}

static char *format_screen(struct run *run)
{
    struct osnoise_report report = make_report(run);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    if (file == NULL)
        return NULL;
    report.order = run->order;
    report.numa = &run->numa;
    int status = osnoise_table_print(file, &report);
    print_single_noises(run, file, SINGLE_NOISES_LIVE);
    if (run->warning.error != 0)
        fprintf(file, "\n%s\n", run->warning.text);
    if (fclose(file) == 0 && status == 0)
        return text;
    free(text);
    return NULL;
}

static int draw_screen(struct run *run)
{
    char *text = format_screen(run);

    /* It stays so, as CPUs that change their places now and then can't be followed. */
    if (text != NULL && !run->is_ordered && run->totals.cpu_count > 1 &&
        !live_text_fits(run->screen, text)) {
        run->order = OSNOISE_WORST_FIRST;
        run->is_ordered = true;
        free(text);
        text = format_screen(run);
    }
    if (text == NULL)
        return out_of_memory(run);
    int status = live_text_show(run->screen, text,
                                run->order == OSNOISE_BY_NUMBER
                                    ? "q ends, s sorts the worst CPUs first, the cursor keys scroll"
                                    : "q ends, s sorts CPUs by number, the cursor keys scroll");
    free(text);
    return status == 0 ? COMMAND_DONE : out_of_memory(run);
}

static bool handle_keys(void *context)
{
    struct run *run = context;
    enum live_text_request request;
    int letter;

    while ((request = live_text_handle_keys(run->screen, &letter)) == LIVE_TEXT_LETTER) {
        if (letter != 's')
            continue;
        run->order = run->order == OSNOISE_BY_NUMBER ? OSNOISE_WORST_FIRST : OSNOISE_BY_NUMBER;
        run->is_ordered = true;
        draw_screen(run); /* fails again at the next reading, if it does */
    }
    run->has_quit = request == LIVE_TEXT_QUIT;
    return !run->has_quit;
}

/* --- Reading -------------------------------------------------------------- */

/* Prints each warning once, while it stays the same. */
static void print_warning(struct run *run, const struct hr_reason *warning)
{
    if (warning->error != 0 && warning->error != run->warned) {
        run->warning = *warning;
        print_error(run, "warning: %s", warning->text);
    }
    run->warned = warning->error;
}

/* Without a screen, single noises are printed as lines when they are read. */
static int print_new_single_noises(const struct run *run, const struct hr_osnoise_reading *reading,
                                   const struct timespec *time)
{
    if (run->screen != NULL || run->request->json)
        return COMMAND_DONE;
    for (size_t i = 0; i < reading->single_noise_count; i++) {
        const struct osnoise_timed_noise seen = {*time, reading->single_noises[i]};
        osnoise_single_noise_print(stdout, &seen, run->charset);
    }
    if (reading->single_noise_more_count > 0)
        printf("and %llu more\n", (unsigned long long)reading->single_noise_more_count);
    return flush_output(run);
}

static int take_reading(struct run *run, const struct hr_osnoise_reading *reading)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    if (osnoise_totals_add(&run->totals, reading, &time) != 0)
        return out_of_memory(run);
    print_warning(run, &reading->warning);
    return print_new_single_noises(run, reading, &time);
}

/* Why the run ended is printed at the end. */
static int read_once(struct run *run)
{
    struct hr_osnoise_reading reading = {0};
    struct hr_reason reason = {0};
    int ended = hr_osnoise_read(run->osnoise, &reading, &reason);
    if (ended != 0) {
        run->ended = reason;
        run->ended.error = ended;
    }
    int status = reading.cpu_count > 0 ? take_reading(run, &reading) : COMMAND_DONE;
    return ended != 0 && status == COMMAND_DONE ? STOP : status;
}

static int check_wait(const struct run *run, int status)
{
    if (status == 0)
        return COMMAND_DONE;
    if (status == -EINTR || status == -EPIPE || status == -ECANCELED)
        return STOP;
    print_error(run, "%s", strerror(-status));
    return COMMAND_FAILED;
}

static int wait_until(struct run *run, uint64_t now_ns, uint64_t until_ns)
{
    struct waiting wait = {.from_ns = now_ns, .until_ns = until_ns, .what = ""};

    if (run->screen != NULL) {
        wait.input = live_text_input(run->screen);
        wait.on_input = handle_keys;
        wait.context = run;
    }
    return check_wait(run, waiting_wait(&wait));
}

/* By default periods begin each second, too, and in each the kernel looks for noise at its
 * beginning: readings are half a second from that, as they would be noise. */
static int read_until_end(struct run *run)
{
    const uint64_t total_ns = run->request->total_ns, begin_ns = hr_clock_ns();
    uint64_t next_ns = begin_ns + READ_NS / 2;
    for (;;) {
        int status = run->screen != NULL ? draw_screen(run) : COMMAND_DONE;
        if (status != COMMAND_DONE)
            return status;
        uint64_t now_ns = hr_clock_ns();
        if (total_ns > 0 && now_ns >= begin_ns + total_ns)
            return COMMAND_DONE;
        /* Missed readings are skipped: one reading covers all that time. */
        while (next_ns <= now_ns)
            next_ns += READ_NS;
        if (total_ns > 0 && next_ns > begin_ns + total_ns)
            next_ns = begin_ns + total_ns;
        status = wait_until(run, now_ns, next_ns);
        /* Also read what was recorded until a signal. */
        int read = status == COMMAND_FAILED ? status : read_once(run);
        if (read != COMMAND_DONE || status != COMMAND_DONE)
            return read != COMMAND_DONE ? read : status;
    }
}

/* --- The run -------------------------------------------------------------- */

static int open_run(struct run *run)
{
    struct hr_reason reason = {0};
    int status = hr_root_open("/", &run->root);
    if (status != 0) {
        print_error(run, "cannot use / as root directory: %s", strerror(-status));
        return COMMAND_FAILED;
    }
    status = hr_osnoise_open(run->root, &run->request->options, &run->osnoise, &reason);
    if (status == 0)
        return COMMAND_DONE;
    print_error(run, "%s", reason.text);
    return status == -EINVAL ? COMMAND_MISUSED : COMMAND_FAILED;
}

static int begin_run(struct run *run)
{
    struct hr_reason reason = {0};
    clock_gettime(CLOCK_REALTIME, &run->begin);
    int status = hr_osnoise_begin(run->osnoise, &reason);
    if (status == 0)
        return COMMAND_DONE;
    print_error(run, "%s", reason.text);
    struct hr_reason unused;
    if (status == -EBUSY && run->request->options.mode != HR_OSNOISE_ATTACH &&
        run->request->options.mode != HR_OSNOISE_TIMERLAT &&
        hr_osnoise_probe(run->root, HR_OSNOISE_ATTACH, &unused) == 0)
        print_error(run,
                    "another program runs the osnoise tracer: --mode attach reads its results");
    return COMMAND_FAILED;
}

/* Before anything is printed, as that may block. */
static int end_run(struct run *run)
{
    struct hr_reason reason = {0};
    if (hr_osnoise_end(run->osnoise, &reason) == 0)
        return COMMAND_DONE;
    print_error(run, "%s", reason.text);
    return COMMAND_FAILED;
}

static int print_all(struct run *run, bool was_live)
{
    const struct osnoise_report report = make_report(run);
    int status = 0;
    if (run->request->json)
        osnoise_json_print(stdout, &report);
    else
        status = osnoise_table_print(stdout, &report);
    if (status != 0)
        return out_of_memory(run);
    if (was_live)
        print_single_noises(run, stdout, SINGLE_NOISES_FINAL);
    return flush_output(run);
}

/* Whether it was ended before its time, or without one. */
static bool was_ended(const struct run *run)
{
    return run->has_quit || waiting_signal() != 0;
}

/* Measuring nothing is a failure, unless it was ended early. */
static int check_measured(const struct run *run)
{
    if (run->ended.error != 0) {
        print_error(run, "%s", run->ended.text);
        return COMMAND_FAILED;
    }
    if (run->request->options.mode == HR_OSNOISE_SOURCES || run->totals.lacks_samples ||
        was_ended(run) || osnoise_totals_sampled(&run->totals))
        return COMMAND_DONE;
    print_error(run,
                "nothing was measured: no period has ended on any CPU: measure for longer than a "
                "period");
    return COMMAND_FAILED;
}

static bool has_lost_records(const struct osnoise_totals *totals)
{
    for (size_t i = 0; i < totals->cpu_count; i++)
        if (totals->cpus[i].sums.lost_count > 0)
            return true;
    return false;
}

/* @return a CPU that no sample came from, or none any more; NULL: there is none, or it isn't known.
 */
static const struct osnoise_cpu_total *find_unmeasured(const struct run *run)
{
    const struct osnoise_totals *totals = &run->totals;

    if (run->request->options.mode == HR_OSNOISE_SOURCES || totals->lacks_samples || was_ended(run))
        return NULL;
    for (size_t i = 0; i < totals->cpu_count; i++)
        if (totals->cpus[i].sums.sample_count == 0 ||
            totals->cpus[i].sums.state != HR_OSNOISE_CPU_FINE)
            return &totals->cpus[i];
    return NULL;
}

static bool is_exceeded(const struct run *run)
{
    const uint64_t max_latency_ns = run->request->max_latency_ns;
    return run->totals.single_noise_total > 0 ||
           (max_latency_ns > 0 && osnoise_totals_max_latency(&run->totals) > max_latency_ns);
}

/* That there was none above the limit is no success where there may have been one. */
static int check_limit(const struct run *run)
{
    const bool is_timerlat = run->request->options.mode == HR_OSNOISE_TIMERLAT;
    const char *what = is_timerlat ? "latency" : "noise";
    if (run->request->options.max_single_ns == 0 && run->request->max_latency_ns == 0)
        return COMMAND_DONE;
    if (is_exceeded(run))
        return COMMAND_EXCEEDED;
    const struct osnoise_cpu_total *unmeasured = find_unmeasured(run);
    if (unmeasured != NULL) {
        print_error(run,
                    "it isn't known whether there was a %s above the limit on CPU %u, as it "
                    "wasn't measured to the end: is it offline, or do other tasks leave no time to "
                    "the thread "
                    "%s/%u? Then measure for longer, or with another --priority",
                    what, unmeasured->sums.cpu, is_timerlat ? "timerlat" : "osnoise",
                    unmeasured->sums.cpu);
        return COMMAND_FAILED;
    }
    if (!has_lost_records(&run->totals))
        return COMMAND_DONE;
    print_error(run,
                "it isn't known whether there was a %s above the limit, as records were lost: %s",
                what,
                is_timerlat ? "lengthen the --period, or give a larger --buffer-size"
                            : "give a larger --buffer-size, or measure a smaller part of the time");
    return COMMAND_FAILED;
}

/* That the limit was exceeded is known, whatever else failed: as when the noise stopped tracing,
 * and with it the run, or other CPUs weren't measured. */
static int worse_status(int a, int b)
{
    if (a == COMMAND_EXCEEDED || b == COMMAND_EXCEEDED)
        return COMMAND_EXCEEDED;
    return a == COMMAND_FAILED || b == COMMAND_FAILED ? COMMAND_FAILED : COMMAND_DONE;
}

static int judge(const struct run *run)
{
    return worse_status(check_measured(run), check_limit(run));
}

static int measure_and_print(struct run *run)
{
    int status = open_run(run);
    if (status == COMMAND_DONE)
        status = begin_run(run);
    if (status != COMMAND_DONE)
        return status;
    begin_screen(run);
    bool was_live = run->screen != NULL;
    status = read_until_end(run);
    int ended = end_run(run);
    end_screen(run);
    int printed = print_all(run, was_live);
    int judged = printed == STOP ? COMMAND_DONE : judge(run);
    return worse_status(worse_status(status, ended), worse_status(printed, judged));
}

int osnoise_run(const struct osnoise_request *request)
{
    struct run run = {
        .request = request,
        .charset = label_charset(),
    };
    waiting_hold_signals();
    int status = measure_and_print(&run);
    hr_osnoise_close(run.osnoise);
    hr_root_close(run.root);
    osnoise_totals_free(&run.totals);
    hr_numa_free(&run.numa);
    int number = waiting_signal();
    if (number != 0 && number != SIGINT)
        waiting_end_by_signal(number);
    return status;
}
