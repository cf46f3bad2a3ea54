// bench/truth/cantilever-VERSION.bin, little-endian:
//
//     "snwtruth", format number, hash of the topology, four sums over the rest pose, constants of the experiment,
//     energies of all frames, then per kept frame the vertices of flesh and twelve numbers per bone, and a checksum
//
// The truth belongs to one mesh. Its topology must be the very same; its rest positions may differ in the last digits,
// as meshes do from one compiler to another, so they are compared through weighted sums.

#include "truth_file.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "sim/character.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
    snw_truthFormat = 1,
    snw_largestTruth = 1 << 20
};

static const char s_magic[8] = {'s', 'n', 'w', 't', 'r', 'u', 't', 'h'};
static const char s_remedy[] = "make it anew: sinew bench apd --regenerate-truth";

snwResult snwCantileverTruth_Create(
    const snwCharacter* builtIn, snwCantilever version, snwCantileverTruth* truth, snwMessage* message)
{
    snwContext* context = builtIn->context;
    *truth = (snwCantileverTruth){.context = context};
    snwResult result = snwCantilever_CreateCharacter(builtIn, version, &truth->character, message);
    for (int i = 0; i < snw_cantileverKept && result >= 0; ++i)
        result = snwTruthState_Create(context, truth->character, &truth->frames[i], message);
    if (result < 0)
        snwCantileverTruth_Close(truth);
    return result;
}

void snwCantileverTruth_Close(snwCantileverTruth* truth)
{
    for (int i = 0; i < snw_cantileverKept && truth->context != NULL; ++i)
        snwTruthState_Free(truth->context, &truth->frames[i]);
    if (truth->character != NULL)
        snwCharacter_Release(truth->character);
    *truth = (snwCantileverTruth){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// Which mesh, which experiment

static uint64_t TopologyHash(const snwCharacter* character)
{
    const snwCharacterDef* def = &character->def;
    uint64_t hash = snwHash(def->tets, (size_t)def->tetCount * sizeof *def->tets, (uint64_t)def->vertexCount);
    return snwHash(character->vertexBones, (size_t)def->vertexCount * sizeof *character->vertexBones, hash);
}

enum
{
    snw_restSums = 4
};

// x, y and z of the vertices and their masses, each vertex with a weight of its own in [0, 1).
static void RestSums(const snwCharacter* character, double sums[snw_restSums])
{
    memset(sums, 0, snw_restSums * sizeof *sums);
    for (int v = 0; v < character->def.vertexCount; ++v)
    {
        double weight = fmod(v * 0.6180339887498949, 1);
        snwVec3 p = character->def.vertices[v];
        const double values[snw_restSums] = {p.x, p.y, p.z, character->masses[v]};
        for (int i = 0; i < snw_restSums; ++i)
            sums[i] += weight * values[i];
    }
}

static const double s_constants[] = {SNW_CANTILEVER_YOUNG, SNW_CANTILEVER_POISSON, SNW_CANTILEVER_DENSITY,
    SNW_CANTILEVER_GRAVITY, SNW_CANTILEVER_RATE, snw_cantileverFrames};

enum
{
    snw_constantCount = sizeof s_constants / sizeof *s_constants
};

static snwResult CheckHeader(snwReader* reader, const snwCharacter* character, snwMessage* message)
{
    char magic[sizeof s_magic] = {0};
    snwRead(reader, magic, sizeof magic);
    if (memcmp(magic, s_magic, sizeof magic) != 0 || snwReadInt(reader) != snw_truthFormat)
        return snwFail(message, snw_errorInput, s_remedy, "not a truth of this format");
    double sums[snw_restSums];
    RestSums(character, sums);
    bool same = snwReadU64(reader) == TopologyHash(character);
    for (int i = 0; i < snw_restSums; ++i)
        same &= fabs(snwReadReal(reader) - sums[i]) <= 1e-9;
    if (!same)
        return snwFail(message, snw_errorInput, s_remedy, "the character is no longer the one of the stored truth");
    for (int i = 0; i < snw_constantCount; ++i)
        same &= snwReadReal(reader) == s_constants[i];
    return same ? snw_ok : snwFail(message, snw_errorInput, s_remedy, "the stored truth was made with other constants");
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

static void WriteFrame(snwWriter* writer, const snwCharacter* character, const snwTruthState* frame)
{
    for (int v = 0; v < character->def.vertexCount; ++v)
    {
        if (character->vertexBones[v] >= 0)
            continue;
        snwWriteReal(writer, frame->positions[v].x);
        snwWriteReal(writer, frame->positions[v].y);
        snwWriteReal(writer, frame->positions[v].z);
    }
    for (int k = 0; k < character->def.boneCount; ++k)
    {
        double numbers[12];
        memcpy(numbers, &frame->bones[k], sizeof numbers);
        for (int i = 0; i < 12; ++i)
            snwWriteReal(writer, numbers[i]);
    }
}

static void ReadFrame(snwReader* reader, const snwCharacter* character, snwTruthState* frame)
{
    for (int v = 0; v < character->def.vertexCount; ++v)
    {
        if (character->vertexBones[v] >= 0)
            continue;
        frame->positions[v].x = snwReadReal(reader);
        frame->positions[v].y = snwReadReal(reader);
        frame->positions[v].z = snwReadReal(reader);
    }
    for (int k = 0; k < character->def.boneCount; ++k)
    {
        double numbers[12];
        for (int i = 0; i < 12; ++i)
            numbers[i] = snwReadReal(reader);
        memcpy(&frame->bones[k], numbers, sizeof numbers);
    }
    for (int v = 0; v < character->def.vertexCount; ++v)
        if (character->vertexBones[v] >= 0)
            frame->positions[v] = snwAffine_Apply(frame->bones[character->vertexBones[v]], character->def.vertices[v]);
}

snwResult snwCantileverTruth_Encode(
    const snwCantileverTruth* truth, unsigned char** data, size_t* size, snwMessage* message)
{
    snwWriter writer = {.context = truth->context};
    snwWrite(&writer, s_magic, sizeof s_magic);
    snwWriteInt(&writer, snw_truthFormat);
    snwWriteU64(&writer, TopologyHash(truth->character));
    double sums[snw_restSums];
    RestSums(truth->character, sums);
    for (int i = 0; i < snw_restSums; ++i)
        snwWriteReal(&writer, sums[i]);
    for (int i = 0; i < snw_constantCount; ++i)
        snwWriteReal(&writer, s_constants[i]);
    for (int i = 0; i <= snw_cantileverFrames; ++i)
        for (int k = 0; k < 3; ++k)
            snwWriteReal(&writer, truth->energies[i][k]);
    for (int i = 0; i < snw_cantileverKept; ++i)
        WriteFrame(&writer, truth->character, &truth->frames[i]);
    snwWriteU64(&writer, writer.failed ? 0 : snwHash(writer.data, writer.size, 0));
    if (writer.failed)
    {
        snwFree(truth->context, writer.data);
        return snwFailMemory(message);
    }
    *data = writer.data;
    *size = writer.size;
    return snw_ok;
}

snwResult snwCantileverTruth_Decode(
    snwCantileverTruth* truth, const unsigned char* data, size_t size, snwMessage* message)
{
    snwReader end = {.data = data, .size = size, .position = size < 8 ? size : size - 8};
    if (size < 8 || snwReadU64(&end) != snwHash(data, size - 8, 0))
        return snwFail(message, snw_errorInput, s_remedy, "the stored truth is damaged");
    snwReader reader = {.data = data, .size = size - 8};
    snwResult result = CheckHeader(&reader, truth->character, message);
    if (result < 0)
        return result;
    for (int i = 0; i <= snw_cantileverFrames; ++i)
        for (int k = 0; k < 3; ++k)
            truth->energies[i][k] = snwReadReal(&reader);
    for (int i = 0; i < snw_cantileverKept; ++i)
        ReadFrame(&reader, truth->character, &truth->frames[i]);
    if (reader.failed || reader.position != reader.size)
        return snwFail(message, snw_errorInput, s_remedy, "the stored truth does not have the size of its frames");
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

static void MakePath(snwCantilever version, char* path, size_t capacity)
{
    snprintf(path, capacity, "%s/bench/truth/cantilever-%s.bin", SNW_SOURCE_DIR, snwCantilever_Name(version));
}

static snwResult FailFile(snwMessage* message, const char* path, const char* what)
{
    snwResult result = snwFail(message, snw_errorIo, s_remedy, "could not %s the stored truth", what);
    snwMessage_SetFile(message, path);
    return result;
}

snwResult snwCantileverTruth_Save(const snwCantileverTruth* truth, snwCantilever version, snwMessage* message)
{
    unsigned char* data = NULL;
    size_t size = 0;
    snwResult result = snwCantileverTruth_Encode(truth, &data, &size, message);
    if (result < 0)
        return result;
    char path[1024];
    MakePath(version, path, sizeof path);
    FILE* file = fopen(path, "wb");
    bool good = file != NULL && fwrite(data, 1, size, file) == size;
    good = file != NULL && fclose(file) == 0 && good;
    snwFree(truth->context, data);
    return good ? snw_ok : FailFile(message, path, "write");
}

static snwResult ReadFile(
    snwContext* context, const char* path, unsigned char** data, size_t* size, snwMessage* message)
{
    *data = snwAllocRaw(context, snw_largestTruth);
    if (*data == NULL)
        return snwFailMemory(message);
    FILE* file = fopen(path, "rb");
    if (file == NULL)
        return FailFile(message, path, "open");
    *size = fread(*data, 1, snw_largestTruth, file);
    bool good = ferror(file) == 0;
    fclose(file);
    return good ? snw_ok : FailFile(message, path, "read");
}

snwResult snwCantileverTruth_Load(
    const snwCharacter* builtIn, snwCantilever version, snwCantileverTruth* truth, snwMessage* message)
{
    char path[1024];
    unsigned char* data = NULL;
    size_t size = 0;
    MakePath(version, path, sizeof path);
    snwResult result = snwCantileverTruth_Create(builtIn, version, truth, message);
    if (result < 0)
        return result;
    snwContext* context = builtIn->context;
    result = ReadFile(context, path, &data, &size, message);
    if (result >= 0)
    {
        result = snwCantileverTruth_Decode(truth, data, size, message);
        if (result < 0)
            snwMessage_SetFile(message, path);
    }
    snwFree(context, data);
    if (result < 0)
        snwCantileverTruth_Close(truth);
    return result;
}
