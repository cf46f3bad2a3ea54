// Which surfaces are flesh, which ride on it, and which are rigid. What nobody said is decided by these rules:
//
//   - a surface that hangs on a joint without a skin is rigid with it;
//   - the surface with the most area is flesh;
//   - another one is carried if most of its vertices lie inside of that flesh or near to it: clothes, hair, other
//   levels
//     of detail. Else it is flesh as well: a head that is a mesh of its own;
//   - a small closed piece of any surface (a sixth of the size at most) that follows one bone alone, or none where the
//     file has no weights, is rigid: eyes, teeth, claws, buttons. Not the largest piece of the flesh.

#include "prepare/parts.h"

#include <math.h>
#include <string.h>

#define SNW_NEAR_SHARE  0.04 // of the size: so near to the flesh is on it
#define SNW_SMALL_SHARE 0.16 // of the size: a piece as large may be rigid
#define SNW_ALONE       0.98 // weight with which a piece follows one bone alone

enum
{
    snw_notRigid = -2,
    snw_maxSamples = 512,
};

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

static int FindBone(const snwPreparer* p, const char* name)
{
    for (int i = 0; i < p->rigCount; ++i)
        if (strcmp(p->rig[i].name, name) == 0)
            return i;
    return -1;
}

// The joint that a surface hangs on; -1: none.
static int JointAbove(const snwPreparer* p, const snwRestSurface* surface)
{
    if (surface->skin >= 0 || p->asset->gltf == NULL)
        return -1;
    for (int node = surface->node; node >= 0; node = p->asset->nodes[node].parent)
        if (p->rigOfNode[node] >= 0)
            return p->rigOfNode[node];
    return -1;
}

static snwResult UseSetting(snwPreparer* p, snwRestSurface* surface)
{
    int joint = JointAbove(p, surface);
    snwSurfaceUse use = surface->setting.kind;
    surface->left = use == snw_useNone;
    bool rigid = use == snw_useRigid || (use == snw_useAuto && joint >= 0);
    surface->kind = rigid ? snw_surfaceRigid : use == snw_useCarried ? snw_surfaceCarried : snw_surfaceSoft;
    surface->rigidBone = rigid ? joint : -1;
    if (surface->setting.bone == NULL)
        return snw_ok;
    surface->rigidBone = FindBone(p, surface->setting.bone);
    if (surface->rigidBone < 0)
        return snwFail(p->message, snw_errorInput, "name a bone of the file", "surface '%s' shall be rigid with '%s'",
            surface->name, surface->setting.bone);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// On the flesh?

static snwResult MakeSoup(snwPreparer* p, const snwRestSurface* surface, snwSoup** soup)
{
    snwSoupDef def = snwDefaultSoupDef();
    def.vertices = surface->positions;
    def.vertexCount = surface->vertexCount;
    def.triangles = (const int(*)[3])surface->triangles;
    def.triangleCount = surface->triangleCount;
    return snwCreateSoup(p->context, &def, soup, p->message);
}

static bool LiesOn(const snwPreparer* p, const snwRestSurface* surface, const snwSoup* flesh)
{
    int step = surface->weld.count / snw_maxSamples + 1, near = 0, count = 0;
    for (int i = 0; i < surface->weld.count; i += step, ++count)
        near += snwSoup_Distance(flesh, surface->positions[surface->weld.sources[i]]) < SNW_NEAR_SHARE * p->size;
    return near > 0.6 * count;
}

static snwResult FindCarried(snwPreparer* p, int main)
{
    snwSoup* flesh = NULL;
    snwResult result = p->surfaceCount > 1 ? MakeSoup(p, &p->surfaces[main], &flesh) : snw_ok;
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
    {
        snwRestSurface* surface = &p->surfaces[i];
        if (i != main && !surface->left && surface->kind == snw_surfaceSoft && surface->setting.kind == snw_useAuto &&
            LiesOn(p, surface, flesh))
            surface->kind = snw_surfaceCarried;
    }
    if (flesh != NULL)
        snwDestroySoup(flesh);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rigid pieces

typedef struct Piece
{
    snwVec3 lower, upper;
    bool open;
    int bone; // -2: several
    int vertexCount;
    bool begun;
} Piece;

static void AddVertex(const snwPreparer* p, int index, int vertex, Piece* piece)
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
        bone = snw_notRigid;
    piece->bone = !piece->begun || piece->bone == bone ? bone : snw_notRigid;
    piece->lower = piece->begun ? snwVec3_Min(piece->lower, x) : x;
    piece->upper = piece->begun ? snwVec3_Max(piece->upper, x) : x;
    piece->begun = true;
    piece->vertexCount += 1;
}

// The largest piece is never rigid by the rule.
static snwResult FindPieces(snwPreparer* p, int index)
{
    snwRestSurface* surface = &p->surfaces[index];
    Piece* pieces = snwPreparer_Alloc(p, surface->shellCount + 1, sizeof *pieces);
    surface->shellBones = snwPreparer_Alloc(p, surface->shellCount + 1, sizeof(int));
    if (p->arena.failed)
        return snwFailMemory(p->message);
    for (int i = 0; i < surface->vertexCount; ++i)
        AddVertex(p, index, i, &pieces[surface->shellOf[surface->weld.map[i]]]);
    for (int i = 0; i < surface->survey.shellCount; ++i)
    {
        const snwShell* shell = &surface->survey.shells[i];
        int corner = surface->triangles[shell->firstTriangle][0];
        pieces[surface->shellOf[surface->weld.map[corner]]].open |= shell->openEdges > 0;
    }
    double largest = 0;
    for (int i = 0; i < surface->shellCount; ++i)
        largest = fmax(largest, snwVec3_Distance(pieces[i].lower, pieces[i].upper));
    for (int i = 0; i < surface->shellCount; ++i)
    {
        double size = snwVec3_Distance(pieces[i].lower, pieces[i].upper);
        bool small = size < SNW_SMALL_SHARE * p->size && (size < largest || surface->kind == snw_surfaceCarried);
        bool rigid = small && !pieces[i].open && pieces[i].vertexCount > 3 && pieces[i].bone != snw_notRigid &&
                     surface->setting.kind == snw_useAuto;
        surface->shellBones[i] = surface->kind == snw_surfaceRigid ? surface->rigidBone
                                 : rigid                           ? pieces[i].bone
                                                                   : snw_notRigid;
    }
    return snw_ok;
}

snwResult snwPreparer_SortSurfaces(snwPreparer* p)
{
    snwResult result = snw_ok;
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
        result = UseSetting(p, &p->surfaces[i]);
    int main = FindMain(p);
    if (result >= 0 && main < 0)
        return snwFail(p->message, snw_errorInput, "make one of the surfaces soft", "no surface is flesh");
    if (result >= 0)
    {
        p->surfaces[main].kind = snw_surfaceSoft;
        result = FindCarried(p, main);
    }
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
        result = FindPieces(p, i);
    return result;
}
