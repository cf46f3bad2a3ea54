// --export obj,ply,...: the exporters of all bodies of a run, side by side.

#pragma once

#include "app/common.h"
#include "asset/export.h"
#include "scene/measures_file.h"

// Rows for the option tables of verbs that simulate.
#define SNW_EXPORT_OPTIONS                                                                                             \
    {"export", 0, "KINDS", false, snw_completeNothing, NULL,                                                           \
        "also write obj, ply, pc2, mdd, medit, clips, glb, json: with commas between"},                                \
        {"up", 0, "AXIS", false, snw_completeWords, "y z",                                                             \
            "axis that points up in exports: y or z (default z for pc2 and mdd, else y)"},                             \
        {"all-vertices", 0, NULL, false, snw_completeNothing, NULL,                                                    \
            "pc2 and mdd of all vertices, not only those of the skin"},                                                \
    {                                                                                                                  \
        "medit-frame", 0, "N", false, snw_completeNothing, NULL, "frame that medit shows (default the rest pose)"      \
    }

typedef struct snwExportsDef
{
    bool kinds[snw_exportKindCount];
    bool json; // measures.json
    snwUpAxis up;
    bool allVertices;
    int meditFrame;
} snwExportsDef;

typedef struct snwExports
{
    snwContext* context;
    snwExporter** list;
    int count;
    bool measuring;
    snwMeasuresWriter measures;
} snwExports;

snwExportsDef snwDefaultExportsDef(void); // nothing
bool snwExportsDef_IsEmpty(const snwExportsDef* def);

// Reads the options; wrong words are reported. directory: where -o points, NULL if it was not given.
snwExit snwExportsDef_Read(const snwArgs* args, const char* directory, snwExportsDef* def);

// Sequences go to directory/obj and directory/ply, the rest into the directory. frameCount: with frame 0.
snwResult snwExports_Open(snwExports* exports, snwContext* context, const snwExportsDef* def, snwScene* scene,
    const char* directory, int frameCount, bool overwrite, snwMessage* message);
snwResult snwExports_AddFrame(snwExports* exports, const snwRunFrame* frame, snwMessage* message);
// Closes with what there is, also after a run that ended early; the first failure counts.
snwResult snwExports_Finish(snwExports* exports, snwMessage* message);
void snwExports_Drop(snwExports* exports); // nothing unfinished stays; also after Finish, and of zeros

// The words of --export, as a list.
json_t* snwExportsDef_ToJson(const snwExportsDef* def);
// Says on stderr what went where.
void snwExportsDef_List(const snwExportsDef* def, const char* directory);
