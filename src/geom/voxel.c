// A dense grid with a rim of two empty voxels. Blocks of voxels far from the surface are filled without asking for
// each.

#include "geom/voxel.h"
#include "base/array.h"
#include "geom/lattice.h"
#include "geom/measure.h"

#include <string.h>

enum
{
    snw_voxelRim = 2,
    snw_voxelBlock = 4,
    snw_maxGrid = 64000000,
    snw_voxelFits = 10
};

typedef struct Grid
{
    snwContext* context;
    const snwSolid* solid;
    snwVec3 origin; // centre of voxel 0
    double spacing;
    int size[3];
    int count;
    double* values; // distance at the centre, or a bound of it where it is far
    bool* in;
} Grid;

static int VoxelAt(const Grid* grid, int x, int y, int z)
{
    return x + grid->size[0] * (y + grid->size[1] * z);
}

static snwVec3 VoxelCenter(const Grid* grid, int x, int y, int z)
{
    return snwVec3_MulAdd(grid->origin, grid->spacing, (snwVec3){x, y, z});
}

static double VoxelDistance(const Grid* grid, snwVec3 point)
{
    return grid->solid->distance(point, grid->solid->data);
}

static int Smaller(int a, int b)
{
    return a < b ? a : b;
}

// ---------------------------------------------------------------------------------------------------------------------
// Distances

static void EvaluateBlock(Grid* grid, int x0, int y0, int z0)
{
    double middle = 0.5 * (snw_voxelBlock - 1), reach = 0.96 * snw_voxelBlock * grid->spacing;
    snwVec3 center = snwVec3_MulAdd(VoxelCenter(grid, x0, y0, z0), grid->spacing, (snwVec3){middle, middle, middle});
    double far = VoxelDistance(grid, center);
    for (int z = z0; z < Smaller(z0 + snw_voxelBlock, grid->size[2]); ++z)
        for (int y = y0; y < Smaller(y0 + snw_voxelBlock, grid->size[1]); ++y)
            for (int x = x0; x < Smaller(x0 + snw_voxelBlock, grid->size[0]); ++x)
                grid->values[VoxelAt(grid, x, y, z)] = fabs(far) > reach
                                                           ? far
                                                           : VoxelDistance(grid, VoxelCenter(grid, x, y, z));
}

static void EvaluateVoxels(int begin, int end, void* data)
{
    Grid* grid = data;
    for (int z = begin; z < end; ++z)
        for (int y = 0; y < grid->size[1]; y += snw_voxelBlock)
            for (int x = 0; x < grid->size[0]; x += snw_voxelBlock)
                EvaluateBlock(grid, x, y, z * snw_voxelBlock);
}

// Is one of the eight centres around the point inside? `voxel` gets the voxel that holds the point.
static bool IsCovered(const Grid* grid, snwVec3 point, int* voxel)
{
    snwVec3 at = snwVec3_Scale(snwVec3_Sub(point, grid->origin), 1 / grid->spacing);
    *voxel = VoxelAt(grid, (int)floor(at.x + 0.5), (int)floor(at.y + 0.5), (int)floor(at.z + 0.5));
    int lower = VoxelAt(grid, (int)floor(at.x), (int)floor(at.y), (int)floor(at.z));
    const int row = grid->size[0], layer = grid->size[0] * grid->size[1];
    for (int k = 0; k < 8; ++k)
        if (grid->values[lower + (k & 1) + (k & 2 ? row : 0) + (k & 4 ? layer : 0)] <= 0)
            return true;
    return false;
}

// A part thinner than a voxel can miss all centres. The nearest point inside, as seen from the middle of an octant of a
// voxel, tells: if no centre around it is inside, its voxel is missing. -1: none.
static int FindThinVoxel(const Grid* grid, snwVec3 p)
{
    int voxel;
    if (IsCovered(grid, p, &voxel))
        return -1;
    double value = VoxelDistance(grid, p), step = 0.02 * grid->spacing;
    if (value > 0.45 * grid->spacing)
        return -1;
    if (value > 0)
    {
        snwVec3 inward = {value - VoxelDistance(grid, (snwVec3){p.x + step, p.y, p.z}),
            value - VoxelDistance(grid, (snwVec3){p.x, p.y + step, p.z}),
            value - VoxelDistance(grid, (snwVec3){p.x, p.y, p.z + step})};
        p = snwVec3_MulAdd(p, value + step, snwVec3_Normalize(inward));
        if (!(VoxelDistance(grid, p) <= 0) || IsCovered(grid, p, &voxel))
            return -1;
    }
    return voxel;
}

typedef struct ThinLoop
{
    Grid* grid;
    snwArray(int) near; // voxels with their centre outside, but near
    int (*found)[8];    // by those and octant: the missing one that it saw, or -1
} ThinLoop;

static void FindThinRange(int begin, int end, void* data)
{
    ThinLoop* loop = data;
    Grid* grid = loop->grid;
    const int row = grid->size[0], layer = grid->size[0] * grid->size[1];
    for (int i = begin; i < end; ++i)
        for (int k = 0; k < 8; ++k)
        {
            int voxel = loop->near.data[i];
            snwVec3 center = VoxelCenter(grid, voxel % row, voxel / row % grid->size[1], voxel / layer);
            snwVec3 octant = {k & 1 ? 0.25 : -0.25, k & 2 ? 0.25 : -0.25, k & 4 ? 0.25 : -0.25};
            loop->found[i][k] = FindThinVoxel(grid, snwVec3_MulAdd(center, grid->spacing, octant));
        }
}

static bool ListNear(Grid* grid, ThinLoop* loop)
{
    for (int z = snw_voxelRim; z < grid->size[2] - snw_voxelRim; ++z)
        for (int y = snw_voxelRim; y < grid->size[1] - snw_voxelRim; ++y)
            for (int x = snw_voxelRim; x < grid->size[0] - snw_voxelRim; ++x)
            {
                int voxel = VoxelAt(grid, x, y, z);
                bool near = grid->values[voxel] > 0 && grid->values[voxel] < grid->spacing;
                if (near && !snwArray_Push(grid->context, &loop->near, voxel))
                    return false;
            }
    return true;
}

static bool MarkThin(Grid* grid)
{
    ThinLoop loop = {.grid = grid};
    bool enough = ListNear(grid, &loop);
    loop.found = enough ? snwAllocArray(grid->context, (size_t)loop.near.count, sizeof *loop.found) : NULL;
    enough = loop.found != NULL;
    if (enough)
        snwParallelFor(grid->context, loop.near.count, 64, FindThinRange, &loop);
    for (int i = 0; enough && i < loop.near.count; ++i)
        for (int k = 0; k < 8; ++k)
            if (loop.found[i][k] >= 0)
                grid->in[loop.found[i][k]] = true;
    snwFree(grid->context, loop.found);
    snwArray_Free(grid->context, &loop.near);
    return enough;
}

// ---------------------------------------------------------------------------------------------------------------------
// Manifold

// Are the voxels of a 2 x 2 x 2 block that are set in `mask` connected by faces?
static bool IsConnected(int mask)
{
    int reached = mask & -mask;
    for (int last = 0; reached != last;)
    {
        last = reached;
        for (int k = 0; k < 8; ++k)
            if (last >> k & 1)
                reached |= mask & (1 << (k ^ 1) | 1 << (k ^ 2) | 1 << (k ^ 4));
    }
    return reached == mask;
}

// Fills the block whose lower voxel is (x, y, z) until inside and outside are each of one piece there: the boundary is
// a manifold around the corner in its middle. True if something was added.
static bool MendBlock(Grid* grid, int x, int y, int z)
{
    bool mended = false;
    for (;;)
    {
        int mask = 0, nearest = -1;
        for (int k = 0; k < 8; ++k)
        {
            int voxel = VoxelAt(grid, x + (k & 1), y + (k >> 1 & 1), z + (k >> 2));
            mask |= grid->in[voxel] ? 1 << k : 0;
            if (!grid->in[voxel] && (nearest < 0 || grid->values[voxel] < grid->values[nearest]))
                nearest = voxel;
        }
        if (mask == 0 || mask == 255 || (IsConnected(mask) && IsConnected(255 ^ mask)))
            return mended;
        grid->in[nearest] = true;
        mended = true;
    }
}

static void MendVoxels(Grid* grid)
{
    for (bool again = true; again;)
    {
        again = false;
        for (int z = 0; z + 1 < grid->size[2]; ++z)
            for (int y = 0; y + 1 < grid->size[1]; ++y)
                for (int x = 0; x + 1 < grid->size[0]; ++x)
                    again = MendBlock(grid, x, y, z) || again;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Pieces

// Marks the piece of voxel `start` with `piece` and counts it; `stack` has room for all voxels.
static int FloodPiece(const Grid* grid, int start, int piece, int* pieces, int* stack)
{
    const int steps[3] = {1, grid->size[0], grid->size[0] * grid->size[1]};
    int count = 0, height = 0;

    // With a stack of its own, as pieces may hold millions of voxels.
    stack[height++] = start;
    pieces[start] = piece;

    while (height > 0)
    {
        int voxel = stack[--height];
        count++;
        for (int d = 0; d < 6; ++d)
        {
            int other = voxel + (d % 2 ? steps[d / 2] : -steps[d / 2]); // the rim is empty: no row ends here
            if (!grid->in[other] || pieces[other] != 0)
                continue;
            pieces[other] = piece;
            stack[height++] = other;
        }
    }

    return count;
}

// Pieces smaller than a fiftieth of the largest go.
static bool DropVoxelCrumbs(Grid* grid)
{
    int* pieces = snwAllocArray(grid->context, (size_t)grid->count, sizeof *pieces);
    int* stack = snwAllocArray(grid->context, (size_t)grid->count, sizeof *stack);
    snwArray(int) counts = {0};
    bool enough = pieces != NULL && stack != NULL && snwArray_Push(grid->context, &counts, 0);
    int largest = 0;

    // All pieces and how large they are.
    for (int i = 0; enough && i < grid->count; ++i)
    {
        if (!grid->in[i] || pieces[i] != 0)
            continue;
        int count = FloodPiece(grid, i, counts.count, pieces, stack);
        largest = count > largest ? count : largest;
        enough = snwArray_Push(grid->context, &counts, count);
    }

    for (int i = 0; enough && i < grid->count; ++i)
        if (grid->in[i] && 50 * (int64_t)counts.data[pieces[i]] < largest)
            grid->in[i] = false;
    snwFree(grid->context, pieces);
    snwFree(grid->context, stack);
    snwArray_Free(grid->context, &counts);

    return enough;
}

// ---------------------------------------------------------------------------------------------------------------------
// The mesh

static bool EmitMesh(const Grid* grid, snwArena* arena, snwHexMesh* mesh)
{
    // Corners get numbers when a voxel first needs them; the rim has room for upper corners.
    int* corners = snwAllocArray(grid->context, (size_t)grid->count, sizeof *corners); // lower corner of a voxel, + 1
    int hexCount = 0;
    for (int i = 0; i < grid->count; ++i)
        hexCount += grid->in[i];
    mesh->hexes = snwArena_Alloc(arena, (size_t)hexCount, sizeof *mesh->hexes);
    bool enough = corners != NULL && mesh->hexes != NULL;
    const int row = grid->size[0], layer = grid->size[0] * grid->size[1];

    for (int i = 0; enough && i < grid->count; ++i)
        for (int k = 0; k < 8 && grid->in[i]; ++k)
        {
            int* corner = &corners[i + (k & 1) + (k & 2 ? row : 0) + (k & 4 ? layer : 0)];
            *corner = *corner != 0 ? *corner : ++mesh->vertexCount;
            mesh->hexes[mesh->hexCount][k] = *corner - 1;
            mesh->hexCount += k == 7;
        }

    mesh->vertices = enough ? snwArena_Alloc(arena, (size_t)mesh->vertexCount, sizeof *mesh->vertices) : NULL;
    enough = mesh->vertices != NULL;

    // Corners lie half a voxel below the centres.
    for (int i = 0; enough && i < grid->count; ++i)
    {
        int x = i % row, y = i / row % grid->size[1], z = i / layer;
        if (corners[i] != 0)
            mesh->vertices[corners[i] - 1] = snwVec3_MulAdd(
                grid->origin, grid->spacing, (snwVec3){x - 0.5, y - 0.5, z - 0.5});
    }

    mesh->spacing = grid->spacing;
    snwFree(grid->context, corners);
    return enough;
}

static snwResult PlaceGrid(Grid* grid, snwMessage* message)
{
    const snwSolid* solid = grid->solid;
    snwVec3 size = snwVec3_Sub(solid->upper, solid->lower);
    if (!(grid->spacing > 0) || !isfinite(grid->spacing))
        return snwFail(message, snw_errorArgument, "use a length in metres", "spacing is %g", grid->spacing);
    if (!snwVec3_IsFinite(size) || !(size.x > 0 && size.y > 0 && size.z > 0))
        return snwFail(
            message, snw_errorInput, "give it some shape", "the solid is empty or its bounds are not finite");
    const double sizes[3] = {size.x, size.y, size.z};
    double product = 1;

    // Refused before it overflows.
    for (int k = 0; k < 3; ++k)
    {
        double voxels = ceil(sizes[k] / grid->spacing - 1e-9) + 2 * snw_voxelRim + 1;
        product *= voxels;
        if (product > snw_maxGrid)
            return snwFail(message, snw_errorArgument, "use a larger spacing",
                "a spacing of %g m needs a grid of more than %d million voxels", grid->spacing, snw_maxGrid / 1000000);
        grid->size[k] = (int)voxels;
    }

    // Symmetric about the solid's middle.
    grid->count = grid->size[0] * grid->size[1] * grid->size[2];
    snwVec3 half = {0.5 * (grid->size[0] - 1), 0.5 * (grid->size[1] - 1), 0.5 * (grid->size[2] - 1)};
    grid->origin = snwVec3_MulAdd(snwVec3_Lerp(solid->lower, solid->upper, 0.5), -grid->spacing, half);
    return snw_ok;
}

static snwResult FillGrid(Grid* grid, snwMessage* message)
{
    grid->values = snwAllocArray(grid->context, (size_t)grid->count, sizeof *grid->values);
    grid->in = snwAllocArray(grid->context, (size_t)grid->count, sizeof *grid->in);
    if (grid->values == NULL || grid->in == NULL)
        return snwFailMemory(message);
    snwParallelFor(grid->context, (grid->size[2] - 1) / snw_voxelBlock + 1, 1, EvaluateVoxels, grid);

    // Inside is where the distance is not positive; a solid that reaches the rim was given wrong bounds.
    for (int i = 0; i < grid->count; ++i)
    {
        int x = i % grid->size[0], y = i / grid->size[0] % grid->size[1], z = i / (grid->size[0] * grid->size[1]);
        if (!isfinite(grid->values[i]))
            return snwFailDistance(message, VoxelCenter(grid, x, y, z));
        bool rim = x == 0 || y == 0 || z == 0 || x + 1 == grid->size[0] || y + 1 == grid->size[1] ||
                   z + 1 == grid->size[2];
        if (rim && grid->values[i] <= 0)
            return snwFail(
                message, snw_errorInput, "make lower and upper hold all of it", "the solid is larger than its bounds");
        grid->in[i] = grid->values[i] <= 0;
    }

    return MarkThin(grid) ? snw_ok : snwFailMemory(message);
}

snwResult snwVoxelizeSolid(
    snwContext* context, const snwSolid* solid, double spacing, snwArena* arena, snwHexMesh* mesh, snwMessage* message)
{
    *mesh = (snwHexMesh){0};
    Grid grid = {.context = context, .solid = solid, .spacing = spacing};
    snwResult result = PlaceGrid(&grid, message);
    result = result < 0 ? result : FillGrid(&grid, message);

    if (result >= 0)
    {
        MendVoxels(&grid);
        // Dropping whole pieces leaves the others as they are.
        if (!DropVoxelCrumbs(&grid) || !EmitMesh(&grid, arena, mesh))
            result = snwFailMemory(message);
        else if (mesh->hexCount == 0)
            result = snwFail(
                message, snw_errorInput, "use a smaller spacing", "no voxel of %g m is inside the solid", spacing);
    }

    snwFree(context, grid.values);
    snwFree(context, grid.in);
    return result;
}

snwResult snwFitVoxels(
    snwContext* context, const snwSolid* solid, int hexes, snwArena* arena, snwHexMesh* mesh, snwMessage* message)
{
    *mesh = (snwHexMesh){0};
    double volume = 0, low = 0, high = INFINITY, bestSpacing = 0;
    int bestMiss = INT32_MAX;
    if (hexes < 1 || hexes > snw_maxVoxels)
        return snwFail(message, snw_errorArgument, "ask for 1 to 4 million", "%d hexahedra are wanted", hexes);
    snwResult result = snwSolid_Volume(context, solid, &volume, message);
    double spacing = snwRoundSpacing(cbrt(volume / hexes));

    // Counts jitter, so it is a search: by the cube root of the ratio, later by halving, until within half a percent.
    for (int i = 0; i < snw_voxelFits && result >= 0 && bestMiss > hexes / 200; ++i)
    {
        snwArena scratch = {.context = context};
        snwHexMesh trial;
        result = snwVoxelizeSolid(context, solid, spacing, &scratch, &trial, message);
        snwArena_Free(&scratch);
        if (result < 0)
            break;
        int miss = trial.hexCount > hexes ? trial.hexCount - hexes : hexes - trial.hexCount;
        if (miss < bestMiss)
            bestMiss = miss, bestSpacing = spacing;

        // Too many need a larger spacing.
        if (trial.hexCount > hexes)
            low = spacing;
        else
            high = spacing;

        double guess = spacing * cbrt((double)trial.hexCount / hexes);
        spacing = guess > low && guess < high && i < 4 ? guess : isfinite(high) && low > 0 ? 0.5 * (low + high) : guess;
        spacing = snwRoundSpacing(spacing);
    }

    // Made once more, this time to stay.
    if (result >= 0)
        result = snwVoxelizeSolid(context, solid, bestSpacing, arena, mesh, message);
    if (result >= 0 && bestMiss > hexes / 20)
        result = snwFail(
            message, snw_warning, "ask for another number", "%d hexahedra instead of %d", mesh->hexCount, hexes);
    return result;
}
