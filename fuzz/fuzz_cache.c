// Point caches of both kinds.

#include "fuzz_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzParts parts = snwFuzz_Split(data, size, 1);
    snwFuzz_ReadAsset("x.pc2", &parts, NULL);
    snwFuzz_ReadAsset("x.mdd", &parts, NULL);
    return 0;
}
