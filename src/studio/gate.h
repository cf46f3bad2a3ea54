// Who may come in: names of this server that a browser may have asked for, and the token of the address.
//
// Any page on the web can open a socket to a loopback address, and one that rebinds its own name to 127.0.0.1 even has
// a Host and an Origin that agree. So both are compared with the names that were given, exactly, and every request
// that sees or changes anything needs the token, which no other page knows.

#pragma once

#include "sinew/sinew.h"

enum
{
    snw_maxGateHosts = 16,
    snw_maxGateHost = 272, // bytes of "name:port", with its end
    snw_gateTokenLength = 32,
};

typedef struct snwGate
{
    char hosts[snw_maxGateHosts][snw_maxGateHost];
    int hostCount;
    char token[snw_gateTokenLength + 1];
} snwGate;

// Draws a token.
snwResult snwGate_Open(snwGate* gate, snwMessage* message);
// Another one: as many hexadecimal digits as a drawn token has.
snwResult snwGate_SetToken(snwGate* gate, const char* token, snwMessage* message);
// A name or numeric address, of any port if it has none itself: then this one is meant. "::1" is put in brackets.
snwResult snwGate_Allow(snwGate* gate, const char* name, int port, snwMessage* message);

// text need not end with a zero; NULL: the request had none.
bool snwGate_HasHost(const snwGate* gate, const char* text, size_t size);
bool snwGate_HasOrigin(const snwGate* gate, const char* text, size_t size);
bool snwGate_HasToken(const snwGate* gate, const char* text, size_t size);
