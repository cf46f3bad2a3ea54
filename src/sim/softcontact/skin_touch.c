// Points near surfaces of skins (skin_touch.h), found with a grid of the points over what the bounds of both skins
// share.

#include "sim/softcontact/skin_touch.h"

#include "contact/facet.h"

#include <string.h>

enum
{
    snw_mostCells = 16 // along each axis
};

static const double s_flat = 1e-3;   // of the reach: nearer to an edge than this, the triangle's normal counts
static const double s_same = 1e-12;  // of a squared distance: two triangles meet there
static const double s_facing = -0.1; // most cosine between the normals of a point and of what it meets

snwResult snwSkinSearch_Create(snwContext* context, int capacity, snwSkinSearch* search, snwMessage* message)
{
    *search = (snwSkinSearch){.context = context, .capacity = capacity};
    size_t n = (size_t)capacity, cells = snw_mostCells * snw_mostCells * snw_mostCells;
    search->first = snwAllocArray(context, cells + 2, sizeof *search->first);
    search->order = snwAllocArray(context, n, sizeof *search->order);
    search->cellOf = snwAllocArray(context, n, sizeof *search->cellOf);
    search->normals = snwAllocArray(context, n, sizeof *search->normals);
    search->touches = snwAllocArray(context, n, sizeof *search->touches);
    if (search->first != NULL && search->order != NULL && search->cellOf != NULL && search->normals != NULL &&
        search->touches != NULL)
        return snw_ok;
    snwSkinSearch_Free(search);
    return snwFailMemory(message);
}

void snwSkinSearch_Free(snwSkinSearch* search)
{
    void* all[] = {search->first, search->order, search->cellOf, search->normals, search->touches};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        snwFree(search->context, all[i]);
    *search = (snwSkinSearch){.context = search->context};
}

// ---------------------------------------------------------------------------------------------------------------------
// The grid

typedef struct Grid
{
    double low[3], high[3], cell[3];
    int cells[3];
} Grid;

static void Bounds(const snwPointSkin* skin, double wider, double low[3], double high[3])
{
    for (int c = 0; c < 3; ++c)
        low[c] = INFINITY, high[c] = -INFINITY;
    for (int i = 0; i < skin->count; ++i)
    {
        const double at[3] = {skin->x[i].x, skin->x[i].y, skin->x[i].z};
        for (int c = 0; c < 3; ++c)
            low[c] = fmin(low[c], at[c] - wider), high[c] = fmax(high[c], at[c] + wider);
    }
}

static int CellOfGrid(const Grid* grid, int axis, double at)
{
    double cell = (at - grid->low[axis]) / grid->cell[axis];
    return cell < 0 ? 0 : cell >= grid->cells[axis] ? grid->cells[axis] - 1 : (int)cell;
}

// Over what both skins' boxes have in common. False: nothing.
static bool MakeGrid(const snwPointSkin* from, const snwPointSkin* onto, double reach, Grid* grid)
{
    double low[3], high[3];
    Bounds(from, 0, grid->low, grid->high);
    Bounds(onto, reach, low, high);
    for (int c = 0; c < 3; ++c)
    {
        grid->low[c] = fmax(grid->low[c], low[c]), grid->high[c] = fmin(grid->high[c], high[c]);
        double extent = grid->high[c] - grid->low[c];
        if (!(extent >= 0))
            return false;
        double cells = extent / (2 * reach);
        grid->cells[c] = cells < 1 ? 1 : cells > snw_mostCells ? snw_mostCells : (int)cells;
        grid->cell[c] = fmax(extent / grid->cells[c], 1e-300);
    }
    return true;
}

// Counting sort; points within a cell by number.
static void PutGridPoints(snwSkinSearch* search, const snwPointSkin* from, const Grid* grid)
{
    int cells = grid->cells[0] * grid->cells[1] * grid->cells[2], *first = search->first + 1;
    memset(search->first, 0, ((size_t)cells + 2) * sizeof *search->first);
    for (int i = 0; i < from->count; ++i)
    {
        // Points out of reach are in no cell.
        const double at[3] = {from->x[i].x, from->x[i].y, from->x[i].z};
        bool inside = true;
        for (int c = 0; c < 3; ++c)
            inside = inside && at[c] >= grid->low[c] && at[c] <= grid->high[c];
        search->cellOf[i] = -1;
        if (!inside)
            continue;

        search->cellOf[i] = (CellOfGrid(grid, 2, at[2]) * grid->cells[1] + CellOfGrid(grid, 1, at[1])) *
                                grid->cells[0] +
                            CellOfGrid(grid, 0, at[0]);
        ++first[search->cellOf[i] + 1];
    }

    // Starts one place late, so that filling moves them to where they belong.
    for (int c = 0; c < cells; ++c)
        first[c + 1] += first[c];
    for (int i = 0; i < from->count; ++i)
        if (search->cellOf[i] >= 0)
            search->order[first[search->cellOf[i]]++] = i;
}

static void PutNormals(snwSkinSearch* search, const snwPointSkin* from)
{
    memset(search->normals, 0, (size_t)from->count * sizeof *search->normals);
    for (int t = 0; t < from->triangleCount; ++t)
    {
        const int* at = from->triangles[t];
        snwFacet facet = {.p = {from->x[at[0]], from->x[at[1]], from->x[at[2]]}};
        snwVec3 normal = snwFacet_AreaNormal(&facet);
        for (int c = 0; c < 3; ++c)
            search->normals[at[c]] = snwVec3_Add(search->normals[at[c]], normal);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Pairs

// May this point of a skin meet this triangle of the same skin?
static bool MayMeet(const snwPointSkin* skin, const snwBodyTree* tree, int point, const int triangle[3])
{
    double longest = 0;
    for (int c = 0; c < 3; ++c)
        longest = fmax(longest, snwVec3_Distance(skin->rest[triangle[c]], skin->rest[triangle[(c + 1) % 3]]));

    // Not what is next to it in the rest pose, nor what hangs on the same or a joined link.
    for (int c = 0; c < 3; ++c)
    {
        if (snwVec3_Distance(skin->rest[point], skin->rest[triangle[c]]) <= longest)
            return false;

        for (int k = 0; k < skin->linkCount; ++k)
        {
            if (skin->shares[point * skin->linkCount + k] == 0)
                continue;
            int own = skin->links[k];
            for (int l = 0; l < skin->linkCount; ++l)
            {
                int other = skin->links[l];
                bool joined = own == other || tree->links[own].joint.parentBone == other ||
                              tree->links[other].joint.parentBone == own;
                if (joined && skin->shares[triangle[c] * skin->linkCount + l] != 0)
                    return false;
            }
        }
    }

    return true;
}

// Keeps the nearer of what a point meets; where two triangles meet, the one that it is more above, or below.
static void Consider(snwSkinTouch* touch, const snwFacet* facet, int triangle, snwVec3 x, double reach)
{
    snwFacetPoint nearest = snwFacet_Closest(facet, x);
    if (nearest.squared > reach * reach)
        return;
    snwVec3 normal = snwFacet_Normal(facet), d = snwVec3_Sub(x, nearest.point);
    double above = snwVec3_Dot(d, normal), length = sqrt(nearest.squared);
    bool same = touch->triangle >= 0 &&
                fabs(nearest.squared - touch->squared) <= s_same * (nearest.squared + touch->squared);
    if (touch->triangle >= 0 && (same ? fabs(above) <= fabs(touch->gap) : nearest.squared >= touch->squared))
        return;

    *touch = (snwSkinTouch){.triangle = triangle, .normal = normal, .gap = above, .squared = nearest.squared};
    memcpy(touch->weights, nearest.weights, sizeof touch->weights);
    bool inside = nearest.weights[0] > 0 && nearest.weights[1] > 0 && nearest.weights[2] > 0;
    if (above > 0 && !inside && length > s_flat * reach)
        touch->normal = snwVec3_Scale(d, 1 / length), touch->gap = length;
}

bool snwSkinSearch_Find(
    snwSkinSearch* search, const snwPointSkin* from, const snwPointSkin* onto, const snwBodyTree* tree, double reach)
{
    Grid grid;
    for (int i = 0; i < from->count; ++i)
        search->touches[i] = (snwSkinTouch){.triangle = -1};
    if (onto->triangleCount == 0 || from->triangleCount == 0 || !MakeGrid(from, onto, reach, &grid))
        return false;

    PutGridPoints(search, from, &grid);
    PutNormals(search, from);

    bool any = false;
    for (int t = 0; t < onto->triangleCount; ++t)
    {
        const int* at = onto->triangles[t];
        snwFacet facet = {.p = {onto->x[at[0]], onto->x[at[1]], onto->x[at[2]]}};
        int low[3], high[3];
        bool far = false;

        // Cells that the triangle, grown by the reach, lies in.
        for (int c = 0; c < 3; ++c)
        {
            const double p[3] = {(&facet.p[0].x)[c], (&facet.p[1].x)[c], (&facet.p[2].x)[c]};
            double least = fmin(fmin(p[0], p[1]), p[2]) - reach, most = fmax(fmax(p[0], p[1]), p[2]) + reach;
            far = far || most < grid.low[c] || least > grid.high[c];
            low[c] = CellOfGrid(&grid, c, least), high[c] = CellOfGrid(&grid, c, most);
        }

        if (far)
            continue;

        // Rows of cells along x follow each other, so their points are one list.
        snwVec3 normal = snwFacet_Normal(&facet);
        for (int z = low[2]; z <= high[2]; ++z)
            for (int y = low[1]; y <= high[1]; ++y)
            {
                int row = (z * grid.cells[1] + y) * grid.cells[0];
                for (int k = search->first[row + low[0]]; k < search->first[row + high[0] + 1]; ++k)
                {
                    int i = search->order[k];

                    // Not from behind, and in one skin not from next door.
                    if (snwVec3_Dot(search->normals[i], normal) > s_facing * snwVec3_Length(search->normals[i]) ||
                        (from == onto && !MayMeet(from, tree, i, at)))
                        continue;
                    Consider(&search->touches[i], &facet, t, from->x[i], reach);
                    any = any || search->touches[i].triangle >= 0;
                }
            }
    }

    return any;
}
