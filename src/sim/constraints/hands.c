#include "sim/constraints/hands.h"
#include "math/rows.h"

#include <math.h>

void snwHands_MovePinned(const snwSim* sim, int body, float* positions)
{
    for (int p = 0; p < sim->def->pinCount; ++p)
    {
        const snwPinSet* set = &sim->pinSets[p];
        for (int i = 0; i < set->count && sim->pins[p].held && set->body == body; ++i)
            snwRow_Set(positions, set->vertices[i], snwPinSet_Target(set, &sim->pins[p], i));
    }
    for (int i = 0; i < sim->grabCount; ++i)
        if (sim->grabs[i].kind == snw_grabPin && sim->grabs[i].body == body)
            snwRow_Set(positions, sim->grabs[i].vertex, sim->grabs[i].vector);
}

void snwHands_Drag(const snwSim* sim, int body, float* positions, int iterations)
{
    for (int i = 0; i < sim->grabCount; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        if (grab->kind != snw_grabDrag || grab->body != body || !(positions[4 * (size_t)grab->vertex + 3] > 0.0f))
            continue;
        double k = 1.0 - pow(1.0 - grab->value, 1.0 / iterations);
        snwVec3 now = snwRow_Get(positions, grab->vertex);
        snwRow_Set(positions, grab->vertex, snwVec3_Lerp(now, grab->vector, k));
    }
}
