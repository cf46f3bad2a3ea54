// A block of bytes that several threads and clients hold at once and nobody changes any more: a frame, a model.

#pragma once

#include "sinew/sinew.h"

#include <stdatomic.h>

typedef struct snwBlob
{
    atomic_int references;
    uint64_t serial; // rises with every blob of its kind
    size_t size;
    unsigned char* data; // aligned to 8
} snwBlob;

// With one reference; NULL: no memory. Its bytes are free to be written until it is shown to others.
snwBlob* snwCreateBlob(snwContext* context, size_t size);
void snwBlob_Retain(snwBlob* blob);
void snwBlob_Release(snwContext* context, snwBlob* blob); // NULL is allowed
