// TetGen's files: no input may crash; what is read must hang together. The first byte tells the ending; behind "\n=\n"
// come the files beside it, in the order in which they are asked for.

#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const char* const s_names[] = {"fuzz.node", "fuzz.ele", "fuzz.face", "fuzz.poly", "fuzz.smesh"};
    if (size == 0)
        return 0;
    return snwFuzz_ReadMesh(s_names[data[0] % 5], (const char*)data + 1, size - 1, "\n=\n");
}
