// From a picture to a flat character: what is not clear in it becomes a textured sheet of triangles with handles.
//
//   picture -> mask (islands joined) -> outline -> triangles -> handles -> weights -> snwPrepared
//
// Handles come from the sidecar, or are put where a person would take hold: one in the middle, one in each limb.

#pragma once

#include "prepare/parts.h"
#include "geom/triangulate.h"

typedef enum snwIslands
{
    snw_islandsJoin,    // by bridges that nobody sees
    snw_islandsLargest, // the others are left out
} snwIslands;

// What NAME.sinew.json beside NAME.png says; docs/prep.md lists the keys.
typedef struct snwFlatSettings
{
    int format;
    const char* schema;
    double size;      // m, longest side of what is drawn
    int triangles;    // about
    double threshold; // 0..1 of opacity
    double tolerance; // pixels
    double margin;    // pixels of clear rim that the triangles cover
    double minAngle;  // degrees
    int islands;      // snwIslands
    double thickness; // m
    snwMaterial material;
    const json_t* handles; // a number, or a list
    // below: not from a table
    json_t* document;
    const char* file;
} snwFlatSettings;

snwFlatSettings snwDefaultFlatSettings(void);
// path: of the sidecar. Free after success and failure alike.
snwResult snwFlatSettings_Open(snwContext* context, const char* path, snwFlatSettings* settings, snwMessage* message);
void snwFlatSettings_Free(snwFlatSettings* settings);

// A picture on its way to a character.
typedef struct snwFlatPreparer
{
    snwPreparer* base; // context, arena, report, message
    snwFlatSettings settings;

    snwTexture picture; // as it is in the file
    uint8_t* mask;      // opacity, of the picture's size or smaller by `step`
    int maskWidth, maskHeight;
    int step;         // pixels of the picture per pixel of the mask
    double pixel;     // m
    double centre[2]; // pixels, y down: the character's origin
    double lower[2];  // pixels: what the outline covers
    double upper[2];
    snwOutline outline; // m
    snwFlatMesh mesh;

    snwHandleDef* handles;
    int handleCount;
    snwBoneDef* bones;
    int boneCount;
} snwFlatPreparer;

// m, of a point of the picture.
static inline void snwFlatPreparer_Place(const snwFlatPreparer* p, const double pixels[2], double point[2])
{
    point[0] = (pixels[0] - p->centre[0]) * p->pixel;
    point[1] = (p->centre[1] - pixels[1]) * p->pixel;
}

snwResult snwFlatPreparer_MakeOutline(snwFlatPreparer* p); // flat_outline.c: mask, islands, rings
snwResult snwFlatPreparer_MakeHandles(snwFlatPreparer* p); // flat_handles.c

// The whole way, of a PNG or WebP file in memory. The preparer has context, arena, path, def, report and message.
snwResult snwPreparePicture(snwPreparer* preparer, const void* data, size_t size, snwPrepared** prepared);
