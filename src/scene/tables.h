// The tables of the scene format, and the structs they fill where a Def alone does not hold what the file says.

#pragma once

#include "scene/fields.h"
#include "sinew/tools.h"

enum
{
    snw_sceneFormat = 1,
    snw_maxSceneBytes = 64 << 20,
    snw_maxBodies = 4096, // also colliders, props, pins and characters
    snw_maxClips = 65536,
    snw_maxKeys = 1000000,     // of all clips
    snw_maxCommands = 65536,   // of a script
    snw_maxTets = 20000000,    // of all bodies
    snw_maxNumbers = 10000000, // of all colliders: heights, vertices, triangles
    snw_maxFrames = 100000000,
};

typedef struct snwSceneData
{
    int format;
    const char* schema; // for editors; not looked at
    const char* name;
    const char* description;
    const char* method;
    snwVec3 gravity;
    double rate, duration;
    uint64_t seed;
    const json_t *settings, *characters, *bodies, *colliders, *props, *frictions, *pins, *clips, *commands, *gestures,
        *camera;
} snwSceneData;

typedef struct snwBodyData
{
    snwBodyDef def;
    const json_t* character;
} snwBodyData;

typedef struct snwColliderData
{
    snwColliderDef def;
    const json_t *heights, *vertices, *triangles;
} snwColliderData;

typedef struct snwPinData
{
    snwPinDef def;
    const char* body;
} snwPinData;

typedef struct snwClipData
{
    snwClipDef def;
    const char *file, *pin, *collider, *body;
    const json_t *handle, *joint, *keys; // handles and joints by name or number
} snwClipData;

typedef struct snwKeyData
{
    snwKey key;
    const json_t* stretch;
} snwKeyData;

typedef struct snwCommandData
{
    snwCommand command;
    const char *pin, *body, *collider, *prop, *name;
    const json_t *handle, *joint, *value;
} snwCommandData;

extern const snwTable snw_sceneTable;
extern const snwTable snw_bodyTable;
extern const snwTable snw_shapeTable; // snwShapeDef
extern const snwTable snw_materialTable;
extern const snwTable snw_colliderTable;
extern const snwTable snw_propTable;     // snwPropDef
extern const snwTable snw_frictionTable; // snwFrictionDef
extern const snwTable snw_pinTable;
extern const snwTable snw_clipTable;
extern const snwTable snw_keyTable;    // snwKeyData
extern const snwTable snw_cameraTable; // snwCameraDef
extern const snwTable snw_commandTable;
