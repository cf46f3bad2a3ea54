// The characters that come with Sinew: the files of characters/, compiled in.

#pragma once

#include <stddef.h>

typedef struct snwBuiltIn
{
    const char* name;
    const char* text; // JSON
    size_t size;
} snwBuiltIn;

int snwBuiltInCount(void);
const snwBuiltIn* snwBuiltIn_Get(int index);             // in the order of the alphabet
const snwBuiltIn* snwBuiltIn_Find(const char* name);     // NULL: there is none
const char* snwBuiltInWord(int index, const void* data); // for suggestions; data is not looked at
