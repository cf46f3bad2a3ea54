// The kinds of colliders that are more than a few lines: in the collider's own frame.

#pragma once

#include "contact/collider.h"

snwTouch snwStairs_Touch(const snwColliderDef* stairs, snwVec3 point);

// Points on walls and below count as inside; the soup is the top.
snwTouch snwHeightfield_Touch(const snwCollider* collider, snwVec3 point);
