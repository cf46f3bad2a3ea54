// What the files of the server share: server.c the loop, server_listen.c connections, server_http.c requests,
// server_socket.c viewers. Everything but what is marked belongs to the server's thread.

#pragma once

#include "base/array.h"
#include "studio/gate.h"
#include "studio/pages.h"
#include "studio/server.h"
#include "studio/viewer.h"

#include <libwebsockets.h>
#include <pthread.h>

enum
{
    snw_sendPiece = 256 << 10, // bytes of one write
    snw_maxHeaderBytes = 8 << 10,
    snw_maxUploads = 8, // at a time
};

typedef struct snwTold
{
    int client;
    snwBlob* text;
} snwTold;

struct snwServer
{
    snwContext* context;
    snwServerDef def;
    snwServerHost host;
    snwGate gate;
    snwPages pages;
    int folder;          // descriptor
    int listener, spare; // descriptors
    bool adopted;        // libwebsockets closes the listener
    int port;
    char address[400];
    struct lws_context* lws;
    lws_sorted_usec_list_t tick;
    lws_retry_bo_t liveness;
    struct lws_protocols protocols[4];

    snwArray(snwViewer*) viewers;
    int lastNumber;
    snwBlob *frame, *model; // the newest
    int connections, uploads;
    snwArray(struct lws*) strangers; // connections that have not shown the token, the oldest first
    bool closing;
    unsigned char* scratch; // LWS_PRE + snw_sendPiece

    // Shared by several threads:
    atomic_bool news, woken, stop;
    pthread_mutex_t mutex;
    snwArray(snwTold) inbox; // under the mutex
    size_t inboxBytes;
};

// server.c: takes the references over; NULL: none.
void snwServer_Show(snwServer* server, snwBlob* frame, snwBlob* model);

// server_listen.c
snwResult snwServer_Bind(snwServer* server, snwMessage* message);
void snwStrangers_Remove(snwServer* server, const struct lws* link); // nothing if it is none
int snwListen_Callback(struct lws* link, enum lws_callback_reasons reason, void* user, void* in, size_t size);

// server_http.c
typedef struct snwExchange snwExchange;
extern const size_t snwExchangeSize;
int snwHttp_Callback(struct lws* link, enum lws_callback_reasons reason, void* user, void* in, size_t size);

// server_socket.c
int snwSocket_Callback(struct lws* link, enum lws_callback_reasons reason, void* user, void* in, size_t size);
// Asks for a chance to write to every viewer that has something to get; cuts off those with too much.
void snwServer_Stir(snwServer* server);
// Lets go of viewers, frame and model; the host hears no more.
void snwServer_Forget(snwServer* server);
