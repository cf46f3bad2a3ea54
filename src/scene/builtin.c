// The characters that are compiled in, by name.

#include "scene/builtin.h"

#include <string.h>

extern const snwBuiltIn snw_builtIns[]; // made by cmake/characters.cmake
extern const int snw_builtInCount;

int snwBuiltInCount(void)
{
    return snw_builtInCount;
}

const snwBuiltIn* snwBuiltIn_Get(int index)
{
    return &snw_builtIns[index];
}

const snwBuiltIn* snwBuiltIn_Find(const char* name)
{
    for (int i = 0; i < snw_builtInCount; ++i)
        if (strcmp(snw_builtIns[i].name, name) == 0)
            return &snw_builtIns[i];
    return NULL;
}

const char* snwBuiltInWord(int index, const void* data)
{
    (void)data;
    return snw_builtIns[index].name;
}
