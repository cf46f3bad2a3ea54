// How much memory one case of a benchmark holds at its peak.

#pragma once

#include <stdbool.h>

typedef struct snwPeak
{
    double before; // MB
    bool known; // Linux forgets the peak of a process when it is asked to; without that there is none of a single case
} snwPeak;

snwPeak snwPeak_Start(void);
double snwPeak_End(const snwPeak* peak); // MB of 10^6 bytes beyond what there was; NAN: not known
