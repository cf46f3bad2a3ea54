// Bytes that are handed out in parts, each from a multiple of 64 on; without bytes they are only counted.

#pragma once

#include <stddef.h>

typedef struct snwLayout
{
    unsigned char* bytes;
    size_t size;
} snwLayout;

static inline void* snwLayout_Take(snwLayout* layout, size_t count, size_t size)
{
    void* at = layout->bytes != NULL ? layout->bytes + layout->size : NULL;
    layout->size += (count * size + 63) / 64 * 64;
    return at;
}
