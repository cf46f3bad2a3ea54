// One performance: a scene file run from start to end, with its log, measures, report, plot, film and picture.

#pragma once

#include "app/common.h"

typedef struct snwPerformDef
{
    const char* path; // of the scene
    snwSceneOptions options;
    int frames;            // > 0: run this many frames instead of the scene's duration
    const char* directory; // NULL: no files
    bool film;             // film and picture too
    int width, height, samples;
    bool overwrite;
} snwPerformDef;

typedef struct snwPerformance
{
    char scene[128]; // its name
    char method[32];
    uint64_t seed;
    double rate, duration;
    int bodyCount;
    int frameCount; // that a whole run would have
    bool badInput;  // the scene could not be opened
    snwResult result;
    char reason[256]; // why it ended early; empty if it did not
    snwRunReport report;
} snwPerformance;

snwPerformDef snwDefaultPerformDef(void);

// The report is sound, and the files are there, also after snw_errorDiverged and snw_errorInterrupted (without film).
snwResult snwPerform(snwContext* context, const snwPerformDef* def, snwPerformance* performance, snwMessage* message);

json_t* snwPerformance_ToJson(const snwPerformDef* def, const snwPerformance* performance);

// Says on stderr where each file is.
void snwPerform_ListFiles(const snwPerformDef* def);
