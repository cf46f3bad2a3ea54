// What a detector is made of: a shell per character, a part per body, trees over bodies, facets and elements; and
// what vertices may disregard of their own body because it is near at rest.

#include "contact/detect_parts.h"

enum
{
    detect_maxOverlaps = 100000000,
    detect_maxParts = 65535 // sixteen bits of a key
};

// ---------------------------------------------------------------------------------------------------------------------
// Making

snwDetectorDef snwDefaultDetectorDef(void)
{
    return (snwDetectorDef){0};
}

static const snwShell* FindShell(const snwDetector* detector, const snwCharacter* character)
{
    for (int i = 0; i < detector->shellCount; ++i)
        if (detector->shells[i].character == character)
            return &detector->shells[i];
    return NULL;
}

static snwResult MakeDetectorParts(snwDetector* detector, const snwDetectorDef* def, snwMessage* message)
{
    snwArena* arena = &detector->arena;
    size_t count = (size_t)def->bodyCount;
    detector->shells = snwArena_Alloc(arena, count, sizeof *detector->shells);
    detector->parts = snwArena_Alloc(arena, count, sizeof *detector->parts);
    detector->bodyOrder = snwArena_Alloc(arena, count, sizeof *detector->bodyOrder);
    snwResult result = arena->failed ? snwFailMemory(message) : snw_ok;
    for (int i = 0; i < def->bodyCount && result >= 0; ++i)
    {
        const snwCharacter* character = def->bodies[i].character;
        if (FindShell(detector, character) == NULL)
            result = snwShell_Build(&detector->shells[detector->shellCount++], character, arena, message);
        detector->parts[i] = (snwPart){.shell = FindShell(detector, character), .self = def->bodies[i].self};
        detector->partCount = i + 1;
    }
    return result;
}

static void MakeTree(snwArena* arena, snwBoxTree* tree, int leafCount)
{
    size_t groups = (size_t)snwBoxTree_Layout(tree, leafCount);
    tree->groups = snwArena_Alloc(arena, groups, sizeof *tree->groups);
}

static void MakeTrees(snwDetector* detector)
{
    snwArena* arena = &detector->arena;
    size_t count = (size_t)detector->partCount;
    for (int k = 0; k < 3; ++k)
        detector->starts[k] = snwArena_Alloc(arena, count + 1, sizeof *detector->starts[k]);
    MakeTree(arena, &detector->bodies, detector->partCount);

    // Positions now and before, in rows of four floats, and how many leaves each part adds.
    for (int i = 0; i < detector->partCount && !arena->failed; ++i)
    {
        snwPart* part = &detector->parts[i];
        const int leaves[3] = {snwLeafCount(part->shell->pointCount, snw_leafPoints),
            snwLeafCount(part->shell->facetCount, snw_leafFacets),
            snwLeafCount(part->shell->elementCount, snw_leafElements)};
        size_t floats = 4 * (size_t)part->shell->vertexCount;

        part->now = snwArena_Alloc(arena, floats, sizeof *part->now);
        part->before = snwArena_Alloc(arena, floats, sizeof *part->before);
        MakeTree(arena, &part->facets, leaves[1]);
        MakeTree(arena, &part->elements, leaves[2]);

        // Leaves of all parts have numbers one after the other, so that one loop goes over all of them.
        for (int k = 0; k < 3; ++k)
            detector->starts[k][i + 1] = detector->starts[k][i] + leaves[k];
    }
}

static void MakeHits(snwDetector* detector, int capacity)
{
    snwArena* arena = &detector->arena;
    int64_t points = 0;
    for (int i = 0; i < detector->partCount; ++i)
        points += detector->parts[i].shell->pointCount;
    int64_t wanted = capacity > 0 ? capacity : 2 * points + 16;
    detector->capacity = wanted < detect_maxOverlaps ? (int)wanted : detect_maxOverlaps;
    size_t count = (size_t)detector->capacity,
           keys = count > (size_t)detector->partCount ? count : (size_t)detector->partCount;
    detector->hits = snwArena_Alloc(arena, count, sizeof *detector->hits);
    detector->sorted = snwArena_Alloc(arena, count, sizeof *detector->sorted);
    detector->queue = snwArena_Alloc(arena, count, sizeof *detector->queue);
    detector->keys = snwArena_Alloc(arena, keys, sizeof *detector->keys);
    detector->otherKeys = snwArena_Alloc(arena, keys, sizeof *detector->otherKeys);
    detector->order = snwArena_Alloc(arena, keys, sizeof *detector->order);
    detector->otherOrder = snwArena_Alloc(arena, keys, sizeof *detector->otherOrder);
}

static const snwDetectKernels* ChooseKernels(snwSimd simd)
{
    const snwDetectKernels* kernels = NULL;
    if (simd == snw_simdAvx2)
        kernels = snwDetect_KernelsAvx2();
    else if (simd == snw_simdBase)
        kernels = snwDetect_KernelsBase();
    return kernels != NULL ? kernels : snwDetect_KernelsScalar();
}

static snwResult BuildDetector(snwContext* context, const snwDetectorDef* def, snwDetector** out, snwMessage* message)
{
    snwDetector* detector = snwAlloc(context, sizeof *detector);
    *out = detector;
    if (detector == NULL)
        return snwFailMemory(message);
    detector->context = context;
    detector->arena.context = context;
    detector->kernels = ChooseKernels(context->simd);
    atomic_init(&detector->hitCount, 0);
    snwResult result = MakeDetectorParts(detector, def, message);
    if (result < 0)
        return result;
    MakeTrees(detector);
    if (!detector->arena.failed)
        MakeHits(detector, def->capacity);
    return detector->arena.failed ? snwFailMemory(message) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rest

static int SelfPart(const snwDetector* detector, const snwShell* shell)
{
    for (int i = 0; i < detector->partCount; ++i)
        if (detector->parts[i].self && detector->parts[i].shell == shell)
            return i;
    return -1;
}

// Vertices that are inside another part of their body at rest may stay as deep as they are there and move about in it;
// the others only disregard what is right beside them.
static void SetReach(snwDetector* detector, snwShell* shell, int part, const float* positions)
{
    int count = snwDetector_FindAtRest(detector, part, positions);
    for (int i = 0; i < shell->vertexCount; ++i)
        shell->reach[i] = 0.5 * shell->edge;
    for (int i = 0; i < count; ++i)
    {
        const snwOverlap* overlap = &detector->hits[i].overlap;
        shell->reach[overlap->vertex] = overlap->depth + 2.0 * shell->edge;
    }
}

static snwResult SetReaches(snwDetector* detector, snwMessage* message)
{
    // Characters that ask themselves: their rest positions go through the same questions as any others.
    for (int i = 0; i < detector->shellCount; ++i)
    {
        snwShell* shell = &detector->shells[i];
        int part = SelfPart(detector, shell);
        if (part < 0)
            continue;
        float* positions = snwAllocArray(detector->context, (size_t)shell->vertexCount, 3 * sizeof *positions);
        if (positions == NULL)
            return snwFailMemory(message);

        for (int k = 0; k < shell->vertexCount; ++k)
        {
            positions[3 * k] = (float)shell->rest[k].x;
            positions[3 * k + 1] = (float)shell->rest[k].y;
            positions[3 * k + 2] = (float)shell->rest[k].z;
        }

        // What is inside another part at rest may stay as deep as it is there.
        SetReach(detector, shell, part, positions);
        snwFree(detector->context, positions);
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------

snwResult snwCreateDetector(snwContext* context, const snwDetectorDef* def, snwDetector** detector, snwMessage* message)
{
    *detector = NULL;
    if (def->bodyCount < 0 || def->bodyCount > detect_maxParts || def->capacity < 0 ||
        def->capacity > detect_maxOverlaps)
        return snwFail(message, snw_errorArgument, NULL, "a detector has at most %d bodies and %d overlaps",
            detect_maxParts, detect_maxOverlaps);
    snwDetector* made = NULL;
    snwResult result = BuildDetector(context, def, &made, message);
    if (result >= 0)
        result = SetReaches(made, message);
    if (result < 0)
        snwDestroyDetector(made);
    else
        *detector = made;
    return result;
}

void snwDestroyDetector(snwDetector* detector)
{
    if (detector == NULL)
        return;
    snwArena_Free(&detector->arena);
    snwFree(detector->context, detector);
}

int snwDetector_Capacity(const snwDetector* detector)
{
    return detector->capacity;
}
