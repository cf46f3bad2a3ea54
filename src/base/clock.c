// Seconds of the monotonic clock, for timings that people read, and for deadlines.

#include "base/clock.h"

#include <time.h>

double snwClock_Seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
