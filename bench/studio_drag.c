#include "studio_drag.h"
#include "base/clock.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_headSize = 48, // of a frame, see docs/studio.md
    snw_sectionHead = 16,
    snw_sectionPositions = 1,
    snw_sectionStages = 12,
    snw_sectionAcks = 17,
    snw_firstMove = 1000, // numbers below are of other requests
};

static uint32_t ReadU32(const unsigned char* data)
{
    uint32_t value;
    memcpy(&value, data, sizeof value);
    return value;
}

// ---------------------------------------------------------------------------------------------------------------------
// Taking hold

static bool ReadGrab(snwDrag* drag)
{
    json_t* answer = json_loadb((const char*)drag->wire.message, drag->wire.messageSize, 0, NULL);
    const char* kind = json_string_value(json_object_get(answer, "kind"));
    const json_t* place = json_object_get(answer, "position");
    bool held = json_integer_value(json_object_get(answer, "id")) == 2 && kind != NULL && strcmp(kind, "handle") == 0;
    if (held)
        drag->grab = (int)json_integer_value(json_object_get(answer, "grab"));
    for (size_t k = 0; held && k < 3; ++k)
        drag->at[k] = json_number_value(json_array_get(place, k));
    json_decref(answer);
    return held;
}

static void Acknowledge(snwDrag* drag)
{
    char text[96];
    if (drag->wire.message[6] != 1) // a model
        return;
    snprintf(text, sizeof text, "{\"v\": 1, \"do\": \"ack\", \"serial\": %u}", ReadU32(drag->wire.message + 8));
    snwWire_SendText(&drag->wire, text);
}

bool snwDrag_Begin(snwDrag* drag, int port, const char* token, snwSession* session)
{
    *drag = (snwDrag){.session = session, .move = snw_firstMove, .seen = snw_firstMove};
    if (!snwWire_Upgrade(&drag->wire, port, token))
        return false;
    double until = snwClock_Seconds() + 300, asked = 0;
    while (snwClock_Seconds() < until)
    {
        if (snwClock_Seconds() > asked + 0.25) // it may still be loading
        {
            asked = snwClock_Seconds();
            snwWire_SendText(&drag->wire, "{\"v\": 1, \"id\": 1, \"do\": \"play\"}");
            snwWire_SendText(&drag->wire, "{\"v\": 1, \"id\": 2, \"do\": \"grab\", \"body\": 0, \"handle\": 0}");
        }
        snwWireKind kind = snwWire_Next(&drag->wire, 0.1);
        if (kind == snw_wireText && ReadGrab(drag))
        {
            drag->started = snwClock_Seconds();
            return true;
        }
        if (kind == snw_wireBinary)
            Acknowledge(drag);
        if (kind == snw_wireEnd || kind == snw_wireClose)
            break;
    }
    return false;
}

void snwDrag_End(snwDrag* drag)
{
    snwWire_Close(&drag->wire);
}

// ---------------------------------------------------------------------------------------------------------------------
// Leading round

static void Move(snwDrag* drag)
{
    char text[192];
    double now = snwClock_Seconds(), angle = 3 * (now - drag->started);
    snprintf(text, sizeof text,
        "{\"v\": 1, \"id\": %u, \"do\": \"move\", \"grab\": %d, \"position\": [%.6f, %.6f, %.6f]}", ++drag->move,
        drag->grab, drag->at[0] + 0.15 * sin(angle), drag->at[1] + 0.1 * (cos(angle) - 1), drag->at[2]);
    drag->sent[drag->move % 256] = now;
    snwWire_SendText(&drag->wire, text);
}

static void AddLatency(snwDrag* drag, uint32_t move, snwDragFigures* figures)
{
    double ms = 1e3 * (snwClock_Seconds() - drag->sent[move % 256]);
    bool known = move > drag->seen && move <= drag->move && drag->move - move < 256;
    if (known && figures->latencyCount < snw_maxDragSamples)
        figures->latencies[figures->latencyCount++] = ms;
    drag->seen = move > drag->seen ? move : drag->seen;
}

static void AddStep(const unsigned char* data, uint32_t count, snwDragFigures* figures)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        float ms;
        memcpy(&ms, data + sizeof ms * i, sizeof ms);
        sum += ms;
    }
    if (figures->stepCount < snw_maxDragSamples)
        figures->steps[figures->stepCount++] = sum;
}

static void ReadSections(snwDrag* drag, snwDragFigures* figures)
{
    const snwWire* wire = &drag->wire;
    uint32_t count = ReadU32(wire->message + snw_headSize - 4);
    size_t at = snw_headSize;
    figures->vertices = 0;
    for (uint32_t i = 0; i < count && at + snw_sectionHead <= wire->messageSize; ++i)
    {
        const unsigned char* head = wire->message + at;
        uint32_t kind = ReadU32(head), things = ReadU32(head + 8), bytes = ReadU32(head + 12);
        const unsigned char* data = head + snw_sectionHead;
        at += snw_sectionHead + (bytes + (size_t)7) / 8 * 8;
        if (at > wire->messageSize)
            break;
        if (kind == snw_sectionPositions)
            figures->vertices += (int)things;
        else if (kind == snw_sectionStages)
            AddStep(data, things, figures);
        else if (kind == snw_sectionAcks && things > 0)
            AddLatency(drag, ReadU32(data + 4), figures);
    }
}

// Asked for before the bytes are looked at: looking takes time, too.
static void AddAge(const snwDrag* drag, uint32_t serial, snwDragFigures* figures)
{
    if (drag->session == NULL)
        return;
    snwBlob* newest = snwSession_TakeFrame(drag->session);
    int age = newest != NULL ? (int)((uint32_t)newest->serial - serial) : 0;
    snwBlob_Release(snwSession_GetContext(drag->session), newest);
    figures->ageMax = age > figures->ageMax ? age : figures->ageMax;
}

static void Look(snwDrag* drag, snwDragFigures* figures)
{
    if (drag->wire.messageSize < snw_headSize || drag->wire.message[6] != 1)
        return;
    AddAge(drag, ReadU32(drag->wire.message + 8), figures);
    Acknowledge(drag);
    ++figures->frames;
    ReadSections(drag, figures);
}

bool snwDrag_Go(snwDrag* drag, double seconds, snwDragFigures* figures)
{
    *figures = (snwDragFigures){0};
    double begun = snwClock_Seconds(), next = begun;
    while (snwClock_Seconds() < begun + seconds)
    {
        if (snwClock_Seconds() >= next)
        {
            Move(drag);
            next = fmax(next + 1.0 / 60, snwClock_Seconds() - 0.1);
        }
        snwWireKind kind = snwWire_Next(&drag->wire, fmax(next - snwClock_Seconds(), 0));
        if (kind == snw_wireBinary)
            Look(drag, figures);
        if (kind == snw_wireEnd || kind == snw_wireClose)
            return false;
    }
    figures->seconds = snwClock_Seconds() - begun;
    return figures->frames > 0;
}
