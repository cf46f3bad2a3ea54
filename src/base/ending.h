// What a name ends with, as people write it: in capitals or not, and behind something.

#pragma once

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static inline bool snwHasEnding(const char* name, const char* ending)
{
    size_t length = strlen(name), size = strlen(ending);
    return size > 0 && length > size && strcasecmp(name + length - size, ending) == 0;
}
