// A client of the studio's server that speaks HTTP and WebSocket by itself, byte for byte: for the benchmark, and for
// tests that say what no library would say.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct snwWire
{
    int socket;          // -1: closed
    unsigned char* data; // received, not yet read: from start to end
    size_t start, end, capacity;
    unsigned char* message; // the last message, put together
    size_t messageSize, messageCapacity;
    int opcode; // of that message, which may come in several frames
} snwWire;

typedef enum snwWireKind
{
    snw_wireNothing, // none came in time
    snw_wireText,
    snw_wireBinary,
    snw_wireClose, // the message is the status, two bytes, and the reason
    snw_wireEnd,   // the connection is gone
} snwWireKind;

enum
{
    snw_wireFinal = 0x80, // bits of a frame's first byte
    snw_opContinue = 0,
    snw_opText = 1,
    snw_opBinary = 2,
    snw_opClose = 8,
    snw_opPing = 9,
    snw_opPong = 10,
};

bool snwWire_Open(snwWire* wire, int port); // of 127.0.0.1
void snwWire_Close(snwWire* wire);
bool snwWire_Send(snwWire* wire, const void* data, size_t size);
bool snwWire_Say(snwWire* wire, const char* format, ...) __attribute__((format(printf, 2, 3)));
// All that comes until the other side closes, with a zero behind it; NULL: it does not in time. The wire's own memory.
const char* snwWire_ReadAll(snwWire* wire, double seconds);

// Opens /socket as the page does; false: it was refused.
bool snwWire_Upgrade(snwWire* wire, int port, const char* token);
// A frame as given: first is bits and opcode; masked by a fixed mask or not at all.
bool snwWire_SendFrame(snwWire* wire, int first, bool masked, const void* data, size_t size);
bool snwWire_SendText(snwWire* wire, const char* text);
// The next whole message; pings are answered.
snwWireKind snwWire_Next(snwWire* wire, double seconds);
// Skips messages until the other side closes. The number it gives: 1000 and so on; 0: none; -1: it does not in time.
int snwWire_WaitForClose(snwWire* wire, double seconds);
