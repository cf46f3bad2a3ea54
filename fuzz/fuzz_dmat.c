#include "fuzz_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzParts parts = snwFuzz_Split(data, size, 1);
    snwFuzz_ReadAsset("x.dmat", &parts, NULL);
    return 0;
}
