// The rest pose: surfaces and joints as the artist modelled them, not as the nodes happen to stand.
//
// A skinned mesh was modelled in its bind pose; nodes may stand anywhere in a motion, and skinning to that would bend
// the flesh before it begins. So rest is the bind pose, put where a joint stands:
//
//   place(mesh) = world(joint) inverseBind(joint),   bind(other) = place(mesh) inverseBind(other)^-1
//
// Any joint would do if all stood as they were bound. In files from real pipelines they do not, and the root least of
// all: it often has another scale and up axis than the joints that hold the mesh. So it is the joint whose place for
// the mesh is nearest to those that all others give, by the weights that they carry: a medoid.
//
// Meshes of further skins that share a joint are put so that it is in one place for both. What hangs on a joint without
// a skin goes with it; everything else stays where its node is. The nearest node above such a mesh that an animation
// moves is a bone, too: it carries the mesh. Scenery - what nothing moves beside a character with bones - is left out.

#include "prepare/parts.h"

#include "asset/surfaces.h"
#include "base/pieces.h"
#include "geom/mesh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SNW_SHORTEST 0.5  // m: of what a unit is guessed for
#define SNW_LONGEST  10.0 // m

static snwAffine Scaled(snwAffine a, double scale)
{
    for (int i = 0; i < 9; ++i)
        a.linear.m[i / 3][i % 3] *= scale;
    a.translation = snwVec3_Scale(a.translation, scale);
    return a;
}

static bool IsSoundAffine(snwAffine a)
{
    snwAffine inverse;
    bool finite = snwVec3_IsWithin(a.translation, 1e30);
    for (int i = 0; i < 9; ++i)
        finite = finite && isfinite(a.linear.m[i / 3][i % 3]);
    return finite && snwAffine_Inverse(a, &inverse);
}

// ---------------------------------------------------------------------------------------------------------------------
// Joints

// How much of the surfaces with the skin follows each joint, and how far from the origin they reach.
static double WeighJoints(const snwPreparer* p, int skin, double* weights)
{
    double reach = 0;
    for (int s = 0; s < p->surfaceCount; ++s)
    {
        const snwAssetMesh* mesh = &p->asset->meshes[p->surfaces[s].mesh];
        if (p->surfaces[s].skin != skin)
            continue;
        for (int k = 0; k < mesh->weights.starts[mesh->vertexCount]; ++k)
            if (mesh->weights.bones[k] < p->asset->skins[skin].jointCount)
                weights[mesh->weights.bones[k]] += mesh->weights.values[k];
        for (int i = 0; i < mesh->vertexCount; ++i)
            reach = fmax(reach, snwVec3_Length(mesh->positions[i]));
    }
    return reach;
}

// About how far apart two maps take points within the reach.
static double MapDistance(snwAffine a, snwAffine b, double reach)
{
    double sum = 0;
    for (int i = 0; i < 9; ++i)
        sum += fabs(a.linear.m[i / 3][i % 3] - b.linear.m[i / 3][i % 3]) * reach;
    return sum + snwVec3_Distance(a.translation, b.translation);
}

// The joint that places the mesh as most of its weight does; 0 if no joint carries any.
static int MedoidOf(snwPreparer* p, int index)
{
    const snwAssetSkin* skin = &p->asset->skins[index];
    double* weights = snwPreparer_Alloc(p, skin->jointCount + 1, sizeof *weights);
    snwAffine* maps = snwPreparer_Alloc(p, skin->jointCount + 1, sizeof *maps);
    int best = 0;
    double least = INFINITY;

    if (p->arena.failed)
        return 0;

    // Joints whose matrices are flat or not finite place nothing.
    double reach = WeighJoints(p, index, weights);
    for (int i = 0; i < skin->jointCount; ++i)
    {
        maps[i] = snwAffine_Compose(p->nodes[skin->joints[i]], skin->inverseBinds[i]);
        weights[i] = IsSoundAffine(maps[i]) ? weights[i] : 0;
    }

    for (int i = 0; i < skin->jointCount; ++i)
    {
        // The one that all others disagree with least, by what they weigh.
        double sum = 0;
        for (int k = 0; k < skin->jointCount && weights[i] > 0; ++k)
            sum += weights[k] > 0 ? weights[k] * MapDistance(maps[i], maps[k], reach) : 0;
        if (weights[i] > 0 && sum < least)
            least = sum, best = i;
    }

    return best;
}

// Where a mesh of the skin is, and with it the joints that nobody placed before.
static snwAffine PlaceRestSkin(snwPreparer* p, int index)
{
    const snwAssetSkin* skin = &p->asset->skins[index];
    int anchor = -1;
    for (int i = 0; i < skin->jointCount && anchor < 0; ++i)
        if (p->bound[skin->joints[i]] && IsSoundAffine(skin->inverseBinds[i]))
            anchor = i;

    // A joint that stands already holds the mesh where it is; else most of the weight says so.
    int joint = anchor >= 0 ? anchor : MedoidOf(p, index);
    snwAffine stands = anchor >= 0 ? p->binds[skin->joints[joint]] : Scaled(p->nodes[skin->joints[joint]], p->scale);
    snwAffine place = snwAffine_Compose(stands, skin->inverseBinds[joint]);
    if (!IsSoundAffine(place))
        place = Scaled((snwAffine){snwMat3_Diagonal(1, 1, 1), {0, 0, 0}}, p->scale);

    for (int i = 0; i < skin->jointCount; ++i)
    {
        // The other joints stand where the mesh was bound to them.
        int node = skin->joints[i];
        snwAffine inverse;
        if (p->bound[node])
            continue;
        p->binds[node] = IsSoundAffine(skin->inverseBinds[i]) && snwAffine_Inverse(skin->inverseBinds[i], &inverse)
                             ? snwAffine_Compose(place, inverse)
                             : Scaled(p->nodes[node], p->scale);
        p->bound[node] = snw_boundJoint;
    }

    return place;
}

// Without a skin: with the joint above it, or where it stands.
static snwAffine PlaceRestNode(const snwPreparer* p, int node)
{
    snwAffine inverse;
    for (int above = node; above >= 0; above = p->asset->nodes[above].parent)
        if (p->bound[above] && snwAffine_Inverse(p->nodes[above], &inverse))
            return snwAffine_Compose(p->binds[above], snwAffine_Compose(inverse, p->nodes[node]));
    return Scaled(p->nodes[node], p->scale);
}

// ---------------------------------------------------------------------------------------------------------------------
// Surfaces

// Numbers the pieces that hang together, in the order of their first vertex.
static bool FindWeldedPieces(snwPreparer* p, snwRestSurface* surface)
{
    int count = surface->weld.count;
    int* pieces = snwPreparer_Alloc(p, count + 1, sizeof *pieces);
    int* numbers = snwPreparer_Alloc(p, count + 1, sizeof *numbers);
    surface->shellOf = snwPreparer_Alloc(p, count + 1, sizeof(int));
    if (p->arena.failed)
        return false;

    // Union of the corners of each triangle; the lower number is the root.
    for (int i = 0; i < count; ++i)
        pieces[i] = i, numbers[i] = -1;
    for (int i = 0; i < surface->triangleCount; ++i)
        for (int k = 0; k < 2; ++k)
            snwPieces_Join(
                pieces, surface->weld.map[surface->triangles[i][k]], surface->weld.map[surface->triangles[i][k + 1]]);

    for (int i = 0; i < count; ++i)
    {
        int root = snwPieces_Root(pieces, i);
        if (numbers[root] < 0)
            numbers[root] = surface->shellCount++;
        surface->shellOf[i] = numbers[root];
    }

    return true;
}

// The file's triangles, or the boundary of its elements.
static snwResult TakeRestTriangles(snwPreparer* p, const snwAssetMesh* mesh, snwRestSurface* surface)
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

    // A place that mirrors turns triangles inside out: their corners change places.
    bool mirrored = snwMat3_Determinant(surface->place.linear) < 0;
    for (int i = 0; i < surface->triangleCount && surface->triangles != NULL; ++i)
        for (int k = 0; k < 3; ++k)
            surface->triangles[i][mirrored ? 2 - k : k] = source[i][k];
    snwFree(p->context, boundary);

    return surface->triangles != NULL ? snw_ok : snwFailMemory(p->message);
}

static snwResult SurveyRest(snwPreparer* p, snwRestSurface* surface)
{
    snwVec3* welded = snwPreparer_Alloc(p, surface->weld.count + 1, sizeof *welded);
    int(*triangles)[3] = snwPreparer_Alloc(p, surface->triangleCount + 1, sizeof *triangles);
    if (p->arena.failed || !FindWeldedPieces(p, surface))
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

static snwResult MakeRestSurface(snwPreparer* p, snwRestSurface* surface)
{
    const snwAssetMesh* mesh = &p->asset->meshes[surface->mesh];
    surface->vertexCount = mesh->vertexCount;
    surface->positions = snwPreparer_Alloc(p, mesh->vertexCount + 1, sizeof *surface->positions);
    if (surface->positions == NULL)
        return snwFailMemory(p->message);

    // Where the file has it, in metres.
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        surface->positions[i] = snwAffine_Apply(surface->place, mesh->positions[i]);
        if (!snwVec3_IsWithin(surface->positions[i], 1e5))
            return snwFail(
                p->message, snw_errorInput, "give it a scale", "surface '%s' reaches beyond 100 km", surface->name);
    }

    // Triangles, welded vertices, and what is odd about them.
    snwWeldDef weld = {.positions = mesh->positions, .count = mesh->vertexCount};
    snwResult result = TakeRestTriangles(p, mesh, surface);
    if (result >= 0)
        result = snwWeldVertices(&p->arena, &weld, &surface->weld, p->message);
    return result < 0 ? result : SurveyRest(p, surface);
}

// A node per mesh that has triangles; of meshes that no node shows, one without.
static snwResult ListRestSurfaces(snwPreparer* p)
{
    const snwAsset* asset = p->asset;
    uint8_t* shown = snwPreparer_Alloc(p, asset->meshCount + 1, 1);
    char scenery[160] = "";

    p->surfaces = snwPreparer_Alloc(p, (int64_t)asset->nodeCount + asset->meshCount + 1, sizeof *p->surfaces);
    if (p->arena.failed)
        return snwFailMemory(p->message);
    for (int i = 0; i < asset->nodeCount + asset->meshCount; ++i)
    {
        int node = i < asset->nodeCount ? i : -1;
        int index = node >= 0 ? asset->nodes[node].mesh : i - asset->nodeCount;

        // First all nodes, then meshes that none of them has shown.
        if (index < 0 || (node < 0 && shown[index]))
            continue;
        const snwAssetMesh* mesh = &asset->meshes[index];
        shown[index] = 1;
        if (mesh->triangleCount + mesh->tetCount + mesh->hexCount == 0)
            continue;
        if (p->surfaceCount == snw_maxSurfaces)
            return snwFail(p->message, snw_errorInput, "join some", "more than %d surfaces", snw_maxSurfaces);
        snwRestSurface* surface = &p->surfaces[p->surfaceCount];
        surface->name = snwAsset_NameSurface(asset, index, node);
        snwResult result = snwPrepareSettings_Surface(
            &p->settings, surface->name, mesh->name, node, &surface->setting, p->message);
        if (result < 0)
            return result;

        // What nobody asks for and nothing moves is not looked at: sizes and units are those of the character.
        if (node >= 0 && surface->setting.kind == snw_useAuto && p->def->cache == NULL &&
            snwAsset_IsScenery(asset, node))
        {
            size_t length = strlen(scenery);
            snprintf(scenery + length, sizeof scenery - length, "%s'%.40s'", length > 0 ? ", " : "", surface->name);
            *surface = (snwRestSurface){0};
            continue;
        }

        p->surfaceCount += 1;
        surface->mesh = index;
        surface->node = node;
        surface->skin = node >= 0 && mesh->weights.starts != NULL ? asset->nodes[node].skin : -1;
        surface->rigidBone = -1;
    }

    if (scenery[0] != 0)
        snwPreparer_Note(p, "scenery, left as it is, for nothing moves it: %s", scenery);
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
        return PlaceRestSkin(p, surface->skin);
    if (surface->node >= 0)
        return PlaceRestNode(p, surface->node);
    return Scaled((snwAffine){snwMat3_Diagonal(1, 1, 1), {0, 0, 0}}, p->scale);
}

// Does an animation move the node? In files whose morphs are animated, one of those that do that: the others are
// motions of parts, such as eyes, that are made to be played together.
static bool IsMoved(const snwAsset* asset, int node)
{
    bool moved[2] = {false, false}, morphs = false; // by animations without and with morphs
    for (int i = 0; i < asset->animationCount; ++i)
    {
        bool moves = false, shapes = false;
        for (int k = 0; k < asset->animations[i].channelCount; ++k)
        {
            const snwAssetChannel* channel = &asset->animations[i].channels[k];
            shapes = shapes || channel->path == snw_pathMorphs;
            moves = moves || (channel->node == node && channel->path != snw_pathMorphs);
        }
        morphs = morphs || shapes;
        moved[shapes] = moved[shapes] || moves;
    }
    return moved[morphs];
}

static void BindCarrier(snwPreparer* p, int node)
{
    while (node >= 0 && p->bound[node] == snw_boundNot && !IsMoved(p->asset, node))
        node = p->asset->nodes[node].parent;
    if (node < 0 || p->bound[node] != snw_boundNot || !IsSoundAffine(p->nodes[node]))
        return;
    p->binds[node] = Scaled(p->nodes[node], p->scale);
    p->bound[node] = snw_boundCarrier;
}

static void PlaceAll(snwPreparer* p)
{
    int main = MainSkin(p);
    memset(p->bound, 0, (size_t)p->asset->nodeCount);
    if (main >= 0)
        PlaceRestSkin(p, main);
    for (int round = 0; round < 2; ++round) // joints first: others hang on them
        for (int i = 0; i < p->surfaceCount; ++i)
        {
            if ((p->surfaces[i].skin >= 0) != (round == 0))
                continue;
            if (round == 1)
                BindCarrier(p, p->surfaces[i].node);
            p->surfaces[i].place = PlaceSurface(p, &p->surfaces[i]);
        }
}

// ---------------------------------------------------------------------------------------------------------------------
// Scale

static void MeasureBounds(const snwPreparer* p, snwVec3* lower, snwVec3* upper)
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
    MeasureBounds(p, &lower, &upper);
    snwVec3 sides = snwVec3_Sub(upper, lower);
    double longest = fmax(sides.x, fmax(sides.y, sides.z));
    if (!(longest > 0 && isfinite(longest)))
        return snwFail(p->message, snw_errorInput, "look for a scale of zero, or vertices that are all in one point",
            "the surfaces have no size");
    bool guessed = false;

    if (p->def->scale > 0)
        p->scale = p->def->scale;
    else if (p->settings.scale > 0)
        p->scale = p->settings.scale;
    else if (p->settings.size > 0)
        p->scale = p->settings.size / longest;
    else if (longest < 0.02 || longest > 20)
    {
        // What the file says of its unit is taken where a living thing can be as long.
        double said = p->asset->scale > 0 ? p->asset->scale * longest : 0;
        p->scale = said > SNW_SHORTEST && said < SNW_LONGEST ? p->asset->scale
                                                             : pow(10, -floor(log10(longest / SNW_SHORTEST)));
        guessed = true;
    }

    if (guessed)
        snwPreparer_Note(p,
            "it would be %.3g m long: one unit is taken as %g m, which makes it %.3g m (give a scale to say otherwise)",
            longest, p->scale, longest * p->scale);

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
    snwResult result = ListRestSurfaces(p);
    if (result >= 0)
        result = ChooseScale(p);
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
        result = MakeRestSurface(p, &p->surfaces[i]);
    return result;
}
