// One performance: a scene file run from start to end, with its log, measures, report, plot, film and picture.

#pragma once

#include "app/common.h"
#include "app/exports.h"
#include "app/plots.h"

// Defaults of films, for every command: a first look must not take long.
#define SNW_FILM_WIDTH   768
#define SNW_FILM_HEIGHT  432
#define SNW_FILM_SAMPLES 4

#define SNW_WORD_OF(number) #number
#define SNW_WORD(macro)     SNW_WORD_OF(macro)

// Rows for the option tables of verbs that draw.
#define SNW_FILM_OPTIONS                                                                                               \
    {"no-film", 0, NULL, false, snw_completeNothing, NULL, "draw neither film nor picture"},                           \
        {"width", 0, "PIXELS", false, snw_completeNothing, NULL,                                                       \
            "width of the film (default " SNW_WORD(SNW_FILM_WIDTH) ")"},                                               \
        {"height", 0, "PIXELS", false, snw_completeNothing, NULL,                                                      \
            "height of the film (default " SNW_WORD(SNW_FILM_HEIGHT) ")"},                                             \
        {"samples", 0, "N", false, snw_completeNothing, NULL,                                                          \
            "rays per pixel of the film (default " SNW_WORD(SNW_FILM_SAMPLES) ")"},                                    \
        {"look", 0, "LOOK", false, snw_completeWords, "skin strain speed contact stiffness elements bones weights",    \
            "skin (default), strain, speed, contact, stiffness, elements, bones or weights"},                          \
        {"show", 0, "LIST", false, snw_completeNothing, NULL,                                                          \
            "draw these too, with commas between: contacts, pins, joints, pressure, handles"},                         \
        {"gif", 0, NULL, false, snw_completeNothing, NULL, "make film.gif instead of film.mp4"},                       \
        {"transparent", 0, NULL, false, snw_completeNothing, NULL,                                                     \
            "DIR/frames/frame-00000.png and so on with an opacity, instead of a film"},                                \
        {"turntable", 0, NULL, false, snw_completeNothing, NULL, "the camera goes round once during the film"},        \
    {                                                                                                                  \
        "png-sequence", 0, NULL, false, snw_completeNothing, NULL,                                                     \
            "keep the frames of the film as DIR/frames/frame-00000.png and so on"                                      \
    }

typedef struct snwPerformDef
{
    const char* path; // of the scene
    snwSceneOptions options;
    int frames;            // > 0: run this many frames instead of the scene's duration
    const char* directory; // NULL: no files
    bool film;             // film and picture too
    int width, height, samples;
    bool cache;            // frames too
    double cacheTolerance; // m; 0: every bit
    bool resume;           // go on from the frames that are there; there is then no film
    snwFilmLook look;
    uint32_t show;    // mask of snw_show...
    bool turntable;   // the camera goes round once
    bool sequence;    // the frames stay as numbered pictures
    bool transparent; // and have an opacity
    bool gif;         // film.gif instead of film.mp4
    snwExportsDef exports;
    bool overwrite;
} snwPerformDef;

typedef struct snwPerformance
{
    char scene[128]; // its name
    char method[32];
    uint64_t seed;
    double rate, duration;
    int bodyCount;
    int threads;
    snwSimd simd;
    json_t* settings; // every parameter as the sim has it; NULL: the run did not begin
    int frameCount;   // that a whole run would have
    bool ran;         // to its end, to a divergence or to an interruption
    bool noFilm;      // ffmpeg is missing or failed: a warning, no failure
    bool plotted[snw_plotKindCount];
    bool badInput; // the scene could not be opened
    snwResult result;
    char reason[256]; // why it ended early; empty if it did not
    snwRunReport report;
    snwFilmCheck filmCheck; // no frames: no film was drawn
} snwPerformance;

snwPerformDef snwDefaultPerformDef(void);

// The options of SNW_FILM_OPTIONS but for no-film, which verbs see to themselves.
snwExit snwPerformDef_ReadFilm(const snwArgs* args, snwPerformDef* def);

// The report is sound, and the files are there, also after snw_errorDiverged and snw_errorInterrupted (without film).
snwResult snwPerform(snwContext* context, const snwPerformDef* def, snwPerformance* performance, snwMessage* message);

// After any outcome of snwPerform.
void snwPerformance_Free(snwPerformance* performance);

// The word for how it ended: a run that ended well but whose flesh nobody would believe is a "warning", not "ok".
const char* snwPerformance_Outcome(const snwPerformance* performance);

json_t* snwWarnings_ToJson(const snwWarning* warnings, int count);
json_t* snwFilmCheck_ToJson(const snwFilmCheck* check);
json_t* snwPerformance_ToJson(const snwPerformDef* def, const snwPerformance* performance);

// Says on stderr what in a run that ended well is still suspicious.
void snwPerformance_Warn(const snwPerformance* performance);

// Says on stderr where each file is.
void snwPerform_ListFiles(const snwPerformDef* def, const snwPerformance* performance);
