// Compliances of soft.h: what springs, volumes and strains must be like so that a mesh of them is flesh of Young's
// modulus E and Poisson's ratio nu.

#include "sim/constraints/soft.h"

#include <math.h>
#include <string.h>

static const int s_corners[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

// The edges of a character are sorted, lower vertex first.
static int FindEdge(const snwCharacter* character, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a, first = 0, last = character->edgeCount - 1;
    while (first < last)
    {
        int middle = first + (last - first) / 2;
        const int* edge = character->edges[middle];
        if (edge[0] < low || (edge[0] == low && edge[1] < high))
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

snwTetEdges* snwTetEdges_Make(snwArena* arena, const snwCharacter* character)
{
    const snwCharacterDef* def = &character->def;
    snwTetEdges* edges = snwArena_Alloc(arena, (size_t)def->tetCount + 1, sizeof *edges);
    for (int i = 0; edges != NULL && i < def->tetCount; ++i)
        for (int k = 0; k < 6; ++k)
            edges[i][k] = FindEdge(character, def->tets[i][s_corners[k][0]], def->tets[i][s_corners[k][1]]);
    return edges;
}

// ---------------------------------------------------------------------------------------------------------------------
// Stiffnesses

static double ShearModulus(const snwMaterial* material)
{
    return material->young / (2.0 * (1.0 + material->poisson));
}

void snwSoft_EdgeStiffnesses(const snwSoftDef* def, double* stiffnesses)
{
    const snwCharacter* character = def->character;
    memset(stiffnesses, 0, (size_t)character->edgeCount * sizeof *stiffnesses);
    for (int i = 0; i < character->def.tetCount; ++i)
    {
        double share = 15.0 / 6.0 * ShearModulus(&def->materials[character->def.regions[i]]) *
                       character->restVolumes[i];
        for (int k = 0; k < 6; ++k)
            stiffnesses[def->tetEdges[i][k]] += share;
    }
    for (int i = 0; i < character->edgeCount; ++i)
    {
        const snwVec3* x = character->def.vertices;
        double length = snwVec3_Distance(x[character->edges[i][0]], x[character->edges[i][1]]);
        stiffnesses[i] = stiffnesses[i] > 0.0 ? stiffnesses[i] / (length * length) : def->materials[0].young * length;
    }
}

// lambda - mu = E (4 nu - 1) / (2 (1 + nu) (1 - 2 nu))
double snwSoft_VolumeStiffness(const snwMaterial* material, double restVolume)
{
    double nu = material->poisson;
    if (!(nu > 0.25))
        return 0.0;
    return material->young * (4.0 * nu - 1.0) / (2.0 * (1.0 + nu) * (1.0 - 2.0 * nu) * 36.0 * restVolume);
}

void snwSoft_StrainCompliance(const snwMaterial* material, const double axes[3], double compliance[9])
{
    double nu = material->poisson, root[3];
    for (int i = 0; i < 3; ++i)
        root[i] = sqrt(material->young * axes[i]);
    for (int i = 0, n = 0; i < 3; ++i)
        for (int j = i; j < 3; ++j, ++n)
            compliance[n] = (i == j ? 1.0 : -nu) / (root[i] * root[j]);
    for (int i = 0; i < 3; ++i)
        compliance[6 + i] = 2.0 * (1.0 + nu) / (root[(i + 1) % 3] * root[(i + 2) % 3]);
}

// ---------------------------------------------------------------------------------------------------------------------
// States

// alpha~ of a stiffness k, beta included. Nothing to push with: so soft that it never does, and still no overflow.
static float Compliance(const snwSoftDef* def, double k)
{
    double compliance = 1.0 / (k * def->e * def->e * (1.0 + def->viscous));
    return (float)fmin(compliance, 1e30);
}

void snwSoft_SetEdges(const snwSoftDef* def, snwSoftEdges* states, double* stiffnesses)
{
    snwSoft_EdgeStiffnesses(def, stiffnesses);
    for (int b = 0; b < def->blocks->edgeBlocks; ++b)
        memcpy(states[b].index, def->blocks->edges[b].index, sizeof states[b].index);
    for (int i = 0; i < def->character->edgeCount; ++i)
    {
        int place = def->blocks->edgePlaces[i];
        states[place / snw_blockLanes].compliance[place % snw_blockLanes] = Compliance(def, stiffnesses[i]);
    }
}

void snwSoft_SetVolumes(const snwSoftDef* def, snwSoftTets* states)
{
    const snwCharacter* character = def->character;
    for (int b = 0; b < def->blocks->tetBlocks; ++b)
        memcpy(states[b].index, def->blocks->tets[b].index, sizeof states[b].index);
    for (int i = 0; i < character->def.tetCount; ++i)
    {
        int place = def->blocks->tetPlaces[i];
        const snwMaterial* material = &def->materials[character->def.regions[i]];
        double k = snwSoft_VolumeStiffness(material, character->restVolumes[i]);
        states[place / snw_blockLanes].compliance[place % snw_blockLanes] = Compliance(def, k);
    }
}

void snwSoft_SetStrains(const snwSoftDef* def, snwStrainState* states, bool viscousOnly)
{
    const snwCharacter* character = def->character;
    double factor = viscousOnly ? def->viscous : 1.0 + def->viscous;
    for (int i = 0; i < character->def.tetCount; ++i)
    {
        int place = def->blocks->tetPlaces[i];
        double compliance[9], scale = 1.0 / (character->restVolumes[i] * def->e * def->e * factor);
        snwSoft_StrainCompliance(&def->materials[character->def.regions[i]], def->axes, compliance);
        for (int k = 0; k < 9; ++k)
            states[place / snw_blockLanes].compliance[k][place % snw_blockLanes] = (float)(scale * compliance[k]);
    }
}
