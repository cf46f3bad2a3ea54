// Khronos' glTF validator over files, in one start of node (tools/validate.js).

#pragma once

#include <stdbool.h>

typedef struct snwVerdict
{
    int errors, warnings, infos; // errors -1: the validator did not speak of it
} snwVerdict;

// False if there is no node or no validator here: the test is then to be skipped. What the errors are is printed.
bool snwValidate(const char* const* paths, int count, snwVerdict* verdicts);
