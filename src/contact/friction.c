// Which friction two surfaces have: the scene's entry for the pair, else the geometric mean of both sides.

#include "contact/friction.h"

#include <math.h>
#include <string.h>

static bool Same(const char* a, const char* b)
{
    return a != NULL && b != NULL && a[0] != 0 && strcmp(a, b) == 0;
}

bool snwFriction_Joins(const snwFrictionDef* pair, const char* a, const char* b)
{
    return (Same(pair->first, a) && Same(pair->second, b)) || (Same(pair->first, b) && Same(pair->second, a));
}

static double Kinetic(double friction, double kinetic)
{
    return kinetic < 0.0 ? friction : kinetic;
}

snwFriction snwFriction_Between(const snwSceneDef* scene, snwFrictionSide a, snwFrictionSide b)
{
    for (int i = 0; i < scene->frictionCount; ++i)
    {
        const snwFrictionDef* pair = &scene->frictions[i];
        if (snwFriction_Joins(pair, a.name, b.name))
            return (snwFriction){pair->friction, Kinetic(pair->friction, pair->kineticFriction)};
    }
    return (snwFriction){sqrt(a.friction * b.friction),
        sqrt(Kinetic(a.friction, a.kineticFriction) * Kinetic(b.friction, b.kineticFriction))};
}
