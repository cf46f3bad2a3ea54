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
static float* GuideRow(const snwGuides* guides, Plane plane, int row)
{
    return guides->data + (size_t)plane * guides->planeSize + (size_t)row * guides->stride + snw_filterRadius;
}

static void SetPixel(snwGuides* guides, int row, int x, const snwGuide* pixel)
{
    bool useful = pixel->mesh == snw_seesSeveral || (pixel->mesh >= 0 && pixel->hits >= 0.5f);
    GuideRow(guides, positionX, row)[x] = pixel->position.x;
    GuideRow(guides, positionY, row)[x] = pixel->position.y;
    GuideRow(guides, positionZ, row)[x] = pixel->position.z;
    GuideRow(guides, normalX, row)[x] = pixel->normal.x;
    GuideRow(guides, normalY, row)[x] = pixel->normal.y;
    GuideRow(guides, normalZ, row)[x] = pixel->normal.z;
    GuideRow(guides, keyPlane, row)[x] = pixel->key;
    GuideRow(guides, skyPlane, row)[x] = pixel->sky;
    GuideRow(guides, softnessPlane, row)[x] = pixel->softness;
    GuideRow(guides, meshPlane, row)[x] = (float)pixel->mesh;
    GuideRow(guides, sourcePlane, row)[x] = useful ? (float)pixel->mesh : s_noSource;
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
        planes.of[i] = GuideRow(guides, i, row) + x;
    return planes;
}

// Four pixels; the compilers do not find these by themselves, because of the conditions.
typedef float Four __attribute__((vector_size(16)));
typedef int FourInts __attribute__((vector_size(16)));

static Four LoadPixels(const float* p)
{
    Four four;
    memcpy(&four, p, sizeof four);
    return four;
}

static Four ChooseLanes(FourInts condition, Four yes, Four no)
{
    return (Four)((condition & (FourInts)yes) | (~condition & (FourInts)no));
}

// How much a neighbour counts: near 1 on the same smooth surface, 0 for another mesh or across an edge.
static Four Likeness(const Planes* a, const Planes* b, int i)
{
    const Four zero = {0, 0, 0, 0}, half = {0.5f, 0.5f, 0.5f, 0.5f};
    Four nx = LoadPixels(a->of[normalX] + i), ny = LoadPixels(a->of[normalY] + i), nz = LoadPixels(a->of[normalZ] + i);
    Four facing = nx * LoadPixels(b->of[normalX] + i) + ny * LoadPixels(b->of[normalY] + i) +
                  nz * LoadPixels(b->of[normalZ] + i);
    Four dx = LoadPixels(b->of[positionX] + i) - LoadPixels(a->of[positionX] + i);
    Four dy = LoadPixels(b->of[positionY] + i) - LoadPixels(a->of[positionY] + i);
    Four dz = LoadPixels(b->of[positionZ] + i) - LoadPixels(a->of[positionZ] + i);
    Four off = (nx * dx + ny * dy + nz * dz) * LoadPixels(a->of[softnessPlane] + i);
    Four f2 = facing * facing, f4 = f2 * f2, mesh = LoadPixels(a->of[meshPlane] + i);
    Four like = ChooseLanes(facing < 0.7f, zero, f4 * f4 / (1 + off * off));
    like = ChooseLanes(mesh == (float)snw_seesSeveral, half, like); // pixels on a border stay among themselves
    return ChooseLanes(mesh == LoadPixels(b->of[sourcePlane] + i), like, zero);
}

static void AddNeighbours(const Planes* a, const Planes* b, float fall, Sums* sums)
{
    for (int i = 0; i < snw_segment; i += 4)
    {
        Four w = fall * Likeness(a, b, i);
        Four key = LoadPixels(sums->key + i) + w * LoadPixels(b->of[keyPlane] + i);
        Four sky = LoadPixels(sums->sky + i) + w * LoadPixels(b->of[skyPlane] + i);
        Four weight = LoadPixels(sums->weight + i) + w;
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

    memcpy(key, GuideRow(guides, keyPlane, row) + x, snw_segment * sizeof(float));
    memcpy(sky, GuideRow(guides, skyPlane, row) + x, snw_segment * sizeof(float));
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

    const float* mesh = GuideRow(guides, meshPlane, row) + x;
    for (int i = 0; i < snw_segment; ++i)
    {
        if (sums.weight[i] <= 0)
            continue;
        // On a border one surface may be in the light and the other not: its key light cannot come from neighbours.
        key[i] = mesh[i] == snw_seesSeveral ? key[i] : sums.key[i] / sums.weight[i];
        sky[i] = sums.sky[i] / sums.weight[i];
    }
}
