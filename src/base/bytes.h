// Little-endian blocks: a writer that grows, and a reader that never leaves its block.

#pragma once

#include "base/context.h"

typedef struct snwWriter
{
    snwContext* context;
    unsigned char* data;
    size_t size, capacity;
    bool failed; // no memory; further writes do nothing
} snwWriter;

// Room for `size` more bytes behind the last; NULL if it failed. Whoever fills it adds to writer->size.
unsigned char* snwWriter_Reserve(snwWriter* writer, size_t size);
void snwWrite(snwWriter* writer, const void* data, size_t size);
void snwWriteInt(snwWriter* writer, int32_t value);
void snwWriteU64(snwWriter* writer, uint64_t value);
void snwWriteReal(snwWriter* writer, double value);
void snwWriteText(snwWriter* writer, const char* text); // length and bytes; NULL is ""
void snwWriteZeros(snwWriter* writer, size_t multiple); // up to a multiple of at most 64 bytes

typedef struct snwReader
{
    const unsigned char* data;
    size_t size, position;
    bool failed; // read past the end or a bad value; further reads give 0
} snwReader;

bool snwRead(snwReader* reader, void* data, size_t size);
// Points into the block instead of copying; NULL if it ends before.
const unsigned char* snwReadBytes(snwReader* reader, size_t size);
int32_t snwReadInt(snwReader* reader);
uint64_t snwReadU64(snwReader* reader);
// A count of things of which each needs at least `least` bytes: so a lying count fails before memory is asked for.
int snwReadCount(snwReader* reader, size_t least);
double snwReadReal(snwReader* reader); // fails if not finite
// Points into a copy made with the context's allocator; NULL if it failed or there is no memory.
char* snwReadText(snwReader* reader, snwContext* context);
