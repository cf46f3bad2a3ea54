// Vertices that files split become one again: those at exactly the same place by sorting, those within a tolerance by
// a grid of cells. The map between both numberings is kept.

#include "geom/weld.h"

#include "base/sort.h"
#include "math/vec.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Exactly the same place: sorted by x, y, z and key, equal ones are neighbours. A hash would be quicker for most files
// and slow for one made to collide.

static uint64_t Bits(double value)
{
    uint64_t bits;
    value += 0.0; // -0 is 0
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t WeldSortKey(const snwWeldDef* def, int vertex, int pass)
{
    snwVec3 p = def->positions[vertex];
    if (pass == 0)
        return def->keys == NULL ? 0 : def->keys[vertex];
    return Bits(pass == 1 ? p.z : pass == 2 ? p.y : p.x);
}

static bool SortWeldVertices(snwContext* context, const snwWeldDef* def, int* order)
{
    uint64_t* keys = snwAllocArray(context, (size_t)def->count, sizeof *keys);
    bool sorted = keys != NULL;
    for (int i = 0; i < def->count; ++i)
        order[i] = i;
    for (int pass = def->keys == NULL; pass < 4 && sorted; ++pass)
    {
        for (int i = 0; i < def->count; ++i)
            keys[i] = WeldSortKey(def, order[i], pass);
        sorted = snwSortKeys(context, keys, order, def->count);
    }
    snwFree(context, keys);
    return sorted;
}

static bool IsSameVertex(const snwWeldDef* def, int a, int b)
{
    for (int pass = 0; pass < 4; ++pass)
        if (WeldSortKey(def, a, pass) != WeldSortKey(def, b, pass))
            return false;
    return true;
}

// kept[i]: the first vertex at the place of vertex i. The sort is stable, so the first of a run has the lowest number.
static bool FindEqual(snwContext* context, const snwWeldDef* def, int* kept)
{
    int* order = snwAllocArray(context, (size_t)def->count, sizeof *order);
    bool done = order != NULL && SortWeldVertices(context, def, order);
    for (int i = 0, first = 0; i < def->count && done; ++i)
    {
        if (!IsSameVertex(def, order[first], order[i]))
            first = i;
        kept[order[i]] = order[first];
    }
    snwFree(context, order);
    return done;
}

// ---------------------------------------------------------------------------------------------------------------------
// Nearly the same place: cells as wide as the tolerance; what is near is in one of 27

typedef struct Cells
{
    const snwWeldDef* def;
    int* heads; // the last kept vertex that fell into each slot, -1: none
    int* next;  // the one before it
    uint64_t mask;
} Cells;

static void CellOfVertex(const Cells* cells, int vertex, double cell[3])
{
    snwVec3 p = cells->def->positions[vertex];
    cell[0] = floor(p.x / cells->def->tolerance);
    cell[1] = floor(p.y / cells->def->tolerance);
    cell[2] = floor(p.z / cells->def->tolerance);
}

static uint64_t SlotOfCell(const Cells* cells, double x, double y, double z)
{
    uint64_t hash = Bits(x) * 0x9E3779B97F4A7C15u;
    hash = (hash ^ (hash >> 29) ^ Bits(y)) * 0xBF58476D1CE4E5B9u;
    hash = (hash ^ (hash >> 32) ^ Bits(z)) * 0x94D049BB133111EBu;
    return (hash ^ (hash >> 31)) & cells->mask;
}

static bool AreNear(const snwWeldDef* def, int a, int b)
{
    return snwVec3_Distance(def->positions[a], def->positions[b]) <= def->tolerance &&
           (def->keys == NULL || def->keys[a] == def->keys[b]);
}

// The first kept vertex that is near; the vertex itself if there is none.
static int FindNearVertex(const Cells* cells, int vertex)
{
    double cell[3];
    int found = vertex;
    CellOfVertex(cells, vertex, cell);
    for (int k = 0; k < 27; ++k)
    {
        int x = k % 3 - 1, y = k / 3 % 3 - 1, z = k / 9 - 1;
        uint64_t slot = SlotOfCell(cells, cell[0] + x, cell[1] + y, cell[2] + z);
        for (int other = cells->heads[slot]; other >= 0; other = cells->next[other])
            if (other < found && AreNear(cells->def, vertex, other))
                found = other;
    }
    return found;
}

static void KeepInCell(Cells* cells, int vertex)
{
    double cell[3];
    CellOfVertex(cells, vertex, cell);
    uint64_t slot = SlotOfCell(cells, cell[0], cell[1], cell[2]);
    cells->next[vertex] = cells->heads[slot];
    cells->heads[slot] = vertex;
}

static bool FindAllNear(snwContext* context, const snwWeldDef* def, int* kept)
{
    // Slots for a hash of cells, a power of two.
    size_t slots = 16;
    while (slots < (size_t)def->count)
        slots *= 2;
    Cells cells = {def, snwAllocArray(context, slots, sizeof(int)),
        snwAllocArray(context, (size_t)def->count, sizeof(int)), slots - 1};
    bool done = cells.heads != NULL && cells.next != NULL;
    if (done)
        memset(cells.heads, -1, slots * sizeof(int));

    // What is exactly equal joins first, so a pile of copies costs no more than one.
    done = done && FindEqual(context, def, kept);
    for (int i = 0; i < def->count && done; ++i)
    {
        if (kept[i] != i)
        {
            kept[i] = kept[kept[i]];
            continue;
        }

        kept[i] = FindNearVertex(&cells, i);
        if (kept[i] == i)
            KeepInCell(&cells, i);
    }

    snwFree(context, cells.heads);
    snwFree(context, cells.next);
    return done;
}

// ---------------------------------------------------------------------------------------------------------------------

// Welded vertices are numbered in the order of their first ones.
static void NumberWelded(const int* kept, int count, snwWeld* weld)
{
    weld->count = 0;
    for (int i = 0; i < count; ++i)
    {
        if (kept[i] == i)
        {
            weld->sources[weld->count] = i;
            weld->map[i] = weld->count++;
        }
        else
            weld->map[i] = weld->map[kept[i]];
    }
}

snwResult snwWeldVertices(snwArena* arena, const snwWeldDef* def, snwWeld* weld, snwMessage* message)
{
    size_t room = (size_t)(def->count > 0 ? def->count : 1);
    weld->map = snwArena_Alloc(arena, room, sizeof(int));
    weld->sources = snwArena_Alloc(arena, room, sizeof(int));
    weld->count = 0;
    int* kept = snwAllocArray(arena->context, room, sizeof(int));
    bool done = weld->map != NULL && weld->sources != NULL && kept != NULL;
    if (done)
        done = def->tolerance > 0 ? FindAllNear(arena->context, def, kept) : FindEqual(arena->context, def, kept);
    if (done)
        NumberWelded(kept, def->count, weld);
    snwFree(arena->context, kept);
    return done ? snw_ok : snwFailMemory(message);
}
