// The studio: a session and the server that shows it, until someone interrupts.

#pragma once

#include "studio/server.h"
#include "studio/session.h"

typedef struct snwStudioDef
{
    const char* source;  // as snwSessionDef.source
    const char* folder;  // of files that are opened, dropped and exported; made if missing
    int threads;         // of the simulation; 0: one per core
    snwServerDef server; // its folder is the one above
    // Called when the address is known and requests are answered; may be NULL.
    void (*ready)(const snwServer* server, snwSession* session, void* user);
    void* user;
} snwStudioDef;

snwStudioDef snwDefaultStudioDef(void);
// Returns when it was interrupted. The context is that of the server: log and little memory.
snwResult snwStudio_Run(snwContext* context, const snwStudioDef* def, snwMessage* message);
