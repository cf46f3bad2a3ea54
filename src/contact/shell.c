// What of a character takes part in contact, made once for its rest shape: points, facets and elements sorted so that
// leaves of the trees are compact, neighbours along the skin, and blocks for the kernels.

#include "contact/shell.h"
#include "base/sort.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Order: cut in two across the longest side, again and again, where a node of the tree begins (boxes.h). A
// space-filling curve (Morton's) was simpler and made leaves that reach from one side of a limb to the other: four
// times slower.

// Things of `arity` vertices each (entries of -1 do not count), sorted by their centres.
typedef struct Things
{
    int* corners;
    int arity, count;
} Things;

static snwVec3 CentreOfThing(const Things* things, int index, const snwVec3* rest)
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

typedef struct Order
{
    const snwVec3* centres;
    int* order; // of the things
} Order;

static double Coordinate(const Order* order, int at, int axis)
{
    snwVec3 centre = order->centres[order->order[at]];
    return axis == 0 ? centre.x : axis == 1 ? centre.y : centre.z;
}

// By coordinate, equal ones by number: so the result does not depend on how it was reached.
static bool IsBeforeInOrder(const Order* order, int at, double coordinate, int thing, int axis)
{
    double own = Coordinate(order, at, axis);
    return own < coordinate || (own == coordinate && order->order[at] < thing);
}

static bool IsBehindInOrder(const Order* order, int at, double coordinate, int thing, int axis)
{
    double own = Coordinate(order, at, axis);
    return own > coordinate || (own == coordinate && order->order[at] > thing);
}

// The `middle - begin` first along the axis come to stand in front (Hoare 1961).
static void Select(Order* order, int begin, int middle, int end, int axis)
{
    while (end - begin > 1)
    {
        // Around the middle thing: smaller ones to the front, larger ones behind.
        int pivot = order->order[begin + (end - begin) / 2], low = begin, high = end - 1;
        double at = Coordinate(order, begin + (end - begin) / 2, axis);
        while (low <= high)
        {
            while (IsBeforeInOrder(order, low, at, pivot, axis))
                low++;
            while (IsBehindInOrder(order, high, at, pivot, axis))
                high--;
            if (low > high)
                break;
            int swap = order->order[low];
            order->order[low++] = order->order[high];
            order->order[high--] = swap;
        }

        // Only the part that holds the wanted place goes on.
        if (middle <= high)
            end = high + 1;
        else if (middle >= low)
            begin = low;
        else
            return;
    }
}

static int LongestAxis(const Order* order, int begin, int end)
{
    snwVec3 lower = order->centres[order->order[begin]], upper = lower;
    for (int i = begin + 1; i < end; ++i)
    {
        lower = snwVec3_Min(lower, order->centres[order->order[i]]);
        upper = snwVec3_Max(upper, order->centres[order->order[i]]);
    }
    snwVec3 size = snwVec3_Sub(upper, lower);
    return size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
}

// Things under half of the nodes that `count` things have on their highest level.
static int HalfOf(int count, int perLeaf)
{
    int node = perLeaf;
    while (8 * (int64_t)node < count)
        node *= 8;
    return ((count + node - 1) / node + 1) / 2 * node;
}

static void CutUp(Order* order, int count, int perLeaf)
{
    struct
    {
        int begin, end;
    } stack[64] = {{0, count}};
    for (int depth = 1; depth > 0;)
    {
        int begin = stack[--depth].begin, end = stack[depth].end;
        if (end - begin <= perLeaf)
            continue;
        int middle = begin + HalfOf(end - begin, perLeaf);
        Select(order, begin, middle, end, LongestAxis(order, begin, end));
        stack[depth].begin = begin;
        stack[depth++].end = middle;
        stack[depth].begin = middle;
        stack[depth++].end = end;
    }
}

static bool SortThings(snwContext* context, Things things, const snwShell* shell, int perLeaf)
{
    size_t bytes = (size_t)things.arity * sizeof(int), count = (size_t)things.count;
    snwVec3* centres = snwAllocArray(context, count, sizeof *centres);
    int* order = snwAllocArray(context, count, sizeof *order);
    int* copy = snwCopyArray(context, things.corners, count, bytes);
    bool enough = centres != NULL && order != NULL && copy != NULL;

    // Sorted by their centres, cut in two along the longest side, again and again.
    for (int i = 0; enough && i < things.count; ++i)
    {
        centres[i] = CentreOfThing(&things, i, shell->rest);
        order[i] = i;
    }

    if (enough)
        CutUp(&(Order){centres, order}, things.count, perLeaf);
    for (int i = 0; enough && i < things.count; ++i)
        memcpy(things.corners + i * things.arity, copy + order[i] * things.arity, bytes);
    snwFree(context, centres);
    snwFree(context, order);
    snwFree(context, copy);

    return enough;
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

// Six tets around the diagonal from corner 0 to corner 6.
static const int s_hexTets[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};

static void CopyShellElements(snwShell* shell, const snwCharacterDef* def, snwArena* arena)
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

static double MeanShellEdge(const snwShell* shell)
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

    // Marks hold the leaf that saw a vertex last.
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

static void CopyFacets(snwShell* shell, const snwSkin* skin, snwArena* arena)
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

    // Both triangles of an inner edge give the same key; an edge alone is on the outline.
    for (int i = 0; enough && i < count; ++i)
    {
        uint64_t a = (uint64_t)shell->elements[i / 3][i % 3], b = (uint64_t)shell->elements[i / 3][(i + 1) % 3];
        keys[i] = a < b ? a << 32 | b : b << 32 | a;
        corners[i] = i;
    }

    // Equal keys stand side by side.
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
    // Counted one place late, so that filling moves each start to where it belongs.
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

static void MakeShellBlocks(snwShell* shell, snwArena* arena)
{
    int facets = snwLeafCount(shell->facetCount, snw_leafFacets);
    int elements = snwLeafCount(shell->elementCount, snw_leafElements);
    shell->facetBlocks = snwArena_Alloc(arena, (size_t)facets, sizeof *shell->facetBlocks);
    shell->elementBlocks = snwArena_Alloc(arena, (size_t)elements, sizeof *shell->elementBlocks);

    // Blocks of corners, leaf by leaf; what is left of the last one repeats the last facet. Missing corners repeat
    // the first.
    for (int i = 0; !arena->failed && i < facets * snw_leafFacets; ++i)
    {
        const int* facet = shell->facets[i < shell->facetCount ? i : shell->facetCount - 1];
        for (int k = 0; k < 3; ++k)
            shell->facetBlocks[i / snw_leafFacets][k][i % snw_leafFacets] = facet[k] < 0 ? facet[0] : facet[k];
    }

    for (int i = 0; !arena->failed && i < elements * snw_leafElements; ++i)
    {
        const int* element = shell->elements[i < shell->elementCount ? i : shell->elementCount - 1];
        for (int k = 0; k < 4; ++k)
            shell->elementBlocks[i / snw_leafElements][k][i % snw_leafElements] = element[k] < 0 ? element[0]
                                                                                                 : element[k];
    }
}

snwResult snwShell_Build(snwShell* shell, const snwCharacter* character, snwArena* arena, snwMessage* message)
{
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    snwSkin skin;
    snwResult result = snwCharacter_GetRestSkin(character, &skin);

    // Elements, then facets: the skin's triangles, or of a flat character the edges of its outline.
    *shell = (snwShell){.character = character, .rest = def->vertices, .vertexCount = def->vertexCount};
    shell->flat = def->triangleCount > 0;
    CopyShellElements(shell, def, arena);
    if (shell->flat && !arena->failed)
        FindOutline(shell, arena);
    else if (!arena->failed)
        CopyFacets(shell, &skin, arena);

    ListPoints(shell, arena);
    shell->reach = snwArena_Alloc(arena, (size_t)shell->vertexCount, sizeof *shell->reach);

    // Each list in the order of its own tree.
    bool enough = !arena->failed &&
                  SortThings(arena->context, (Things){shell->points, 1, shell->pointCount}, shell, snw_leafPoints) &&
                  SortThings(
                      arena->context, (Things){&shell->facets[0][0], 3, shell->facetCount}, shell, snw_leafFacets) &&
                  SortThings(arena->context, (Things){&shell->elements[0][0], 4, shell->elementCount}, shell,
                      snw_leafElements);

    if (enough)
    {
        shell->edge = MeanShellEdge(shell);
        MakeShellBlocks(shell, arena);
        ListLeafVertices(shell, arena);
        ListNeighbours(shell, arena);
    }

    return enough && !arena->failed ? result : snwFailMemory(message);
}
