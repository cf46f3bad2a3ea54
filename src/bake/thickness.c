#include "bake/thickness.h"

#include "base/result.h"
#include "sim/character.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define SNW_THICK 0.055 // of the longest side
#define SNW_BONY  0.2
#define SNW_MOST  12.0

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

snwResult snwThickness_Make(snwArena* arena, const snwCharacter* character, snwThickness* out, snwMessage* message)
{
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    snwCharacterInfo info = snwCharacter_GetInfo(character);
    *out = (snwThickness){0};
    if (def->boneCount == 0 || def->boneWeights.vertexCount == 0)
        return snw_ok;
    bool* bony = snwArena_Alloc(arena, (size_t)def->boneCount, sizeof *bony);
    if (bony == NULL)
        return snwFailMemory(message);
    int ends = 0;
    for (int i = 0; i < def->boneCount; ++i)
        ends += IsEnd(def, i);
    for (int i = 0; i < def->boneCount; ++i)
        bony[i] = IsBony(def, i, ends >= snw_limbs);
    snwVec3 sides = snwVec3_Sub(info.upper, info.lower);
    *out = (snwThickness){def, bony, SNW_THICK * fmax(sides.x, fmax(sides.y, sides.z))};
    return snw_ok;
}

static double Distance(snwVec3 x, const snwBoneDef* bone)
{
    snwVec3 span = snwVec3_Sub(bone->tail, bone->head), to = snwVec3_Sub(x, bone->head);
    double square = snwVec3_LengthSquared(span), t = square > 0 ? snwVec3_Dot(to, span) / square : 0;
    return snwVec3_Length(snwVec3_MulAdd(to, -fmin(fmax(t, 0), 1), span));
}

double snwThickness_At(const snwThickness* thickness, snwVec3 place, const int* vertices, const double* shares, int n)
{
    const snwCharacterDef* def = thickness->character;
    const snwWeights* weights = &def->boneWeights;
    double length = 0;
    for (int k = 0; k < n; ++k)
        for (int i = weights->starts[vertices[k]]; i < weights->starts[vertices[k] + 1]; ++i)
        {
            int bone = weights->handles[i];
            length += shares[k] * weights->values[i] * Distance(place, &def->bones[bone]) *
                      (thickness->bony[bone] ? SNW_BONY : 1);
        }
    return fmin(length, 2 * thickness->usual);
}

double snwThickness_Factor(const snwThickness* thickness, double length, double falloff)
{
    return pow(fmin(fmax(thickness->usual / fmax(length, 1e-9), 1), SNW_MOST), falloff);
}
