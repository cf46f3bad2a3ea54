// Colliders in JSON: what their table reads, and the lists that some kinds have.

#pragma once

#include "scene/tables.h"

// Lists are copied into the arena; *numbers may still be read and becomes less.
snwResult snwCollider_ReadJson(
    snwJson* json, snwArena* arena, const json_t* value, int* numbers, snwColliderDef* collider);
void snwCollider_WriteJson(snwText* text, const snwColliderDef* collider);
