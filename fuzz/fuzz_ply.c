// Stanford PLY: no input may crash; what is read must hang together.

#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    return snwFuzz_ReadMesh("fuzz.ply", (const char*)data, size, NULL);
}
