// With a tolerance each coordinate becomes the nearest multiple q of it. Rounding to the lattice costs half a
// tolerance; the product q * tolerance is rounded to float once more, which is exact where floats are coarser than the
// lattice (the nearest float is then the position itself) and costs at most the other half where they are finer.
//
// What is stored is the motion since the frame before, less the motion of the vertex before: bodies move as a whole and
// neighbours in the list are neighbours in space, so most numbers fit one byte. In the first frame of a chunk "the
// frame before" is zero, and the same formula gives the step from vertex to vertex. Integers wrap, so no input
// overflows; only the products need IEEE doubles, which makes the result the same on every machine.

#include "scene/frames_codec.h"

#include <math.h>
#include <string.h>

enum
{
    snw_blockAsItIs = 0,
    snw_blockLattice = 1,
    snw_maxVarint = 10 // bytes of seven bits each
};

#define SNW_MAX_LATTICE 0x1p52 // beyond it neighbouring integers are not told apart by a double

size_t snwPoints_LeastBytes(size_t count, double tolerance)
{
    return tolerance > 0 ? 1 + 3 * count : 12 * count;
}

static const float* PointAt(const float* points, int stride, size_t index)
{
    return (const float*)((const char*)points + index * (size_t)stride);
}

static void WriteAsItIs(snwWriter* writer, const float* points, int stride, size_t count)
{
    unsigned char* out = snwWriter_Reserve(writer, 12 * count);
    if (out == NULL)
        return;
    for (size_t i = 0; i < count; ++i, out += 12)
        memcpy(out, PointAt(points, stride, i), 12);
    writer->size += 12 * count;
}

static bool FitsLattice(const float* points, int stride, size_t count, double tolerance)
{
    double limit = SNW_MAX_LATTICE * tolerance;
    for (size_t i = 0; i < count; ++i)
    {
        const float* p = PointAt(points, stride, i);
        if (!(fabs((double)p[0]) < limit && fabs((double)p[1]) < limit && fabs((double)p[2]) < limit))
            return false;
    }
    return true;
}

static int64_t NearestStep(float x, double tolerance)
{
    return (int64_t)floor((double)x / tolerance + 0.5);
}

// Small numbers of either sign become small ones without: 0 -1 1 -2 2 ... -> 0 1 2 3 4 ...
static uint64_t Fold(uint64_t value)
{
    return value << 1 ^ (0 - (value >> 63));
}

static uint64_t UnfoldNumber(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

static unsigned char* PutVarint(unsigned char* out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *out++ = (unsigned char)(value | 0x80);
    *out++ = (unsigned char)value;
    return out;
}

static void WriteLattice(
    snwWriter* writer, const float* points, int stride, size_t count, double tolerance, snwFrameLattice* lattice)
{
    unsigned char* start = snwWriter_Reserve(writer, count * 3 * snw_maxVarint);
    unsigned char* out = start;
    uint64_t motion[3] = {0};
    if (start == NULL)
        return;

    // The motion since the frame before, less that of the vertex before.
    for (size_t i = 0; i < count; ++i)
    {
        const float* p = PointAt(points, stride, i);
        int64_t* values = lattice->values + 3 * i;
        for (int k = 0; k < 3; ++k)
        {
            int64_t now = NearestStep(p[k], tolerance);
            uint64_t moved = (uint64_t)now - (lattice->filled ? (uint64_t)values[k] : 0);
            out = PutVarint(out, Fold(moved - motion[k]));
            motion[k] = moved;
            values[k] = now;
        }
    }

    writer->size += (size_t)(out - start);
    lattice->filled = true;
}

void snwPoints_Write(
    snwWriter* writer, const float* points, int stride, size_t count, double tolerance, snwFrameLattice* lattice)
{
    if (!(tolerance > 0))
    {
        WriteAsItIs(writer, points, stride, count);
        return;
    }
    unsigned char kind = FitsLattice(points, stride, count, tolerance) ? snw_blockLattice : snw_blockAsItIs;
    snwWrite(writer, &kind, 1);
    if (kind == snw_blockLattice)
        WriteLattice(writer, points, stride, count, tolerance, lattice);
    else
    {
        WriteAsItIs(writer, points, stride, count);
        lattice->filled = false;
    }
}

void snwPoints_Prime(const float* points, int stride, size_t count, double tolerance, snwFrameLattice* lattice)
{
    lattice->filled = tolerance > 0 && FitsLattice(points, stride, count, tolerance);
    for (size_t i = 0; lattice->filled && i < count; ++i)
        for (int k = 0; k < 3; ++k)
            lattice->values[3 * i + (size_t)k] = NearestStep(PointAt(points, stride, i)[k], tolerance);
}

// ---------------------------------------------------------------------------------------------------------------------

static bool ReadAsItIs(snwReader* reader, float* points, size_t count)
{
    const unsigned char* bytes = snwReadBytes(reader, 12 * count);
    if (bytes == NULL)
        return false;
    memcpy(points, bytes, 12 * count);
    for (size_t i = 0; i < 3 * count; ++i)
        if (!isfinite(points[i]))
            return false;
    return true;
}

// NULL: it does not end, or has more than 64 bits.
static const unsigned char* GetVarint(const unsigned char* in, const unsigned char* end, uint64_t* value)
{
    *value = 0;
    for (int shift = 0; shift < 64 && in < end; shift += 7)
    {
        unsigned char byte = *in++;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return in;
    }
    return NULL;
}

static bool ReadLattice(snwReader* reader, float* points, size_t count, double tolerance, snwFrameLattice* lattice)
{
    const unsigned char *start = reader->data + reader->position, *end = reader->data + reader->size, *in = start;
    uint64_t motion[3] = {0};

    // The same backwards; sums wrap around as unsigned, so hostile numbers cannot overflow.
    for (size_t i = 0; i < count; ++i)
        for (size_t k = 0; k < 3; ++k)
        {
            uint64_t code;
            int64_t* value = &lattice->values[3 * i + k];
            in = GetVarint(in, end, &code);
            if (in == NULL)
                return false;

            motion[k] += UnfoldNumber(code);
            *value = (int64_t)(motion[k] + (lattice->filled ? (uint64_t)*value : 0));
            points[3 * i + k] = (float)((double)*value * tolerance);
        }

    reader->position += (size_t)(in - start);
    lattice->filled = true;
    return true;
}

bool snwPoints_Read(snwReader* reader, float* points, size_t count, double tolerance, snwFrameLattice* lattice)
{
    unsigned char kind = snw_blockAsItIs;
    if (tolerance > 0)
        snwRead(reader, &kind, 1);
    bool sound = !reader->failed && kind <= snw_blockLattice;
    if (sound && kind == snw_blockLattice)
        sound = ReadLattice(reader, points, count, tolerance, lattice);
    else if (sound)
    {
        sound = ReadAsItIs(reader, points, count);
        lattice->filled = false;
    }
    reader->failed = reader->failed || !sound;
    return sound;
}
