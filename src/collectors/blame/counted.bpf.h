/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * blame/counted.bpf.h - how much of a wait was counted while it lasted, so that each part of it is
 * counted once: by a reader, or where it ends.
 *
 * Both may come at the same time, on two CPUs. A reader notes first that it counts the wait, and
 * then looks whether the end is being counted; where it ends, that is known before the note is
 * looked for. So at least one of them knows of the other. Only one CPU at a time writes what a
 * reader writes, and only one at a time the rest.
 *
 * Users define the type __u64 before, see blame/shared.h.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_COUNTED_BPF_H
#define HEADROOM_COLLECTORS_BLAME_COUNTED_BPF_H

/* Of a task's waits, each by the time at which it was queued. */
struct counted {
    __u64 of;     /* the wait that was queued then has been counted, */
    __u64 until;  /* as far as this, while it lasted */
    __u64 ending; /* when the last wait was queued whose end was counted, or is being, */
    __u64 ended;  /* and as far as this it had been counted before; 0: that isn't known yet */
    __u64 owed;   /* so much more was counted than it lasted */
};

/* As far as a wait was counted while it lasted. */
static inline __attribute__((always_inline)) __u64 find_counted(const struct counted *counted,
                                                                __u64 queued)
{
    const __u64 until = *(volatile const __u64 *)&counted->until;

    return *(volatile const __u64 *)&counted->of == queued && until > queued ? until : queued;
}

/* What is written is seen elsewhere before what is read after it: an addition is a barrier, but on
 * arm64. */
static inline __attribute__((always_inline)) void publish(__u64 *to, __u64 value)
{
    __sync_fetch_and_add(to, value - *(volatile __u64 *)to);
}

/* --- Where a wait ends ---------------------------------------------------- */

static inline __attribute__((always_inline)) void begin_ending(struct counted *counted,
                                                               __u64 queued)
{
    *(volatile __u64 *)&counted->ended = 0;
    publish(&counted->ending, queued);
}

/* What was counted beyond the end is left out of the next waits. @return from when on the wait is
 * to be counted. */
static inline __attribute__((always_inline)) __u64 finish_ending(struct counted *counted,
                                                                 __u64 queued, __u64 end)
{
    const __u64 until = find_counted(counted, queued);

    *(volatile __u64 *)&counted->ended = until;
    const __u64 owing = until + counted->owed, from = owing < end ? owing : end;
    counted->owed = owing - from;
    return from;
}

/* --- While it lasts ------------------------------------------------------- */

/* The other CPU needs a few instructions. What follows a loop is verified for each way out of it,
 * so that there are few. */
#define LOOKS      16
#define LOOK_READS 64

static inline __attribute__((always_inline)) void note(struct counted *counted, __u64 queued,
                                                       __u64 until)
{
    *(volatile __u64 *)&counted->until = until;
    publish(&counted->of, queued);
}

/* As the note was before. Where both are of one wait, `of` stays what it is. */
static inline __attribute__((always_inline)) void take_back(struct counted *counted,
                                                            const struct counted *before)
{
    if (counted->of != before->of)
        publish(&counted->of, before->of);
    *(volatile __u64 *)&counted->until = before->until;
}

/* As far as a wait had been counted that ends, which isn't before it was queued: what is less is of
 * a wait before. 0: the other CPU doesn't go on. */
__u64 await_ended(const struct counted *counted, __u64 queued);
__attribute__((noinline)) __u64 await_ended(const struct counted *counted, __u64 queued)
{
    if (!counted)
        return 0;
    for (int look = 0; look < LOOKS; look++) {
        __u64 ended = 0;
        for (int read = 0; read < LOOK_READS; read++)
            ended = *(volatile const __u64 *)&counted->ended;
        if (ended >= queued)
            return ended;
    }
    return 0;
}

/*
 * Whether what a reader has noted of a wait, as far as `until`, is left out where its end is
 * counted. Clocks of CPUs may differ: a wait that lasts may have been queued before one that has
 * ended on another CPU, and one that is over after another that is.
 *
 * @param last_queued  what the kernel has: it differs as soon as the wait has ended.
 */
static inline __attribute__((always_inline)) int
is_left_out(const struct counted *counted, const volatile unsigned long long *last_queued,
            __u64 queued, __u64 until)
{
    const __u64 ending = *(volatile const __u64 *)&counted->ending;

    if (ending != queued)
        return *last_queued == queued; /* as the end comes later */
    return await_ended(counted, queued) >= until;
}

/*
 * Notes that a reader counts a wait as far as `until`. Where that can't be left out at the end any
 * more, nothing remains of it; but the end may have found it in the moment before.
 *
 * @param before  what was noted until now.
 * @return whether the reader is to count it.
 */
static inline __attribute__((always_inline)) int
count_until(struct counted *counted, const struct counted *before,
            const volatile unsigned long long *last_queued, __u64 queued, __u64 until)
{
    note(counted, queued, until);
    if (is_left_out(counted, last_queued, queued, until))
        return 1;
    take_back(counted, before);
    return *(volatile __u64 *)&counted->ending == queued && await_ended(counted, queued) >= until;
}

#endif
