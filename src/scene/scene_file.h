// Scenes inside other documents: the log's first line holds one.

#pragma once

#include "scene/tables.h"

snwResult snwSceneFile_FromJson(snwContext* context, const json_t* root, const char* name,
    const snwSceneOptions* options, snwSceneFile* file, snwMessage* message);

// Writes the object with its braces; text->failed tells about memory.
snwResult snwSceneFile_WriteJson(snwText* text, const snwSceneFile* file, snwMessage* message);

// One of the scene's clips, with its braces.
void snwClip_WriteJson(snwText* text, const snwSceneDef* def, const snwClipDef* clip);
