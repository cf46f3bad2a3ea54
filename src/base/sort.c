// Radix sort of 64-bit keys with a value each: stable and independent of the number of threads, eleven bits at a time,
// and digits that all keys share cost one count.

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum
{
    snw_radixBits = 11,
    snw_radixSize = 1 << snw_radixBits
};

// One stable pass by the digit at `shift`; false if all keys have the same digit and nothing moved.
static bool SortDigit(const uint64_t* keys, const int* values, uint64_t* keysOut, int* valuesOut, int count, int shift)
{
    int offsets[snw_radixSize] = {0};
    for (int i = 0; i < count; ++i)
        offsets[keys[i] >> shift & (snw_radixSize - 1)]++;
    if (offsets[keys[0] >> shift & (snw_radixSize - 1)] == count)
        return false;

    // From counts to the first place of each digit.
    int sum = 0;

    for (int i = 0; i < snw_radixSize; ++i)
    {
        int digits = offsets[i];
        offsets[i] = sum;
        sum += digits;
    }

    for (int i = 0; i < count; ++i)
    {
        int to = offsets[keys[i] >> shift & (snw_radixSize - 1)]++;
        keysOut[to] = keys[i];
        valuesOut[to] = values[i];
    }

    return true;
}

void snwSortKeysWith(uint64_t* keys, int* values, int count, uint64_t* otherKeys, int* otherValues)
{
    if (count < 2)
        return;
    uint64_t *fromKeys = keys, *toKeys = otherKeys;
    int *fromValues = values, *toValues = otherValues;

    // Each pass swaps the roles of the two arrays.
    for (int shift = 0; shift < 64; shift += snw_radixBits)
    {
        if (!SortDigit(fromKeys, fromValues, toKeys, toValues, count, shift))
            continue;
        uint64_t* swapKeys = fromKeys;
        int* swapValues = fromValues;
        fromKeys = toKeys, toKeys = swapKeys;
        fromValues = toValues, toValues = swapValues;
    }

    // An odd number of passes ended in the caller's second arrays.
    if (fromKeys != keys)
    {
        memcpy(keys, fromKeys, (size_t)count * sizeof *keys);
        memcpy(values, fromValues, (size_t)count * sizeof *values);
    }
}

bool snwSortKeys(snwContext* context, uint64_t* keys, int* values, int count)
{
    if (count < 2)
        return true;
    uint64_t* otherKeys = snwAllocRaw(context, (size_t)count * sizeof *keys);
    int* otherValues = snwAllocRaw(context, (size_t)count * sizeof *values);
    bool enough = otherKeys != NULL && otherValues != NULL;
    if (enough)
        snwSortKeysWith(keys, values, count, otherKeys, otherValues);
    snwFree(context, otherKeys);
    snwFree(context, otherValues);
    return enough;
}

static int CompareReals(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

void snwSortReals(double* values, int count)
{
    if (count > 0)
        qsort(values, (size_t)count, sizeof *values, CompareReals);
}
