// Means over neighbours of the same surface, four pixels at a time: the grain of single shadow rays goes, edges stay.
// Pixels without grain are left as they are.

#include "view/smooth.h"

#include <string.h>

typedef enum Plane
{
    positionX,
    positionY,
    positionZ,
    normalX,
    normalY,
    normalZ,
    keyPlane,
    skyPlane,
    softnessPlane,
    meshPlane,   // of the pixel in the middle
    sourcePlane, // the mesh to whose pixels this one is a good neighbour
    planeCount
} Plane;

static const float s_noSource = -3;

bool snwGuides_Alloc(snwGuides* guides, snwContext* context, int width, int rows)
{
    *guides = (snwGuides){.width = width, .rows = rows, .segments = (width + snw_segment - 1) / snw_segment};
    guides->stride = (size_t)guides->segments * snw_segment + 2 * snw_filterRadius;
    guides->planeSize = guides->stride * (size_t)rows;
    guides->data = snwAllocArray(context, planeCount * guides->planeSize, sizeof(float));
    guides->grainy = snwAllocArray(context, (size_t)guides->segments * (size_t)rows, sizeof(bool));
    return guides->data != NULL && guides->grainy != NULL;
}

void snwGuides_Free(snwGuides* guides, snwContext* context)
{
    snwFree(context, guides->data);
    snwFree(context, guides->grainy);
}

// Where pixel 0 of a row is.
static float* Row(const snwGuides* guides, Plane plane, int row)
{
    return guides->data + (size_t)plane * guides->planeSize + (size_t)row * guides->stride + snw_filterRadius;
}

static void SetPixel(snwGuides* guides, int row, int x, const snwGuide* pixel)
{
    bool useful = pixel->mesh == snw_seesSeveral || (pixel->mesh >= 0 && pixel->hits >= 0.5f);
    Row(guides, positionX, row)[x] = pixel->position.x;
    Row(guides, positionY, row)[x] = pixel->position.y;
    Row(guides, positionZ, row)[x] = pixel->position.z;
    Row(guides, normalX, row)[x] = pixel->normal.x;
    Row(guides, normalY, row)[x] = pixel->normal.y;
    Row(guides, normalZ, row)[x] = pixel->normal.z;
    Row(guides, keyPlane, row)[x] = pixel->key;
    Row(guides, skyPlane, row)[x] = pixel->sky;
    Row(guides, softnessPlane, row)[x] = pixel->softness;
    Row(guides, meshPlane, row)[x] = (float)pixel->mesh;
    Row(guides, sourcePlane, row)[x] = useful ? (float)pixel->mesh : s_noSource;
}

void snwGuides_SetRow(snwGuides* guides, int row, const snwGuide* pixels, size_t stride)
{
    bool* grainy = guides->grainy + (size_t)row * (size_t)guides->segments;
    memset(grainy, 0, (size_t)guides->segments * sizeof *grainy);
    // Beyond both ends there are pixels that are like no other.
    const snwGuide nothing = {.mesh = snw_seesNothing};
    for (int x = -snw_filterRadius; x < guides->segments * snw_segment + snw_filterRadius; ++x)
        if (x < 0 || x >= guides->width)
            SetPixel(guides, row, x, &nothing);
    for (int x = 0; x < guides->width; ++x)
    {
        const snwGuide* pixel = (const snwGuide*)((const char*)pixels + (size_t)x * stride);
        SetPixel(guides, row, x, pixel);
        if (pixel->mesh != snw_seesNothing && (pixel->key < 0.99999f || pixel->sky < 0.99999f))
            grainy[x / snw_segment] = true;
    }
}

static bool IsGrainy(const snwGuides* guides, int top, int bottom, int segment)
{
    int left = segment > 0 ? segment - 1 : 0, right = segment + 1 < guides->segments ? segment + 1 : segment;
    for (int row = top; row <= bottom; ++row)
        for (int i = left; i <= right; ++i)
            if (guides->grainy[(size_t)row * (size_t)guides->segments + (size_t)i])
                return true;
    return false;
}

typedef struct Sums
{
    float key[snw_segment], sky[snw_segment], weight[snw_segment];
} Sums;

typedef struct Planes
{
    const float* of[planeCount];
} Planes;

static Planes PlanesAt(const snwGuides* guides, int row, int x)
{
    Planes planes;
    for (int i = 0; i < planeCount; ++i)
        planes.of[i] = Row(guides, i, row) + x;
    return planes;
}

// Four pixels; the compilers do not find these by themselves, because of the conditions.
typedef float Four __attribute__((vector_size(16)));
typedef int FourInts __attribute__((vector_size(16)));

static Four Load(const float* p)
{
    Four four;
    memcpy(&four, p, sizeof four);
    return four;
}

static Four Choose(FourInts condition, Four yes, Four no)
{
    return (Four)((condition & (FourInts)yes) | (~condition & (FourInts)no));
}

// How much a neighbour counts: near 1 on the same smooth surface, 0 for another mesh or across an edge.
static Four Likeness(const Planes* a, const Planes* b, int i)
{
    const Four zero = {0, 0, 0, 0}, half = {0.5f, 0.5f, 0.5f, 0.5f};
    Four nx = Load(a->of[normalX] + i), ny = Load(a->of[normalY] + i), nz = Load(a->of[normalZ] + i);
    Four facing = nx * Load(b->of[normalX] + i) + ny * Load(b->of[normalY] + i) + nz * Load(b->of[normalZ] + i);
    Four dx = Load(b->of[positionX] + i) - Load(a->of[positionX] + i);
    Four dy = Load(b->of[positionY] + i) - Load(a->of[positionY] + i);
    Four dz = Load(b->of[positionZ] + i) - Load(a->of[positionZ] + i);
    Four off = (nx * dx + ny * dy + nz * dz) * Load(a->of[softnessPlane] + i);
    Four f2 = facing * facing, f4 = f2 * f2, mesh = Load(a->of[meshPlane] + i);
    Four like = Choose(facing < 0.7f, zero, f4 * f4 / (1 + off * off));
    like = Choose(mesh == (float)snw_seesSeveral, half, like); // pixels on a border stay among themselves
    return Choose(mesh == Load(b->of[sourcePlane] + i), like, zero);
}

static void AddNeighbours(const Planes* a, const Planes* b, float fall, Sums* sums)
{
    for (int i = 0; i < snw_segment; i += 4)
    {
        Four w = fall * Likeness(a, b, i);
        Four key = Load(sums->key + i) + w * Load(b->of[keyPlane] + i);
        Four sky = Load(sums->sky + i) + w * Load(b->of[skyPlane] + i);
        Four weight = Load(sums->weight + i) + w;
        memcpy(sums->key + i, &key, sizeof key);
        memcpy(sums->sky + i, &sky, sizeof sky);
        memcpy(sums->weight + i, &weight, sizeof weight);
    }
}

void snwGuides_Smooth(
    const snwGuides* guides, int row, int segment, int rowCount, float key[snw_segment], float sky[snw_segment])
{
    int x = segment * snw_segment;
    int top = row > snw_filterRadius ? row - snw_filterRadius : 0;
    int bottom = row + snw_filterRadius < rowCount ? row + snw_filterRadius : rowCount - 1;

    memcpy(key, Row(guides, keyPlane, row) + x, snw_segment * sizeof(float));
    memcpy(sky, Row(guides, skyPlane, row) + x, snw_segment * sizeof(float));
    if (!IsGrainy(guides, top, bottom, segment))
        return;
    Sums sums = {{0}, {0}, {0}};
    Planes here = PlanesAt(guides, row, x);

    // Weights fall with the distance, and to nothing on another surface.
    for (int dy = top - row; dy <= bottom - row; ++dy)
        for (int dx = -snw_filterRadius; dx <= snw_filterRadius; ++dx)
        {
            float fall = 1 - (float)(dx * dx + dy * dy) * (1.0f / (2.2f * snw_filterRadius * snw_filterRadius));
            if (fall > 0)
            {
                Planes there = PlanesAt(guides, row + dy, x + dx);
                AddNeighbours(&here, &there, fall, &sums);
            }
        }

    const float* mesh = Row(guides, meshPlane, row) + x;
    for (int i = 0; i < snw_segment; ++i)
    {
        if (sums.weight[i] <= 0)
            continue;
        // On a border one surface may be in the light and the other not: its key light cannot come from neighbours.
        key[i] = mesh[i] == snw_seesSeveral ? key[i] : sums.key[i] / sums.weight[i];
        sky[i] = sums.sky[i] / sums.weight[i];
    }
}
