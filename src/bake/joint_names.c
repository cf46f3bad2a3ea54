// Which joint of one skeleton is which of another, by their names.
//
// A name is cut into words ("mixamorig:LeftUpLeg" -> left, up, leg), words that say nothing are dropped, the side is
// taken out, and what is left is looked up in a list of what people call the parts of a body.

#include "bake/retarget.h"

#include "base/result.h"
#include "scene/words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum
{
    snw_meaningSize = 64
};

typedef struct Meaning
{
    char exact[snw_meaningSize]; // letters and digits alone, small: "leftupleg"
    char part[snw_meaningSize];  // what it means: "l:thigh"; "" if nothing is left of it
} Meaning;

static bool IsAmongWords(const char* word, const char* const* list, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

// Cuts at signs, between small and large letters, and before and behind numbers.
static int CutWords(const char* name, char words[16][24])
{
    int count = 0, length = 0;
    for (size_t i = 0; name[i] != 0 && count < 16; ++i)
    {
        unsigned char c = (unsigned char)name[i], before = i > 0 ? (unsigned char)name[i - 1] : ' ';
        bool begins = (isupper(c) && islower(before)) || (isdigit(c) != 0) != (isdigit(before) != 0);
        if (length > 0 && (!isalnum(c) || begins))
            words[count++][length] = 0, length = 0;
        if (isalnum(c) && count < 16 && length < 23)
            words[count][length++] = (char)tolower(c);
    }
    if (length > 0 && count < 16)
        words[count++][length] = 0;
    return count;
}

// The length of "thigh" in "thigh_015"; of other names, all.
static int LengthWithoutNumber(const char* name)
{
    int length = (int)strlen(name), end = length;
    while (end > 0 && isdigit((unsigned char)name[end - 1]))
        end--;
    return end > 1 && length - end >= 2 && name[end - 1] == '_' ? end - 1 : length;
}

// Some exporters number all nodes, which says nothing.
static bool AreNumbered(const snwAsset* asset, const bool* which)
{
    int count = 0, numbered = 0;
    for (int i = 0; i < asset->nodeCount; ++i)
        if (which[i])
        {
            count++;
            numbered += LengthWithoutNumber(asset->nodes[i].name) < (int)strlen(asset->nodes[i].name);
        }
    return 10 * numbered > 8 * count;
}

static void FindMeaning(const char* name, bool numbered, Meaning* meaning)
{
    static const char* const s_empty[] = {"mixamorig", "armature", "skeleton", "joint", "jnt", "bone", "bip", "def",
        "org", "rig", "character", "valvebiped", "j", "b", "c"};
    static const struct
    {
        const char *called, *part;
    } s_parts[] = {{"pelvis", "hips"}, {"hip", "hips"}, {"cog", "hips"}, {"upleg", "thigh"}, {"upperleg", "thigh"},
        {"leg", "shin"}, {"calf", "shin"}, {"lowerleg", "shin"}, {"knee", "shin"}, {"ankle", "foot"}, {"toes", "toe"},
        {"toebase", "toe"}, {"ball", "toe"}, {"arm", "upperarm"}, {"uparm", "upperarm"}, {"lowerarm", "forearm"},
        {"elbow", "forearm"}, {"lowarm", "forearm"}, {"wrist", "hand"}, {"clavicle", "shoulder"},
        {"collar", "shoulder"}, {"collarbone", "shoulder"}, {"abdomen", "spine"}, {"waist", "spine"},
        {"torso", "spine1"}, {"chest", "spine1"}, {"upperchest", "spine2"}, {"spine01", "spine"}, {"spine02", "spine1"},
        {"spine03", "spine2"}};

    // The name without a prefix or a path, and without numbers if all joints have them.
    const char *colon = strrchr(name, ':'), *bar = strrchr(name, '|');
    const char* own = colon != NULL ? colon + 1 : bar != NULL ? bar + 1 : name;
    char words[16][24], side = 0, part[snw_meaningSize] = "";
    char bare[128];
    snprintf(bare, sizeof bare, "%.*s", numbered ? LengthWithoutNumber(own) : (int)sizeof bare - 1, own);
    int count = CutWords(bare, words);
    *meaning = (Meaning){0};

    // Sides and words that say nothing are taken out; all words together are the exact name.
    for (int i = 0; i < count; ++i)
    {
        size_t exact = strlen(meaning->exact), used = strlen(part);
        snprintf(meaning->exact + exact, sizeof meaning->exact - exact, "%s", words[i]);
        bool left = strcmp(words[i], "l") == 0 || strcmp(words[i], "left") == 0;
        bool right = strcmp(words[i], "r") == 0 || strcmp(words[i], "right") == 0;
        if (side == 0 && (left || right))
            side = left ? 'l' : 'r';
        else if (!IsAmongWords(words[i], s_empty, sizeof s_empty / sizeof *s_empty))
            snprintf(part + used, sizeof part - used, "%s", words[i]);
    }

    // A hip with a side is the leg's joint, without one it is the pelvis.
    const char* found = side != 0 && strcmp(part, "hip") == 0 ? "thigh" : part;
    for (size_t i = 0; i < sizeof s_parts / sizeof *s_parts && found == part; ++i)
        if (strcmp(part, s_parts[i].called) == 0)
            found = s_parts[i].part;
    if (found[0] != 0)
        snprintf(meaning->part, sizeof meaning->part, "%c:%.60s", side != 0 ? side : '-', found);
}

static int FindNode(const snwAsset* asset, const bool* which, const char* name)
{
    int found = -1;
    for (int i = 0; i < asset->nodeCount; ++i)
        if (strcmp(asset->nodes[i].name, name) == 0 && (found < 0 || (which[i] && !which[found])))
            found = i;
    return found;
}

static const char* NodeName(int index, const void* user)
{
    return ((const snwAsset*)user)->nodes[index].name;
}

static snwResult UseMap(const snwRetargetDef* def, const bool* targets, const bool* sources, int* partners, bool* taken,
    snwMessage* message)
{
    const char* name;
    const json_t* value;

    // Both names of every pair must exist.
    json_object_foreach((json_t*)def->map, name, value)
    {
        const char* other = json_string_value(value);
        int target = FindNode(def->target, targets, name);
        int source = other != NULL ? FindNode(def->source, sources, other) : -1;
        if (target >= 0 && source >= 0)
        {
            partners[target] = source;
            taken[source] = true;
            continue;
        }
        char remedy[240];
        const snwAsset* asset = target < 0 ? def->target : def->source;
        const char* word = target < 0 ? name : other != NULL ? other : "";
        snwSuggestWord(remedy, sizeof remedy, word, asset->nodeCount, NodeName, asset);
        return snwFail(message, snw_errorInput, remedy, "joint map: %s has no joint '%s'",
            target < 0 ? "the character" : "the motion", snwQuoteWord(word).text);
    }

    return snw_ok;
}

snwResult snwMatchJoints(snwArena* arena, const snwRetargetDef* def, const bool* targets, const bool* sources,
    int* partners, snwMessage* message)
{
    int targetCount = def->target->nodeCount, sourceCount = def->source->nodeCount;
    Meaning* mine = snwArena_Alloc(arena, (size_t)targetCount + 1, sizeof *mine);
    Meaning* theirs = snwArena_Alloc(arena, (size_t)sourceCount + 1, sizeof *theirs);
    bool* taken = snwArena_Alloc(arena, (size_t)sourceCount + 1, sizeof *taken);
    if (arena->failed)
        return snwFailMemory(message);

    // Numbers behind every name are no part of it.
    bool numbered[2] = {AreNumbered(def->target, targets), AreNumbered(def->source, sources)};
    for (int i = 0; i < targetCount; ++i)
    {
        partners[i] = -1;
        FindMeaning(def->target->nodes[i].name, numbered[0], &mine[i]);
    }

    for (int i = 0; i < sourceCount; ++i)
        FindMeaning(def->source->nodes[i].name, numbered[1], &theirs[i]);
    snwResult result = UseMap(def, targets, sources, partners, taken, message);

    // The surest first: the same name, the same but for signs and a prefix, the same part of a body.
    for (int round = 0; round < 3 && result >= 0; ++round)
        for (int i = 0; i < targetCount; ++i)
            for (int k = 0; k < sourceCount && targets[i] && partners[i] < 0; ++k)
            {
                const char* names[3][2] = {{def->target->nodes[i].name, def->source->nodes[k].name},
                    {mine[i].exact, theirs[k].exact}, {mine[i].part, theirs[k].part}};
                if (!sources[k] || taken[k] || names[round][0][0] == 0 || strcmp(names[round][0], names[round][1]) != 0)
                    continue;
                partners[i] = k;
                taken[k] = true;
            }

    return result;
}
