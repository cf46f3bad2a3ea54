// Inside the exporters: the shape of a moment, and the writers that turn it into bytes.

#pragma once

#include "asset/export.h"
#include "base/bytes.h"
#include "scene/file.h"

// What is seen of a body now, in the axes of the file.
typedef struct snwExportShape
{
    const char* name;
    const snwCharacterDef* character;
    const float* positions; // x y z, packed
    const float* normals;   // x y z, packed; NULL: none
    int count;
    const int* triangles; // three points each
    int triangleCount;
    const int* vertices; // of the character, for each point; NULL: the points are its vertices, or a finer skin's
    const float (*texcoords)[2]; // of the vertices; NULL: none
    const float (*colors)[3];    // linear; NULL: none
} snwExportShape;

void snwExport_WriteObj(snwWriter* out, const snwExportShape* shape);
void snwExport_WritePly(snwWriter* out, const snwExportShape* shape);

// positions: of all vertices of the character, x y z; triangles: its skin, with vertices of the character.
void snwExport_WriteMedit(
    snwWriter* out, const snwCharacterDef* character, const double* positions, const int* triangles, int triangleCount);

// ---------------------------------------------------------------------------------------------------------------------
// Point caches

typedef struct snwPointCache
{
    snwPartFile output;
    snwContext* context;
    bool big; // MDD: big-endian, with a table of times
    int pointCount;
    int expected; // frames for which the table of times has room
    int frames;   // written
    double rate;
} snwPointCache;

snwResult snwPointCache_Open(
    snwPointCache* cache, snwContext* context, const char* path, bool mdd, bool overwrite, snwMessage* message);
// The first frame writes the header. positions: x y z, packed.
snwResult snwPointCache_AddFrame(snwPointCache* cache, const float* positions, int count, snwMessage* message);
snwResult snwPointCache_Finish(snwPointCache* cache, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Text

void snwExport_Put(snwWriter* out, const char* text);
void snwExport_PutFormat(snwWriter* out, const char* format, ...) __attribute__((format(printf, 2, 3))); // no reals
void snwExport_PutFloat(snwWriter* out, float value);     // the fewest digits that read back to the same bits
void snwExport_PutLine(snwWriter* out, const char* text); // control characters become blanks
