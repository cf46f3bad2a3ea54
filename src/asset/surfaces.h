// The surfaces of an asset as they stand in the world at rest: welded, surveyed, and told in words.

#pragma once

#include "asset/asset.h"
#include "geom/survey.h"
#include "geom/weld.h"

typedef struct snwAssetSurface
{
    const char* name; // of the node or the mesh
    int mesh;
    int node;            // -1: no node shows the mesh
    snwWeld weld;        // of the mesh's vertices; what has other weights or morphs stays apart
    snwVec3* vertices;   // of the welded ones, in the file's unit of length
    int (*triangles)[3]; // of welded vertices; the boundary of the elements where the mesh has no triangles
    int triangleCount;
    int invertedElements; // tets and hexes of negative volume, flat ones included
    snwSurvey survey;
} snwAssetSurface;

typedef struct snwAssetSurfaces
{
    snwAssetSurface* items;
    int count;
    int left; // nodes that show further copies of meshes and were left out, for they would be too many triangles
    snwVec3 lower, upper;
    int triangleCount;
} snwAssetSurfaces;

// Nodes take their meshes along; skinned meshes are bent as the nodes stand. Lists come from the arena. crossings: as
// in snwSurveyDef.
snwResult snwAsset_FindSurfaces(
    const snwAsset* asset, snwArena* arena, bool crossings, snwAssetSurfaces* surfaces, snwMessage* message);

// Where every node is: parents before children, in any order of the file. From the arena; NULL without memory.
snwAffine* snwAsset_PlaceNodes(const snwAsset* asset, snwArena* arena);

// ---------------------------------------------------------------------------------------------------------------------
// Words

typedef enum snwVerdict
{
    snw_verdictGood,
    snw_verdictLook,    // works, but may not be what was meant
    snw_verdictTrouble, // no body follows from it without repair
} snwVerdict;

typedef struct snwReportLine
{
    snwVerdict verdict;
    char text[192];
    char remedy[160]; // "" if none
} snwReportLine;

enum
{
    snw_maxReportLines = 16
};

// What a survey found: the whole first, then what is wrong; returns the number of lines. unit: "m", or "" if the file
// does not say.
int snwSurvey_Describe(const snwSurvey* survey, const char* unit, snwReportLine lines[snw_maxReportLines]);
const char* snwVerdict_Name(snwVerdict verdict); // "good", "look", "trouble"
