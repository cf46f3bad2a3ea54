// Seconds of the monotonic clock, for timings that people read, and for deadlines.

#include "base/clock.h"

#include <time.h>

static double Seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double snwClock_Seconds(void)
{
    return Seconds(CLOCK_MONOTONIC);
}

double snwClock_ThreadSeconds(void)
{
    return Seconds(CLOCK_THREAD_CPUTIME_ID);
}
