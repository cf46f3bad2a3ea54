// What the files of a session share.
//
//   session.c   threads, queue, the loop          requests.c  the words of the protocol
//   stage.c     a scene that is open              shown.c     what is drawn of it
//   model.c     the model for viewers             frame.c     the frames for viewers
//   state.c     the state in words                live.c      values that can change, and the command that changes them
//   record.c    commands and hashes so far        timeline.c  cached frames, snapshots, seek
//   history.c   undo and redo                     grabs.c     hands
//   jobs.c      work that takes long              sources.c   what a name or file becomes
//   exports.c   files of the recording            autosave.c
//
// Everything but what is marked belongs to the session's thread alone.

#pragma once

#include "base/array.h"
#include "scene/fields.h"
#include "scene/text.h"
#include "sim/method.h"
#include "sinew/tools.h"
#include "studio/session.h"
#include "studio/stage.h"

#include <pthread.h>

enum
{
    snw_maxGrabs = 64,       // hands at a time, of all clients
    snw_maxGrabVertices = 8, // that a bone is held by
    snw_maxUndo = 100,
    snw_snapshotFrames = 30, // from one saved state to the next
};

// ---------------------------------------------------------------------------------------------------------------------
// Recording, moments, history

// Everything that was done since the scene's start, and a hash per frame; frame 0 is the start.
typedef struct snwRecording
{
    snwArray(snwCommand) commands;
    snwArray(uint64_t) hashes;
} snwRecording;

// All that is needed to be there again.
typedef struct snwMoment
{
    snwStage* stage; // NULL: nothing
    unsigned char* block;
    size_t blockSize;
    snwRecording recording;
} snwMoment;

typedef struct snwDeed
{
    char label[112];
    uint64_t key;       // deeds of one key that follow each other quickly are one
    double time;        // s, when
    snwMoment moment;   // to go back (or forward) to; without a stage:
    snwCommand* before; // commands that undo it,
    snwCommand* after;  // and do it again
    int beforeCount, afterCount;
} snwDeed;

typedef struct snwHistory
{
    snwArray(snwDeed) undo;
    snwArray(snwDeed) redo;
} snwHistory;

typedef struct snwCachedFrame
{
    snwBlob* blob; // NULL: empty
    uint64_t hash;
    int frame;
} snwCachedFrame;

typedef struct snwSnapshot
{
    unsigned char* block;
    uint64_t hash;
    int frame;
} snwSnapshot;

typedef struct snwTimeline
{
    snwArray(snwCachedFrame) frames; // a ring by frame number
    snwArray(snwSnapshot) snapshots; // by frame; the first is frame 0
    size_t frameBytes, snapshotBytes;
    int spacing;       // frames from one snapshot to the next
    int shown;         // the old frame that is shown; -1: the newest one
    snwMoment present; // while an old frame is shown
} snwTimeline;

// ---------------------------------------------------------------------------------------------------------------------
// Values that can change: as they will be after the next step

typedef struct snwLiveHandle
{
    uint32_t given;
    snwTransform target; // what the last command said
} snwLiveHandle;

typedef struct snwLiveRule
{
    bool on;
    double value;
} snwLiveRule;

typedef struct snwLive
{
    snwArena arena; // one per stage
    double params[snw_maxParams];
    snwVec3 gravity;
    snwMaterial** materials; // per body and region
    snwLiveHandle** handles; // per body
    snwLiveRule** rules;     // per body
    uint64_t scriptSeen;     // commands of the scene's script that were heard
} snwLive;

// ---------------------------------------------------------------------------------------------------------------------
// Hands

typedef enum snwHandKind
{
    snw_handNone,
    snw_handFlesh,
    snw_handHandle,
    snw_handBone,
    snw_handJoint,
    snw_handPin,
    snw_handProp,
    snw_handCollider,
} snwHandKind;

extern const char* const snw_handKindWords[];

typedef struct snwHand
{
    int number, client;
    snwHandKind kind;
    int body, index;
    int handle; // that moves a bone; -1: it is held by its vertices
    int vertices[snw_maxGrabVertices];
    snwVec3 offsets[snw_maxGrabVertices]; // of those from what is held
    int vertexCount;
    snwVec3 from;         // m, where it was when it was taken
    snwTransform start;   // of it then
    snwTransform target;  // where it shall be
    bool turned;          // rotation counts, too
    bool fresh;           // the target has not been told to the sim
    bool moved;           // ever
    bool applied;         // the sim knows of it
    uint32_t request;     // id of the newest move
    uint32_t givenBefore; // of a handle
    snwMoment before;
} snwHand;

typedef struct snwClient
{
    int number;
    uint32_t want; // mask of snw_want...
} snwClient;

enum
{
    snw_wantStrain = 1,
    snw_wantSpeed = 2,
    snw_wantContact = 4,
    snw_wantStiffness = 8,
    snw_wantWeights = 16,
    snw_wantElements = 32,
    snw_wantContacts = 64,
    snw_wantPressure = 128,
};

// ---------------------------------------------------------------------------------------------------------------------
// Session

typedef struct snwRequest
{
    char* text; // NULL: the client is gone
    size_t size;
    int client;
} snwRequest;

typedef struct snwJob snwJob;

struct snwSession
{
    snwSessionDef def;
    char* source;
    char* folder;
    snwContext* context;
    double birth; // s
    pthread_t thread, worker;
    bool hasThread, hasWorker;

    // Shared by several threads, under the mutex:
    pthread_mutex_t mutex;
    pthread_cond_t wake, workerWake;
    snwRequest requests[snw_maxRequests];
    int requestCount;
    bool closing;
    snwBlob *frame, *model;
    snwJob *waiting, *finished, *running; // lists by `next`
    bool loading;
    char loadingText[160];
    double loadingShare;

    // For the session's thread alone:
    snwStage* stage; // NULL: nothing is open yet
    snwSim* sim;
    snwLive live;
    snwRecording recording;
    snwTimeline timeline;
    snwHistory history;
    snwHand hands[snw_maxGrabs];
    int handCount, nextHand;
    snwArray(snwClient) clients;
    uint32_t want; // of all clients
    bool playing, diverged;
    bool painting, saving; // jobs under way
    double speed;
    double nextStep;              // s, when the next is due
    double paceStart, paceFrames; // since when how many were made
    double realtime;
    double encodedAt; // s, the newest frame for viewers
    snwMeasures measures;
    double measuredAt; // s
    uint64_t measuredStep;
    snwRequest taken[snw_maxRequests];
    snwArray(snwCommand) pending; // pushed and not applied yet
    uint64_t frameSerial, modelSerial;
    uint64_t revision;
    bool stale; // the state has changed since it was told
    double toldAt;
    int nextJob;
    char warning[256];
    double savedAt;         // s, of the session; < 0: never
    uint64_t savedRevision; // of what autosave has
    bool hasAutosave;       // from an earlier session
    uint64_t workRevision;  // rises with all that autosave keeps
};

double snwSession_Now(const snwSession* session); // s since it began

// session.c
void snwSession_Tell(snwSession* session, int client, const snwText* text);
void snwSession_Note(snwSession* session, const char* level, const char* text, const char* remedy);
void snwSession_NoteMessage(snwSession* session, const char* level, const snwMessage* message);
void snwSession_PublishFrame(snwSession* session, snwBlob* blob); // takes the reference
void snwSession_PublishModel(snwSession* session);                // of the stage, and a frame of it
snwResult snwSession_StepOnce(snwSession* session, snwMessage* message);
// Shows another stage with its sim, from its start; takes both over. Old recording and timeline are gone.
snwResult snwSession_Show(snwSession* session, snwStage* stage, snwSim* sim, snwMessage* message);
void snwSession_Play(snwSession* session, bool playing);

// requests.c
void snwSession_Handle(snwSession* session, const snwRequest* request);

// live.c
snwResult snwLive_Create(snwSession* session, snwMessage* message);
void snwLive_Read(snwSession* session);   // all of it, from sim, scene and recording
void snwLive_Follow(snwSession* session); // after a step
// Pushes a command to be applied before the next step. Old frames that are shown become the present first.
snwResult snwSession_Push(snwSession* session, const snwCommand* command, snwMessage* message);
// The command that gives back what this one would take; false: there is none.
int snwLive_Inverse(const snwSession* session, const snwCommand* command, snwCommand* inverse, int capacity);
// Pushes what no other command undoes: the moment before it is kept.
snwResult snwSession_DoFromHere(snwSession* session, const char* label, const snwCommand* command, snwMessage* message);
snwTransform snwSession_HandlePose(
    const snwSession* session, int body, int handle); // point and turn, as commands have it

// record.c
bool snwRecording_Copy(snwContext* context, const snwRecording* from, snwRecording* to);
void snwRecording_Free(snwContext* context, snwRecording* recording);
void snwRecording_Cut(snwRecording* recording, int frame); // forgets what came after it
size_t snwRecording_Bytes(const snwRecording* recording);
snwResult snwSession_TakeMoment(snwSession* session, snwMoment* moment, snwMessage* message);
snwResult snwSession_GoTo(snwSession* session, const snwMoment* moment, snwMessage* message); // moment stays
void snwMoment_Free(snwContext* context, snwMoment* moment);
size_t snwMoment_Bytes(const snwMoment* moment);
// From the scene's start; live values stay as they are. A new recording.
snwResult snwSession_Restart(snwSession* session, snwMessage* message);

// timeline.c
void snwTimeline_Clear(snwSession* session);
void snwTimeline_AddFrame(snwSession* session, snwBlob* blob); // of the present; retains it
void snwTimeline_Agree(snwSession* session);                   // drops what the recording does not say any more
snwResult snwSession_Seek(snwSession* session, int frame, snwMessage* message);
snwResult snwSession_GoOn(snwSession* session, snwMessage* message); // from the old frame that is shown, if one is
int snwTimeline_Ranges(const snwSession* session, int (*ranges)[2], int capacity);

// history.c: takes the moment over. Without memory the deed is done but cannot be undone.
void snwHistory_AddMoment(snwSession* session, const char* label, snwMoment* before);
void snwHistory_AddCommands(snwSession* session, const char* label, uint64_t key, const snwCommand* before,
    int beforeCount, const snwCommand* after, int afterCount);
snwResult snwSession_Undo(snwSession* session, bool again, char* label, size_t capacity, snwMessage* message);
const char* snwHistory_Label(const snwSession* session, bool again); // NULL: there is none
void snwHistory_Free(snwSession* session);

// grabs.c
void snwSession_PushHands(snwSession* session);
void snwSession_DropClient(snwSession* session, int client);
void snwSession_ForgetHands(snwSession* session);   // without a word to the sim
void snwSession_StartPainting(snwSession* session); // painting.c: unless it is done or under way
void snwSession_GatherWants(snwSession* session);   // of all clients
snwHand* snwSession_FindHand(snwSession* session, int client, int number);
snwVec3 snwHand_Place(const snwSession* session, const snwHand* hand); // where what is held is now

// frame.c, model.c, state.c
snwBlob* snwSession_EncodeFrame(snwSession* session);
void snwBlob_SetFrame(snwBlob* blob, const snwSession* session, uint32_t serial, uint32_t flags);
void snwSession_WriteState(snwSession* session, snwText* text); // the object's keys, without braces
void snwSession_WriteList(snwSession* session, snwText* text);
