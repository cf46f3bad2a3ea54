// Translucent and textured meshes: rays go on through them, layer by layer. They have a scene of their own, so that
// pictures without them cost nothing more.

#pragma once

#include "view/shading.h"

#include <embree3/rtcore.h>

typedef struct snwVeil
{
    RTCScene scene; // NULL: there are none
    const snwShading* shading;
    const snwLook* look;
} snwVeil;

// What is between the camera and the first opaque thing.
typedef struct snwVeilLight
{
    snwFloat3 light;   // that it adds
    snwFloat3 through; // the share of what is behind that comes through
} snwVeilLight;

extern const snwVeilLight snw_veilClear;

// Front to back, until little comes through or there were enough layers. far: m.
snwVeilLight snwVeil_See(const snwVeil* veil, snwFloat3 origin, snwFloat3 direction, float far);

// The share of light that comes through.
float snwVeil_Shadow(const snwVeil* veil, snwFloat3 origin, snwFloat3 direction, float far);
