// What a method prepares from a mesh alone: pattern, levels, streams. Characters with the same mesh share it within
// their context, so it outlives a change of bones, handles or materials.

#pragma once

#include "sim/method.h"

typedef struct snwShape
{
    const snwMethod* method;
    uint64_t key; // of the mesh and the parameters
    int references;
    void* data;
    struct snwShape* next;
} snwShape;

// The shape of this definition's character; made if nobody has it. *shape is NULL where the method has none.
snwResult snwShape_Acquire(
    const snwModelDef* def, const snwMethod* method, uint64_t paramsKey, snwShape** shape, snwMessage* message);
void snwShape_Release(snwContext* context, snwShape* shape); // NULL allowed
