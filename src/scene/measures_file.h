// Measures of the whole scene, one row per frame: CSV with "name[unit]" columns, or JSON.

#pragma once

#include "scene/file.h"
#include "sinew/tools.h"

typedef struct snwMeasuresWriter
{
    snwPartFile output;
    snwContext* context;
    bool json;
} snwMeasuresWriter;

// The ending of the path decides: .csv or .json.
snwResult snwMeasuresWriter_Open(snwMeasuresWriter* writer, snwContext* context, const char* path,
    const snwSceneDef* scene, bool overwrite, snwMessage* message);
snwResult snwMeasuresWriter_AddFrame(
    snwMeasuresWriter* writer, int frame, const snwMeasures* measures, snwMessage* message);
snwResult snwMeasuresWriter_Finish(snwMeasuresWriter* writer, snwMessage* message);
