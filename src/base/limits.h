// Limits of a helper's own process: what works on strangers' files may take no more. C and C++.

#pragma once

#include <stdbool.h>
#include <sys/resource.h>

// Processor time and memory, and no core dump. False if they are none or cannot be set.
static inline bool snwLimitProcess(int seconds, int megabytes)
{
    const rlim_t bytes = (rlim_t)megabytes << 20;
    const struct rlimit time = {(rlim_t)seconds, (rlim_t)seconds + 1}, memory = {bytes, bytes}, none = {0, 0};
    return seconds > 0 && megabytes > 0 && setrlimit(RLIMIT_CPU, &time) == 0 && setrlimit(RLIMIT_AS, &memory) == 0 &&
           setrlimit(RLIMIT_CORE, &none) == 0;
}
