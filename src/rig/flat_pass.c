// The model of the flat passes: vertices in groups of lanes, their handles listed, weights handle by handle, and the
// anchor sums that a group's moments begin with. Lanes are filled here once; flat_pass_kernel.h runs over them in
// every substep.

#include "rig/flat_pass.h"

#include "math/simd.h"

#include <math.h>

enum
{
    snw_mostFlatInfluences = 1 << 24
};

static bool IsMoving(const snwFlatPassDef* def, int handle)
{
    return def->moving != NULL && def->moving[handle] != 0;
}

// The vertex of a lane. Lanes beyond the last vertex repeat it.
static int VertexOfLane(const snwFlatPassDef* def, const snwFlatGroup* group, int lane, bool* real)
{
    int vertex = group->vertex + lane / 8 * 8 + snwWide_NextRow(lane % 8);
    *real = vertex < def->vertexCount;
    return *real ? vertex : def->vertexCount - 1;
}

// shares: by handle, kg of the group that hang on it.
static void NoteHandles(const snwFlatPassDef* def, int vertex, double* shares)
{
    const snwWeights* weights = def->weights;
    int end = vertex + SNW_FLAT_GROUP < def->vertexCount ? vertex + SNW_FLAT_GROUP : def->vertexCount;
    for (int k = 0; k < weights->handleCount; ++k)
        shares[k] = -1;
    for (int i = vertex; i < end; ++i)
        for (int k = weights->starts[i]; k < weights->starts[i + 1]; ++k)
        {
            double* share = &shares[weights->handles[k]];
            *share = fmax(*share, 0) + weights->values[k] * def->masses[i];
        }
}

static void CountHandles(const snwFlatPassDef* def, const double* shares, snwFlatGroup* group)
{
    for (int k = 0; k < def->weights->handleCount; ++k)
    {
        if (shares[k] < 0)
            continue;
        group->count++;
        group->turns = group->turns || !IsMoving(def, k);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Filling

// places: by handle, among handles, weights and all; the main one is the last.
static void PlaceHandles(
    const snwFlatPassDef* def, const snwFlatPass* pass, const snwFlatGroup* group, const double* shares, int* places)
{
    int at = group->first, most = -1;
    for (int k = 0; k < def->weights->handleCount; ++k)
        if (shares[k] >= 0 && (most < 0 || shares[k] > shares[most]))
            most = k;
    for (int k = 0; k < def->weights->handleCount; ++k)
    {
        if (shares[k] < 0)
            continue;
        places[k] = k == most ? group->first + group->count - 1 : at++;
        pass->handles[places[k]] = k;
    }
}

// Numbers are x, y, p x x and p . x.
static void AddFlatAnchor(double mass, snwVec3 p, double (*anchor)[SNW_FLAT_NUMBERS])
{
    anchor[0][0] += mass;
    anchor[0][2] -= mass * p.y;
    anchor[0][3] += mass * p.x;
    anchor[1][1] += mass;
    anchor[1][2] += mass * p.x;
    anchor[1][3] += mass * p.y;
}

static void FillFlatLane(const snwFlatPassDef* def, const snwFlatPass* pass, int index, int lane, const int* places)
{
    bool real;
    snwFlatGroup* group = &pass->groups[index];
    const snwWeights* weights = def->weights;
    int vertex = VertexOfLane(def, group, lane, &real);
    snwVec3 p = snwVec3_Sub(def->rest[vertex], def->centre);
    pass->positions[index][0][lane] = p.x, pass->positions[index][1][lane] = p.y;
    group->position[0][lane] = (float)p.x, group->position[1][lane] = (float)p.y;
    group->mass[lane] = real ? (float)def->masses[vertex] : 0;
    for (int i = weights->starts[vertex]; i < weights->starts[vertex + 1] && real; ++i)
    {
        int at = places[weights->handles[i]];
        pass->weights[at][lane] = (float)weights->values[i];
        pass->masses[at][lane] = weights->values[i] * def->masses[vertex];
        AddFlatAnchor(pass->masses[at][lane], p, pass->anchors[at]);
    }
}

static void FillGroups(const snwFlatPassDef* def, const snwFlatPass* pass, double* shares, int* places)
{
    for (int i = 0; i < pass->groupCount; ++i)
    {
        NoteHandles(def, pass->groups[i].vertex, shares);
        PlaceHandles(def, pass, &pass->groups[i], shares, places);
        for (int lane = 0; lane < SNW_FLAT_GROUP; ++lane)
            FillFlatLane(def, pass, i, lane, places);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Making

// All influences; -1: too many.
static int CountGroupInfluences(const snwFlatPassDef* def, const snwFlatPass* pass, double* shares)
{
    int total = 0;
    for (int i = 0; i < pass->groupCount; ++i)
    {
        snwFlatGroup* group = &pass->groups[i];
        group->vertex = SNW_FLAT_GROUP * i;
        int left = def->vertexCount - group->vertex;
        group->lanes = left < SNW_FLAT_GROUP ? (left + SNW_FLAT_STEP - 1) / SNW_FLAT_STEP * SNW_FLAT_STEP
                                             : SNW_FLAT_GROUP;
        NoteHandles(def, group->vertex, shares);
        CountHandles(def, shares, group);
        group->first = total;
        total += group->count;
        if (total > snw_mostFlatInfluences)
            return -1;
    }
    return total;
}

static bool AllocFlatInfluences(snwContext* context, snwFlatPass* pass, int total)
{
    if (total < 0)
        return false;
    pass->positions = snwAllocArray(context, (size_t)pass->groupCount, sizeof *pass->positions);
    pass->handles = snwAllocArray(context, (size_t)total, sizeof *pass->handles);
    pass->weights = snwAllocArray(context, (size_t)total + SNW_FLAT_BEYOND, sizeof *pass->weights);
    pass->masses = snwAllocArray(context, (size_t)total, sizeof *pass->masses);
    pass->anchors = snwAllocArray(context, (size_t)total, sizeof *pass->anchors);
    return pass->positions != NULL && pass->handles != NULL && pass->weights != NULL && pass->masses != NULL &&
           pass->anchors != NULL;
}

bool snwFlatPass_Create(snwContext* context, const snwFlatPassDef* def, snwFlatPass* pass)
{
    *pass = (snwFlatPass){.vertexCount = def->vertexCount};
    pass->groupCount = (def->vertexCount + SNW_FLAT_GROUP - 1) / SNW_FLAT_GROUP;
    pass->groups = snwAllocArray(context, (size_t)pass->groupCount, sizeof *pass->groups);
    double* shares = snwAllocArray(context, (size_t)def->weights->handleCount, sizeof *shares);
    int* places = snwAllocArray(context, (size_t)def->weights->handleCount, sizeof *places);
    bool made = pass->groups != NULL && shares != NULL && places != NULL &&
                AllocFlatInfluences(context, pass, CountGroupInfluences(def, pass, shares));
    if (made)
        FillGroups(def, pass, shares, places);
    snwFree(context, shares);
    snwFree(context, places);
    return made;
}

void snwFlatPass_Free(snwContext* context, snwFlatPass* pass)
{
    snwFree(context, pass->groups);
    snwFree(context, pass->positions);
    snwFree(context, pass->handles);
    snwFree(context, pass->weights);
    snwFree(context, pass->masses);
    snwFree(context, pass->anchors);
    *pass = (snwFlatPass){0};
}
