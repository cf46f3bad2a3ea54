// Wavefront OBJ: no input may crash; what is read must hang together. A text behind "\nMTL\n" is the material file.

#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    return snwFuzz_ReadMesh("fuzz.obj", (const char*)data, size, "\nMTL\n");
}
