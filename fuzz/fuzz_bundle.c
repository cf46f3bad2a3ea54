// A bundle with its four files behind it, cut at '@'.

#include "fuzz_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const char* const s_endings[] = {".mesh", ".tgf", ".dmat", "_anim.txt"};
    snwFuzzParts parts = snwFuzz_Split(data, size, 5);
    parts.endings = s_endings;
    snwFuzz_ReadAsset("x.json", &parts, NULL);
    return 0;
}
