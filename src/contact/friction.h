// Which friction two surfaces have with each other.

#pragma once

#include "sinew/sinew.h"

typedef struct snwFriction
{
    double fixed;   // Coulomb coefficient while they stick
    double kinetic; // while they slide; at most `fixed`
} snwFriction;

// What one side of a contact brings.
typedef struct snwFrictionSide
{
    double friction, kineticFriction;
    const char* name; // "" or NULL: none
} snwFrictionSide;

// The listed pair, or the geometric mean of the two.
snwFriction snwFriction_Between(const snwSceneDef* scene, snwFrictionSide a, snwFrictionSide b);

// Is this the pair of these two surfaces, in either order?
bool snwFriction_Joins(const snwFrictionDef* pair, const char* a, const char* b);

static inline snwFrictionSide snwBodyDef_Friction(const snwBodyDef* def)
{
    return (snwFrictionSide){def->friction, def->kineticFriction, def->surface};
}

static inline snwFrictionSide snwColliderDef_Friction(const snwColliderDef* def)
{
    return (snwFrictionSide){def->friction, def->kineticFriction, def->surface};
}

static inline snwFrictionSide snwPropDef_Friction(const snwPropDef* def)
{
    return (snwFrictionSide){def->friction, def->kineticFriction, def->surface};
}
