// Materials of a character that differ from what it was made with: "materials" of a character in a scene, and settings
// named material.KEY, material.REGION.KEY, material.BODY.KEY and material.BODY.REGION.KEY, which write such changes
// into a scene's document before it is read. So logs, caches and written scenes hold them like everything else.

#pragma once

#include "scene/fields.h"

// One of "materials": only what is given changes.
typedef struct snwMaterialChange
{
    snwMaterial material;
    int region; // -1: all
} snwMaterialChange;

extern const snwTable snw_materialChangeTable;

// The character is replaced by one with other materials; list may be NULL.
snwResult snwMaterialChanges_Apply(snwJson* json, const json_t* list, snwCharacter** character);

// Whether a setting is one of a material, and which key it has: its unit, range and help. NULL: none of ours.
bool snwMaterialSetting_IsOne(const char* name);
const snwField* snwMaterialSetting_Field(const char* name);

// Writes all such settings into a copy of the scene's document, which the caller lets go; NULL after a failure.
json_t* snwMaterialSettings_Write(
    snwJson* json, const json_t* root, const snwSetting* settings, int count, snwResult* result);
