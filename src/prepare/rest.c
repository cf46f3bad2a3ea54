// The rest pose: surfaces and joints as the artist modelled them, not as the nodes happen to stand.
//
// A skinned mesh was modelled in its bind pose; nodes may stand anywhere in a motion, and skinning to that would bend
// the flesh before it begins. So rest is the bind pose, put where the root joint stands:
//
//   place(mesh) = world(root) inverseBind(root),   bind(joint) = place(mesh) inverseBind(joint)^-1
//
// Meshes of further skins that share a joint are put so that it is in one place for both. What hangs on a joint without
// a skin goes with it; everything else stays where its node is.

#include "prepare/parts.h"

#include "asset/surfaces.h"
#include "geom/mesh.h"

#include <math.h>
#include <string.h>

static snwAffine Scaled(snwAffine a, double scale)
{
    for (int i = 0; i < 9; ++i)
        a.linear.m[i / 3][i % 3] *= scale;
    a.translation = snwVec3_Scale(a.translation, scale);
    return a;
}

static bool IsSound(snwAffine a)
{
    snwAffine inverse;
    bool finite = snwVec3_IsWithin(a.translation, 1e30);
    for (int i = 0; i < 9; ++i)
        finite = finite && isfinite(a.linear.m[i / 3][i % 3]);
    return finite && snwAffine_Inverse(a, &inverse);
}

// ---------------------------------------------------------------------------------------------------------------------
// Joints

static bool IsJoint(const snwAssetSkin* skin, int node)
{
    for (int i = 0; i < skin->jointCount; ++i)
        if (skin->joints[i] == node)
            return true;
    return false;
}

// The first joint without a joint above it.
static int RootOf(const snwAsset* asset, const snwAssetSkin* skin)
{
    for (int i = 0; i < skin->jointCount; ++i)
    {
        int above = asset->nodes[skin->joints[i]].parent;
        while (above >= 0 && !IsJoint(skin, above))
            above = asset->nodes[above].parent;
        if (above < 0)
            return i;
    }
    return 0;
}

// Where a mesh of the skin is, and with it the joints that nobody placed before.
static snwAffine PlaceSkin(snwPreparer* p, const snwAssetSkin* skin)
{
    int anchor = -1;
    for (int i = 0; i < skin->jointCount && anchor < 0; ++i)
        if (p->bound[skin->joints[i]] && IsSound(skin->inverseBinds[i]))
            anchor = i;
    int root = RootOf(p->asset, skin);
    snwAffine place = anchor >= 0
                          ? snwAffine_Compose(p->binds[skin->joints[anchor]], skin->inverseBinds[anchor])
                          : snwAffine_Compose(Scaled(p->nodes[skin->joints[root]], p->scale), skin->inverseBinds[root]);
    if (!IsSound(place))
        place = Scaled((snwAffine){snwMat3_Diagonal(1, 1, 1), {0, 0, 0}}, p->scale);
    for (int i = 0; i < skin->jointCount; ++i)
    {
        int node = skin->joints[i];
        snwAffine inverse;
        if (p->bound[node])
            continue;
        p->binds[node] = IsSound(skin->inverseBinds[i]) && snwAffine_Inverse(skin->inverseBinds[i], &inverse)
                             ? snwAffine_Compose(place, inverse)
                             : Scaled(p->nodes[node], p->scale);
        p->bound[node] = 1;
    }
    return place;
}

// Without a skin: with the joint above it, or where it stands.
static snwAffine PlaceNode(const snwPreparer* p, int node)
{
    snwAffine inverse;
    for (int above = node; above >= 0; above = p->asset->nodes[above].parent)
        if (p->bound[above] && snwAffine_Inverse(p->nodes[above], &inverse))
            return snwAffine_Compose(p->binds[above], snwAffine_Compose(inverse, p->nodes[node]));
    return Scaled(p->nodes[node], p->scale);
}

// ---------------------------------------------------------------------------------------------------------------------
// Surfaces

static int RootPiece(int* pieces, int vertex)
{
    while (pieces[vertex] != vertex)
        vertex = pieces[vertex] = pieces[pieces[vertex]];
    return vertex;
}

// Numbers the pieces that hang together, in the order of their first vertex.
static bool FindPieces(snwPreparer* p, snwRestSurface* surface)
{
    int count = surface->weld.count;
    int* pieces = snwPreparer_Alloc(p, count + 1, sizeof *pieces);
    int* numbers = snwPreparer_Alloc(p, count + 1, sizeof *numbers);
    surface->shellOf = snwPreparer_Alloc(p, count + 1, sizeof(int));
    if (p->arena.failed)
        return false;
    for (int i = 0; i < count; ++i)
        pieces[i] = i, numbers[i] = -1;
    for (int i = 0; i < surface->triangleCount; ++i)
        for (int k = 0; k < 2; ++k)
        {
            int a = RootPiece(pieces, surface->weld.map[surface->triangles[i][k]]);
            int b = RootPiece(pieces, surface->weld.map[surface->triangles[i][k + 1]]);
            pieces[a > b ? a : b] = a < b ? a : b;
        }
    for (int i = 0; i < count; ++i)
    {
        int root = RootPiece(pieces, i);
        if (numbers[root] < 0)
            numbers[root] = surface->shellCount++;
        surface->shellOf[i] = numbers[root];
    }
    return true;
}

// The file's triangles, or the boundary of its elements.
static snwResult TakeTriangles(snwPreparer* p, const snwAssetMesh* mesh, snwRestSurface* surface)
{
    int(*boundary)[3] = NULL;
    const int(*source)[3] = mesh->triangles;
    surface->triangleCount = mesh->triangleCount;
    if (mesh->tetCount + mesh->hexCount > 0)
    {
        bool hexes = mesh->hexCount > 0;
        snwElements elements = {hexes ? (const int*)mesh->hexes : (const int*)mesh->tets, hexes ? 8 : 4,
            hexes ? mesh->hexCount : mesh->tetCount};
        if (snwMesh_FindSkin(p->context, elements, &boundary, &surface->triangleCount) < 0)
            return snwFailMemory(p->message);
        source = (const int(*)[3])boundary;
    }
    surface->triangles = snwPreparer_Alloc(p, surface->triangleCount + 1, sizeof *surface->triangles);
    bool mirrored = snwMat3_Determinant(surface->place.linear) < 0;
    for (int i = 0; i < surface->triangleCount && surface->triangles != NULL; ++i)
        for (int k = 0; k < 3; ++k)
            surface->triangles[i][mirrored ? 2 - k : k] = source[i][k];
    snwFree(p->context, boundary);
    return surface->triangles != NULL ? snw_ok : snwFailMemory(p->message);
}

static snwResult Survey(snwPreparer* p, snwRestSurface* surface)
{
    snwVec3* welded = snwPreparer_Alloc(p, surface->weld.count + 1, sizeof *welded);
    int(*triangles)[3] = snwPreparer_Alloc(p, surface->triangleCount + 1, sizeof *triangles);
    if (p->arena.failed || !FindPieces(p, surface))
        return snwFailMemory(p->message);
    for (int i = 0; i < surface->weld.count; ++i)
        welded[i] = surface->positions[surface->weld.sources[i]];
    for (int i = 0; i < 3 * surface->triangleCount; ++i)
        triangles[i / 3][i % 3] = surface->weld.map[surface->triangles[i / 3][i % 3]];
    snwSurveyDef def = {.vertices = welded,
        .vertexCount = surface->weld.count,
        .triangles = (const int(*)[3])triangles,
        .triangleCount = surface->triangleCount};
    return snwSurveySurface(&p->arena, &def, &surface->survey, p->message);
}

static snwResult MakeSurface(snwPreparer* p, snwRestSurface* surface)
{
    const snwAssetMesh* mesh = &p->asset->meshes[surface->mesh];
    surface->vertexCount = mesh->vertexCount;
    surface->positions = snwPreparer_Alloc(p, mesh->vertexCount + 1, sizeof *surface->positions);
    if (surface->positions == NULL)
        return snwFailMemory(p->message);
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        surface->positions[i] = snwAffine_Apply(surface->place, mesh->positions[i]);
        if (!snwVec3_IsWithin(surface->positions[i], 1e5))
            return snwFail(
                p->message, snw_errorInput, "give it a scale", "surface '%s' reaches beyond 100 km", surface->name);
    }
    snwWeldDef weld = {.positions = mesh->positions, .count = mesh->vertexCount};
    snwResult result = TakeTriangles(p, mesh, surface);
    if (result >= 0)
        result = snwWeldVertices(&p->arena, &weld, &surface->weld, p->message);
    return result < 0 ? result : Survey(p, surface);
}

// A node per mesh that has triangles; of meshes that no node shows, one without.
static snwResult ListSurfaces(snwPreparer* p)
{
    const snwAsset* asset = p->asset;
    uint8_t* shown = snwPreparer_Alloc(p, asset->meshCount + 1, 1);
    p->surfaces = snwPreparer_Alloc(p, (int64_t)asset->nodeCount + asset->meshCount + 1, sizeof *p->surfaces);
    if (p->arena.failed)
        return snwFailMemory(p->message);
    for (int i = 0; i < asset->nodeCount + asset->meshCount; ++i)
    {
        int node = i < asset->nodeCount ? i : -1;
        int index = node >= 0 ? asset->nodes[node].mesh : i - asset->nodeCount;
        if (index < 0 || (node < 0 && shown[index]))
            continue;
        const snwAssetMesh* mesh = &asset->meshes[index];
        shown[index] = 1;
        if (mesh->triangleCount + mesh->tetCount + mesh->hexCount == 0)
            continue;
        if (p->surfaceCount == snw_maxSurfaces)
            return snwFail(p->message, snw_errorInput, "join some", "more than %d surfaces", snw_maxSurfaces);
        snwRestSurface* surface = &p->surfaces[p->surfaceCount++];
        surface->name = node >= 0 && asset->nodes[node].name[0] != 0 ? asset->nodes[node].name : mesh->name;
        surface->mesh = index;
        surface->node = node;
        surface->skin = node >= 0 && mesh->weights.starts != NULL ? asset->nodes[node].skin : -1;
        surface->rigidBone = -1;
    }
    if (p->surfaceCount == 0)
        return snwFail(p->message, snw_errorInput, "a file with a surface is needed", "there is no surface in it");
    return snw_ok;
}

// The skin of the largest surface first: it decides where everything is.
static int MainSkin(const snwPreparer* p)
{
    int best = -1, most = -1;
    for (int i = 0; i < p->surfaceCount; ++i)
    {
        int count = p->asset->meshes[p->surfaces[i].mesh].triangleCount;
        if (p->surfaces[i].skin >= 0 && count > most)
            most = count, best = p->surfaces[i].skin;
    }
    return best;
}

static snwAffine PlaceSurface(snwPreparer* p, const snwRestSurface* surface)
{
    if (surface->skin >= 0)
        return PlaceSkin(p, &p->asset->skins[surface->skin]);
    if (surface->node >= 0)
        return PlaceNode(p, surface->node);
    return Scaled((snwAffine){snwMat3_Diagonal(1, 1, 1), {0, 0, 0}}, p->scale);
}

static void PlaceAll(snwPreparer* p)
{
    int main = MainSkin(p);
    memset(p->bound, 0, (size_t)p->asset->nodeCount);
    if (main >= 0)
        PlaceSkin(p, &p->asset->skins[main]);
    for (int round = 0; round < 2; ++round) // joints first: others hang on them
        for (int i = 0; i < p->surfaceCount; ++i)
            if ((p->surfaces[i].skin >= 0) == (round == 0))
                p->surfaces[i].place = PlaceSurface(p, &p->surfaces[i]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Scale

static void Measure(const snwPreparer* p, snwVec3* lower, snwVec3* upper)
{
    *lower = (snwVec3){INFINITY, INFINITY, INFINITY};
    *upper = snwVec3_Negate(*lower);
    for (int i = 0; i < p->surfaceCount; ++i)
    {
        const snwAssetMesh* mesh = &p->asset->meshes[p->surfaces[i].mesh];
        for (int k = 0; k < mesh->vertexCount; ++k)
        {
            snwVec3 x = snwAffine_Apply(p->surfaces[i].place, mesh->positions[k]);
            *lower = snwVec3_Min(*lower, x);
            *upper = snwVec3_Max(*upper, x);
        }
    }
}

// Asked for, or said by the file, or the power of ten that makes a character of living size.
static snwResult ChooseScale(snwPreparer* p)
{
    snwVec3 lower, upper;
    p->scale = 1;
    PlaceAll(p);
    Measure(p, &lower, &upper);
    snwVec3 sides = snwVec3_Sub(upper, lower);
    double longest = fmax(sides.x, fmax(sides.y, sides.z));
    if (!(longest > 0 && isfinite(longest)))
        return snwFail(p->message, snw_errorInput, NULL, "the surfaces have no size");
    bool guessed = false;
    if (p->def->scale > 0)
        p->scale = p->def->scale;
    else if (p->settings.scale > 0)
        p->scale = p->settings.scale;
    else if (p->settings.size > 0)
        p->scale = p->settings.size / longest;
    else if (longest < 0.02 || longest > 20)
        p->scale = p->asset->scale > 0 ? p->asset->scale : pow(10, -floor(log10(longest / 0.5))), guessed = true;
    if (guessed)
        snwPreparer_Note(
            p, "it would be %.3g m long: one unit is taken as %g m (give a scale to say otherwise)", longest, p->scale);
    PlaceAll(p);
    p->size = p->scale * snwVec3_Length(sides);
    return snw_ok;
}

snwResult snwPreparer_FindRest(snwPreparer* p)
{
    p->nodes = snwAsset_PlaceNodes(p->asset, &p->arena);
    p->binds = snwPreparer_Alloc(p, p->asset->nodeCount + 1, sizeof *p->binds);
    p->bound = snwPreparer_Alloc(p, p->asset->nodeCount + 1, 1);
    if (p->nodes == NULL || p->arena.failed)
        return snwFailMemory(p->message);
    snwResult result = ListSurfaces(p);
    if (result >= 0)
        result = ChooseScale(p);
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
        result = MakeSurface(p, &p->surfaces[i]);
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
        result = snwPrepareSettings_Surface(
            &p->settings, p->surfaces[i].name, p->surfaces[i].node, &p->surfaces[i].setting, p->message);
    return result;
}
