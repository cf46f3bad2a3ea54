// A flight of stairs: a profile of treads and risers in x and y, as wide as it is in z. Step i has its tread at
// y = (i + 1) rise over x = i run .. (i + 1) run. Below there is no end, so what is in it leaves upwards or sideways.

#include "contact/collider_kinds.h"

#include <float.h>

typedef struct Nearest
{
    double dx, dy; // from the nearest point of the profile to the point
    double squared;
} Nearest;

// NaN becomes the lower end.
static double ClampOnStairs(double value, double lower, double upper)
{
    return value > upper ? upper : value > lower ? value : lower;
}

static void TryStairPoint(Nearest* best, double dx, double dy)
{
    double squared = dx * dx + dy * dy;
    if (squared < best->squared)
        *best = (Nearest){dx, dy, squared};
}

// The riser in front of step i and its tread.
static void TryStep(Nearest* best, const snwColliderDef* stairs, int i, double x, double y)
{
    double left = i * stairs->size.x, low = i * stairs->size.y, lowest = i == 0 ? -DBL_MAX : low;
    double tread = low + stairs->size.y;
    TryStairPoint(best, x - left, y - ClampOnStairs(y, lowest, tread));
    TryStairPoint(best, x - ClampOnStairs(x, left, left + stairs->size.x), y - tread);
}

// From the step at x outwards, until the steps are too far away in x alone.
static Nearest FindNearestStep(const snwColliderDef* stairs, double x, double y)
{
    double run = stairs->size.x, top = stairs->stepCount * stairs->size.y;
    int start = (int)ClampOnStairs(floor(x / run), 0, stairs->stepCount - 1);
    Nearest best = {0, 0, DBL_MAX};
    TryStairPoint(&best, x - stairs->stepCount * run, y - fmin(y, top)); // the back

    // Steps outwards, then inwards; as soon as x alone is farther away, no other can be nearer.
    for (int i = start; i < stairs->stepCount; ++i)
    {
        double away = fmax(0.0, i * run - x);
        if (away * away > best.squared)
            break;
        TryStep(&best, stairs, i, x, y);
    }

    for (int i = start - 1; i >= 0; --i)
    {
        double away = fmax(0.0, x - (i + 1) * run);
        if (away * away > best.squared)
            break;
        TryStep(&best, stairs, i, x, y);
    }

    return best;
}

static bool IsInProfile(const snwColliderDef* stairs, double x, double y)
{
    if (x < 0.0 || x > stairs->stepCount * stairs->size.x)
        return false;
    int step = (int)ClampOnStairs(floor(x / stairs->size.x), 0, stairs->stepCount - 1);
    return y < (step + 1) * stairs->size.y;
}

// On the profile itself: the tread's or riser's own direction.
static snwVec3 SurfaceNormal(const snwColliderDef* stairs, double x, double y)
{
    double run = stairs->size.x, along = x / run, up = y / stairs->size.y;
    bool onTread = fabs(up - floor(up + 0.5)) * stairs->size.y <= fabs(along - floor(along + 0.5)) * run;
    return onTread ? (snwVec3){0, 1, 0} : (snwVec3){x > (stairs->stepCount - 0.5) * run ? 1 : -1, 0, 0};
}

snwTouch snwStairs_Touch(const snwColliderDef* stairs, snwVec3 p)
{
    Nearest nearest = FindNearestStep(stairs, p.x, p.y);
    bool inside = IsInProfile(stairs, p.x, p.y);
    double distance = sqrt(nearest.squared), profile = inside ? -distance : distance;
    double side = fabs(p.z) - 0.5 * stairs->size.z, sign = p.z < 0.0 ? -1.0 : 1.0;
    double scale = distance > 0.0 ? (inside ? -1.0 : 1.0) / distance : 0.0;
    snwVec3 across = {scale * nearest.dx, scale * nearest.dy, 0};
    if (scale == 0.0)
        across = SurfaceNormal(stairs, p.x, p.y);
    if (profile > 0.0 && side > 0.0)
    {
        double far = sqrt(profile * profile + side * side);
        return (snwTouch){-far, {across.x * profile / far, across.y * profile / far, sign * side / far}};
    }
    return profile > side ? (snwTouch){-profile, across} : (snwTouch){-side, {0, 0, sign}};
}
