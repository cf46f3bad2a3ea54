// A mesh while a reader collects it: whatever comes is taken down as the file says it, and at the end everything is
// checked, repaired and cut into triangles once, the same way for every format.

#pragma once

#include "asset/asset.h"
#include "base/array.h"

#define SNW_MAX_COORDINATE 1e30 // of a file's unit; what is beyond cannot be squared and summed in comfort

typedef struct snwDraftFace
{
    int first; // corner; its last one is before the first of the next face
    int place; // line, or number of the face
    int label;
} snwDraftFace;

typedef struct snwDraftElement
{
    int corners[8]; // 2, 4 or 8 of them
    int label;
} snwDraftElement;

typedef struct snwDraftPart
{
    const char *name, *material;
    int firstFace;
} snwDraftPart;

typedef snwArray(snwDraftElement) snwDraftElements;

typedef struct snwDraft
{
    snwAsset* asset;
    const char* facePlace; // "line" or "face": what the places of faces count
    int base;              // of indices in the file, for messages: 0 or 1; those here start at 0
    snwArray(snwVec3) positions;
    snwArray(int) vertexLabels; // as many as positions or none
    bool faceLabels;            // faces have labels
    snwArray(int) corners;      // of faces
    snwArray(snwDraftFace) faces;
    snwArray(snwDraftPart) parts; // may be empty: one part then
    snwDraftElements edges, tets, hexes;
    bool failed; // no memory
} snwDraft;

snwDraft snwMakeDraft(snwAsset* asset, const char* facePlace, int base);
void snwDraft_Free(snwDraft* draft);

// Each remembers a lack of memory in draft->failed.
void snwDraft_AddPoint(snwDraft* draft, snwVec3 point); // fails nothing: SNW_MAX_COORDINATE is checked at the end
void snwDraft_BeginFace(snwDraft* draft, int place, int label);
void snwDraft_AddCorner(snwDraft* draft, int vertex); // of the last face
void snwDraft_AddFace(snwDraft* draft, const int* corners, int count, int place, int label);
void snwDraft_AddElement(snwDraft* draft, snwDraftElements* list, const int* corners, int count, int label);
// What follows belongs to this part. A part without faces is forgotten.
void snwDraft_BeginPart(snwDraft* draft, const char* name, const char* material);

// Makes the asset's only mesh: checks all indices, leaves out what uses a vertex twice, cuts polygons, finds the ranges
// of parts. The reader then fills normals, texcoords and colors.
snwResult snwDraft_Finish(snwDraft* draft, snwAssetMesh** mesh, snwMessage* message);

// Values that files give per corner (normals, texture coordinates) and that here belong to vertices: the first that
// comes stays, others that differ from it are counted. Fill `width` floats of `from` per value.
typedef struct snwDraftValues
{
    const float* from; // all values, `width` floats each
    int width, count;
    int* chosen;         // per vertex: its value, -1: none yet; from snwDraftValues_Begin
    int64_t differing;   // corners
    int64_t outside;     // corners whose index is no value
    int differingVertex; // the first one
} snwDraftValues;

bool snwDraftValues_Begin(snwContext* context, snwDraftValues* values, int vertexCount);
void snwDraftValues_Choose(snwDraftValues* values, int vertex, int64_t value);
// The values of vertices in the arena, zeros where there is none, and frees `chosen`. NULL if no vertex has one or
// there is no memory.
float* snwDraftValues_End(snwAsset* asset, snwDraftValues* values, int vertexCount);

// Normals that are neither zero nor of length 1 within a hundredth are made so, with a note.
void snwAsset_RepairNormals(snwAsset* asset, float (*normals)[3], int count);

// 0 and false if it is not finite as a float.
bool snwToFloat(double value, float* out);

extern const snwAssetReader snw_objReader, snw_plyReader, snw_meditReader, snw_tetgenReader;
