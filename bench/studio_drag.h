// A viewer that drags a handle and looks at what it gets: what `sinew bench studio` measures with.

#pragma once

#include "studio/session.h"
#include "wire.h"

enum
{
    snw_maxDragSamples = 8192,
};

typedef struct snwDragFigures
{
    double seconds;
    int frames;                           // that came
    int vertices;                         // shown in the last of them
    int ageMax;                           // frames that were newer when one arrived
    double latencies[snw_maxDragSamples]; // ms from a move to the frame that has it
    double steps[snw_maxDragSamples];     // ms, of all stages of a frame's step
    int latencyCount, stepCount;
} snwDragFigures;

typedef struct snwDrag
{
    snwWire wire;
    snwSession* session; // whose newest frame tells the age of others; NULL: another process, no age
    int grab;
    double at[3];     // m, where the handle was
    double started;   // s
    double sent[256]; // s, when the move with this number (of the last 256) went out
    uint32_t move, seen;
} snwDrag;

// Connects, plays and takes the first handle of the first body, once there is one; false: not within five minutes.
bool snwDrag_Begin(snwDrag* drag, int port, const char* token, snwSession* session);
// Leads it round at 60 moves a second; false: the connection is gone, or no frames come any more.
bool snwDrag_Go(snwDrag* drag, double seconds, snwDragFigures* figures);
void snwDrag_End(snwDrag* drag);
