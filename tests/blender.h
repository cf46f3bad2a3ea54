// Blender without a window, as another reader of what we write (tools/blender_positions.py).

#pragma once

#include <stdbool.h>

typedef struct snwBlenderJob
{
    const char* file;   // .glb to import, or .py that sets the scene up
    const char* clip;   // action to play, as the file names it; NULL: none
    const char* object; // mesh whose vertices are wanted
    double rate;        // frames per second
    int frameCount;
} snwBlenderJob;

// Positions of the object's vertices in the world, per frame, with Y up as in glTF; free() them. NULL, with *missing:
// there is no Blender here, and the test is to be skipped. NULL otherwise is a failed test.
float* snwBlender_Positions(const snwBlenderJob* job, int* vertexCount, bool* missing);
