#include "contact/shell.h"
#include "base/sort.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Order along a space-filling curve

typedef struct Grid
{
    snwVec3 lower;
    double perMetre;
} Grid;

static Grid MakeGrid(const snwVec3* points, int count)
{
    snwVec3 lower = count > 0 ? points[0] : (snwVec3){0, 0, 0}, upper = lower;
    for (int i = 1; i < count; ++i)
    {
        lower = snwVec3_Min(lower, points[i]);
        upper = snwVec3_Max(upper, points[i]);
    }
    snwVec3 size = snwVec3_Sub(upper, lower);
    double longest = fmax(size.x, fmax(size.y, size.z));
    return (Grid){lower, longest > 0.0 ? 1.0 / longest : 0.0};
}

static uint64_t CodeOf(const Grid* grid, snwVec3 p)
{
    snwVec3 place = snwVec3_Scale(snwVec3_Sub(p, grid->lower), grid->perMetre);
    return snwMortonCode((const double[]){place.x, place.y, place.z});
}

// Things of `arity` vertices each (entries of -1 do not count), sorted by their centres.
typedef struct Things
{
    int* corners;
    int arity, count;
} Things;

static snwVec3 CentreOf(const Things* things, int index, const snwVec3* rest)
{
    snwVec3 sum = {0, 0, 0};
    int count = 0;
    for (int k = 0; k < things->arity; ++k)
    {
        int vertex = things->corners[index * things->arity + k];
        if (vertex >= 0)
        {
            sum = snwVec3_Add(sum, rest[vertex]);
            count++;
        }
    }
    return snwVec3_Scale(sum, 1.0 / count);
}

static bool SortThings(snwContext* context, Things things, const snwShell* shell)
{
    size_t bytes = (size_t)things.arity * sizeof(int), count = (size_t)things.count;
    Grid grid = MakeGrid(shell->rest, shell->vertexCount);
    uint64_t* keys = snwAllocArray(context, count, sizeof *keys);
    int* order = snwAllocArray(context, count, sizeof *order);
    int* copy = snwCopyArray(context, things.corners, count, bytes);
    bool enough = keys != NULL && order != NULL && copy != NULL;
    for (int i = 0; enough && i < things.count; ++i)
    {
        keys[i] = CodeOf(&grid, CentreOf(&things, i, shell->rest));
        order[i] = i;
    }
    enough = enough && snwSortKeys(context, keys, order, things.count);
    for (int i = 0; enough && i < things.count; ++i)
        memcpy(things.corners + i * things.arity, copy + order[i] * things.arity, bytes);
    snwFree(context, keys);
    snwFree(context, order);
    snwFree(context, copy);
    return enough;
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

// Six tets around the diagonal from corner 0 to corner 6.
static const int s_hexTets[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};

static void CopyElements(snwShell* shell, const snwCharacterDef* def, snwArena* arena)
{
    shell->elementCount = def->tetCount + 6 * def->hexCount + def->triangleCount;
    shell->elements = snwArena_Alloc(arena, (size_t)shell->elementCount, sizeof *shell->elements);
    int(*to)[4] = shell->elements;
    if (arena->failed)
        return;
    for (int i = 0; i < def->tetCount; ++i)
        memcpy(*to++, def->tets[i], sizeof *to);
    for (int i = 0; i < 6 * def->hexCount; ++i, ++to)
        for (int k = 0; k < 4; ++k)
            (*to)[k] = def->hexes[i / 6][s_hexTets[i % 6][k]];
    for (int i = 0; i < def->triangleCount; ++i, ++to)
        memcpy(*to, (const int[]){def->triangles[i][0], def->triangles[i][1], def->triangles[i][2], -1}, sizeof *to);
}

static double MeanEdge(const snwShell* shell)
{
    double sum = 0.0;
    int corners = shell->flat ? 3 : 4, count = 0;
    for (int i = 0; i < shell->elementCount; ++i)
        for (int k = 0; k < corners; ++k)
        {
            const int* e = shell->elements[i];
            sum += snwVec3_Distance(shell->rest[e[k]], shell->rest[e[(k + 1) % corners]]);
            count++;
        }
    return count > 0 ? sum / count : 0.0;
}

// The different vertices of each leaf: the box of a leaf of 32 tets needs about 20 of them instead of 128.
static void ListLeafVertices(snwShell* shell, snwArena* arena)
{
    int leaves = snwLeafCount(shell->elementCount, snw_leafElements), count = 0;
    int* seen = snwAllocArray(arena->context, (size_t)shell->vertexCount, sizeof *seen);
    shell->leafStarts = snwArena_Alloc(arena, (size_t)leaves + 1, sizeof *shell->leafStarts);
    shell->leafVertices = snwArena_Alloc(arena, 4 * (size_t)shell->elementCount, sizeof *shell->leafVertices);
    arena->failed = arena->failed || seen == NULL;
    for (int leaf = 0; !arena->failed && leaf < leaves; ++leaf)
    {
        int end = (leaf + 1) * snw_leafElements;
        shell->leafStarts[leaf] = count;
        for (int i = leaf * snw_leafElements; i < end && i < shell->elementCount; ++i)
            for (int k = 0; k < 4; ++k)
            {
                int vertex = shell->elements[i][k];
                if (vertex < 0 || seen[vertex] == leaf + 1)
                    continue;
                seen[vertex] = leaf + 1;
                shell->leafVertices[count++] = vertex;
            }
        shell->leafStarts[leaf + 1] = count;
    }
    snwFree(arena->context, seen);
}

// ---------------------------------------------------------------------------------------------------------------------
// Facets

static void CopySkin(snwShell* shell, const snwSkin* skin, snwArena* arena)
{
    shell->facetCount = skin->triangleCount;
    shell->facets = snwArena_Alloc(arena, (size_t)shell->facetCount, sizeof *shell->facets);
    for (int i = 0; !arena->failed && i < 3 * shell->facetCount; ++i)
        shell->facets[i / 3][i % 3] = skin->vertices[skin->triangles[i]];
}

// Edges with one triangle, as that triangle goes along them: the outside is on their right.
static void FindOutline(snwShell* shell, snwArena* arena)
{
    int count = 3 * shell->elementCount;
    uint64_t* keys = snwAllocArray(arena->context, (size_t)count, sizeof *keys);
    int* corners = snwAllocArray(arena->context, (size_t)count, sizeof *corners);
    shell->facets = snwArena_Alloc(arena, (size_t)count, sizeof *shell->facets);
    bool enough = keys != NULL && corners != NULL && shell->facets != NULL;
    for (int i = 0; enough && i < count; ++i)
    {
        uint64_t a = (uint64_t)shell->elements[i / 3][i % 3], b = (uint64_t)shell->elements[i / 3][(i + 1) % 3];
        keys[i] = a < b ? a << 32 | b : b << 32 | a;
        corners[i] = i;
    }
    enough = enough && snwSortKeys(arena->context, keys, corners, count);
    for (int i = 0; enough && i < count; ++i)
    {
        bool twin = (i > 0 && keys[i] == keys[i - 1]) || (i + 1 < count && keys[i] == keys[i + 1]);
        const int *element = shell->elements[corners[i] / 3], from = corners[i] % 3;
        if (!twin)
            memcpy(shell->facets[shell->facetCount++], (const int[]){element[from], element[(from + 1) % 3], -1},
                sizeof *shell->facets);
    }
    snwFree(arena->context, keys);
    snwFree(arena->context, corners);
    arena->failed = arena->failed || !enough;
}

// The vertices of the facets, or all where there are none.
static void ListPoints(snwShell* shell, snwArena* arena)
{
    bool* used = snwAllocArray(arena->context, (size_t)shell->vertexCount, sizeof *used);
    shell->points = snwArena_Alloc(arena, (size_t)shell->vertexCount, sizeof *shell->points);
    arena->failed = arena->failed || used == NULL;
    if (!arena->failed)
    {
        for (int i = 0; i < 3 * shell->facetCount; ++i)
            if (shell->facets[i / 3][i % 3] >= 0)
                used[shell->facets[i / 3][i % 3]] = true;
        for (int i = 0; i < shell->vertexCount; ++i)
            if (used[i] || shell->facetCount == 0)
                shell->points[shell->pointCount++] = i;
    }
    snwFree(arena->context, used);
}

// Every facet lists the next corner for each of its corners: so an edge between two triangles is listed once at either
// end, and the edge of an outline, whose two corners follow each other both ways, too.
static void ListNeighbours(snwShell* shell, snwArena* arena)
{
    int corners = shell->flat ? 2 : 3;
    size_t total = (size_t)shell->facetCount * (size_t)corners;
    shell->neighbourStarts = snwArena_Alloc(arena, (size_t)shell->vertexCount + 2, sizeof *shell->neighbourStarts);
    shell->neighbours = snwArena_Alloc(arena, total, sizeof *shell->neighbours);
    if (arena->failed)
        return;
    int* next = shell->neighbourStarts + 1; // becomes starts once filled
    for (int i = 0; i < shell->facetCount; ++i)
        for (int k = 0; k < corners; ++k)
            next[shell->facets[i][k] + 1]++;
    for (int i = 0; i < shell->vertexCount; ++i)
        next[i + 1] += next[i];
    for (int i = 0; i < shell->facetCount; ++i)
        for (int k = 0; k < corners; ++k)
        {
            int from = shell->facets[i][k], to = shell->facets[i][(k + 1) % corners];
            shell->neighbours[next[from]++] = to;
        }
}

snwResult snwShell_Build(snwShell* shell, const snwCharacter* character, snwArena* arena, snwMessage* message)
{
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    snwSkin skin;
    snwResult result = snwCharacter_GetRestSkin(character, &skin);
    *shell = (snwShell){.character = character, .rest = def->vertices, .vertexCount = def->vertexCount};
    shell->flat = def->triangleCount > 0;
    CopyElements(shell, def, arena);
    if (shell->flat && !arena->failed)
        FindOutline(shell, arena);
    else if (!arena->failed)
        CopySkin(shell, &skin, arena);
    ListPoints(shell, arena);
    shell->reach = snwArena_Alloc(arena, (size_t)shell->vertexCount, sizeof *shell->reach);
    bool enough = !arena->failed && SortThings(arena->context, (Things){shell->points, 1, shell->pointCount}, shell) &&
                  SortThings(arena->context, (Things){&shell->facets[0][0], 3, shell->facetCount}, shell) &&
                  SortThings(arena->context, (Things){&shell->elements[0][0], 4, shell->elementCount}, shell);
    if (enough)
    {
        shell->edge = MeanEdge(shell);
        ListLeafVertices(shell, arena);
        ListNeighbours(shell, arena);
    }
    return enough && !arena->failed ? result : snwFailMemory(message);
}
