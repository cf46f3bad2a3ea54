// Cubes are halved until they are wholly inside, wholly outside or small. Of a small cube that the surface crosses, the
// part inside is taken as if the surface were parallel to a face: wrong for the one cube, but right on average over
// many, as every slant is cut off too much as often as too little.

#include "geom/measure.h"
#include "base/array.h"
#include "geom/lattice.h"

enum
{
    snw_measureRoots = 12, // cubes along the longest side
    snw_measureLevels = 3
};

typedef struct Measure
{
    snwContext* context;
    const snwSolid* solid;
    snwArray(snwVec3) cubes;
    double* values;
    double size; // of the cubes now
} Measure;

static void EvaluateCubes(int begin, int end, void* data)
{
    Measure* measure = data;
    for (int i = begin; i < end; ++i)
        measure->values[i] = measure->solid->distance(measure->cubes.data[i], measure->solid->data);
}

static bool AddRoots(Measure* measure)
{
    snwVec3 size = snwVec3_Sub(measure->solid->upper, measure->solid->lower);
    measure->size = fmax(size.x, fmax(size.y, size.z)) / snw_measureRoots;
    int counts[3] = {
        (int)ceil(size.x / measure->size), (int)ceil(size.y / measure->size), (int)ceil(size.z / measure->size)};
    snwVec3 middle = snwVec3_Lerp(measure->solid->lower, measure->solid->upper, 0.5);
    for (int i = 0; i < counts[0] * counts[1] * counts[2]; ++i)
    {
        int x = i % counts[0], y = i / counts[0] % counts[1], z = i / (counts[0] * counts[1]);
        snwVec3 offset = {x - 0.5 * (counts[0] - 1), y - 0.5 * (counts[1] - 1), z - 0.5 * (counts[2] - 1)};
        if (!snwArray_Push(measure->context, &measure->cubes, snwVec3_MulAdd(middle, measure->size, offset)))
            return false;
    }
    return true;
}

// Adds what is decided at this size and replaces the rest by halves.
static snwResult MeasureLevel(Measure* measure, bool last, double* volume, snwMessage* message)
{
    int count = measure->cubes.count;
    snwArray(snwVec3) next = {0};
    bool enough = true;
    double size = measure->size, cube = size * size * size;

    for (int i = 0; i < count && enough; ++i)
    {
        // A cube whose middle is farther from the surface than its corners is decided; half a diagonal is 0.87 of the
        // size.
        double value = measure->values[i];
        if (!isfinite(value))
        {
            snwArray_Free(measure->context, &next);
            return snwFailDistance(message, measure->cubes.data[i]);
        }

        bool decided = last || fabs(value) > 0.95 * size;
        *volume += decided ? cube * fmin(fmax(0.5 - value / size, 0), 1) : 0;
        for (int k = 0; k < 8 && !decided && enough; ++k)
        {
            snwVec3 offset = {k & 1 ? 0.25 : -0.25, k & 2 ? 0.25 : -0.25, k & 4 ? 0.25 : -0.25};
            enough = snwArray_Push(measure->context, &next, snwVec3_MulAdd(measure->cubes.data[i], size, offset));
        }
    }

    // The halves take the place of their cubes.
    snwArray_Free(measure->context, &measure->cubes);
    measure->cubes.data = next.data, measure->cubes.count = next.count, measure->cubes.capacity = next.capacity;
    measure->size = size / 2;
    return enough ? snw_ok : snwFailMemory(message);
}

snwResult snwSolid_Volume(snwContext* context, const snwSolid* solid, double* volume, snwMessage* message)
{
    Measure measure = {.context = context, .solid = solid};
    snwResult result = AddRoots(&measure) ? snw_ok : snwFailMemory(message);
    *volume = 0;

    // A level at a time: all cubes of one size are asked for on all threads.
    for (int level = 0; level <= snw_measureLevels && result >= 0; ++level)
    {
        measure.values = snwAllocArray(context, (size_t)measure.cubes.count, sizeof(double));
        if (measure.values == NULL)
        {
            result = snwFailMemory(message);
            break;
        }

        snwParallelFor(context, measure.cubes.count, 256, EvaluateCubes, &measure);
        result = MeasureLevel(&measure, level == snw_measureLevels, volume, message);
        snwFree(context, measure.values);
    }

    snwArray_Free(context, &measure.cubes);
    return result;
}

double snwRoundSpacing(double spacing)
{
    int exponent;
    double mantissa = frexp(spacing, &exponent);
    return ldexp(floor(ldexp(mantissa, 24) + 0.5), exponent - 24);
}
