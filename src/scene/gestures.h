// Gestures: what a hand does with a handle over some time, in few words. When a scene is read each becomes plain
// commands, one per step, so logs, replays and written scenes know nothing of them.
//
//   {"kind": "path", "body": "worm", "handle": "head", "start": 0.5, "duration": 2, "points": [[0, 0], [0.3, 0.2]]}

#pragma once

#include "scene/tables.h"

typedef enum snwGestureKind
{
    snw_gesturePath,    // along a curve
    snw_gestureLock,    // held where it is, or where it is told to
    snw_gestureUnlock,  // let go
    snw_gestureShake,   // to and fro
    snw_gestureGravity, // the other way round and back
} snwGestureKind;

typedef struct snwGestureData
{
    int kind;         // snwGestureKind
    const char* body; // NULL of gravity
    const json_t* handle;
    double start, duration; // s
    const json_t *points, *turns;
    int repeat;
    uint32_t given;    // 0: by the kind
    snwVec3 offset;    // m
    snwVec3 amplitude; // m
    double turn;       // degrees
    double frequency;  // Hz
    double rough;      // m
    bool release;
    snwVec3 vector; // m/s^2
    double period;  // s
} snwGestureData;

extern const snwTable snw_gestureTable;

enum
{
    snw_maxGestures = 4096,
    snw_maxGesturePoints = 10000, // of a path
};

// Appends the commands of the gestures to those of the definition, which has bodies, rate, seed and method; the list is
// then the arena's.
snwResult snwGestures_Read(snwJson* json, const json_t* list, snwArena* arena, snwSceneDef* def);
