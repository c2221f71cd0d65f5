/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_forecast.c - hr_forecast_is_valid: a forecast that it accepts can be continued, and
 * says nothing that isn't a time. The input is where it differs from one that knows nothing.
 */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "headroom/clock.h"
#include "headroom/forecast.h"

const char fuzz_corpus[] = "forecast";

#define NOW_NS (100000 * HR_NS_PER_S)

static void require_times(const struct hr_outlook *outlook)
{
    require(outlook->is_trend || outlook->trouble_s == 0);
    require(outlook->trouble_s >= 0 && outlook->slope_per_s >= 0);
    require(outlook->early_s >= 0 && outlook->late_s >= 0);
}

static void go_on(struct hr_forecast *forecast)
{
    struct hr_outlook outlook;

    for (uint64_t i = 0; i < 100; i++) {
        hr_forecast_update(forecast, NOW_NS + i * HR_NS_PER_S, (double)i * 1e6, 1e9, &outlook);
        require_times(&outlook);
        require(hr_forecast_is_valid(forecast, NOW_NS + i * HR_NS_PER_S));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_forecast forecast;
    unsigned char bytes[sizeof(forecast)];

    memset(&forecast, 0, sizeof(forecast));
    hr_forecast_init(&forecast, HR_NS_PER_S);
    memcpy(bytes, &forecast, sizeof(bytes));
    for (size_t i = 0; i < size && i < sizeof(bytes); i++)
        bytes[i] ^= data[i];
    memcpy(&forecast, bytes, sizeof(bytes));
    if (hr_forecast_is_valid(&forecast, NOW_NS))
        go_on(&forecast);
    return 0;
}
