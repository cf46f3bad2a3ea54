// Monotonic seconds, for timings only: nothing simulated may depend on it.

#pragma once

double snwClock_Seconds(void);
