#include "wire.h"
#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

bool snwWire_Open(snwWire* wire, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval patience = {.tv_sec = 10}; // a server that does not read must not stop us for ever
    int yes = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *wire = (snwWire){.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (wire->socket < 0)
        return false;
    setsockopt(wire->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(wire->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(wire->socket, (struct sockaddr*)&address, sizeof address) == 0)
        return true;
    snwWire_Close(wire);
    return false;
}

void snwWire_Close(snwWire* wire)
{
    if (wire->socket >= 0)
        close(wire->socket);
    free(wire->data);
    free(wire->message);
    *wire = (snwWire){.socket = -1};
}

bool snwWire_Send(snwWire* wire, const void* data, size_t size)
{
    const unsigned char* at = data;
    while (size > 0)
    {
        ssize_t sent = send(wire->socket, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool snwWire_Say(snwWire* wire, const char* format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return length >= 0 && (size_t)length < sizeof text && snwWire_Send(wire, text, (size_t)length);
}

// ---------------------------------------------------------------------------------------------------------------------
// Receiving

static bool Reserve(unsigned char** data, size_t* capacity, size_t size)
{
    if (size <= *capacity)
        return true;
    size_t grown = size * 2 + 4096;
    unsigned char* memory = realloc(*data, grown);
    if (memory == NULL)
        return false;
    *data = memory;
    *capacity = grown;
    return true;
}

// One read. 1: something came; 0: the connection is gone; -1: nothing came until then.
static int Fill(snwWire* wire, double until)
{
    enum
    {
        most = 256 << 10
    };
    double left = until - snwClock_Seconds();
    struct pollfd poller = {.fd = wire->socket, .events = POLLIN};
    int ready = poll(&poller, 1, left > 0 ? (int)(left * 1000 + 1) : 0);
    if (ready <= 0)
        return ready < 0 && errno == EINTR ? 1 : -1;
    if (wire->start > 0)
        memmove(wire->data, wire->data + wire->start, wire->end - wire->start);
    wire->end -= wire->start;
    wire->start = 0;
    if (!Reserve(&wire->data, &wire->capacity, wire->end + most))
        return 0;
    ssize_t got = recv(wire->socket, wire->data + wire->end, most, 0);
    if (got <= 0)
        return 0;
    wire->end += (size_t)got;
    return 1;
}

const char* snwWire_ReadAll(snwWire* wire, double seconds)
{
    double until = snwClock_Seconds() + seconds;
    int state = 1;
    while (state > 0)
        state = Fill(wire, until);
    if (state < 0 || !Reserve(&wire->data, &wire->capacity, wire->end + 1))
        return NULL;
    wire->data[wire->end] = 0;
    return (const char*)wire->data + wire->start;
}

// ---------------------------------------------------------------------------------------------------------------------
// WebSocket

// The handshake's example of RFC 6455, 1.3.
bool snwWire_Upgrade(snwWire* wire, int port, const char* token)
{
    if (!snwWire_Open(wire, port))
        return false;
    snwWire_Say(wire,
        "GET /socket?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Protocol: sinew.1\r\n\r\n",
        token, port, port);
    double until = snwClock_Seconds() + 120;
    int state = 1;
    char* end = NULL;
    while (state > 0 && end == NULL)
    {
        state = Fill(wire, until);
        if (!Reserve(&wire->data, &wire->capacity, wire->end + 1))
            break;
        wire->data[wire->end] = 0;
        end = strstr((char*)wire->data, "\r\n\r\n");
    }
    bool accepted = end != NULL && strncmp((char*)wire->data, "HTTP/1.1 101", 12) == 0 &&
                    strstr((char*)wire->data, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != NULL;
    if (end != NULL)
        wire->start = (size_t)(end + 4 - (char*)wire->data);
    return accepted;
}

bool snwWire_SendFrame(snwWire* wire, int first, bool masked, const void* data, size_t size)
{
    static const unsigned char mask[4] = {0x12, 0x34, 0x56, 0x78};
    unsigned char head[14];
    int length = 0;
    head[length++] = (unsigned char)first;
    int bytes = size < 126 ? 0 : size < 65536 ? 2 : 8;
    head[length++] = (unsigned char)((masked ? 0x80 : 0) | (bytes == 0 ? (int)size : bytes == 2 ? 126 : 127));
    for (int i = bytes - 1; i >= 0; --i)
        head[length++] = (unsigned char)((uint64_t)size >> (8 * i));
    if (masked)
        memcpy(head + length, mask, 4);
    length += masked ? 4 : 0;
    unsigned char* body = malloc(size + (size_t)length);
    if (body == NULL)
        return false;
    memcpy(body, head, (size_t)length);
    for (size_t i = 0; i < size; ++i)
        body[(size_t)length + i] = ((const unsigned char*)data)[i] ^ (masked ? mask[i % 4] : 0);
    bool sent = snwWire_Send(wire, body, size + (size_t)length);
    free(body);
    return sent;
}

bool snwWire_SendText(snwWire* wire, const char* text)
{
    return snwWire_SendFrame(wire, snw_wireFinal | snw_opText, true, text, strlen(text));
}

typedef struct Frame
{
    int first;
    size_t head, size;
} Frame;

// Is a whole frame there?
static bool ReadFrame(const snwWire* wire, Frame* frame)
{
    const unsigned char* at = wire->data + wire->start;
    size_t there = wire->end - wire->start;
    if (there < 2)
        return false;
    int bytes = (at[1] & 127) == 126 ? 2 : (at[1] & 127) == 127 ? 8 : 0;
    *frame = (Frame){at[0], 2 + (size_t)bytes, at[1] & 127};
    if (there < frame->head)
        return false;
    if (bytes > 0)
        frame->size = 0;
    for (int i = 0; i < bytes; ++i)
        frame->size = frame->size << 8 | at[2 + i];
    return there - frame->head >= frame->size;
}

// nothing: more frames of the message are to come.
static snwWireKind TakeFrame(snwWire* wire, const Frame* frame)
{
    const unsigned char* body = wire->data + wire->start + frame->head;
    int kind = frame->first & 15;
    wire->start += frame->head + frame->size;
    if (kind == snw_opPing)
        return snwWire_SendFrame(wire, snw_wireFinal | snw_opPong, true, body, frame->size) ? snw_wireNothing
                                                                                            : snw_wireEnd;
    if (kind == snw_opPong)
        return snw_wireNothing;
    if (kind != snw_opContinue)
    {
        wire->opcode = kind;
        wire->messageSize = 0;
    }
    if (!Reserve(&wire->message, &wire->messageCapacity, wire->messageSize + frame->size + 1))
        return snw_wireEnd;
    memcpy(wire->message + wire->messageSize, body, frame->size);
    wire->messageSize += frame->size;
    wire->message[wire->messageSize] = 0;
    if ((frame->first & snw_wireFinal) == 0)
        return snw_wireNothing;
    if (wire->opcode == snw_opText || wire->opcode == snw_opBinary)
        return wire->opcode == snw_opText ? snw_wireText : snw_wireBinary;
    return snw_wireClose;
}

snwWireKind snwWire_Next(snwWire* wire, double seconds)
{
    double until = snwClock_Seconds() + seconds;
    for (;;)
    {
        Frame frame;
        while (ReadFrame(wire, &frame))
        {
            snwWireKind kind = TakeFrame(wire, &frame);
            if (kind != snw_wireNothing)
                return kind;
        }
        int state = Fill(wire, until);
        if (state <= 0)
            return state == 0 ? snw_wireEnd : snw_wireNothing;
    }
}

int snwWire_WaitForClose(snwWire* wire, double seconds)
{
    double until = snwClock_Seconds() + seconds;
    snwWireKind kind = snw_wireText;
    while (kind == snw_wireText || kind == snw_wireBinary)
        kind = snwWire_Next(wire, until - snwClock_Seconds());
    if (kind == snw_wireClose && wire->messageSize >= 2)
        return wire->message[0] << 8 | wire->message[1];
    return kind == snw_wireNothing ? -1 : 0;
}
