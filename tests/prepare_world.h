// A small rigged file with everything that preparing has rules about, made in memory.

#pragma once

#include "gltf_world.h"
#include "prepare/prepare.h"

// A bar along +X from 0 to 1, 0.24 m thick, of triangles that share no vertex, in node 'body'. Joints: 'upper' from x =
// 0, 'lower' from x = 0.5 and 'end' at x = 1, which nothing follows; weights change between x = 0.4 and 0.6. An eye, a
// closed octahedron at x = 0.2 on top of the bar, follows 'upper' alone. The animation 'bend' turns 'lower' by 60
// degrees about z and back within one second, with linear keys at 0, 0.5 and 1.
typedef struct snwPrepareWorld
{
    bool shirt;                // node 'shirt': an open tube around the bar, skinned
    const char* shirtName;     // of it instead of 'shirt', and of its mesh; NULL: none
    const char* shirtMaterial; // name of its material; NULL: it has none
    bool card;       // of the body: an open square at x = 1.3 that follows 'lower'; its material has the alphaMode MASK
    bool hat;        // node 'hat': a tetrahedron under 'lower', without a skin
    bool young;      // attribute _SNW_YOUNG: 1000 where x < 0.5, else 50000
    const char* png; // a PNG file: the texture of the bar, with u = x and v = 0.5; NULL: none
    bool colors;     // red is x
    double scale;    // of the file's unit; the file is as many times larger. 0: 1
    bool swing; // a further animation 'swing' of one second: 'upper' turns to 90 degrees about y and moves to y = 0.3,
                // 'lower' turns to 60 degrees about z; it does not come back
    bool unnamed; // clips have no names
    bool oddRoot; // 'rig' is a joint, too, that nothing follows, with another scale and up axis than the others
    bool shell;   // of the body: an octahedron at x = 1.4 that follows 'end' alone, which turns by 90 degrees in 'bend'
    bool axe;     // that shell is ten times as large
    bool hand;    // 'lower' is called 'hand'
    double torn;  // of the body: one corner is so far off, by a morph; 0: none
    bool carried; // nothing has a skin: the body hangs on 'upper'
    bool posed;   // nodes stand bent by 40 degrees and the root moved, unlike the bind pose
} snwPrepareWorld;

snwGltfWorld snwPrepareWorld_Make(const snwPrepareWorld* world);

// Written to the test's folder as NAME.glb, and NAME.sinew.json beside it unless sidecar is NULL (' for "). The path
// lives until the next call.
const char* snwPrepareWorld_Write(const snwPrepareWorld* world, const char* name, const char* sidecar);

// Prepared with about 700 elements; fails the test if that fails.
snwPrepared* snwPrepareWorld_Prepare(snwContext* context, const char* path, snwPrepareReport* report);
