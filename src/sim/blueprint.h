// A blueprint: a skeleton and implicit flesh, from which characters of any size are meshed.

#pragma once

#include "geom/flat.h"
#include "geom/ribbon.h"
#include "sinew/sinew.h"

// How large a mesh is asked for; 0: whatever comes.
typedef struct snwBlueprintSize
{
    int tets, hexes;
    int elasticVertices; // that no bone owns
    int vertices, skinVertices;
    int triangles; // of a flat character
    int refine;    // a box of cells has this many times as many along each axis
} snwBlueprintSize;

typedef struct snwBlueprint
{
    const char* name;
    const char* description;
    snwMaterial material;
    float color[3];
    snwBlueprintSize size; // it is made for
    double detail;         // how much smaller than elsewhere cells may be where it is thin; 1: not at all
    bool coarse;           // cells double deep inside
    snwVec3 boxSize;       // a box of cells instead of a lattice; x is 0 without
    int boxCells[3];
    snwFlesh flesh;
    snwFlatBlueprint flat; // an outline instead; without rings if there is none
    snwRibbon* ribbons;
    int ribbonCount;
    snwBoneDef* bones;
    int boneCount;
    snwJointDef* joints;
    int jointCount;
    snwHandleDef* handles;
    int handleCount;
    snwLinearConstraintDef* constraints; // of the handles
    int constraintCount;
    snwMotionDef* motions;
    int motionCount;
} snwBlueprint;

// The mesh of a blueprint at some size. Everything is in the arena that it was made with.
typedef struct snwBlueprintMesh
{
    snwTetMesh body; // tets, or only vertices
    int (*hexes)[8]; // instead of tets
    int hexCount;
    int (*triangles)[3]; // instead of both
    int triangleCount;
    int* vertexBones;      // one per vertex, -1: elastic; NULL without bones
    int* elementBones;     // one per element, -1: flesh; NULL without bones
    int elasticCount;      // vertices that no bone owns
    int skinCount;         // vertices of the skin; 0: not counted
    int ribbonTetCount;    // the last so many tets
    float (*colors)[3];    // one per vertex; NULL with a texture
    float (*texcoords)[2]; // one per vertex
    snwTexture texture;
    int (*ties)[2]; // edges that hold ribbons to what holds them
    int tieCount;
    double spacing; // m, of the lattice; 0 without one
} snwBlueprintMesh;

// size NULL: that of the blueprint. A warning says which number could not be met.
snwResult snwBlueprint_Mesh(snwContext* context, const snwBlueprint* blueprint, const snwBlueprintSize* size,
    snwArena* arena, snwBlueprintMesh* mesh, snwMessage* message);

// Meshes it and makes a character. name NULL: its own; source as in snwCharacterDef.
snwResult snwBlueprint_Create(snwContext* context, const snwBlueprint* blueprint, const snwBlueprintSize* size,
    const char* name, const char* source, snwCharacter** character, snwMessage* message);
