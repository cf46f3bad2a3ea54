// Which parts of a mesh are bone. Bones own whole elements: a vertex is in the nearest bone or elastic, a tet is bone
// if all its vertices are in the same one.

#pragma once

#include "geom/shapes.h"
#include "geom/solid.h"

enum
{
    snw_minBoneTets = 8 // a bone needs so many to have a mass and an inertia worth the name
};

// The nearest bone to each vertex and how far it is.
typedef struct snwBoneField
{
    int* bones;
    double* distances; // m, negative inside the bone
    int vertexCount;
} snwBoneField;

typedef struct snwBoneLabels
{
    int* vertexBones; // one per vertex, -1: elastic
    int* tetBones;    // the bone that all four vertices are in, else -1
    int elasticCount; // vertices in no bone
} snwBoneLabels;

// All bones infinitely far (bone -1) for a solid without bones.
snwResult snwMeasureBones(snwContext* context, const snwSolid* solid, const snwTetMesh* mesh, snwArena* arena,
    snwBoneField* field, snwMessage* message);

// Vertices nearer to a bone than `offset` (m, may be negative) are in it. A bone with less than snw_minBoneTets tets
// then takes the tets nearest to it; an error if there are not enough that no other bone has. Bones with more give way
// where a tet between two of them would have no corner of flesh.
snwResult snwLabelBones(snwContext* context, const snwSolid* solid, const snwTetMesh* mesh, double offset,
    snwArena* arena, snwBoneLabels* labels, snwMessage* message);

// The same from distances that are known already.
snwResult snwLabelBonesFrom(snwContext* context, const snwSolid* solid, const snwTetMesh* mesh,
    const snwBoneField* field, double offset, snwArena* arena, snwBoneLabels* labels, snwMessage* message);

// The smallest offset within -maxOffset .. maxOffset for which the number of elastic vertices is within a few per cent
// of `elasticCount`.
snwResult snwFitBoneOffset(snwContext* context, const snwBoneField* field, int elasticCount, double maxOffset,
    double* offset, snwMessage* message);
