// A scene: a checked deep copy of its definition.

#pragma once

#include "base/arena.h"
#include "contact/collider.h"

#include <stdatomic.h>

struct snwScene
{
    snwContext* context;
    snwArena arena;
    atomic_int references;
    snwSceneDef def;
    uint64_t hash;
    snwCollider* colliders; // prepared, one per collider of the definition
};

// The motion that the body names, or NULL.
const snwMotionDef* snwBodyDef_Motion(const snwBodyDef* body);

// Is this command sound for this scene and method? Says what is wrong, else nothing happens.
snwResult snwCommand_Check(const snwSceneDef* scene, int method, const snwCommand* command, snwMessage* message);
