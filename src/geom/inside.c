// Inside and outside of a mended surface for meshers: distances to its skin, signed by the winding number; triangles
// that overlapping shells hide inside are found and left out, and thin parts can be thickened.

#include "base/pieces.h"
#include "geom/inside.h"

#include <math.h>

// ---------------------------------------------------------------------------------------------------------------------
// Distance

// m, how far out of the box, or how deep in it as a negative number.
static double DistanceOutOfBox(snwVec3 lower, snwVec3 upper, snwVec3 p)
{
    double x = fmax(lower.x - p.x, p.x - upper.x), y = fmax(lower.y - p.y, p.y - upper.y);
    double z = fmax(lower.z - p.z, p.z - upper.z), most = fmax(x, fmax(y, z));
    if (most <= 0)
        return most;
    x = fmax(x, 0), y = fmax(y, 0), z = fmax(z, 0);
    return sqrt(x * x + y * y + z * z);
}

// Open surfaces end at their bounds: the film over a hole may bulge, but not for ever. 2.1 instead of 2: far groups of
// triangles are approximated, and a hundredth less than one whole turn is still one.
static double BodyDistance(const snwInside* inside, snwVec3 point)
{
    double distance = snwSoup_Closest(inside->skin, point).distance;
    const snwSurvey* survey = &inside->mend->after;
    double box = DistanceOutOfBox(survey->lower, survey->upper, point);
    if (box > 0 && !inside->open)
        return distance;
    double turns = snwSoup_Winding(inside->all, point) - 0.5;
    if (!inside->open)
        return turns > 0 ? -distance : distance;
    distance *= fmin(1, 2.1 * fabs(turns));
    return fmax(turns > 0 ? -distance : distance, box);
}

static double InsideDistance(snwVec3 point, const void* data)
{
    const snwInside* inside = data;
    double body = BodyDistance(inside, point);
    if (inside->thick == NULL)
        return body;
    return fmin(body + inside->inset, snwSoup_Closest(inside->thick, point).distance - inside->thickness);
}

static double BoneDistance(int bone, snwVec3 point, const void* data)
{
    const snwInside* inside = data;
    return snwSoup_Distance(inside->bones[bone], point);
}

snwSolid snwInside_Solid(const snwInside* inside)
{
    const snwSurvey* survey = &inside->mend->after;
    double more = inside->thick != NULL ? fmax(inside->thickness, -inside->inset) : 0;
    snwVec3 margin = {more, more, more};
    return (snwSolid){.distance = InsideDistance,
        .boneDistance = inside->boneCount > 0 ? BoneDistance : NULL,
        .boneCount = inside->boneCount,
        .data = inside,
        .lower = snwVec3_Sub(survey->lower, margin),
        .upper = snwVec3_Add(survey->upper, margin)};
}

// ---------------------------------------------------------------------------------------------------------------------
// Making it

// A soup of the triangles whose flag is `wanted`; flags NULL: of all.
static snwResult MakeFlaggedSoup(
    snwContext* context, const snwMend* mend, const uint8_t* flags, bool wanted, snwSoup** soup, snwMessage* message)
{
    snwSoupDef def = snwDefaultSoupDef();
    def.vertices = mend->vertices, def.vertexCount = mend->vertexCount;
    // Without flags the mend's own triangles serve; otherwise those wanted are copied.
    int count = 0, (*triangles)[3] = NULL;
    if (flags != NULL)
    {
        triangles = snwAllocArray(context, (size_t)mend->triangleCount, sizeof *triangles);
        if (triangles == NULL)
            return snwFailMemory(message);
        for (int i = 0; i < mend->triangleCount; ++i)
        {
            if ((flags[i] != 0) != wanted)
                continue;
            for (int k = 0; k < 3; ++k)
                triangles[count][k] = mend->triangles[i][k];
            count++;
        }
    }

    def.triangles = (const int(*)[3])(flags != NULL ? triangles : mend->triangles);
    def.triangleCount = flags != NULL ? count : mend->triangleCount;
    snwResult result = snwCreateSoup(context, &def, soup, message);
    snwFree(context, triangles);

    return result;
}

// The winding number a little above a triangle; below it is one more. A point of it is hidden if both say inside, or
// both outside. Half a turn is half-way to either; a quarter more is decided.
static bool IsHiddenInside(const snwInside* inside, snwVec3 above)
{
    double turns = snwSoup_Winding(inside->all, above);
    return turns > 0.75 || turns < -0.75;
}

// In its middle and near its corners: a long triangle may begin inside and end outside.
static bool IsTriangleHidden(const snwInside* inside, int triangle)
{
    const snwMend* mend = inside->mend;
    const int* t = mend->triangles[triangle];
    snwVec3 a = mend->vertices[t[0]], b = mend->vertices[t[1]], c = mend->vertices[t[2]];
    snwVec3 normal = snwVec3_Cross(snwVec3_Sub(b, a), snwVec3_Sub(c, a));
    double area = snwVec3_Length(normal); // twice
    snwVec3 lift = area > 0 ? snwVec3_Scale(normal, 1e-3 / sqrt(area)) : normal;
    snwVec3 middle = snwVec3_Scale(snwVec3_Add(snwVec3_Add(a, b), c), 1.0 / 3);
    return IsHiddenInside(inside, snwVec3_Add(middle, lift)) &&
           IsHiddenInside(inside, snwVec3_Add(snwVec3_Lerp(middle, a, 0.9), lift)) &&
           IsHiddenInside(inside, snwVec3_Add(snwVec3_Lerp(middle, b, 0.9), lift)) &&
           IsHiddenInside(inside, snwVec3_Add(snwVec3_Lerp(middle, c, 0.9), lift));
}

typedef struct HiddenLoop
{
    snwInside* inside;
    int* leaders; // by triangle: the one that is asked for it
} HiddenLoop;

static void FindHidden(int begin, int end, void* data)
{
    HiddenLoop* loop = data;
    for (int i = begin; i < end; ++i)
        if (loop->leaders[i] == i)
            loop->inside->hidden[i] = IsTriangleHidden(loop->inside, i);
}

// Without holes, triangles that hang together by corners are hidden together until one of them crosses another: one of
// them is asked for all, and those that cross for themselves. With holes the winding number changes everywhere a
// little.
static bool FindLeaders(const snwInside* inside, int* leaders)
{
    const snwMend* mend = inside->mend;
    int* firsts = snwAllocArray(inside->context, (size_t)mend->vertexCount, sizeof *firsts);
    if (firsts == NULL)
        return false;
    for (int i = 0; i < mend->triangleCount; ++i)
        leaders[i] = i;
    bool together = !inside->open && mend->before.uncheckedTriangles == 0;

    // Triangles that cross others are asked for themselves.
    for (int i = 0; i < 3 * mend->triangleCount && together; ++i)
    {
        if (mend->before.marks[mend->sources[i / 3]] & snw_markCrossing)
            continue;
        int* first = &firsts[mend->triangles[i / 3][i % 3]]; // one more than the triangle; 0: none yet
        if (*first == 0)
            *first = i / 3 + 1;
        snwPieces_Join(leaders, i / 3, *first - 1);
    }

    for (int i = 0; i < mend->triangleCount; ++i)
        leaders[i] = snwPieces_Root(leaders, i);
    snwFree(inside->context, firsts);
    return true;
}

// One shell that crosses nothing hides nothing.
static snwResult MakeInsideSkin(snwInside* inside, snwMessage* message)
{
    const snwMend* mend = inside->mend;
    inside->skin = inside->all;
    inside->hidden = snwAllocArray(inside->context, (size_t)mend->triangleCount, sizeof *inside->hidden);
    if (inside->hidden == NULL)
        return snwFailMemory(message);
    if (mend->sound && mend->after.shellCount == 1)
        return snw_ok;

    // Leaders are asked on all threads, then their answers go to those that follow them.
    HiddenLoop loop = {inside, snwAllocArray(inside->context, (size_t)mend->triangleCount, sizeof *loop.leaders)};
    bool enough = loop.leaders != NULL && FindLeaders(inside, loop.leaders);
    if (enough)
        snwParallelFor(inside->context, mend->triangleCount, 256, FindHidden, &loop);
    for (int i = 0; i < mend->triangleCount && enough; ++i)
        inside->hiddenCount += inside->hidden[i] = inside->hidden[loop.leaders[i]];
    snwFree(inside->context, loop.leaders);
    if (!enough)
        return snwFailMemory(message);

    if (inside->hiddenCount == 0 || inside->hiddenCount == mend->triangleCount)
        return snw_ok;
    inside->skin = NULL;

    return MakeFlaggedSoup(inside->context, mend, inside->hidden, false, &inside->skin, message);
}

snwResult snwInside_Create(snwContext* context, const snwMend* mend, const snwMend* bones, int boneCount,
    snwInside* inside, snwMessage* message)
{
    *inside = (snwInside){.context = context, .mend = mend, .open = mend->after.openEdges > 0};
    snwResult result = MakeFlaggedSoup(context, mend, NULL, false, &inside->all, message);
    if (result >= 0)
        result = MakeInsideSkin(inside, message);
    if (result >= 0 && boneCount > 0)
    {
        inside->bones = snwAllocArray(context, (size_t)boneCount, sizeof(void*));
        result = inside->bones != NULL ? snw_ok : snwFailMemory(message);
    }
    for (; result >= 0 && inside->boneCount < boneCount; ++inside->boneCount)
        result = MakeFlaggedSoup(
            context, &bones[inside->boneCount], NULL, false, &inside->bones[inside->boneCount], message);
    if (result < 0)
        snwInside_Free(inside);
    return result;
}

void snwInside_Free(snwInside* inside)
{
    for (int i = 0; i < inside->boneCount && inside->bones != NULL; ++i)
        snwDestroySoup(inside->bones[i]);
    if (inside->context != NULL)
    {
        snwFree(inside->context, inside->bones);
        snwFree(inside->context, inside->hidden);
    }
    if (inside->skin != inside->all)
        snwDestroySoup(inside->skin);
    snwDestroySoup(inside->all);
    snwDestroySoup(inside->thick);
    *inside = (snwInside){0};
}

snwResult snwInside_Thicken(snwInside* inside, const uint8_t* chosen, double by, snwMessage* message)
{
    snwSoup* thick = NULL;
    snwResult result = MakeFlaggedSoup(inside->context, inside->mend, chosen, true, &thick, message);
    if (result < 0)
        return result;
    snwDestroySoup(inside->thick);
    inside->thick = thick;
    inside->thickness = by;
    return snw_ok;
}
