// Growable arrays: struct { T* data; int count, capacity; }.
//
//   snwArray(int) list = {0};
//   if (!snwArray_Push(context, &list, 7)) return snwFailMemory(message);
//   snwArray_Free(context, &list);

#pragma once

#include "base/context.h"

#define snwArray(T)                                                                                                    \
    struct                                                                                                             \
    {                                                                                                                  \
        T* data;                                                                                                       \
        int count, capacity;                                                                                           \
    }

// Makes room for `extra` more elements; false if there is no memory, the array is then unchanged.
#define snwArray_Reserve(context, array, extra)                                                                        \
    snwArray_Grow(context, (void**)&(array)->data, (array)->count, &(array)->capacity, extra, sizeof *(array)->data)

#define snwArray_Push(context, array, value)                                                                           \
    (snwArray_Reserve(context, array, 1) ? ((array)->data[(array)->count++] = (value), true) : false)

#define snwArray_Free(context, array)                                                                                  \
    (snwFree(context, (array)->data), (array)->data = NULL, (array)->count = (array)->capacity = 0)

bool snwArray_Grow(snwContext* context, void** data, int count, int* capacity, int extra, size_t size);
