// Inside the meshers: TetGen's way, apart from the choice.

#pragma once

#include "asset/mesher.h"

// The surfaces of a def, mended and found fit for TetGen or not.
typedef struct snwMesherInput
{
    snwMend flesh;
    snwMend* bones; // innerCount
} snwMesherInput;

snwResult snwMesherInput_Make(const snwMesherDef* def, snwArena* arena, snwMesherInput* input, snwMessage* message);

// snw_ok, or an error whose message says what TetGen would not survive: a hole, an edge of three triangles, a crossing.
snwResult snwMesherInput_CheckForTetgen(
    const snwMesherDef* def, const snwMesherInput* input, snwArena* arena, snwMessage* message);

// Meshes an input that snwMesherInput_CheckForTetgen has passed.
snwResult snwTetgen_Make(snwContext* context, const snwMesherDef* def, const snwMesherInput* input, snwArena* arena,
    snwMeshed* meshed, snwMessage* message);

// The answer of sinew-tetgen about `count` points becomes a mesh of the arena's; nothing in it is believed. Tets that
// TetGen counts the other way round are turned.
snwResult snwTetgen_ReadAnswer(snwArena* arena, const unsigned char* data, size_t size, const snwVec3* points,
    int count, snwTetMesh* mesh, snwMessage* message);
