// An export under way, in the worker's thread.

#pragma once

#include "studio/jobs.h"

enum
{
    snw_maxExportNotes = 16
};

typedef struct snwExportWork snwExportWork;
typedef snwResult snwExportFrameFn(snwExportWork* work, const snwRunFrame* frame, snwMessage* message);

struct snwExportWork
{
    snwJob* job;
    snwContext* context; // of this export alone
    snwMessage* message;
    char path[snw_stagePath];    // a new one
    char written[snw_stagePath]; // the first file, if it is another
    snwExportFrameFn* onFrame;
    snwFilm* film;
    snwShown* shown;
    FILE* takes;   // positions and normals of all bodies, frame by frame
    size_t floats; // of a frame
    char notes[snw_maxExportNotes][224];
    int noteCount;
};

void snwExportWork_Note(snwExportWork* work, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Performs the recording; a frame that is not the one that was shown is an error.
snwResult snwExportWork_Perform(snwExportWork* work, snwExportFrameFn* onFrame);

snwResult snwExportWork_Bake(snwExportWork* work); // exports_bake.c: glb, joints, pc2, mdd, obj
snwResult snwExportWork_Sidecar(snwExportWork* work);
snwResult snwExportWork_Film(snwExportWork* work);
snwResult snwExportWork_Scene(snwExportWork* work);
snwResult snwExportWork_Log(snwExportWork* work);
