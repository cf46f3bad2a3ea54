// Work that takes long, done one after the other by the session's worker: opening, changing, exporting.

#pragma once

#include "studio/session_parts.h"

#include <stdatomic.h>
#include <stdio.h>

typedef enum snwJobKind
{
    snw_jobOpen,   // `name` becomes a stage with its sim, or a moment
    snw_jobChange, // `base` with `change`
    snw_jobExport,
    snw_jobPaint, // the model of `base` again, with whose bones move what
    snw_jobSave,  // autosave of `base`
} snwJobKind;

// Where a name is looked up: a scene and a character may share one.
typedef enum snwSource
{
    snw_sourceAny,
    snw_sourceScene,
    snw_sourceCharacter,
    snw_sourceFile,
} snwSource;

struct snwJob
{
    snwJob* next;
    snwSession* session;
    snwContext* context; // of what is made
    snwJobKind kind;
    int number;
    atomic_bool cancelled;
    char name[snw_stagePath];
    snwSource source;
    bool trusted;    // the name is a path of the command line
    char label[112]; // for undo; "": there is nothing to come back to
    char method[32], param[64], motion[128];
    snwStageChange change;        // its texts are those above
    snwMoment base;               // stage, and for exports what was recorded
    char format[16];              // of an export
    double params[snw_maxParams]; // as they are set now, and so
    snwVec3 gravity;
    snwMaterial material; // of the first body
    int lastPercent;

    snwResult result;
    snwMessage message;
    snwStage* stage;
    snwSim* sim;
    snwMoment moment; // instead of stage and sim
    snwBlob* model;   // of a painting
    char note[256];   // "" if none
    char file[256];   // of an export: the name of what was written
    double bytes;
    char notes[4096]; // of an export: lines
};

snwJob* snwCreateJob(snwSession* session, snwJobKind kind); // NULL: no memory
void snwDestroyJob(snwJob* job);
void snwSession_Start(snwSession* session, snwJob* job); // takes it over
bool snwSession_Cancel(snwSession* session, int number); // false: there is none of that number
void* snwSession_Worker(void* user);                     // the thread
// What the worker has finished, in the session's thread; NULL: nothing.
snwJob* snwSession_TakeFinished(snwSession* session);
void snwSession_Finish(snwSession* session, snwJob* job); // takes it over

// Tells how far it is; a negative result is to stop the work.
snwResult snwJob_Progress(snwJob* job, const char* text, double share);

bool snwJob_Opens(const snwJob* job); // another scene

// sources.c
snwResult snwJob_Open(snwJob* job);
// painting.c
snwResult snwJob_Paint(snwJob* job);
// autosave.c
snwResult snwJob_Save(snwJob* job);
// exports.c
snwResult snwJob_Export(snwJob* job);
void snwJob_WriteFiles(const snwJob* job, snwText* text); // keys of the last event: file, bytes, notes
bool snwExportWord_IsKnown(const char* word);
