// A studio's session: one living scene that any number of viewers see and touch.
//
//   clients --JSON requests--> queue --> session thread: sim, history, timeline --> newest frame --> clients
//                                          |                                          ^
//                                          +--> worker thread: opening, exporting ----+ events
//
// The session knows nothing of sockets: requests come in as text with the number of a client, answers and events go out
// through `tell`, frames wait to be taken. So all of it can be tested without a network, and a client that does not
// read costs nothing here: there is one newest frame, whoever takes it.
//
// Requests, answers, events and the layout of frames and models are described in docs/studio.md.

#pragma once

#include "studio/blob.h"

typedef struct snwSession snwSession;

enum
{
    snw_studioProtocol = 1,
    snw_maxRequestBytes = 64 << 10,
    snw_maxRequests = 1024, // waiting
};

// text is JSON for one client, or for all if client is 0. Called from the session's threads; returns at once.
typedef void snwSessionTellFn(int client, const char* text, size_t size, void* user);
// There is a newer frame or model to take. Called from the session's threads; returns at once.
typedef void snwSessionNewsFn(void* user);

typedef struct snwSessionDef
{
    const char* source; // name of a scene or character, or a path of any file that can be opened; NULL: a first scene
    const char* folder; // the only one where files are opened and written; made if missing
    const char* tokenless; // NULL, or the address to name in hints (without the token)
    int threads;           // of the sim; 0: one per core
    double cacheBytes;     // for frames to scrub through, saved states and undo
    bool paused;           // at the start
    snwSessionTellFn* tell;
    snwSessionNewsFn* news;
    void* user;
} snwSessionDef;

snwSessionDef snwDefaultSessionDef(void);
// Returns before the source is open: the state says "loading" until it is. Errors here are those of memory and folder.
snwResult snwCreateSession(const snwSessionDef* def, snwSession** session, snwMessage* message);
// Saves what autosave saves. All blobs must be released before. NULL is allowed.
void snwDestroySession(snwSession* session);

// A request as it came from a client (1, 2, ...): any bytes. false: too many are waiting, it was dropped.
bool snwSession_Post(snwSession* session, int client, const char* text, size_t size);
// The client is gone: what it holds is let go.
void snwSession_Leave(snwSession* session, int client);

// The newest, with a reference for the caller; NULL: there is none yet.
snwBlob* snwSession_TakeFrame(snwSession* session);
snwBlob* snwSession_TakeModel(snwSession* session);
snwContext* snwSession_GetContext(snwSession* session);
