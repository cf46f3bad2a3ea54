#include "rig/flat_pass.h"

#include "base/sort.h"
#include "math/simd.h"

enum
{
    snw_mostFlatInfluences = 1 << 24
};

static bool IsMoving(const snwFlatPassDef* def, int handle)
{
    return def->moving != NULL && def->moving[handle] != 0;
}

// The vertex of a lane. Lanes beyond the last vertex repeat it.
static int VertexOf(const snwFlatPassDef* def, const snwFlatGroup* group, int lane, bool* real)
{
    int vertex = group->vertex + lane / 8 * 8 + snwWide_NextRow(lane % 8);
    *real = vertex < def->vertexCount;
    return *real ? vertex : def->vertexCount - 1;
}

// places: by handle, 1 if the group has it, else 0.
static void NoteHandles(const snwFlatPassDef* def, int vertex, int* places)
{
    const snwWeights* weights = def->weights;
    int end = vertex + SNW_FLAT_GROUP < def->vertexCount ? vertex + SNW_FLAT_GROUP : def->vertexCount;
    for (int k = 0; k < weights->handleCount; ++k)
        places[k] = 0;
    for (int i = weights->starts[vertex]; i < weights->starts[end]; ++i)
        places[weights->handles[i]] = 1;
}

static void CountHandles(const snwFlatPassDef* def, const int* places, snwFlatGroup* group)
{
    for (int k = 0; k < def->weights->handleCount; ++k)
        if (places[k] != 0)
            (*(IsMoving(def, k) ? &group->moving : &group->turning))++;
}

// ---------------------------------------------------------------------------------------------------------------------
// Filling

// From here on places are those of the handles among handles, weights and all.
static void PlaceHandles(const snwFlatPassDef* def, const snwFlatPass* pass, const snwFlatGroup* group, int* places)
{
    int turning = group->first, moving = group->first + group->turning;
    for (int k = 0; k < def->weights->handleCount; ++k)
    {
        if (places[k] == 0)
            continue;
        places[k] = IsMoving(def, k) ? moving++ : turning++;
        pass->handles[places[k]] = k;
    }
}

// Numbers are x, y, p x x and p . x.
static void AddAnchor(double mass, snwVec3 p, double (*anchor)[SNW_FLAT_NUMBERS])
{
    anchor[0][0] += mass;
    anchor[0][2] -= mass * p.y;
    anchor[0][3] += mass * p.x;
    anchor[1][1] += mass;
    anchor[1][2] += mass * p.x;
    anchor[1][3] += mass * p.y;
}

static void FillLane(const snwFlatPassDef* def, const snwFlatPass* pass, int index, int lane, const int* places)
{
    bool real;
    snwFlatGroup* group = &pass->groups[index];
    const snwWeights* weights = def->weights;
    int vertex = VertexOf(def, group, lane, &real);
    snwVec3 p = snwVec3_Sub(def->rest[vertex], def->centre);
    pass->positions[index][0][lane] = p.x, pass->positions[index][1][lane] = p.y;
    group->position[0][lane] = (float)p.x, group->position[1][lane] = (float)p.y;
    group->mass[lane] = real ? (float)def->masses[vertex] : 0;
    for (int i = weights->starts[vertex]; i < weights->starts[vertex + 1] && real; ++i)
    {
        int at = places[weights->handles[i]];
        pass->weights[at][lane] = (float)weights->values[i];
        pass->masses[at][lane] = weights->values[i] * def->masses[vertex];
        AddAnchor(pass->masses[at][lane], p, pass->anchors[at]);
    }
}

static void FillGroups(const snwFlatPassDef* def, const snwFlatPass* pass, int* places)
{
    for (int i = 0; i < pass->groupCount; ++i)
    {
        NoteHandles(def, pass->groups[i].vertex, places);
        PlaceHandles(def, pass, &pass->groups[i], places);
        for (int lane = 0; lane < SNW_FLAT_GROUP; ++lane)
            FillLane(def, pass, i, lane, places);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Making

// Groups by the number of their handles. False: no memory.
static bool SortGroups(snwContext* context, const snwFlatPassDef* def, const snwFlatPass* pass, int* places)
{
    uint64_t* keys = snwAllocArray(context, (size_t)pass->groupCount, sizeof *keys);
    int* order = snwAllocArray(context, (size_t)pass->groupCount, sizeof *order);
    bool made = keys != NULL && order != NULL;
    for (int i = 0; i < pass->groupCount && made; ++i)
    {
        snwFlatGroup group = {0};
        NoteHandles(def, SNW_FLAT_GROUP * i, places);
        CountHandles(def, places, &group);
        keys[i] = (uint64_t)group.turning << 32 | (uint64_t)group.moving;
        order[i] = i;
    }
    made = made && snwSortKeys(context, keys, order, pass->groupCount);
    for (int i = 0; i < pass->groupCount && made; ++i)
        pass->groups[i].vertex = SNW_FLAT_GROUP * order[i];
    snwFree(context, keys);
    snwFree(context, order);
    return made;
}

// All influences; -1: too many.
static int CountInfluences(const snwFlatPassDef* def, const snwFlatPass* pass, int* places)
{
    int total = 0;
    for (int i = 0; i < pass->groupCount; ++i)
    {
        snwFlatGroup* group = &pass->groups[i];
        NoteHandles(def, group->vertex, places);
        CountHandles(def, places, group);
        group->first = total;
        total += group->turning + group->moving;
        if (total > snw_mostFlatInfluences)
            return -1;
    }
    return total;
}

static bool AllocateInfluences(snwContext* context, snwFlatPass* pass, int total)
{
    if (total < 0)
        return false;
    pass->positions = snwAllocArray(context, (size_t)pass->groupCount, sizeof *pass->positions);
    pass->handles = snwAllocArray(context, (size_t)total, sizeof *pass->handles);
    pass->weights = snwAllocArray(context, (size_t)total, sizeof *pass->weights);
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
    int* places = snwAllocArray(context, (size_t)def->weights->handleCount, sizeof *places);
    bool made = pass->groups != NULL && places != NULL && SortGroups(context, def, pass, places) &&
                AllocateInfluences(context, pass, CountInfluences(def, pass, places));
    if (made)
        FillGroups(def, pass, places);
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
