// Edges between two triangles, and how sharply each is bent: which of them fold in a motion that do not fold in
// another. Found over welded vertices, so seams are no borders.

#include "bake/folds.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Finding

typedef struct Side
{
    int other, across, next; // the higher end of the edge; what is across of it; the next one of the lower end, or -1
} Side;

snwResult snwFolds_Find(
    snwArena* arena, const snwAssetMesh* mesh, const snwWeld* weld, snwFolds* folds, snwMessage* message)
{
    size_t most = 3 * (size_t)mesh->triangleCount + 1;
    Side* sides = snwArena_Alloc(arena, most, sizeof *sides);
    int* first = snwArena_Alloc(arena, (size_t)weld->count + 1, sizeof *first);
    *folds = (snwFolds){.corners = snwArena_Alloc(arena, most / 2 + 1, sizeof *folds->corners),
        .sharpest = snwArena_Alloc(arena, most / 2 + 1, sizeof(float)),
        .smooth = snwArena_Alloc(arena, most / 2 + 1, 1)};
    if (arena->failed)
        return snwFailMemory(message);
    memset(first, -1, (size_t)weld->count * sizeof *first);

    // Sides in lists by their lower end.
    for (int i = 0; i < 3 * mesh->triangleCount; ++i)
    {
        const int* corners = mesh->triangles[i / 3];
        int a = weld->map[corners[i % 3]], b = weld->map[corners[(i + 1) % 3]];
        int low = a < b ? a : b;
        sides[i] = (Side){a < b ? b : a, weld->sources[weld->map[corners[(i + 2) % 3]]], first[low]};
        first[low] = i;
    }

    // Each edge gets its first two sides; with a third one it is no pair.
    for (int low = 0; low < weld->count; ++low)
        for (int i = first[low]; i >= 0; i = sides[i].next)
        {
            int other = -1, count = 0;
            bool later = false; // one before it in the list is of the same edge
            for (int k = first[low]; k >= 0; k = sides[k].next)
            {
                later = later || (k == i && count > 0);
                count += sides[k].other == sides[i].other;
                if (k != i && sides[k].other == sides[i].other)
                    other = k;
            }

            if (later || count != 2 || sides[i].other == low)
                continue;
            int* corners = folds->corners[folds->count++];
            corners[0] = weld->sources[low], corners[1] = weld->sources[sides[i].other];
            corners[2] = sides[i].across, corners[3] = sides[other].across;
        }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

float snwFold_Bend(const snwVec3 corners[4], double least)
{
    snwVec3 edge = snwVec3_Sub(corners[1], corners[0]);
    snwVec3 u = snwVec3_Cross(edge, snwVec3_Sub(corners[2], corners[0]));
    snwVec3 v = snwVec3_Cross(snwVec3_Sub(corners[3], corners[0]), edge);
    double lower = least * snwVec3_Length(edge), product = snwVec3_Length(u) * snwVec3_Length(v);
    bool high = snwVec3_Length(u) > lower && snwVec3_Length(v) > lower && product > 0;
    return high ? (float)(snwVec3_Dot(u, v) / product) : 1.0f;
}

static float Bend(const int corners[4], const snwVec3* now, double least)
{
    return snwFold_Bend((const snwVec3[]){now[corners[0]], now[corners[1]], now[corners[2]], now[corners[3]]}, least);
}

void snwFolds_Begin(snwFolds* folds, const snwVec3* rest)
{
    for (int e = 0; e < folds->count; ++e)
    {
        folds->sharpest[e] = 1;
        folds->smooth[e] = Bend(folds->corners[e], rest, 0) > 0;
    }
}

int snwFolds_Meet(snwFolds* folds, const snwVec3* now, double least, int* worst)
{
    int count = 0;
    for (int e = 0; e < folds->count; ++e)
    {
        float bend = Bend(folds->corners[e], now, least);
        folds->sharpest[e] = fminf(folds->sharpest[e], bend);
        if (folds->smooth[e] && bend < SNW_FOLDED && count++ == 0)
            *worst = folds->corners[e][0];
    }
    return count;
}

int snwFolds_Count(const snwFolds* folds, const snwVec3* now, double least, int* worst)
{
    int count = 0;
    for (int e = 0; e < folds->count; ++e)
        if (folds->sharpest[e] >= SNW_CREASE && Bend(folds->corners[e], now, least) < SNW_FOLDED && count++ == 0)
            *worst = folds->corners[e][0];
    return count;
}
