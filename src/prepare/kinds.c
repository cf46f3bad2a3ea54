// Which surfaces, and which pieces of them, are flesh, which ride on it, and which are rigid. What a person says counts
// first: of the surface, else of the material that most of a piece has. What nobody said is decided by these rules:
//
//   - a surface that hangs on a joint without a skin is rigid with it; so is one that hangs on another node that moves,
//     unless nothing in the file has a skin: then only what touches the flesh and has a node of its own, as a wheel;
//   - the surface with the most area is flesh, and its largest piece stays it whatever it is called;
//   - names of surfaces, meshes and materials tell: teeth, eyes, nails, horns, armour and weapons are rigid, hair and
//     lashes are carried. Not clothes: they are if they lie on flesh, but many a body has no legs but its trousers;
//   - another surface is carried if most of its vertices lie inside of that flesh or near to it: clothes, hair, other
//     levels of detail. Else it is flesh as well: a head that is a mesh of its own;
//   - an open piece whose material is see-through is carried: cards of hair, feathers, lace;
//   - a small closed piece of any surface (a sixth of the size at most) that follows one bone alone, or none where the
//     file has no weights, is rigid: eyes, teeth, claws, buttons. Not the largest piece of the flesh;
//   - so is a closed piece of up to half of the size that follows one bone alone beside a body that is mostly one piece
//     and follows several: an axe, a backpack. A body made of shells that follow one bone each stays flesh.
//
// A rigid piece moves with the bone that most of its weight follows.

#include "asset/gltf.h"
#include "prepare/parts.h"
#include "sim/vocabulary.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SNW_NEAR_SHARE  0.04 // of the size: so near to the flesh is on it
#define SNW_LIES_ON     0.6  // of its vertices
#define SNW_TOUCHES     0.1  // of its vertices
#define SNW_SMALL_SHARE 0.16 // of the size: a piece as large may be rigid
#define SNW_LARGE_SHARE 0.5  // the same of what is in somebody's hand
#define SNW_ALONE       0.98 // weight with which a piece follows one bone alone

enum
{
    snw_severalBones = -2,
    snw_maxSamples = 512,
};

// Why something is not flesh, and how it is told.
typedef enum Why
{
    snw_whyNot, // it is flesh, or left out
    snw_whyAsked,
    snw_whyHangs,
    snw_whyNamed,
    snw_whyNear,
    snw_whyCards,
    snw_whySmall,
    snw_whyHeld,
    snw_whyCount,
} Why;

// ---------------------------------------------------------------------------------------------------------------------
// Names

// The longest word that a part of the name begins with tells; "eyelid" keeps lids from being eyes.
static const struct
{
    const char* word;
    snwSurfaceUse use;
} s_words[] = {{"eyelid", snw_useAuto}, {"eyelash", snw_useCarried}, {"eyebrow", snw_useCarried},
    {"eyesocket", snw_useAuto}, {"lash", snw_useCarried}, {"brow", snw_useCarried}, {"eye", snw_useRigid},
    {"cornea", snw_useRigid}, {"iris", snw_useRigid}, {"pupil", snw_useRigid}, {"sclera", snw_useRigid},
    {"tooth", snw_useRigid}, {"teeth", snw_useRigid}, {"fang", snw_useRigid}, {"tusk", snw_useRigid},
    {"nail", snw_useRigid}, {"fingernail", snw_useRigid}, {"toenail", snw_useRigid}, {"claw", snw_useRigid},
    {"horn", snw_useRigid}, {"hoof", snw_useRigid}, {"beak", snw_useRigid}, {"armor", snw_useRigid},
    {"armour", snw_useRigid}, {"helmet", snw_useRigid}, {"shield", snw_useRigid}, {"sword", snw_useRigid},
    {"weapon", snw_useRigid}, {"rifle", snw_useRigid}, {"pistol", snw_useRigid}, {"gun", snw_useRigid},
    {"axe", snw_useRigid}, {"knife", snw_useRigid}, {"blade", snw_useRigid}, {"spear", snw_useRigid},
    {"glasses", snw_useRigid}, {"goggles", snw_useRigid}, {"buckle", snw_useRigid}, {"button", snw_useRigid},
    {"earring", snw_useRigid}, {"hair", snw_useCarried}, {"beard", snw_useCarried}, {"mustache", snw_useCarried},
    {"moustache", snw_useCarried}, {"feather", snw_useCarried}};

// Whether a part of the name begins with the word: parts begin after what is no letter and with capitals after small
// letters. Short words have to be all of it, but for an s: "guns" are some, "gunther" is none.
static bool NameHas(const char* name, const char* word)
{
    size_t length = strlen(word);
    for (const char* at = name; *at != 0; ++at)
    {
        bool begins = at == name || !isalpha((unsigned char)at[-1]) ||
                      (isupper((unsigned char)at[0]) && islower((unsigned char)at[-1]));
        size_t same = 0;
        while (begins && same < length && tolower((unsigned char)at[same]) == word[same])
            ++same;
        if (!begins || same < length)
            continue;
        const char* rest = at + length + (length < 4 && at[length] == 's');
        if (length > 3 || !islower((unsigned char)*rest))
            return true;
    }
    return false;
}

static snwSurfaceUse UseOfName(const char* name)
{
    size_t longest = 0;
    snwSurfaceUse use = snw_useAuto;
    for (size_t i = 0; i < sizeof s_words / sizeof *s_words; ++i)
        if (strlen(s_words[i].word) > longest && NameHas(name, s_words[i].word))
        {
            longest = strlen(s_words[i].word);
            use = s_words[i].use;
        }
    return use;
}

// ---------------------------------------------------------------------------------------------------------------------
// Surfaces

static int FindMain(const snwPreparer* p)
{
    int best = -1;
    for (int i = 0; i < p->surfaceCount; ++i)
    {
        const snwRestSurface* surface = &p->surfaces[i];
        bool may = !surface->left && surface->kind != snw_surfaceRigid && surface->setting.kind != snw_useCarried;
        if (may && (best < 0 || surface->survey.area > p->surfaces[best].survey.area))
            best = i;
    }
    return best;
}

static int FindRigBone(const snwPreparer* p, const char* name)
{
    for (int i = 0; i < p->rigCount; ++i)
        if (strcmp(p->rig[i].name, name) == 0)
            return i;
    return -1;
}

// The joint that a surface hangs on; -1: none.
static int JointAbove(const snwPreparer* p, const snwRestSurface* surface)
{
    if (surface->skin >= 0)
        return -1;
    for (int node = surface->node; node >= 0; node = p->asset->nodes[node].parent)
        if (p->rigOfNode[node] >= 0)
            return p->bound[node] == snw_boundJoint || p->asset->skinCount > 0 ? p->rigOfNode[node] : -1;
    return -1;
}

static snwResult UseSetting(snwPreparer* p, snwRestSurface* surface, Why* why)
{
    int joint = JointAbove(p, surface);
    snwSurfaceUse use = surface->setting.kind;
    surface->left = use == snw_useNone;
    bool rigid = use == snw_useRigid || (use == snw_useAuto && joint >= 0);
    surface->kind = rigid ? snw_surfaceRigid : use == snw_useCarried ? snw_surfaceCarried : snw_surfaceSoft;
    surface->rigidBone = rigid ? joint : -1;
    *why = use != snw_useAuto ? snw_whyAsked : rigid ? snw_whyHangs : snw_whyNot;
    if (surface->setting.bone == NULL)
        return snw_ok;
    surface->rigidBone = FindRigBone(p, surface->setting.bone);
    if (surface->rigidBone < 0)
        return snwFail(p->message, snw_errorInput, "name a bone of the file", "surface '%s' shall be rigid with '%s'",
            surface->name, surface->setting.bone);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// On the flesh?

static snwResult MakeSurfaceSoup(snwPreparer* p, const snwRestSurface* surface, snwSoup** soup)
{
    snwSoupDef def = snwDefaultSoupDef();
    def.vertices = surface->positions;
    def.vertexCount = surface->vertexCount;
    def.triangles = (const int(*)[3])surface->triangles;
    def.triangleCount = surface->triangleCount;
    return snwCreateSoup(p->context, &def, soup, p->message);
}

// The share of it that lies in or near the flesh.
static double ShareOn(const snwPreparer* p, const snwRestSurface* surface, const snwSoup* flesh)
{
    int step = surface->weld.count / snw_maxSamples + 1, near = 0, count = 0;
    for (int i = 0; i < surface->weld.count; i += step, ++count)
        near += snwSoup_Distance(flesh, surface->positions[surface->weld.sources[i]]) < SNW_NEAR_SHARE * p->size;
    return count > 0 ? (double)near / count : 0;
}

// Without a skin: does another node carry it than the flesh?
static bool MovesApart(const snwPreparer* p, int index, int main)
{
    const snwRigWeights *own = &p->weights[index], *flesh = &p->weights[main];
    return p->asset->skinCount == 0 && p->surfaces[index].node >= 0 && own->starts != NULL && flesh->starts != NULL &&
           own->bones[0] != flesh->bones[0];
}

// What names tell of whole surfaces, and where they are.
static snwResult ProposeKinds(snwPreparer* p, int main, Why* whys)
{
    snwSoup* flesh = NULL;
    snwResult result = p->surfaceCount > 1 ? MakeSurfaceSoup(p, &p->surfaces[main], &flesh) : snw_ok;

    // Only surfaces that nobody decided about, and not the main flesh.
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
    {
        snwRestSurface* surface = &p->surfaces[i];
        if (i == main || surface->left || surface->kind != snw_surfaceSoft || surface->setting.kind != snw_useAuto)
            continue;
        snwSurfaceUse use = UseOfName(surface->name);
        if (use == snw_useAuto)
            use = UseOfName(p->asset->meshes[surface->mesh].name);
        double on = use == snw_useAuto ? ShareOn(p, surface, flesh) : 0;

        // It touches the flesh and has a node that moves on its own, like a wheel.
        if (on > SNW_TOUCHES && MovesApart(p, i, main))
        {
            whys[i] = snw_whyHangs;
            surface->kind = snw_surfaceRigid;
            surface->rigidBone = p->weights[i].bones[0];
            continue;
        }

        whys[i] = use != snw_useAuto ? snw_whyNamed : on > SNW_LIES_ON ? snw_whyNear : snw_whyNot;
        surface->kind = use == snw_useRigid     ? snw_surfaceRigid
                        : whys[i] == snw_whyNot ? snw_surfaceSoft
                                                : snw_surfaceCarried;
    }

    if (flesh != NULL)
        snwDestroySoup(flesh);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Pieces

typedef struct Piece
{
    snwVec3 lower, upper;
    bool open;
    int bone; // that it follows alone; -2: several
    int vertexCount;
    bool begun;
    int part, partTriangles; // of the mesh, that most of its triangles are of; how many
    Why why;
} Piece;

typedef struct Sorting
{
    int main; // the surface that is flesh
    Why* whys;
    Piece** pieces;                                    // of each surface
    bool oneBody;                                      // one piece is most of the main surface
    int (*counts)[snw_surfaceRigid + 1][snw_whyCount]; // by surface: pieces of each kind and reason
} Sorting;

static void AddVertexToPiece(const snwPreparer* p, int index, int vertex, Piece* piece)
{
    const snwRestSurface* surface = &p->surfaces[index];
    const snwRigWeights* weights = &p->weights[index];
    snwVec3 x = surface->positions[vertex];
    int bone = -1;
    for (int k = weights->starts != NULL ? weights->starts[vertex] : 0;
         weights->starts != NULL && k < weights->starts[vertex + 1]; ++k)
        if (weights->values[k] >= SNW_ALONE)
            bone = weights->bones[k];
    if (weights->starts != NULL && bone < 0)
        bone = snw_severalBones;
    piece->bone = !piece->begun || piece->bone == bone ? bone : snw_severalBones;
    piece->lower = piece->begun ? snwVec3_Min(piece->lower, x) : x;
    piece->upper = piece->begun ? snwVec3_Max(piece->upper, x) : x;
    piece->begun = true;
    piece->vertexCount += 1;
}

// The part of the mesh that most triangles of each piece are of. counts: room for one number per piece.
static void FindPieceParts(const snwPreparer* p, const snwRestSurface* surface, Piece* pieces, int* counts)
{
    const snwAssetMesh* mesh = &p->asset->meshes[surface->mesh];
    for (int part = 0; part < mesh->partCount && mesh->tetCount + mesh->hexCount == 0; ++part)
    {
        memset(counts, 0, (size_t)surface->shellCount * sizeof *counts);
        for (int i = 0; i < mesh->parts[part].triangleCount; ++i)
        {
            const int* triangle = surface->triangles[mesh->parts[part].firstTriangle + i];
            ++counts[surface->shellOf[surface->weld.map[triangle[0]]]];
        }
        for (int s = 0; s < surface->shellCount; ++s)
            if (counts[s] > pieces[s].partTriangles)
            {
                pieces[s].part = part;
                pieces[s].partTriangles = counts[s];
            }
    }
}

// The bone that most of the weight of a piece follows; -1: none.
static int BoneOfPiece(const snwPreparer* p, int index, int shell, double* sums)
{
    const snwRestSurface* surface = &p->surfaces[index];
    const snwRigWeights* weights = &p->weights[index];
    int best = -1;
    memset(sums, 0, (size_t)p->rigCount * sizeof *sums);
    for (int i = 0; i < surface->vertexCount && weights->starts != NULL; ++i)
        for (int k = weights->starts[i]; surface->shellOf[surface->weld.map[i]] == shell && k < weights->starts[i + 1];
             ++k)
            sums[weights->bones[k]] += weights->values[k];
    for (int b = 0; b < p->rigCount; ++b)
        if (sums[b] > 0 && (best < 0 || sums[b] > sums[best]))
            best = b;
    return best;
}

static bool IsSeeThrough(const snwPreparer* p, const char* material)
{
    const json_t* list = p->asset->gltf != NULL ? json_object_get(p->asset->gltf->root, "materials") : NULL;
    for (size_t i = 0; i < json_array_size(list); ++i)
    {
        const json_t* entry = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(entry, "name")),
                   *alpha = json_string_value(json_object_get(entry, "alphaMode"));
        if (name != NULL && strcmp(name, material) == 0)
            return alpha != NULL && strcmp(alpha, "OPAQUE") != 0;
    }
    return false;
}

static snwResult ChooseKind(
    snwPreparer* p, int index, const Sorting* sorting, Piece* piece, bool largest, snwSurfaceKind* kind)
{
    const snwRestSurface* surface = &p->surfaces[index];
    const char* material = piece->partTriangles > 0 ? p->asset->meshes[surface->mesh].parts[piece->part].material : "";
    snwSurfaceSetting asked = {0};

    Why why = sorting->whys[index];
    *kind = surface->kind;
    piece->why = why;
    if (surface->setting.kind != snw_useAuto)
        return snw_ok;

    // What is said about its material, then what the material is called.
    snwResult result = material[0] != 0 ? snwPrepareSettings_Surface(&p->settings, material, "", -1, &asked, p->message)
                                        : snw_ok;
    snwSurfaceUse use = asked.kind;
    piece->why = use != snw_useAuto ? snw_whyAsked : piece->why;

    if (use == snw_useAuto && surface->kind != snw_surfaceRigid && why != snw_whyNamed &&
        !(largest && index == sorting->main))
    {
        use = UseOfName(material);
        piece->why = use != snw_useAuto ? snw_whyNamed : piece->why;
    }

    if (use != snw_useAuto)
    {
        *kind = use == snw_useRigid ? snw_surfaceRigid : use == snw_useSoft ? snw_surfaceSoft : snw_surfaceCarried;
        return result;
    }

    // Its shape, weights and look.
    double size = snwVec3_Distance(piece->lower, piece->upper);
    bool small = size < SNW_SMALL_SHARE * p->size && (!largest || surface->kind == snw_surfaceCarried);
    if (surface->kind == snw_surfaceSoft && piece->open && !largest && IsSeeThrough(p, material))
    {
        *kind = snw_surfaceCarried;
        piece->why = snw_whyCards;
    }
    else if (surface->kind != snw_surfaceRigid && small && !piece->open && piece->vertexCount > 3 &&
             piece->bone != snw_severalBones)
    {
        *kind = snw_surfaceRigid;
        piece->why = snw_whySmall;
    }
    else if (surface->kind == snw_surfaceSoft && size < SNW_LARGE_SHARE * p->size && !piece->open && piece->bone >= 0 &&
             !(largest && index == sorting->main) && sorting->oneBody)
    {
        *kind = snw_surfaceRigid;
        piece->why = snw_whyHeld;
    }

    return result;
}

static snwResult FindSurfacePieces(snwPreparer* p, int index, Piece** out)
{
    const snwRestSurface* surface = &p->surfaces[index];
    Piece* pieces = snwPreparer_Alloc(p, surface->shellCount + 1, sizeof *pieces);
    int* triangles = snwPreparer_Alloc(p, surface->shellCount + 1, sizeof *triangles);
    *out = pieces;
    if (p->arena.failed)
        return snwFailMemory(p->message);
    for (int i = 0; i < surface->vertexCount; ++i)
        AddVertexToPiece(p, index, i, &pieces[surface->shellOf[surface->weld.map[i]]]);
    for (int i = 0; i < surface->survey.shellCount; ++i)
    {
        const snwSurveyShell* shell = &surface->survey.shells[i];
        int corner = surface->triangles[shell->firstTriangle][0];
        pieces[surface->shellOf[surface->weld.map[corner]]].open |= shell->openEdges > 0;
    }
    FindPieceParts(p, surface, pieces, triangles);
    return snw_ok;
}

// Whether one piece that follows several bones is most of the surface.
static bool IsOneBody(const snwRestSurface* surface, const Piece* pieces)
{
    for (int i = 0; i < surface->shellCount; ++i)
        if (pieces[i].bone == snw_severalBones && 2 * pieces[i].vertexCount > surface->vertexCount)
            return true;
    return false;
}

static snwResult SortPieces(snwPreparer* p, int index, const Sorting* sorting)
{
    snwRestSurface* surface = &p->surfaces[index];
    Piece* pieces = sorting->pieces[index];
    Why why = sorting->whys[index];
    double* sums = snwPreparer_Alloc(p, p->rigCount + 1, sizeof *sums);
    surface->shellBones = snwPreparer_Alloc(p, surface->shellCount + 1, sizeof(int));
    surface->shellKinds = snwPreparer_Alloc(p, surface->shellCount + 1, sizeof *surface->shellKinds);
    if (p->arena.failed)
        return snwFailMemory(p->message);

    // The largest piece, which stays flesh if the surface does.
    double largest = 0;
    for (int i = 0; i < surface->shellCount; ++i)
        largest = fmax(largest, snwVec3_Distance(pieces[i].lower, pieces[i].upper));

    snwResult result = snw_ok;
    bool has[snw_surfaceRigid + 1] = {false};

    // Each piece by itself, and the bone that it follows if it is rigid.
    for (int i = 0; i < surface->shellCount && result >= 0; ++i)
    {
        bool isLargest = !(snwVec3_Distance(pieces[i].lower, pieces[i].upper) < largest);
        result = ChooseKind(p, index, sorting, &pieces[i], isLargest, &surface->shellKinds[i]);
        has[surface->shellKinds[i]] = true;
        sorting->counts[index][surface->shellKinds[i]][pieces[i].why] += 1;
        bool own = surface->kind == snw_surfaceRigid && why != snw_whyNamed;
        surface->shellBones[i] = surface->shellKinds[i] != snw_surfaceRigid ? -1
                                 : own && (surface->rigidBone >= 0 || p->weights[index].starts == NULL)
                                     ? surface->rigidBone
                                     : BoneOfPiece(p, index, i, sums);
    }

    // The surface is what its softest piece is.
    if (!surface->left && surface->shellCount > 0)
        surface->kind = has[snw_surfaceSoft]      ? snw_surfaceSoft
                        : has[snw_surfaceCarried] ? snw_surfaceCarried
                                                  : snw_surfaceRigid;

    if (surface->kind == snw_surfaceRigid && surface->shellCount == 1)
        surface->rigidBone = surface->shellBones[0];
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Words

// "rigid by name: 'teeth', 5 pieces of 'body'". counts: of each surface, as SortPieces gives them.
static void TellKinds(snwPreparer* p, int (*counts)[snw_surfaceRigid + 1][snw_whyCount])
{
    static const char* const s_whys[] = {"", "as asked", "for it hangs on a bone", "by name",
        "for it lies on the flesh", "for it is see-through and open", "for it is small, closed and of one bone",
        "for it is closed and of one bone beside the body"};

    for (int kind = snw_surfaceSoft; kind <= snw_surfaceRigid; ++kind)
        for (int why = snw_whyAsked; why < snw_whyCount; ++why)
        {
            // As many names as fit into a line, then how many more.
            char text[160] = "";
            int length = 0, more = 0;
            for (int i = 0; i < p->surfaceCount; ++i)
            {
                int count = counts[i][kind][why];
                char name[80];
                if (count == 0 || p->surfaces[i].left)
                    continue;
                if (count == p->surfaces[i].shellCount)
                    snprintf(name, sizeof name, "'%.40s'", p->surfaces[i].name);
                else
                    snprintf(name, sizeof name, "%d of the %d pieces of '%.40s'", count, p->surfaces[i].shellCount,
                        p->surfaces[i].name);
                if (length + (int)strlen(name) + 2 < (int)sizeof text)
                    length += snprintf(
                        text + length, sizeof text - (size_t)length, "%s%s", length > 0 ? ", " : "", name);
                else
                    ++more;
            }

            if (length > 0 && more > 0)
                snwPreparer_Note(p, "%s %s: %s and %d more", snw_surfaceKindWords[kind], s_whys[why], text, more);
            else if (length > 0)
                snwPreparer_Note(p, "%s %s: %s", snw_surfaceKindWords[kind], s_whys[why], text);
        }
}

snwResult snwPreparer_SortSurfaces(snwPreparer* p)
{
    snwResult result = snw_ok;
    Sorting sorting = {.whys = snwPreparer_Alloc(p, p->surfaceCount + 1, sizeof *sorting.whys),
        .pieces = snwPreparer_Alloc(p, p->surfaceCount + 1, sizeof(void*)),
        .counts = snwPreparer_Alloc(p, p->surfaceCount + 1, sizeof *sorting.counts)};
    if (p->arena.failed)
        return snwFailMemory(p->message);

    // What is said, then the main flesh, then what names and places tell.
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
        result = UseSetting(p, &p->surfaces[i], &sorting.whys[i]);
    sorting.main = FindMain(p);
    if (result >= 0 && sorting.main < 0)
        return snwFail(p->message, snw_errorInput, "make one of the surfaces soft", "no surface is flesh");
    if (result >= 0)
    {
        p->surfaces[sorting.main].kind = snw_surfaceSoft;
        result = ProposeKinds(p, sorting.main, sorting.whys);
    }

    // Pieces need all of that: they are judged beside the body.
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
        result = FindSurfacePieces(p, i, &sorting.pieces[i]);
    if (result >= 0)
        sorting.oneBody = IsOneBody(&p->surfaces[sorting.main], sorting.pieces[sorting.main]);
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
        result = SortPieces(p, i, &sorting);
    if (result >= 0)
        TellKinds(p, sorting.counts);

    return result;
}
