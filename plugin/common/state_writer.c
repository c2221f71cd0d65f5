/* SPDX-License-Identifier: MIT */
#include "common/state_writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/thread.h"

struct state_writer {
    void (*write)(void *context, const struct state_text *text);
    void *context;
    struct thread thread; /* is woken when there is a text to write */
    pthread_mutex_t lock; /* of what follows */
    struct state_text waiting;
};

static struct state_text exchange(struct state_writer *writer, struct state_text text)
{
    pthread_mutex_lock(&writer->lock);
    const struct state_text before = writer->waiting;
    writer->waiting = text;
    pthread_mutex_unlock(&writer->lock);
    return before;
}

static void write_waiting(struct state_writer *writer)
{
    const struct state_text text = exchange(writer, (struct state_text){.bytes = NULL});

    if (text.bytes == NULL)
        return;
    writer->write(writer->context, &text);
    free(text.bytes);
}

static void *writer_main(void *context)
{
    struct state_writer *writer = context;

    while (thread_wait_until(&writer->thread, UINT64_MAX, -1))
        write_waiting(writer);
    return NULL;
}

int state_writer_open(const char *name, void (*write)(void *context, const struct state_text *text),
                      void *context, struct state_writer **writer)
{
    struct state_writer *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->write = write;
    opened->context = context;
    pthread_mutex_init(&opened->lock, NULL);
    thread_init(&opened->thread);
    int status = thread_open(&opened->thread);
    if (status == 0)
        status = thread_start(&opened->thread, writer_main, opened, name);
    if (status < 0) {
        state_writer_close(opened);
        return status;
    }
    *writer = opened;
    return 0;
}

void state_writer_put(struct state_writer *writer, const struct state_text *text)
{
    free(exchange(writer, *text).bytes);
    thread_wake(&writer->thread);
}

void state_writer_close(struct state_writer *writer)
{
    if (writer == NULL)
        return;
    thread_stop(&writer->thread);
    write_waiting(writer);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
}
