// What is written of a bake, by format.

#pragma once

#include "asset/export.h"
#include "bake/frames.h"

typedef enum snwBakeFormat
{
    snw_bakeAuto,   // by the ending of the path
    snw_bakeGlb,    // the source with its skin, flesh as few morph targets in bind space
    snw_bakeMorphs, // the same with a morph target per frame
    snw_bakeJoints, // helper joints instead of morph targets
    snw_bakePc2,
    snw_bakeMdd,
    snw_bakeObj, // a file per frame
    snw_bakeFormatCount,
} snwBakeFormat;

const char* snwBakeFormat_Name(snwBakeFormat format);
bool snwBakeFormat_Find(const char* name, snwBakeFormat* format);
// By the ending; snw_bakeAuto if it has none that is known.
snwBakeFormat snwBakeFormat_OfPath(const char* path);

typedef snwResult snwBakeProgressFn(int done, int total, void* user); // a negative result stops the work

typedef struct snwBakeOutputDef
{
    const char* path;
    snwBakeFormat format;
    double tolerance; // m, of morphs and joints; 0: SNW_USUAL_TOLERANCE of the longest side
    int most;         // morph targets of a mesh or helper joints of a skin; 0: as many as are usual
    int influences;   // of joints: how many a vertex may follow, up to 8; 0: 8
    snwUpAxis up;     // pc2, mdd, obj; usual is Z for the caches, Y for obj
    bool choose;      // with snw_bakeAuto and a document: morph targets or helper joints, whatever is smaller
    bool compress;    // documents: with EXT_meshopt_compression, which Blender does not read
    bool overwrite;
    snwBakeProgressFn* progress; // NULL: none
    void* user;
} snwBakeOutputDef;

#define SNW_USUAL_TOLERANCE (1 / 1500.0) // 1 mm on a person

snwBakeOutputDef snwDefaultBakeOutputDef(void);

enum
{
    snw_maxBakeFiles = 64,
};

typedef struct snwBakeOutputReport
{
    char files[snw_maxBakeFiles][1024]; // written, with folder
    double bytes[snw_maxBakeFiles];
    int fileCount, filesLost;  // lost: written, but not in the list
    int targets;               // morph targets or helper joints added
    double tolerance;          // m, that they were fitted to
    double sourceBytes;        // of the source's document; 0: not known
    double maxError, rmsError; // m, against the frames, over all vertices and frames; 0 for caches
    char notes[16][224];
    int noteCount;
} snwBakeOutputReport;

// Refuses early what cannot be written: files that exist, a format that the source does not take. Costs nothing.
snwResult snwBakeOutput_Check(
    snwContext* context, const snwBakeOutputDef* def, const snwAsset* asset, snwMessage* message);
snwResult snwBakeOutput_Write(snwContext* context, snwBakeFrames* frames, const snwBakeOutputDef* def,
    snwBakeOutputReport* report, snwMessage* message);
