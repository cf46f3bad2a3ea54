// A request on its way to an answer.

#pragma once

#include "studio/session_parts.h"

typedef struct snwRequestData
{
    int protocol;
    const json_t* id;
    int word;
    const char* name;
    int frames;
    double speed, ruleValue;
    const json_t* value;
    snwVec3 vector;
    int body, region;
    const json_t *preset, *softness, *density, *young, *poisson, *damping, *frequency, *settling;
    snwVec3 origin, direction;
    int handle, bone, joint, pin, prop, collider;
    int grab;
    snwVec3 position;
    snwQuat rotation;
    bool keep;
    int vertex;
    snwVec3 force;
    double duration;
    const json_t* handles;
    uint32_t given;
    int constraint;
    bool on;
    const json_t* command;
    int frame;
    int source; // snwSource
    const char* kind;
    int job;
    const json_t* want;
    uint64_t serial;
} snwRequestData;

extern const snwTable snw_requestTable;

typedef struct snwAnswer
{
    snwSession* session;
    int client;
    snwJson json;
    json_t* document;
    const json_t* id;
    snwRequestData data;
    uint64_t seen;
    snwText text; // the answer; keys may be added
    bool silent;  // there is none
} snwAnswer;

bool snwAnswer_Saw(const snwAnswer* answer, const char* key);
void snwAnswer_WriteId(const snwAnswer* answer, snwText* text);
snwResult snwAnswer_CheckBody(snwAnswer* answer);

// acts.c: what changes values
snwResult snwAct_Set(snwAnswer* answer);
snwResult snwAct_Gravity(snwAnswer* answer);
snwResult snwAct_Material(snwAnswer* answer);
snwResult snwAct_Push(snwAnswer* answer);
snwResult snwAct_Lock(snwAnswer* answer);
snwResult snwAct_Unlock(snwAnswer* answer);
snwResult snwAct_Rule(snwAnswer* answer);
snwResult snwAct_Command(snwAnswer* answer);
// grabs.c
snwResult snwAct_Grab(snwAnswer* answer);
snwResult snwAct_Move(snwAnswer* answer);
snwResult snwAct_Drop(snwAnswer* answer);
// exports.c
snwResult snwAct_Words(snwAnswer* answer);
