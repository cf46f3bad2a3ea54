// JOINTS_n and WEIGHTS_n: all sets of a vertex become one row of sorted bones whose weights sum to one.

#include "asset/gltf_parts.h"

#include <math.h>
#include <stdio.h>

enum
{
    snw_maxSets = 16 // of four influences each
};

typedef struct Influence
{
    int bone;
    double weight;
} Influence;

static int SetAccessor(snwGltfReading* reading, const json_t* attributes, const char* name, int set)
{
    char key[32];
    snprintf(key, sizeof key, "%s_%d", name, set);
    return snwGltf_Index(reading, attributes, key, reading->gltf->accessorCount, "accessors");
}

int snwGltf_CountSets(snwGltfReading* reading, const json_t* attributes)
{
    int count = 0;
    while (count < snw_maxSets && SetAccessor(reading, attributes, "JOINTS", count) >= 0 &&
           SetAccessor(reading, attributes, "WEIGHTS", count) >= 0)
        count++;
    bool more = SetAccessor(reading, attributes, "JOINTS", count) >= 0;
    snwGltf_Note(reading, snw_noteLeftOut, more, "bones of vertices beyond set %d, or without weights", count - 1);
    return count;
}

// Weights within a row may differ from one by what their encoding cannot hold.
static double Tolerance(const snwGltfAccessor* accessor)
{
    if (accessor->component == snw_gltfUbyte)
        return 2 / 255.0;
    return accessor->component == snw_gltfUshort ? 2 / 65535.0 : 1e-4;
}

// Insertion keeps the row sorted by bone; the same bone again adds to it. Rows are short.
static int Insert(snwGltfInfluences* in, Influence* row, int count, Influence one)
{
    if (!(one.weight > 0))
    {
        in->negative += one.weight < 0;
        return count;
    }
    if (in->limit > 0 && one.bone >= in->limit)
    {
        in->beyond++;
        return count;
    }

    // To its place by the bone's number.
    int k = count;
    while (k > 0 && row[k - 1].bone > one.bone)
        k--;
    if (k > 0 && row[k - 1].bone == one.bone)
    {
        row[k - 1].weight += one.weight;
        in->twice++;
        return count;
    }

    // The others move up.
    for (int j = count; j > k; --j)
        row[j] = row[j - 1];
    row[k] = one;
    return count + 1;
}

static void FinishInfluences(snwGltfInfluences* in, const Influence* row, int count, double tolerance)
{
    double sum = 0;
    for (int i = 0; i < count; ++i)
        sum += row[i].weight;
    in->unheld += count == 0;
    in->unequal += count > 0 && fabs(sum - 1) > tolerance;
    for (int i = 0; i < count; ++i)
    {
        in->bones[in->entry] = row[i].bone;
        in->values[in->entry++] = row[i].weight / sum;
        in->highest = row[i].bone > in->highest ? row[i].bone : in->highest;
    }
    in->starts[++in->vertex] = in->entry;
}

typedef struct Sets
{
    int count;
    uint32_t* joints[snw_maxSets];
    double* weights[snw_maxSets];
    double tolerance;
} Sets;

static void ReadSet(snwGltfInfluences* in, Sets* sets, const json_t* attributes, int vertexCount)
{
    snwGltfReading* reading = in->reading;
    int set = sets->count;
    int joints = SetAccessor(reading, attributes, "JOINTS", set);
    int weights = SetAccessor(reading, attributes, "WEIGHTS", set);

    snwGltf_CheckAccessor(reading, joints, 1 << snw_gltfVec4, snw_gltfUnsigned);
    snwGltf_CheckAccessor(reading, weights, 1 << snw_gltfVec4, snw_gltfReal | snw_gltfUnsigned);
    const snwGltfAccessor* accessors = reading->gltf->accessors;
    // One of each per vertex.
    if (accessors[joints].count != vertexCount || accessors[weights].count != vertexCount)
        snwGltf_Fail(reading, "export the file again", "set %d of joints and weights must have one per vertex: %d", set,
            vertexCount);

    sets->joints[set] = snwGltf_Room(reading, (int64_t)vertexCount * 4, sizeof(uint32_t));
    sets->weights[set] = snwGltf_Room(reading, (int64_t)vertexCount * 4, sizeof(double));
    if (snwGltfReading_Failed(reading))
        return;

    // A sum of weights may be off by what their numbers round.
    snwMessage* message = reading->json.message;
    snwGltf_Check(reading, snwGltf_ReadInts(reading->gltf, joints, sets->joints[set], message));
    snwGltf_Check(reading, snwGltf_ReadReals(reading->gltf, weights, sets->weights[set], &in->notFinite, message));
    sets->tolerance = fmax(sets->tolerance, Tolerance(&accessors[weights]));
    sets->count++;
}

void snwGltfInfluences_Add(snwGltfInfluences* in, const json_t* attributes, int vertexCount)
{
    Sets sets = {0};
    int wanted = snwGltf_CountSets(in->reading, attributes);
    while (sets.count < wanted && !snwGltfReading_Failed(in->reading))
        ReadSet(in, &sets, attributes, vertexCount);
    if (snwGltfReading_Failed(in->reading))
        return;

    // All sets of a vertex in one row; bones beyond all bounds are counted as such.
    for (int i = 0; i < vertexCount; ++i)
    {
        Influence row[snw_maxSets * 4];
        int count = 0;
        for (int s = 0; s < sets.count; ++s)
            for (int k = 0; k < 4; ++k)
            {
                size_t at = (size_t)i * 4 + (size_t)k;
                uint32_t joint = sets.joints[s][at];
                int bone = joint < (uint32_t)snw_maxAssetNodes ? (int)joint : snw_maxAssetNodes;
                count = Insert(in, row, count, (Influence){bone, sets.weights[s][at]});
            }

        FinishInfluences(in, row, count, sets.tolerance);
        in->unheld -= sets.count == 0; // a part without weights is not a mistake of its vertices
    }
}

void snwGltfInfluences_Note(const snwGltfInfluences* in)
{
    snwGltfReading* reading = in->reading;
    snwGltf_Note(reading, snw_noteRepaired, in->notFinite, "weights that are not finite numbers were set to 0");
    snwGltf_Note(reading, snw_noteRepaired, in->negative, "weights below 0 were set to 0");
    snwGltf_Note(reading, snw_noteRepaired, in->beyond,
        "weights of bones beyond the list of the skin were removed; the others of the vertex share them");
    snwGltf_Note(reading, snw_noteRepaired, in->twice, "a bone that a vertex names twice was counted as one");
    snwGltf_Note(reading, snw_noteRepaired, in->unequal, "weights of vertices that did not sum to one were normalised");
    snwGltf_Note(reading, snw_noteOdd, in->unheld, "vertices that no bone holds: paint weights for them");
}
