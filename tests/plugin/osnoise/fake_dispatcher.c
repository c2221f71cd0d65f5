/* SPDX-License-Identifier: MIT */
#include "plugin/osnoise/fake_dispatcher.h"

#include "common/dispatcher.h"

struct fake_dispatcher fake_dispatcher;

int dispatcher_open(__attribute__((unused)) const char *plugin,
                    __attribute__((unused)) size_t per_second,
                    __attribute__((unused)) const char *option, struct dispatcher **dispatcher)
{
    *dispatcher = (struct dispatcher *)&fake_dispatcher;
    return 0;
}

bool dispatcher_stop(__attribute__((unused)) struct dispatcher *dispatcher)
{
    return true;
}

void dispatcher_close(__attribute__((unused)) struct dispatcher *dispatcher)
{
}

/* By the thread that writes the file. */
void dispatcher_set_saved(__attribute__((unused)) struct dispatcher *dispatcher, uint64_t record)
{
    fake_dispatcher.saved = record;
}

static void dispatch(notification_t *notice)
{
    plugin_dispatch_notification(notice);
    plugin_notification_meta_free(notice->meta);
}

bool dispatcher_can_queue(__attribute__((unused)) struct dispatcher *dispatcher)
{
    return !fake_dispatcher.is_full;
}

bool dispatcher_queue_beginning(__attribute__((unused)) struct dispatcher *dispatcher,
                                uint64_t alarm, uint64_t record, notification_t *notice)
{
    fake_dispatcher.record = record;
    if (!fake_dispatcher.is_slow) {
        dispatch(notice);
        return true;
    }
    plugin_notification_meta_free(notice->meta);
    fake_dispatcher.waiting_alarm = alarm;
    return true;
}

/* One that is held is never dispatched: it is withdrawn, or lost. */
bool dispatcher_queue_end(__attribute__((unused)) struct dispatcher *dispatcher, uint64_t alarm,
                          notification_t *notice)
{
    if (!fake_dispatcher.is_held) {
        dispatch(notice);
        return true;
    }
    plugin_notification_meta_free(notice->meta);
    fake_dispatcher.held_alarm = alarm;
    return true;
}

bool dispatcher_withdraw_end(__attribute__((unused)) struct dispatcher *dispatcher, uint64_t alarm)
{
    if (fake_dispatcher.held_alarm != alarm)
        return false;
    fake_dispatcher.held_alarm = 0;
    return true;
}

int dispatcher_list_waiting(__attribute__((unused)) struct dispatcher *dispatcher,
                            struct dispatcher_waiting *waiting)
{
    *waiting = (struct dispatcher_waiting){
        .beginnings = &fake_dispatcher.waiting_alarm,
        .beginning_count = fake_dispatcher.waiting_alarm != 0,
        .ends = &fake_dispatcher.held_alarm,
        .end_count = fake_dispatcher.held_alarm != 0,
    };
    return 0;
}

bool dispatcher_waiting_has_beginning(const struct dispatcher_waiting *waiting, uint64_t alarm)
{
    return waiting->beginning_count > 0 && waiting->beginnings[0] == alarm;
}

bool dispatcher_waiting_has_end(const struct dispatcher_waiting *waiting, uint64_t alarm)
{
    return waiting->end_count > 0 && waiting->ends[0] == alarm;
}

void dispatcher_waiting_free(__attribute__((unused)) struct dispatcher_waiting *waiting)
{
}
