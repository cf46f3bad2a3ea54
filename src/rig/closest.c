// Weights by distance alone, from the nearest handles: fast, for any mesh, and not smooth across the middle between
// handles. The quick alternative to bounded biharmonic weights.

#include "rig/biharmonic.h"
#include "base/result.h"
#include "rig/weights.h"

#include <math.h>

enum
{
    snw_closestInfluences = 4
};

typedef struct Near
{
    int handle;
    double distance;
} Near;

// The `count` nearest handles, nearest first; of equally near ones the lower.
static int FindNearestHandles(const snwHandleMesh* mesh, snwVec3 point, Near* near, int count)
{
    int found = 0;
    for (int i = 0; i < mesh->handleCount; ++i)
    {
        Near next = {i, snwHandleShape_Distance(&mesh->handles[i], point)};
        int at = found;
        for (; at > 0 && next.distance < near[at - 1].distance; --at)
            if (at < count)
                near[at] = near[at - 1];
        if (at < count)
            near[at] = next;
        found += found < count;
    }
    return found;
}

static double Share(double nearest, double distance)
{
    double ratio = nearest / distance;
    return ratio * ratio * ratio * ratio;
}

// near has one more than `count` where there is one: at its distance the shares reach zero.
static void FillShares(const Near* near, int found, int count, int* handles, double* values)
{
    double nearest = near[0].distance;
    double floor = found > count && nearest > 0 ? Share(nearest, near[count].distance) : 0;
    for (int k = 0; k < count; ++k)
    {
        bool there = k < found;
        handles[k] = there ? near[k].handle : near[0].handle;
        values[k] = !there ? 0 : nearest > 0 ? Share(nearest, near[k].distance) - floor : k == 0;
    }
    for (int k = 0; k < count && !(values[0] > 0); ++k) // all of them as far as the next one
        values[count - 1 - k] = count - 1 - k < found;
}

snwResult snwSolveClosest(
    snwContext* context, const snwHandleMesh* mesh, int influences, snwWeights** weights, snwMessage* message)
{
    *weights = NULL;
    if (mesh->handleCount < 1)
        return snwFail(message, snw_errorArgument, "add bones or handles", "weights need something to follow");
    int count = influences > 0 ? influences : snw_closestInfluences;
    count = count < mesh->handleCount ? count : mesh->handleCount;
    size_t total = (size_t)mesh->vertexCount * (size_t)count;
    int* handles = snwAllocArray(context, total, sizeof *handles);
    double* values = snwAllocArray(context, total, sizeof *values);
    Near* near = snwAllocArray(context, (size_t)count + 1, sizeof *near);
    bool sound = handles != NULL && values != NULL && near != NULL;

    // One more handle than asked for: at its distance the weights reach zero, so none jumps when handles change rank.
    for (int i = 0; sound && i < mesh->vertexCount; ++i)
    {
        int found = FindNearestHandles(mesh, mesh->vertices[i], near, count + 1);
        // Whoever owns a vertex counts as nearest, at no distance.
        if (mesh->owners != NULL && mesh->owners[i] >= 0)
            near[0] = (Near){mesh->owners[i], 0};
        FillShares(near, found, count, &handles[(size_t)i * (size_t)count], &values[(size_t)i * (size_t)count]);
    }

    snwWeightLists lists = {mesh->vertexCount, mesh->handleCount, count, handles, values, 1e-6, 0};
    snwResult result = sound ? snwWeights_FromLists(context, &lists, weights, NULL, message) : snwFailMemory(message);
    snwFree(context, handles);
    snwFree(context, values);
    snwFree(context, near);

    return result;
}
