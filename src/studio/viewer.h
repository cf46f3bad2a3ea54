// One client that is connected: what waits to be sent to it, and in which order.
//
// Words go first, then the model that the newest frame belongs to, then that frame - if the client still has credit.
// Frames never queue: a client that acknowledges late gets fewer, never older ones. Words do queue, up to a limit; a
// client that leaves more unread is cut off. Nothing here knows of sockets.

#pragma once

#include "studio/blob.h"

enum
{
    snw_frameCredit = 2, // frames under way
};

typedef struct snwViewer
{
    int number;          // 1, 2, ... never used again
    snwContext* context; // of texts
    snwContext* shown;   // of models and frames
    void* link;          // the transport's own

    snwBlob** texts; // a ring
    int textCapacity, firstText, textCount;
    size_t textBytes, mostTextBytes;

    uint64_t model;                     // that it has; 0: none
    uint64_t frame;                     // the last one sent; 0: none
    uint64_t underway[snw_frameCredit]; // frames without an answer, oldest first
    int underwayCount;

    snwBlob* sending; // NULL: nothing; else the message that is being sent,
    size_t sent;      // and how much of it is
    bool sendingText;

    char* request; // message that is coming in, NULL: none
    size_t requestSize;
    bool overflowed; // too much waits: cut it off
} snwViewer;

// NULL: no memory.
snwViewer* snwCreateViewer(snwContext* context, snwContext* shown, int number, size_t mostTextBytes);
void snwDestroyViewer(snwViewer* viewer); // NULL is allowed

// Retains the text. Sets `overflowed` if it is one too many.
void snwViewer_AddText(snwViewer* viewer, snwBlob* text);
// The client has received this frame (and all before it).
void snwViewer_Acknowledge(snwViewer* viewer, uint64_t serial);

// Is there anything to send? model and frame are the newest ones; NULL: there are none yet.
bool snwViewer_WantsToSend(const snwViewer* viewer, const snwBlob* model, const snwBlob* frame);
// Chooses the next message unless one is under way: viewer->sending. false: there is nothing to send.
bool snwViewer_Choose(snwViewer* viewer, snwBlob* model, snwBlob* frame);
// So many more bytes of it have gone out.
void snwViewer_Advance(snwViewer* viewer, size_t size);

// Adds a piece of an incoming message; false: it gets longer than `most`, or there is no memory.
bool snwViewer_AddRequest(snwViewer* viewer, const void* data, size_t size, size_t most);
