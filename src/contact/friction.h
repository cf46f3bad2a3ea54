// Which friction two surfaces have with each other.

#pragma once

#include "sinew/sinew.h"

typedef struct snwFriction
{
    double fixed;   // Coulomb coefficient while they stick
    double kinetic; // while they slide; at most `fixed`
} snwFriction;

// What one side of a contact brings.
typedef struct snwSurface
{
    double friction, kineticFriction;
    const char* name; // "" or NULL: none
} snwSurface;

// The listed pair, or the geometric mean of the two.
snwFriction snwFriction_Between(const snwSceneDef* scene, snwSurface a, snwSurface b);

// Is this the pair of these two surfaces, in either order?
bool snwFriction_Joins(const snwFrictionDef* pair, const char* a, const char* b);

static inline snwSurface snwBodyDef_Surface(const snwBodyDef* def)
{
    return (snwSurface){def->friction, def->kineticFriction, def->surface};
}

static inline snwSurface snwColliderDef_Surface(const snwColliderDef* def)
{
    return (snwSurface){def->friction, def->kineticFriction, def->surface};
}

static inline snwSurface snwPropDef_Surface(const snwPropDef* def)
{
    return (snwSurface){def->friction, def->kineticFriction, def->surface};
}
