// Constraints of a mesh as position-based methods want them: the edges, tets and triangles of a character in colours
// and blocks.
//
// Constraints of one colour share no vertex, lie in blocks of eight, and run in any order. The order of colours is
// fixed, so going through them is one Gauss-Seidel sweep with the same bits for any number of threads and lanes. Within
// a colour they keep the order of the mesh, so that neighbours in memory are neighbours in space.

#pragma once

#include "math/rows.h"
#include "sim/character.h"

enum
{
    snw_blockLanes = 8 // constraints in a block, whatever the instruction set
};

// Lanes without a constraint point to the spare vertices behind the real ones, which have no mass to move.
typedef struct snwEdgeBlock
{
    int index[2][snw_blockLanes];
    float rest[snw_blockLanes]; // m
} snwEdgeBlock;

typedef struct snwTetBlock
{
    int index[4][snw_blockLanes];
    float rest[snw_blockLanes]; // m^3, six times the rest volume
} snwTetBlock;

// Blocks [starts[c], starts[c + 1]) have colour c.
typedef struct snwColours
{
    int* starts;
    int count;
} snwColours;

typedef struct snwBlocks
{
    int vertexCount; // the spare vertices follow: snw_blockLanes of them
    snwEdgeBlock* edges;
    snwColours edgeColours;
    int edgeBlocks;
    int* edgePlaces; // block * snw_blockLanes + lane of each edge of the character
    snwTetBlock* tets;
    snwColours tetColours;
    int tetBlocks;
    int* tetPlaces;
    snwColours triangleColours; // of flat characters; what lies in their blocks is the user's
    int triangleBlocks;
    int* trianglePlaces;
} snwBlocks;

// Everything lies in the arena.
snwResult snwBlocks_Make(snwArena* arena, const snwCharacter* character, snwBlocks* blocks, snwMessage* message);

// Visits all blocks, colour after colour: visit(begin, end, data) with numbers of blocks, as often as it takes and on
// any thread within a colour. Small colours, and so small bodies, stay on the caller's thread.
void snwColours_Sweep(snwContext* context, const snwColours* colours, snwRangeFn* visit, void* data);

// The same from the last colour to the first. A sweep there and one back are symmetric: what they leave of an error
// shrinks without turning, where sweeps in one direction only may feed one swing of the flesh into another.
void snwColours_SweepBack(snwContext* context, const snwColours* colours, snwRangeFn* visit, void* data);
