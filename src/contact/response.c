// What contact needs of memory, its order of work in a substep, and islands: bodies and props that touch each other,
// found by union and listed in the order of their first members.

#include "base/pieces.h"
#include "contact/response.h"

#include <math.h>
#include <string.h>

enum
{
    response_maxSolidTouches = 4,  // colliders that a vertex touches at a time
    response_maxPropTouches = 4,   // props that it touches, on average
    response_pointsPerProp = 128,  // contacts of a prop with colliders and other props
    response_maxPairRows = 1 << 20 // 400 MB
};

// ---------------------------------------------------------------------------------------------------------------------
// Making

static int Chunks(int count)
{
    return (count + snw_solidGrain - 1) / snw_solidGrain;
}

static void MakeSolids(snwResponse* response, const snwResponseDef* def)
{
    int bodies = def->scene->bodyCount, colliders = def->scene->colliderCount;
    size_t rows = 0;
    response->touches = colliders < response_maxSolidTouches ? colliders : response_maxSolidTouches;
    response->flesh = snwArena_Alloc(def->arena, (size_t)bodies, sizeof *response->flesh);
    response->chunkCounts = snwArena_Alloc(def->arena, (size_t)bodies, sizeof *response->chunkCounts);
    response->firstSolids = snwArena_Alloc(def->arena, (size_t)bodies, sizeof *response->firstSolids);
    response->colliderNow = snwArena_Alloc(def->arena, (size_t)colliders, sizeof *response->colliderNow);
    response->colliderBefore = snwArena_Alloc(def->arena, (size_t)colliders, sizeof *response->colliderBefore);
    response->exits = snwArena_Alloc(def->arena, (size_t)colliders, sizeof *response->exits);
    for (int b = 0; b < bodies && !def->arena->failed; ++b)
    {
        response->firstSolids[b] = rows;
        rows += (size_t)Chunks(def->rowCounts[b]) * snw_solidGrain * (size_t)response->touches;
        response->chunkCounts[b] = snwArena_Alloc(def->arena, (size_t)Chunks(def->rowCounts[b]), sizeof(int));
    }
    response->solids = snwArena_Alloc(def->arena, rows, sizeof *response->solids);
}

static void MakeProps(snwResponse* response, const snwResponseDef* def)
{
    size_t count = (size_t)def->scene->propCount;
    response->props = snwArena_Alloc(def->arena, count, sizeof *response->props);
    response->masses = snwArena_Alloc(def->arena, count, sizeof *response->masses);
    response->propShapes = snwArena_Alloc(def->arena, count, sizeof *response->propShapes);
    response->propPoints = snwArena_Alloc(def->arena, count, sizeof *response->propPoints);
    for (size_t i = 0; i < count && !def->arena->failed; ++i)
    {
        const snwPropDef* prop = &def->scene->props[i];
        response->masses[i] = snwPropDef_Mass(prop);
        response->propShapes[i] = snwMakeCollider(prop->kind, prop->size, prop->friction);
        response->propPoints[i] = snwPropPoints_Make(prop->kind, prop->size);
    }
}

static void MakeNearTriangles(snwResponse* response, const snwResponseDef* def)
{
    int most = 0;
    for (int b = 0; b < def->scene->bodyCount && def->scene->propCount > 0; ++b)
    {
        int count = snwCharacter_GetInfo(def->scene->bodies[b].character).skinTriangleCount;
        most = count > most ? count : most;
    }
    response->nearTriangles = snwArena_Alloc(def->arena, (size_t)most + 1, sizeof(int));
}

static snwResult MakeDetector(snwResponse* response, const snwResponseDef* def, snwMessage* message)
{
    // One body that does not ask itself needs no detector.
    int bodies = def->scene->bodyCount;
    if (bodies == 0 || (bodies == 1 && !def->self))
        return snw_ok;
    snwDetectorBody* list = snwAllocArray(def->context, (size_t)bodies, sizeof *list);
    if (list == NULL)
        return snwFailMemory(message);
    for (int b = 0; b < bodies; ++b)
        list[b] = (snwDetectorBody){def->scene->bodies[b].character, def->self};
    snwDetectorDef detector = snwDefaultDetectorDef();
    detector.bodies = list;
    detector.bodyCount = bodies;
    snwResult result = snwCreateDetector(def->context, &detector, &response->detector, message);
    snwFree(def->context, list);
    if (result < 0)
        return result;

    // Room for what it may find, and what it is told about the bodies.
    response->overlapCapacity = snwDetector_Capacity(response->detector);
    response->overlaps = snwArena_Alloc(def->arena, (size_t)response->overlapCapacity, sizeof *response->overlaps);
    response->detectNow = snwArena_Alloc(def->arena, (size_t)bodies, sizeof *response->detectNow);
    response->detectBefore = snwArena_Alloc(def->arena, (size_t)bodies, sizeof *response->detectBefore);
    response->detectOrigins = snwArena_Alloc(def->arena, (size_t)bodies, sizeof *response->detectOrigins);

    return snw_ok;
}

static void MakePropPairs(snwResponse* response, const snwResponseDef* def)
{
    const snwSceneDef* scene = def->scene;
    size_t each = response_pointsPerProp + snw_maxPropPoints * (size_t)scene->bodyCount;
    size_t rows = (size_t)response->overlapCapacity + (size_t)scene->propCount * each;
    int props = scene->propCount < response_maxPropTouches ? scene->propCount : response_maxPropTouches;
    for (int b = 0; b < scene->bodyCount; ++b)
        rows += (size_t)def->vertexCounts[b] * (size_t)props;
    response->pairCapacity = rows < response_maxPairRows ? (int)rows : response_maxPairRows;
    response->pairs = snwArena_Alloc(def->arena, (size_t)response->pairCapacity, sizeof *response->pairs);
    response->pairOrder = snwArena_Alloc(def->arena, (size_t)response->pairCapacity, sizeof(int));
    size_t members = (size_t)(scene->bodyCount + scene->propCount) + 1;
    response->parents = snwArena_Alloc(def->arena, members, sizeof(int));
    response->islandOf = snwArena_Alloc(def->arena, members, sizeof(int));
    response->islandStarts = snwArena_Alloc(def->arena, members, sizeof(int));
    response->islandMembers = snwArena_Alloc(def->arena, members, sizeof(int));
    response->pairStarts = snwArena_Alloc(def->arena, members, sizeof(int));
}

snwResult snwCreateResponse(const snwResponseDef* def, snwResponse** out, snwMessage* message)
{
    snwResponse* response = snwArena_Alloc(def->arena, 1, sizeof *response);
    *out = response;
    if (response == NULL)
        return snwFailMemory(message);
    response->context = def->context;
    response->scene = def->scene;
    response->colliders = def->colliders;
    MakeSolids(response, def);
    MakeProps(response, def);
    MakeNearTriangles(response, def);
    snwResult result = MakeDetector(response, def, message);
    if (result < 0)
        return result;
    MakePropPairs(response, def);
    return def->arena->failed ? snwFailMemory(message) : snw_ok;
}

void snwDestroyResponse(snwResponse* response)
{
    if (response != NULL && response->detector != NULL)
        snwDestroyDetector(response->detector);
}

// ---------------------------------------------------------------------------------------------------------------------
// Islands

static int FirstMember(const snwResponse* response, const snwPairRow* row)
{
    return row->body >= 0 ? row->body : response->scene->bodyCount + row->vertex;
}

static void JoinAll(snwResponse* response)
{
    int bodies = response->scene->bodyCount, count = bodies + response->scene->propCount;
    for (int i = 0; i < count; ++i)
        response->parents[i] = i;
    for (int i = 0; i < response->pairCount; ++i)
    {
        const snwPairRow* row = &response->pairs[i];
        if (row->kind != snw_touchCollider)
            snwPieces_Join(response->parents, FirstMember(response, row),
                row->kind == snw_touchFlesh ? row->other : bodies + row->other);
    }
}

// Turns counts into places, in the order of the islands.
static void SumUp(int* starts, int count)
{
    int sum = 0;
    for (int i = 0; i <= count; ++i)
    {
        int own = i < count ? starts[i] : 0;
        starts[i] = sum;
        sum += own;
    }
}

static void ShiftBack(int* starts, int count)
{
    for (int i = count; i > 0; --i)
        starts[i] = starts[i - 1];
    starts[0] = 0;
}

void snwResponse_FindIslands(snwResponse* response)
{
    int count = response->scene->bodyCount + response->scene->propCount;
    JoinAll(response);
    response->islandCount = 0;

    // Islands are numbered by their lowest members.
    for (int i = 0; i < count; ++i)
    {
        int root = snwPieces_Root(response->parents, i);
        response->islandOf[i] = root == i ? response->islandCount++ : response->islandOf[root];
    }

    size_t bytes = ((size_t)response->islandCount + 1) * sizeof(int);
    memset(response->islandStarts, 0, bytes);
    memset(response->pairStarts, 0, bytes);

    // Members and pairs of each island, counted, then listed; every list keeps the old order.
    for (int i = 0; i < count; ++i)
        response->islandStarts[response->islandOf[i]]++;
    for (int i = 0; i < response->pairCount; ++i)
        response->pairStarts[response->islandOf[FirstMember(response, &response->pairs[i])]]++;
    SumUp(response->islandStarts, response->islandCount);
    SumUp(response->pairStarts, response->islandCount);
    for (int i = 0; i < count; ++i)
        response->islandMembers[response->islandStarts[response->islandOf[i]]++] = i;
    for (int i = 0; i < response->pairCount; ++i)
        response->pairOrder[response->pairStarts[response->islandOf[FirstMember(response, &response->pairs[i])]]++] = i;
    ShiftBack(response->islandStarts, response->islandCount);
    ShiftBack(response->pairStarts, response->islandCount);
}

// ---------------------------------------------------------------------------------------------------------------------

void snwResponse_Predict(snwResponse* response, const snwProp* props, snwVec3 gravity, double h)
{
    response->h = h;
    response->gravity = snwVec3_Length(gravity);
    for (int i = 0; i < response->scene->propCount; ++i)
        response->props[i] = snwProp_Predict(&props[i], response->masses[i], gravity, h);
}

void snwResponse_Gather(snwResponse* response)
{
    snwResponse_GatherPairs(response);
    snwResponse_GatherSolids(response);
    snwResponse_FindIslands(response);
}

bool snwAnchor_IsSound(const snwAnchor* anchor, const snwSceneDef* scene)
{
    int counts[] = {0, scene->colliderCount, scene->propCount, scene->bodyCount};
    if (anchor->kind == snw_touchNothing)
        return true;
    if (anchor->kind < 0 || anchor->kind > snw_touchFlesh || anchor->other < 0 || anchor->other >= counts[anchor->kind])
        return false;
    for (int k = 0; k < 3; ++k)
    {
        if (!isfinite(anchor->home[k]) || anchor->triangle[k] < 0)
            return false;
        if (anchor->kind == snw_touchFlesh &&
            anchor->triangle[k] >= snwCharacter_GetDef(scene->bodies[anchor->other].character)->vertexCount)
            return false;
    }
    return true;
}
