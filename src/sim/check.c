// Checks that scenes and characters share: places that are numbers, keys in rising order, names that are there and
// differ.

#include "sim/check.h"
#include "base/context.h"
#include "base/hash.h"
#include "base/sort.h"
#include "math/transform.h"
#include "sim/limits.h"

#include <string.h>

enum
{
    check_maxKeys = 10000000
};

snwResult snwCheckTransform(snwTransform transform, snwMessage* message)
{
    if (!snwTransform_IsFinite(transform) || !snwVec3_IsWithin(transform.position, SNW_MAX_POSITION))
        return snwFail(
            message, snw_errorArgument, NULL, "position or rotation is not finite, or beyond %g m", SNW_MAX_POSITION);
    if (fabs(snwQuat_Dot(transform.rotation, transform.rotation) - 1.0) > 1e-6)
        return snwFail(
            message, snw_errorArgument, "start from snwIdentityTransform()", "rotation is not a unit quaternion");
    return snw_ok;
}

snwResult snwCheckKeys(const snwKey* keys, int count, double latest, snwMessage* message)
{
    if (count < 1 || count > check_maxKeys || keys == NULL)
        return snwFail(message, snw_errorArgument, NULL, "has %d keys", count);
    for (int i = 0; i < count; ++i)
    {
        snwResult result = snwCheckTransform(keys[i].transform, message);
        bool rises = i == 0 || keys[i].time > keys[i - 1].time;
        if (result == snw_ok && !(rises && keys[i].time >= 0.0 && keys[i].time <= latest))
            result = snwFail(
                message, snw_errorArgument, NULL, "time must rise from key to key, from 0 to %g s", latest);
        if (result < 0)
        {
            snwMessage_AddPlace(message, "keys[%d]", i);
            return result;
        }
    }
    return snw_ok;
}

static const char* NameAt(const void* first, size_t stride, int index)
{
    // The name is the first member of all the definitions that have one.
    const char* name;
    memcpy(&name, (const char*)first + (size_t)index * stride, sizeof name);
    return name != NULL ? name : "";
}

static snwResult FindEqualNames(const void* first, size_t stride, const uint64_t* keys, const int* order, int count,
    const char* what, snwMessage* message)
{
    for (int i = 1; i < count; ++i)
    {
        const char *name = NameAt(first, stride, order[i]), *before = NameAt(first, stride, order[i - 1]);
        if (keys[i] == keys[i - 1] && strcmp(name, before) == 0 && name[0] != 0)
            return snwFail(message, snw_errorArgument, "give each its own name",
                "%s[%d] and %s[%d] are both called '%s'", what, order[i - 1], what, order[i], name);
    }
    return snw_ok;
}

// Equal names have equal hashes, so only neighbours in order need a look.
snwResult snwCheckNames(snwContext* context, const void* first, size_t stride, int count, const char* what,
    bool optional, snwMessage* message)
{
    // Their lengths.
    for (int i = 0; i < count; ++i)
    {
        size_t length = strlen(NameAt(first, stride, i));
        if ((length == 0 && !optional) || length > SNW_MAX_NAME)
            return snwFail(
                message, snw_errorArgument, NULL, "%s[%d] needs a name of 1..%d bytes", what, i, SNW_MAX_NAME);
    }

    // Sorted by their hashes: equal names come to stand side by side.
    uint64_t* keys = snwAllocArray(context, (size_t)count, sizeof *keys);
    int* order = snwAllocArray(context, (size_t)count, sizeof *order);
    bool enough = keys != NULL && order != NULL;
    for (int i = 0; enough && i < count; ++i)
    {
        keys[i] = snwHashText(NameAt(first, stride, i), 0);
        order[i] = i;
    }

    enough = enough && snwSortKeys(context, keys, order, count);

    snwResult result = enough ? FindEqualNames(first, stride, keys, order, count, what, message)
                              : snwFailMemory(message);
    snwFree(context, keys);
    snwFree(context, order);

    return result;
}
