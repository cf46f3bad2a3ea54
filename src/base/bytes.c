// Numbers are written as this machine holds them; the assertion below keeps that little-endian.

#include "base/bytes.h"

#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "saved blocks are little-endian");

unsigned char* snwWriter_Reserve(snwWriter* writer, size_t size)
{
    if (writer->failed)
        return NULL;
    if (size > writer->capacity - writer->size)
    {
        // At least twice as large: a file written number by number then costs a few copies only.
        size_t capacity = 2 * writer->capacity + size + 256;
        unsigned char* grown = snwAllocRaw(writer->context, capacity);
        if (grown == NULL)
        {
            writer->failed = true;
            return NULL;
        }

        if (writer->size > 0)
            memcpy(grown, writer->data, writer->size);
        snwFree(writer->context, writer->data);
        writer->data = grown;
        writer->capacity = capacity;
    }

    return writer->data + writer->size;
}

void snwWrite(snwWriter* writer, const void* data, size_t size)
{
    unsigned char* room = size > 0 ? snwWriter_Reserve(writer, size) : NULL;
    if (room == NULL)
        return;
    memcpy(room, data, size);
    writer->size += size;
}

void snwWriteZeros(snwWriter* writer, size_t multiple)
{
    static const unsigned char s_zeros[64] = {0};
    snwWrite(writer, s_zeros, (multiple - writer->size % multiple) % multiple);
}

void snwWriteInt(snwWriter* writer, int32_t value)
{
    snwWrite(writer, &value, sizeof value);
}

void snwWriteU64(snwWriter* writer, uint64_t value)
{
    snwWrite(writer, &value, sizeof value);
}

void snwWriteReal(snwWriter* writer, double value)
{
    snwWrite(writer, &value, sizeof value);
}

void snwWriteText(snwWriter* writer, const char* text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    snwWriteInt(writer, (int32_t)length);
    snwWrite(writer, text, length);
}

bool snwRead(snwReader* reader, void* data, size_t size)
{
    if (reader->failed || size > reader->size - reader->position)
    {
        reader->failed = true;
        memset(data, 0, size);
        return false;
    }
    if (size > 0)
        memcpy(data, reader->data + reader->position, size);
    reader->position += size;
    return true;
}

const unsigned char* snwReadBytes(snwReader* reader, size_t size)
{
    if (reader->failed || size > reader->size - reader->position)
    {
        reader->failed = true;
        return NULL;
    }
    const unsigned char* bytes = reader->data + reader->position;
    reader->position += size;
    return bytes;
}

uint64_t snwReadU64(snwReader* reader)
{
    uint64_t value;
    snwRead(reader, &value, sizeof value);
    return value;
}

int32_t snwReadInt(snwReader* reader)
{
    int32_t value;
    snwRead(reader, &value, sizeof value);
    return value;
}

int snwReadCount(snwReader* reader, size_t least)
{
    int32_t count = snwReadInt(reader);
    if (count < 0 || (size_t)count * least > reader->size - reader->position)
        reader->failed = true;
    return reader->failed ? 0 : count;
}

double snwReadReal(snwReader* reader)
{
    double value;
    snwRead(reader, &value, sizeof value);
    if (!isfinite(value))
        reader->failed = true;
    return reader->failed ? 0.0 : value;
}

char* snwReadText(snwReader* reader, snwContext* context)
{
    int length = snwReadCount(reader, 1);
    char* text = reader->failed ? NULL : snwAlloc(context, (size_t)length + 1);
    if (text != NULL)
        snwRead(reader, text, (size_t)length);
    return text;
}
