// The numbers of each element that the kernels of pair.h read: inverse rest edges, how it yields to forces (W), and
// its compliance, softened where a visit could not resist shear without overshooting.

#include "sim/constraints/pair.h"

#include <math.h>
#include <string.h>

// An element in double, and what of it does not depend on its kind.
typedef struct Element
{
    int arity;
    const int* vertices;
    snwVec3 g[4];  // gradients of the shape functions
    double w[4];   // inverse masses
    snwMat3 yield; // W
    double a, b, volume;
    double kept;  // of its stiffness: below 1 it is cut
    double share; // of the limit that its stiffness takes
} Element;

static snwVec3 RoundedRest(const snwCharacter* character, int vertex)
{
    return snwVec3_Rounded(character->def.vertices[vertex]);
}

// The matrix of rest edges; that of a triangle has the unit normal of the plane as its third column.
static snwMat3 RestEdges(const snwCharacter* character, const Element* element)
{
    snwVec3 x0 = RoundedRest(character, element->vertices[0]);
    snwVec3 third = {0, 0, 1};
    if (element->arity == 4)
        third = snwVec3_Sub(RoundedRest(character, element->vertices[3]), x0);
    return snwMat3_FromColumns(snwVec3_Sub(RoundedRest(character, element->vertices[1]), x0),
        snwVec3_Sub(RoundedRest(character, element->vertices[2]), x0), third);
}

static Element MakeElement(const snwPairDef* def, int index)
{
    const snwCharacterDef* character = &def->character->def;
    bool flat = character->triangleCount > 0;
    Element element = {.arity = flat ? 3 : 4, .vertices = flat ? character->triangles[index] : character->tets[index]};
    element.volume = def->character->restVolumes[index];
    const snwMaterial* material = &def->materials[character->regions[index]];

    // Gradients of the shape functions; those of all corners sum to 0.
    snwMat3 inverse = snwMat3_Diagonal(0, 0, 0);
    snwMat3_Inverse(RestEdges(def->character, &element), &inverse);
    element.yield = snwMat3_Diagonal(0, 0, 0);
    for (int k = 1; k < element.arity; ++k)
    {
        element.g[k] = (snwVec3){inverse.m[k - 1][0], inverse.m[k - 1][1], inverse.m[k - 1][2]};
        element.g[0] = snwVec3_Sub(element.g[0], element.g[k]);
    }

    // W = sum w G G^T.
    for (int k = 0; k < element.arity; ++k)
    {
        element.w[k] = (double)def->positions[4 * (size_t)element.vertices[k] + 3];
        element.yield = snwMat3_Add(
            element.yield, snwMat3_Scale(snwMat3_Outer(element.g[k], element.g[k]), element.w[k]));
    }

    // Not below the limit of the block; `kept` is how much of its stiffness the element has left.
    double trace = element.yield.m[0][0] + element.yield.m[1][1] + element.yield.m[2][2];
    double a = 2.0 * def->visits * (1.0 + material->poisson) / (material->young * element.volume * def->h * def->h);
    element.kept = a < snw_pairLimit * trace ? a / (snw_pairLimit * trace) : 1.0;
    element.share = fmin(1.0, snw_pairLimit * trace / a);
    element.a = element.kept < 1.0 ? snw_pairLimit * trace : a;
    element.b = 1.0 - 2.0 * material->poisson;

    return element;
}

static double PartOfVec(snwVec3 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

void snwPairTriangles_Set(const snwPairDef* def, snwPairTriangles* blocks)
{
    // Lanes that no triangle takes move spare rows behind the vertices.
    memset(blocks, 0, (size_t)def->blocks->triangleBlocks * sizeof *blocks);
    for (int b = 0; b < def->blocks->triangleBlocks; ++b)
        for (int i = 0; i < 3 * snw_blockLanes; ++i)
        {
            int row = def->blocks->vertexCount + i % snw_blockLanes;
            blocks[b].offset[i / snw_blockLanes][i % snw_blockLanes] = 4 * row;
        }

    for (int i = 0; i < def->character->def.triangleCount; ++i)
    {
        Element element = MakeElement(def, i);
        snwPairTriangles* block = &blocks[def->blocks->trianglePlaces[i] / snw_blockLanes];

        // W over a has three numbers in the plane; the mixed one counts twice.
        int lane = def->blocks->trianglePlaces[i] % snw_blockLanes;
        for (int k = 0; k < 3; ++k)
        {
            block->offset[k][lane] = 4 * element.vertices[k];
            block->masses[k][lane] = (float)((k == 0 ? -1.0 : 1.0) * element.w[k] / element.a);
            block->yield[k][lane] = (float)((k == 1 ? 2.0 : 1.0) * element.yield.m[k / 2][(k + 1) / 2] / element.a);
        }

        for (int k = 0; k < 4; ++k)
            block->inverse[k][lane] = (float)PartOfVec(element.g[1 + k / 2], k % 2);
        block->bulk[lane] = (float)element.b;
    }
}

void snwPairTets_Set(const snwPairDef* def, snwPairTets* blocks)
{
    // A symmetric matrix has six numbers of its own.
    static const int rows[6] = {0, 0, 0, 1, 1, 2}, columns[6] = {0, 1, 2, 1, 2, 2};
    memset(blocks, 0, (size_t)def->blocks->tetBlocks * sizeof *blocks);
    for (int b = 0; b < def->blocks->tetBlocks; ++b)
        memcpy(blocks[b].index, def->blocks->tets[b].index, sizeof blocks[b].index);
    for (int i = 0; i < def->character->def.tetCount; ++i)
    {
        Element element = MakeElement(def, i);
        snwPairTets* block = &blocks[def->blocks->tetPlaces[i] / snw_blockLanes];

        int lane = def->blocks->tetPlaces[i] % snw_blockLanes;
        for (int k = 0; k < 9; ++k)
            block->inverse[k][lane] = (float)PartOfVec(element.g[1 + k / 3], k % 3);
        for (int k = 0; k < 6; ++k)
            block->yield[k][lane] = (float)(element.yield.m[rows[k]][columns[k]] / element.a);
        block->bulk[lane] = (float)element.b;
        block->stiffness[lane] = (float)(1.0 / element.a);
    }
}

double snwPair_ShareCut(const snwPairDef* def)
{
    int count = def->character->elements.count, cut = 0;
    for (int i = 0; i < count; ++i)
        cut += MakeElement(def, i).kept < 1.0;
    return count > 0 ? (double)cut / count : 0.0;
}

double snwPair_Kept(const snwPairDef* def, int element)
{
    return MakeElement(def, element).kept;
}

double snwPair_KeptOfAll(const snwPairDef* def)
{
    double volume = 0.0, yield = 0.0;
    for (int i = 0; i < def->character->elements.count; ++i)
    {
        Element element = MakeElement(def, i);
        volume += element.volume;
        yield += element.volume / element.kept * (1.0 + snw_pairLag * element.share);
    }
    return yield > 0.0 ? volume / yield : 1.0;
}
