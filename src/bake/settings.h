// What a person may say about a bake: the object "bake" of NAME.sinew.json, or the words of the command line, which
// win. One table reads both, so a word is a key with a dash for its underscore. docs/bake.md lists them.

#pragma once

#include "scene/fields.h"

typedef struct snwBakeSettings
{
    const char* clip;    // name, or number from 1; "": the first
    double start, end;   // s, of the clip; end 0: where it ends
    double fps;          // 0: by the file
    double preroll;      // s; < 0: until the first pose has settled
    bool loop;           // run the clip until it repeats
    double blend;        // 0 artist's .. 1 simulated
    double softness;     // > 0: gives way so much farther
    double falloff;      // how much firmer thin flesh is, hands, feet and faces; 0: not at all
    double gravity;      // m/s^2, downwards
    const char* preset;  // of all flesh; "": the sidecar's material, or flesh
    bool selfCollision;  // flesh does not pass through itself
    bool keepTrajectory; // flesh does nothing that the rig could do
    const char* method;
    int substeps, iterations; // 0: the method's own
    double tolerance;         // m, of morph targets and helper joints; 0: by the size
    int influences;           // of helper joints: how many joints a vertex may follow; 0: 8
    int most;                 // morph targets of a mesh or helper joints of a skin; 0: as many as are usual
    bool compress;            // documents: smaller, for players that know EXT_meshopt_compression
    const char* format;       // "": by the ending of the output
    const char* up;           // of caches and OBJ: y or z
    const char* cache;        // vertices over time as primary motion, PC2 or MDD; "": none
    const char* motionFrom;   // a file whose clip is put on this skeleton; "": none
    const json_t* jointMap;   // {"joint": "joint of that file"}
    const json_t *material, *materials, *collide, *settings, *only, *bones;
    const json_t *rigid, *carried, *soft; // patterns of surfaces and materials
    // below: not from a table
    json_t* document; // that all of it points into
} snwBakeSettings;

extern const snwTable snw_bakeTable;

// Adds what a word of the command line says to an object as the sidecar has it: "1.5" for start, "thigh:frequency=2"
// for material, "pbcd.law=edges" for settings. Lists grow.
snwResult snwBakeWord_Add(json_t* object, const char* key, const char* word, snwMessage* message);

// sidecar: its document or NULL; file: its path, for messages; words: of the command line or NULL. Free after success
// and failure alike.
snwResult snwBakeSettings_Read(snwContext* context, const json_t* sidecar, const char* file, const json_t* words,
    snwBakeSettings* settings, snwMessage* message);
void snwBakeSettings_Free(snwBakeSettings* settings);

// *path: NAME.sinew.json beside NAME.glb. False if it does not fit.
bool snwSidecarPath(const char* source, char* path, size_t capacity);
// The sidecar with these settings in the place of its own, as text; freed with snwFree. document may be NULL.
snwResult snwBakeSettings_Format(snwContext* context, const json_t* document, const snwBakeSettings* settings,
    char** text, size_t* size, snwMessage* message);
