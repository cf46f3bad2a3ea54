// Colours, and sweeps over them.

#include "fixture.h"
#include "sim/constraints/blocks.h"
#include "test.h"

#include <stdatomic.h>
#include <stdlib.h>

enum
{
    snw_mostColours = 64
};

typedef struct Sweep
{
    const snwColours* colours;
    atomic_int done[snw_mostColours]; // blocks of each colour
    atomic_int early;                 // visits before the colour before was done, or across two colours
} Sweep;

static void Visit(int begin, int end, void* data)
{
    Sweep* sweep = data;
    int c = 0;
    while (sweep->colours->starts[c + 1] <= begin)
        ++c;
    bool ready = end <= sweep->colours->starts[c + 1];
    if (c > 0)
        ready = ready && sweep->done[c - 1] == sweep->colours->starts[c] - sweep->colours->starts[c - 1];
    atomic_fetch_add(&sweep->early, ready ? 0 : 1);
    atomic_fetch_add(&sweep->done[c], end - begin);
}

static void CheckSweep(snwContext* context, const snwColours* colours)
{
    static Sweep sweep;
    REQUIRE(colours->count <= snw_mostColours);
    for (int round = 0; round < 20; ++round)
    {
        memset(&sweep, 0, sizeof sweep);
        sweep.colours = colours;
        snwColours_Sweep(context, colours, Visit, &sweep);
        CHECK_INT(sweep.early, 0);
        for (int c = 0; c < colours->count; ++c)
            CHECK_INT(sweep.done[c], colours->starts[c + 1] - colours->starts[c]);
    }
}

// Some colours are large enough for several threads, some are not.
static void MakeBlocks(snwContext* context, snwCharacter** character, snwArena* arena, snwBlocks* blocks)
{
    snwShapeDef shape = snwDefaultShapeDef(snw_shapeBlock);
    shape.cells[0] = shape.cells[1] = shape.cells[2] = 12;
    *arena = (snwArena){.context = context};
    REQUIRE(snwCreateShape(context, &shape, character, NULL) == snw_ok);
    REQUIRE(snwBlocks_Make(arena, *character, blocks, NULL) == snw_ok);
}

TEST(sweep, coloursFollowEachOtherForAnyThreads) // Labels: threads
{
    const int threads[] = {1, 2, 5};
    for (int t = 0; t < 3; ++t)
    {
        snwContext* context = snwFixture_Context(threads[t], snw_simdAuto, NULL);
        snwCharacter* character;
        snwArena arena;
        snwBlocks blocks;
        MakeBlocks(context, &character, &arena, &blocks);
        int largest = 0;
        for (int c = 0; c < blocks.edgeColours.count; ++c)
        {
            int size = blocks.edgeColours.starts[c + 1] - blocks.edgeColours.starts[c];
            largest = size > largest ? size : largest;
        }
        CHECK(largest > 100);
        CheckSweep(context, &blocks.edgeColours);
        CheckSweep(context, &blocks.tetColours);
        snwArena_Free(&arena);
        snwCharacter_Release(character);
        snwDestroyContext(context);
    }
}

TEST(sweep, constraintsOfAColourShareNoVertex)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character;
    snwArena arena;
    snwBlocks blocks;
    MakeBlocks(context, &character, &arena, &blocks);
    int* seen = calloc((size_t)blocks.vertexCount, sizeof *seen);
    REQUIRE(seen != NULL);
    int shared = 0, lanes = 0;
    for (int c = 0; c < blocks.tetColours.count; ++c)
        for (int b = blocks.tetColours.starts[c]; b < blocks.tetColours.starts[c + 1]; ++b)
            for (int i = 0; i < 4 * snw_blockLanes; ++i)
            {
                int vertex = blocks.tets[b].index[i / snw_blockLanes][i % snw_blockLanes];
                if (vertex >= blocks.vertexCount)
                    continue;
                shared += seen[vertex] == c + 1;
                seen[vertex] = c + 1;
                lanes++;
            }
    CHECK_INT(shared, 0);
    CHECK_INT(lanes, 4 * character->def.tetCount);
    free(seen);
    snwArena_Free(&arena);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}
