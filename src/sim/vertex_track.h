// Vertices that move by themselves: where a track of samples is at a time.

#pragma once

#include "base/arena.h"
#include "base/bytes.h"

// A time between samples: offsets are the sum of four samples with these weights, which sum to one.
typedef struct snwVertexBlend
{
    int samples[4];
    float weights[4];
} snwVertexBlend;

// Needs a checked track with samples.
snwVertexBlend snwVertexTrack_At(const snwMotionDef* motion, const snwVertexTrackDef* track, double time);

// How far one vertex is moved, m.
static inline void snwVertexTrack_Offset(
    const snwVertexTrackDef* track, const snwVertexBlend* blend, int vertexCount, int vertex, float offset[3])
{
    offset[0] = offset[1] = offset[2] = 0.0f;
    for (int k = 0; k < 4; ++k)
    {
        const float* sample = track->offsets[(size_t)blend->samples[k] * (size_t)vertexCount + (size_t)vertex];
        for (int c = 0; c < 3; ++c)
            offset[c] += blend->weights[k] * sample[c];
    }
}

// Times that rise within the motion, offsets that are finite and at most `most` m, a loop that closes.
snwResult snwVertexTrack_Check(
    const snwMotionDef* motion, const snwVertexTrackDef* track, int vertexCount, double most, snwMessage* message);

snwVertexTrackDef snwVertexTrack_Copy(snwArena* arena, const snwVertexTrackDef* track, int vertexCount);
void snwVertexTrack_Write(snwWriter* writer, const snwVertexTrackDef* track, int vertexCount);
// Whatever it says is to be checked afterwards.
snwVertexTrackDef snwVertexTrack_Read(snwReader* reader, snwArena* arena, int vertexCount);
