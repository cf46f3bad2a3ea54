// Peers that are programs of their own, beside the running one: sinew-peer-NAME. They read what they are to do from
// their input and answer with JSON. SINEW_PEERS names another folder for them, which is for the tests.

#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

// Is it there? Built where `make bench-deps` has put what it needs.
bool snwPeer_Exists(const char* name);

// Runs it with `input`, from its start; NULL if it fails. The caller frees the answer.
json_t* snwPeer_Run(const char* name, FILE* input);
