// A studio's server with a stand-in for the session, which keeps what it hears and says what a test wants said.

#pragma once

#include "studio/server.h"
#include "wire.h"

#include <pthread.h>

enum
{
    snw_hearsMost = 256,
};

typedef struct snwHeard
{
    int client;
    char* text; // with a zero behind it; NULL: the client left
    size_t size;
} snwHeard;

typedef struct snwStudioWorld
{
    snwContext* context;
    snwServer* server;
    snwServerDef def;
    char folder[512], outside[512]; // of files, and the one around it
    pthread_t thread;
    int port;
    const char* token;
    pthread_mutex_t mutex; // for what follows
    pthread_cond_t news;
    snwHeard heard[snw_hearsMost];
    int heardCount, left; // clients that left
    bool deaf;            // takes no request
    snwBlob *frame, *model;
    uint64_t serial, models;
} snwStudioWorld;

// Makes folder, pages and server and lets it run in a thread. def: NULL, or one to change; its folder and pages are
// set.
bool snwStudioWorld_Open(snwStudioWorld* world, snwContext* context, const snwServerDef* def);
void snwStudioWorld_Close(snwStudioWorld* world);

// A new frame of the newest model, of so many bytes (at least 48); its bytes tell its serial.
uint64_t snwStudioWorld_Publish(snwStudioWorld* world, size_t size);
void snwStudioWorld_PublishModel(snwStudioWorld* world, size_t size);
void snwStudioWorld_Tell(snwStudioWorld* world, int client, const char* text);
// Waits until so many messages were heard, or clients have left; false: not within its patience.
bool snwStudioWorld_WaitHeard(snwStudioWorld* world, int count);
bool snwStudioWorld_WaitLeft(snwStudioWorld* world, int count);
int snwStudioWorld_Heard(snwStudioWorld* world);
int snwStudioWorld_Left(snwStudioWorld* world);
void snwStudioWorld_Deafen(snwStudioWorld* world); // from now on no request is taken

// One request, and all of the answer; "" if there is none. head: lines with their ends, without the last empty one.
const char* snwStudioWorld_Ask(snwStudioWorld* world, snwWire* wire, const char* head, const void* body, size_t size);
int snwAnswer_Status(const char* answer); // 0: none
