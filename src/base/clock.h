// Monotonic seconds, for timings only: nothing simulated may depend on it.

#pragma once

double snwClock_Seconds(void);
double snwClock_ThreadSeconds(void); // of the processor, for this thread: what others do on the machine counts little
