// The animation of handles, with its skeleton (in front of the '@') and without.

#include "fuzz_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const char* const s_endings[] = {".tgf"};
    snwFuzzParts split = snwFuzz_Split(data, size, 2);
    snwFuzzParts parts = split;
    parts.endings = s_endings;
    if (split.count == 2)
    {
        parts.data[0] = split.data[1];
        parts.sizes[0] = split.sizes[1];
        parts.data[1] = split.data[0];
        parts.sizes[1] = split.sizes[0];
    }
    snwFuzz_ReadAsset("x_anim.txt", &parts, NULL);
    parts.count = 1;
    snwFuzz_ReadAsset("x_anim.txt", &parts, NULL);
    return 0;
}
