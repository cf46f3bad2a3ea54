// Rigged files that a bench makes: what exporters do to rigs, one thing at a time.

#pragma once

#include "sinew/sinew.h"

typedef enum snwBakeFileKind
{
    snw_bakePlain,        // a tube of two bones
    snw_bakeShells,       // and twelve shells around it, each on a bone of its own
    snw_bakeOddRoot,      // its skin has a root joint of another scale and up axis
    snw_bakeUnnamed,      // its two clips have no names
    snw_bakeTwoScales,    // a mesh in centimetres and one in metres under one armature
    snw_bakeMirrored,     // its armature is mirrored
    snw_bakeSharedMesh,   // two nodes show one mesh, each with a skin of its own
    snw_bakeSeveralSkins, // two meshes with a skin each, of the same bones in another order
    snw_bakeLegs,         // two tubes beside each other, 2 cm apart at rest: that of the hip moves
    snw_bakeScenery,      // a backdrop a hundred times as large, which nothing moves
    snw_bakeFileCount,
} snwBakeFileKind;

extern const char* const snwBakeFileNames[snw_bakeFileCount];

typedef struct snwBakeFileDef
{
    snwBakeFileKind kind;
    int rings, sides; // of the tube, at most 128 and 64
    double seconds;   // of its clips
} snwBakeFileDef;

snwResult snwMakeBakeFile(snwContext* context, const snwBakeFileDef* def, const char* path, snwMessage* message);
