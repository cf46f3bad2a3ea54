// How thick flesh is: by the bones that hold it (hands, heads and tails are bony) and by what clips sculpt with morph
// targets. Thin flesh swings faster, and goes less far.

#include "bake/thickness.h"

#include "base/result.h"
#include "sim/character.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define SNW_THICK    0.055 // of the longest side
#define SNW_BONY     0.2
#define SNW_MOST     12.0
#define SNW_SCULPTED 0.25 // of the usual thickness: farther is a shape of the artist's

enum
{
    snw_limbs = 4 // chains: with fewer, their ends are no hands and feet
};

static bool Has(const char* name, const char* const* words, size_t count)
{
    char lower[128];
    size_t length = 0;
    for (; length + 1 < sizeof lower && name[length] != 0; ++length)
        lower[length] = (char)tolower((unsigned char)name[length]);
    lower[length] = 0;
    for (size_t i = 0; i < count; ++i)
        if (strstr(lower, words[i]) != NULL)
            return true;
    return false;
}

static bool IsEnd(const snwCharacterDef* def, int bone)
{
    for (int i = 0; i < def->boneCount; ++i)
        if (def->bones[i].parent == bone)
            return false;
    return def->bones[bone].parent >= 0;
}

// Not "ear": it is in "forearm".
static bool IsBony(const snwCharacterDef* def, int bone, bool ends)
{
    static const char* const s_bony[] = {"head", "skull", "face", "jaw", "eye", "brow", "tongue", "teeth", "nose",
        "hand", "finger", "thumb", "palm", "wrist", "foot", "toe", "ankle", "hoof", "paw", "claw"};
    static const char* const s_soft[] = {"tail", "hair", "breast", "belly", "butt", "cape", "skirt", "cloth"};
    const char* name = def->bones[bone].name;
    if (Has(name, s_soft, sizeof s_soft / sizeof *s_soft))
        return false;
    return Has(name, s_bony, sizeof s_bony / sizeof *s_bony) || (ends && IsEnd(def, bone));
}

// By vertex: how far clips of the file move it by morph targets, 1 from SNW_SCULPTED of the usual thickness on. NULL:
// nowhere, or no memory.
static float* FindSculpted(snwArena* arena, const snwPrepared* prepared, const snwCharacterDef* def, double usual)
{
    const int* clips = snwPrepared_GetInfo(prepared).clips;
    float* sculpted = NULL;

    // Clips with morph targets; the largest offset of each vertex counts.
    for (int m = 0; m < def->motionCount && clips != NULL; ++m)
    {
        const snwVertexTrackDef* track = &def->motions[m].vertices;
        if (clips[m] < 0 || track->sampleCount == 0)
            continue; // a point cache is the whole motion
        if (sculpted == NULL)
            sculpted = snwArena_Alloc(arena, (size_t)def->vertexCount + 1, sizeof *sculpted);
        for (int i = 0; i < track->sampleCount * def->vertexCount && sculpted != NULL; ++i)
        {
            const float* d = track->offsets[i];
            float far = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / (float)(SNW_SCULPTED * usual);
            float* most = &sculpted[i % def->vertexCount];
            *most = fmaxf(*most, fminf(far, 1));
        }
    }

    return sculpted;
}

snwResult snwThickness_Make(snwArena* arena, const snwPrepared* prepared, snwThickness* out, snwMessage* message)
{
    const snwCharacter* character = snwPrepared_GetCharacter(prepared);
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    snwCharacterInfo info = snwCharacter_GetInfo(character);
    snwVec3 sides = snwVec3_Sub(info.upper, info.lower);

    // The usual thickness goes with the size of the body.
    double usual = SNW_THICK * fmax(sides.x, fmax(sides.y, sides.z));
    float* sculpted = FindSculpted(arena, prepared, def, usual);
    bool follows = def->boneCount > 0 && def->boneWeights.vertexCount > 0;
    bool* bony = follows ? snwArena_Alloc(arena, (size_t)def->boneCount, sizeof *bony) : NULL;

    *out = (snwThickness){0};
    if (arena->failed)
        return snwFailMemory(message);
    if (!follows && sculpted == NULL)
        return snw_ok;

    // A body with many ends has limbs; a snake has none, and all of it is thick.
    int ends = 0;
    for (int i = 0; i < def->boneCount; ++i)
        ends += IsEnd(def, i);
    for (int i = 0; i < def->boneCount && bony != NULL; ++i)
        bony[i] = IsBony(def, i, ends >= snw_limbs);
    *out = (snwThickness){def, bony, sculpted, usual};

    return snw_ok;
}

static double BoneLineDistance(snwVec3 x, const snwBoneDef* bone)
{
    snwVec3 span = snwVec3_Sub(bone->tail, bone->head), to = snwVec3_Sub(x, bone->head);
    double square = snwVec3_LengthSquared(span), t = square > 0 ? snwVec3_Dot(to, span) / square : 0;
    return snwVec3_Length(snwVec3_MulAdd(to, -fmin(fmax(t, 0), 1), span));
}

double snwThickness_At(const snwThickness* thickness, snwVec3 place, const int* vertices, const double* shares, int n)
{
    const snwCharacterDef* def = thickness->character;
    const snwWeights* weights = &def->boneWeights;
    double length = thickness->bony == NULL ? thickness->usual : 0, sculpted = 0;
    for (int k = 0; k < n; ++k)
    {
        for (int i = thickness->bony != NULL ? weights->starts[vertices[k]] : 0;
             thickness->bony != NULL && i < weights->starts[vertices[k] + 1]; ++i)
        {
            int bone = weights->handles[i];
            length += shares[k] * weights->values[i] * BoneLineDistance(place, &def->bones[bone]) *
                      (thickness->bony[bone] ? SNW_BONY : 1);
        }
        sculpted += thickness->sculpted != NULL ? shares[k] * (double)thickness->sculpted[vertices[k]] : 0;
    }
    return fmin(length, 2 * thickness->usual) * (1 - (1 - SNW_BONY) * fmin(fmax(sculpted, 0), 1));
}

double snwThickness_Factor(const snwThickness* thickness, double length, double falloff)
{
    return pow(fmin(fmax(thickness->usual / fmax(length, 1e-9), 1), SNW_MOST), falloff);
}
