// What a blueprint file may say, and the structs that its tables fill.

#pragma once

#include "scene/blueprint_file.h"
#include "scene/tables.h"

typedef struct snwBlueprintData
{
    int format;
    const char* schema; // for editors; not looked at
    const char* name;
    const char* description;
    snwMaterial material;
    float color[3];
    snwBlueprintSize size;
    double detail;
    bool coarse;
    const json_t *box, *bones, *joints, *parts, *ribbons, *handles, *constraints, *motions, *outline, *paint;
} snwBlueprintData;

typedef struct snwBoxData
{
    snwVec3 size;
    int cells[3];
} snwBoxData;

typedef struct snwBoneData
{
    snwBoneDef def;
    const char* parent;
    const json_t *inertia, *shape;
    bool mirror;
} snwBoneData;

typedef struct snwBoneShapeData
{
    snwBoneShape shape;
    double radius;
    snwVec3 from, to; // of capsules
} snwBoneShapeData;

typedef struct snwJointData
{
    snwJointDef def;
    const char *bone, *parent;
    const json_t* ranges[3];
    double cone; // degrees
    bool mirror;
} snwJointData;

// Kinds as in snwPartKind, and a coil, which becomes a sweep.
enum
{
    snw_partCoil = snw_partKindCount
};

typedef struct snwPartData
{
    snwFleshPart part;
    const char *bone, *group;
    bool mirror;
    const json_t *points, *outline;
    bool corners;
    snwVec3 from, to; // of capsules and cones
    double radius, endRadius, tube, endTube, turns, rise, thickness;
    snwVec3 axis, start;
} snwPartData;

typedef struct snwRibbonData
{
    snwRibbon ribbon;
    double twist; // degrees
    const json_t *points, *holders;
} snwRibbonData;

typedef struct snwHandleData
{
    snwHandleDef def;
    snwVec3 tail;
    bool mirror;
} snwHandleData;

typedef struct snwMotionData
{
    snwMotionDef def;
    const json_t* tracks;
} snwMotionData;

typedef struct snwTrackData
{
    const char* bone;
    const json_t* keys;
    bool mirror;
    double phase; // of the mirrored one, as a share of the motion
} snwTrackData;

extern const snwTable snw_boxTable, snw_boneTable, snw_boneShapeTable, snw_jointTable, snw_partTable, snw_ribbonTable,
    snw_handleTable, snw_motionTable, snw_trackTable;
