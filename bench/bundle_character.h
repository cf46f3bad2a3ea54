// A character made of a bundle of "Complementary Dynamics" (asset/read_bundle.c): its handles become bones that own no
// vertex, the motion of its handles becomes the motion "bundle".

#pragma once

#include "sinew/sinew.h"

typedef struct snwBundleBody
{
    snwCharacter* character; // release it
    double step;             // s, from frame to frame
    int frameCount;
} snwBundleBody;

snwResult snwBundleBody_Open(snwContext* context, const char* path, snwBundleBody* body, snwMessage* message);
