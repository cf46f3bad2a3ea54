// What a person may say about how a file becomes a character: NAME.sinew.json beside it, or `extras.sinew` of a glTF
// node, which says the same about that node alone. docs/prep.md lists the keys.

#pragma once

#include "asset/asset.h"
#include "scene/fields.h"

typedef enum snwBoneUse
{
    snw_boneAuto, // kept if something follows it
    snw_boneKeep,
    snw_boneDrop,
} snwBoneUse;

typedef struct snwJointSetting
{
    snwJointDef def; // angles in degrees
    const json_t* range;
} snwJointSetting;

typedef struct snwBoneSetting
{
    snwBoneUse use;
    double radius; // m; < 0: not said
    snwVec3 tail;  // m, in the rest pose
    const json_t* joint;
    bool hasTail;
} snwBoneSetting;

typedef enum snwSurfaceUse
{
    snw_useAuto,
    snw_useSoft,
    snw_useCarried,
    snw_useRigid,
    snw_useNone, // left out
} snwSurfaceUse;

typedef struct snwSurfaceSetting
{
    snwSurfaceUse kind;
    const char* bone; // of a rigid one; NULL: the rule's
} snwSurfaceSetting;

typedef enum snwMapProperty
{
    snw_mapDensity,
    snw_mapYoung,
    snw_mapPoisson,
    snw_mapDamping,
    snw_mapStiffness, // a factor of young
    snw_mapFrequency,
    snw_mapSettling,
    snw_mapPropertyCount,
} snwMapProperty;

typedef enum snwMapSource
{
    snw_mapColor,     // of the vertices
    snw_mapAttribute, // of a glTF file
    snw_mapTexture,   // a picture beside the file, through the texture coordinates
} snwMapSource;

typedef struct snwMapSetting
{
    snwMapProperty property;
    snwMapSource from;
    int channel;           // 0 .. 3: red green blue alpha
    const char* attribute; // "_SNW_..."
    const char* texture;
    const char* surface; // by name; NULL: all
    double lower, upper; // what 0 and 1 mean
} snwMapSetting;

typedef struct snwMotionSetting
{
    bool use;
    int loop; // 0: by the rule, 1: yes, 2: no
} snwMotionSetting;

typedef struct snwPrepareSettings
{
    int format;
    const char* schema;
    double scale; // 0: not said
    int elements; // 0: not said
    int mesher;   // snwMesher
    int regions;  // materials at most
    double size;  // m, the longest side of the character; 0: not said
    snwMaterial material;
    const json_t *materials, *bones, *surfaces, *maps, *motions;
    const json_t* bake; // of `sinew bake`, which reads it itself
    // below: not from a table
    snwContext* context;
    json_t* document; // that all of it points into
    const char* file; // for messages
    const snwAsset* asset;
} snwPrepareSettings;

// The defaults, without a file.
snwPrepareSettings snwDefaultPrepareSettings(snwContext* context, const snwAsset* asset);
// The sidecar's document, NULL if it failed.
json_t* snwPrepareSettings_Load(snwContext* context, const char* path, snwResult* result, snwMessage* message);
// Takes the document over; path: of the sidecar, for messages. Free after success and failure alike.
snwResult snwPrepareSettings_Use(snwPrepareSettings* settings, json_t* document, const char* path, snwMessage* message);
void snwPrepareSettings_Free(snwPrepareSettings* settings);

// What is said about a bone, surface or motion of this name, by it or by a pattern; node (-1: none) is where a glTF
// file may say it too. The sidecar wins.
snwResult snwPrepareSettings_Bone(
    const snwPrepareSettings* settings, const char* name, int node, snwBoneSetting* bone, snwMessage* message);
// mesh: another name of the surface, "": none. With the name of a material and no node: what is said about that.
snwResult snwPrepareSettings_Surface(const snwPrepareSettings* settings, const char* name, const char* mesh, int node,
    snwSurfaceSetting* surface, snwMessage* message);
snwResult snwPrepareSettings_Motion(
    const snwPrepareSettings* settings, const char* name, snwMotionSetting* motion, snwMessage* message);
// Changes what is given of a joint or material.
snwResult snwPrepareSettings_MixJoint(
    const snwPrepareSettings* settings, const json_t* value, snwJointDef* joint, snwMessage* message);
// A material of the file by name; false in *given if nothing is said about it.
snwResult snwPrepareSettings_Material(
    const snwPrepareSettings* settings, const char* name, snwMaterial* material, bool* given, snwMessage* message);
// Maps in the order of the file; *count of them in *maps, which is the arena's.
snwResult snwPrepareSettings_Maps(
    const snwPrepareSettings* settings, snwArena* arena, snwMapSetting** maps, int* count, snwMessage* message);
// Every name or pattern of `bones`, `surfaces`, `motions` and `materials` must mean one of the file's.
typedef const char* snwNameFn(int index, const void* user);
snwResult snwPrepareSettings_CheckNames(const snwPrepareSettings* settings, const char* list, int count,
    snwNameFn* name, const void* user, snwMessage* message);
