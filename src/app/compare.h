// Variants of one scene, run one after another and laid side by side.

#pragma once

#include "app/common.h"
#include "app/table.h"
#include "base/array.h"

enum
{
    snw_leastVariants = 2,
    snw_mostVariants = 8
};

// One change to the scene.
typedef struct snwVariant
{
    char name[96];      // "pbd.iterations=5"; unlike all others; also the name of its folder
    const char* method; // NULL: the scene's
    bool hasSetting, hasSeed;
    snwSetting setting;
    uint64_t seed;
} snwVariant;

typedef struct snwCompareDef
{
    const char* path;        // of the scene
    snwSceneOptions options; // what all variants share
    int frames;              // > 0: run this many frames instead of the scene's duration
    snwVariant variants[snw_mostVariants];
    int variantCount;
    const char* directory; // NULL: no files
    bool film;
    int width, height, samples; // of one tile
    bool overwrite;
} snwCompareDef;

typedef snwArray(double) snwColumn;

// How one variant went.
typedef struct snwVariantRun
{
    snwResult result; // snw_ok, snw_errorDiverged or snw_errorInterrupted
    char reason[256]; // why it ended early
    char method[32];
    uint64_t seed;
    snwRunReport report;
    snwColumn times, energies, heights, stepMs; // per frame
    struct snwFilm* film;                       // NULL: none
    int bodyCount;
    uint64_t bonesAtFirst;
    bool bonesMove; // of any body, in any frame
} snwVariantRun;

typedef struct snwComparison
{
    snwContext* context;
    char scene[128];
    snwVariantRun runs[snw_mostVariants];
    int count;     // runs that took place
    bool badInput; // the scene could not be opened
    bool noFilm;   // ffmpeg is missing or failed
    snwResult result;
} snwComparison;

snwCompareDef snwDefaultCompareDef(void);

// Also after an interruption and after divergences the comparison holds what there is, and the files are written.
snwResult snwCompare(snwContext* context, const snwCompareDef* def, snwComparison* comparison, snwMessage* message);
void snwComparison_Free(snwComparison* comparison);

// What a person should know before trusting a variant's numbers; "" if nothing.
void snwComparison_Caution(const snwCompareDef* def, const snwComparison* comparison, int index, char text[160]);

// How much the energy changed from the first frame to the last, over the largest there was.
double snwVariantRun_Drift(const snwVariantRun* run);

snwTextTable snwComparison_ToTable(const snwCompareDef* def, const snwComparison* comparison);
json_t* snwComparison_ToJson(const snwCompareDef* def, const snwComparison* comparison);
// Says on stderr where each file is.
void snwComparison_ListFiles(const snwCompareDef* def, const snwComparison* comparison);
