/*
 * osnoise/trouble.h - tells what is in the way of measuring noise, and what the numbers lack: once,
 * with what to do; and when it is over. Used by the thread that reads.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_TROUBLE_H
#define HEADROOM_PLUGIN_OSNOISE_TROUBLE_H

#include "common/complaint.h"
#include "headroom/osnoise.h"

/** What was said; begun by osnoise_trouble_init(). */
struct osnoise_trouble {
    bool is_attached, has_alert; /**< what is of use depends on these */
    struct complaint run, warning, absent, lost, restoring;
    struct hr_reason warned; /**< the last warning */
    struct tally lost_tally, dropped_tally;
    uint64_t without_loss_ns;
};

/** Begins with nothing said. @param options  what is measured; not kept. */
void osnoise_trouble_init(struct osnoise_trouble *trouble,
                          const struct hr_osnoise_options *options);

/** Tells that nothing is measured. @param retry_ns  when it is tried again; for messages. */
void osnoise_trouble_log_stopped(struct osnoise_trouble *trouble, const struct hr_reason *reason,
                                 uint64_t retry_ns);

/** Tells that it is measured again. */
void osnoise_trouble_log_running(struct osnoise_trouble *trouble);

/** Tells what is new in a reading. */
void osnoise_trouble_log_reading(struct osnoise_trouble *trouble,
                                 const struct hr_osnoise_reading *reading);

/** Tells that something of ours, or of a predecessor, isn't restored. */
void osnoise_trouble_log_unrestored(struct osnoise_trouble *trouble,
                                    const struct hr_reason *reason);

#endif
