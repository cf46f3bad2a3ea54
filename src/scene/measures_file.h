// Measures of the whole scene and timings of the stages, one row per frame: CSV with "name[unit]" columns, or JSON.

#pragma once

#include "scene/file.h"
#include "sinew/tools.h"

typedef struct snwMeasuresWriter
{
    snwPartFile output;
    snwContext* context;
    bool json;
    bool timeless; // without the columns that depend on the clock: step_ms and the stages
    bool started;  // the columns are named
} snwMeasuresWriter;

// The ending of the path decides: .csv or .json.
snwResult snwMeasuresWriter_Open(snwMeasuresWriter* writer, snwContext* context, const char* path, bool timeless,
    bool overwrite, snwMessage* message);
// The first frame also writes the names of the columns: those of snwMeasures, then one per stage of the method.
snwResult snwMeasuresWriter_AddFrame(
    snwMeasuresWriter* writer, const snwSim* sim, int frame, const snwMeasures* measures, snwMessage* message);
snwResult snwMeasuresWriter_Finish(snwMeasuresWriter* writer, snwMessage* message);
