// Colliders of a scene: checks, copies and hash of what their kinds use.

#pragma once

#include "base/arena.h"
#include "base/bytes.h"

// Everything that needs no memory to see.
snwResult snwColliderDef_Check(const snwColliderDef* collider, snwMessage* message);

// Meshes: every edge has two triangles that go along it in opposite ways, and the inside is not outside.
snwResult snwColliders_CheckClosed(snwContext* context, const snwSceneDef* def, snwMessage* message);

// Replaces the arrays that its kind uses by copies, and clears the others.
void snwColliderDef_Copy(snwColliderDef* collider, snwArena* arena);

// What only some kinds have.
void snwColliderDef_Write(const snwColliderDef* collider, snwWriter* writer);
