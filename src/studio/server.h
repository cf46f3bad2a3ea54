// HTTP and WebSocket for a studio: the page's files, files of the folder, and the socket that viewers talk through.
//
// Runs in one thread, which only moves bytes: it never waits for the simulation, and nothing that a client does or does
// not do makes the simulation wait. What the clients say goes to a host (the session; a stand-in in tests), what the
// host says comes in through Tell and News from any thread.
//
// Paths, rules and messages are described in docs/studio.md.

#pragma once

#include "studio/blob.h"

typedef struct snwServer snwServer;

typedef struct snwServerHost
{
    // As snwSession_Post and so on; called from the server's thread.
    bool (*post)(void* user, int client, const char* text, size_t size);
    void (*leave)(void* user, int client);
    snwBlob* (*takeFrame)(void* user);
    snwBlob* (*takeModel)(void* user);
    void* user;
    snwContext* context; // of frames and models
} snwServerHost;

typedef struct snwServerDef
{
    const char* address;      // numeric, to bind to
    int port;                 // 0: any free one; -1: 7777 or the next free one
    const char* const* hosts; // more names that browsers may use, each with or without a port
    int hostCount;
    const char* token;              // NULL: a random one; given, pages that are open find this server again
    const char* folder;             // of uploads and downloads; must be there
    const char* pages;              // folder of the built page; NULL: there is none
    int maxConnections;             // of any kind; more are closed at once
    int maxViewers;                 // WebSocket clients
    size_t maxTextBytes;            // that may wait for one viewer before it is cut off
    int handshakeSeconds;           // until the head of a request must be there
    int idleSeconds;                // until an HTTP transfer that does not move is cut off
    int silentSeconds;              // until a viewer that answers no ping is; at most 65535
    const volatile bool* interrupt; // set by someone: close; NULL: nobody does
} snwServerDef;

snwServerDef snwDefaultServerDef(void);
// Binds and listens.
snwResult snwCreateServer(snwContext* context, const snwServerDef* def, snwServer** server, snwMessage* message);
void snwDestroyServer(snwServer* server); // not while it runs; NULL is allowed

// What to open, with the token; and its parts.
const char* snwServer_Address(const snwServer* server);
const char* snwServer_Token(const snwServer* server);
int snwServer_Port(const snwServer* server);

// Serves until it is stopped, then says goodbye to everyone; no frame is held any more. Once per server.
snwResult snwServer_Run(snwServer* server, const snwServerHost* host, snwMessage* message);

// From any thread, also before it runs; all return at once.
void snwServer_Tell(snwServer* server, int client, const char* text, size_t size); // client 0: all
void snwServer_News(snwServer* server);                                            // a newer frame or model is there
void snwServer_Stop(snwServer* server);
