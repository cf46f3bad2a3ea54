// A finer skin for flat characters: the outline triangulated again, or triangles cut in four, with the texture laid
// on and weights computed for its own points, so that handles bend it smoothly.

#include "asset/fine_skin.h"

#include "scene/blueprint_file.h"

#include <math.h>
#include <string.h>

enum
{
    snw_mostFineTriangles = 60000 // weights of more would take a minute
};

int snwFineSkin_Wanted(const char* source)
{
    snwJson json = {.file = ""};
    snwResult result = snw_ok;
    json_t* document = source != NULL && source[0] == '{' ? snwJson_Parse(&json, source, strlen(source), &result)
                                                          : NULL;
    int fine = (int)json_integer_value(json_object_get(document, "fine"));
    json_decref(document);
    return fine > 1 ? fine : 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Meshes

typedef struct Fine
{
    snwContext* context;
    const snwCharacterDef* coarse;
    snwArena* arena;
    snwVec3* vertices;
    int vertexCount;
    int (*triangles)[3];
    int triangleCount;
    snwMessage* message;
} Fine;

// Steps along the outline get shorter as those inside do.
static snwResult MeshOutline(Fine* fine, const snwFlatBlueprint* flat, int wanted)
{
    const snwCharacterDef* coarse = fine->coarse;

    // Euler's formula for the coarse mesh tells how many of its vertices are on the rim; those grow with the root.
    int euler = 0;
    for (int r = 0; r < flat->ringCount; ++r)
        euler += flat->rings[r].hole ? -2 : 2;
    int rim = 2 * coarse->vertexCount - coarse->triangleCount - euler;
    int finer = (int)(rim * sqrt((double)wanted / coarse->triangleCount));
    snwFlatFitDef def = {(wanted + finer + euler) / 2, wanted, 22};

    snwFlatMesh mesh;
    snwResult result = snwFlat_MakeMesh(fine->context, flat, &def, fine->arena, &mesh, fine->message);
    if (result < 0)
        return result;

    fine->vertices = snwArena_Alloc(fine->arena, (size_t)mesh.vertexCount, sizeof *fine->vertices);
    fine->vertexCount = mesh.vertexCount;
    fine->triangles = mesh.triangles;
    fine->triangleCount = mesh.triangleCount;
    for (int i = 0; fine->vertices != NULL && i < mesh.vertexCount; ++i)
        fine->vertices[i] = (snwVec3){mesh.vertices[i][0], mesh.vertices[i][1], 0};

    return fine->arena->failed ? snwFailMemory(fine->message) : snw_ok;
}

// The vertex in the middle of an edge, through a table of pairs; it is full at two thirds at most.
typedef struct Halves
{
    uint64_t* pairs;
    int* middles;
    size_t mask;
} Halves;

static int HalveEdge(Fine* fine, Halves* halves, int a, int b)
{
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a), pair = (low << 32 | high) + 1;
    size_t at = (size_t)((pair * 0x9e3779b97f4a7c15u) >> 20) & halves->mask;
    for (; halves->pairs[at] != 0; at = (at + 1) & halves->mask)
        if (halves->pairs[at] == pair)
            return halves->middles[at];
    const snwVec3 *p = &fine->vertices[a], *q = &fine->vertices[b];
    halves->pairs[at] = pair;
    halves->middles[at] = fine->vertexCount;
    fine->vertices[fine->vertexCount] = (snwVec3){(p->x + q->x) / 2, (p->y + q->y) / 2, 0};
    return fine->vertexCount++;
}

// Each triangle into four.
static bool DivideTriangles(Fine* fine)
{
    // A table of a power of two, at most two thirds full.
    size_t count = (size_t)fine->triangleCount, size = 1;
    while (size < 6 * count)
        size *= 2;
    Halves halves = {
        snwArena_Alloc(fine->arena, size, sizeof(uint64_t)), snwArena_Alloc(fine->arena, size, sizeof(int)), size - 1};
    const snwVec3* old = fine->vertices;
    const int(*from)[3] = (const int(*)[3])fine->triangles;
    fine->vertices = snwArena_Alloc(fine->arena, (size_t)fine->vertexCount + 3 * count, sizeof *fine->vertices);
    int(*to)[3] = snwArena_Alloc(fine->arena, 4 * count, sizeof *to);
    if (fine->arena->failed)
        return false;
    memcpy(fine->vertices, old, (size_t)fine->vertexCount * sizeof *old);

    // Corners keep their order, so triangles face the same way.
    for (size_t t = 0; t < count; ++t)
    {
        int v[3] = {from[t][0], from[t][1], from[t][2]}, m[3];
        for (int k = 0; k < 3; ++k)
            m[k] = HalveEdge(fine, &halves, v[k], v[(k + 1) % 3]);
        const int made[4][3] = {{v[0], m[0], m[2]}, {m[0], v[1], m[1]}, {m[2], m[1], v[2]}, {m[0], m[1], m[2]}};
        memcpy(to[4 * t], made, sizeof made);
    }

    fine->triangles = to;
    fine->triangleCount *= 4;
    return true;
}

static snwResult DivideAll(Fine* fine, int wanted)
{
    const snwCharacterDef* coarse = fine->coarse;
    fine->vertices = snwArena_Copy(fine->arena, coarse->vertices, (size_t)coarse->vertexCount, sizeof *fine->vertices);
    fine->triangles = snwArena_Copy(
        fine->arena, coarse->triangles, (size_t)coarse->triangleCount, sizeof *fine->triangles);
    fine->vertexCount = coarse->vertexCount;
    fine->triangleCount = coarse->triangleCount;
    bool good = !fine->arena->failed;
    while (good && fine->triangleCount < wanted)
        good = DivideTriangles(fine);
    return good ? snw_ok : snwFailMemory(fine->message);
}

static snwResult MakeFineMesh(Fine* fine, int times)
{
    int64_t wanted = (int64_t)times * fine->coarse->triangleCount;
    snwBlueprintFile file = {0};
    snwResult result = snw_ok;
    if (wanted > snw_mostFineTriangles)
        return snwFail(fine->message, snw_errorInput, "ask for less", "a finer skin of %lld triangles; at most %d",
            (long long)wanted, snw_mostFineTriangles);
    bool drawn = snwBlueprintFile_OfCharacter(fine->context, fine->coarse->source, &file);
    if (drawn && file.blueprint.flat.ringCount > 0)
        result = MeshOutline(fine, &file.blueprint.flat, (int)wanted);
    else
        result = DivideAll(fine, (int)wanted);
    snwBlueprintFile_Free(&file);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// What is on it

// A sheet's picture lies straight on it: u goes with x and v with y.
static snwResult PlaceTexture(Fine* fine, snwFineSkin* skin)
{
    const snwCharacterDef* coarse = fine->coarse;

    // The coarse vertices that are farthest left, right, down and up give the mapping.
    int ends[2][2] = {{0, 0}, {0, 0}}; // of x and of y
    for (int i = 0; i < coarse->vertexCount; ++i)
    {
        const snwVec3* v = coarse->vertices;
        ends[0][0] = v[i].x < v[ends[0][0]].x ? i : ends[0][0];
        ends[0][1] = v[i].x > v[ends[0][1]].x ? i : ends[0][1];
        ends[1][0] = v[i].y < v[ends[1][0]].y ? i : ends[1][0];
        ends[1][1] = v[i].y > v[ends[1][1]].y ? i : ends[1][1];
    }

    skin->texcoords = snwArena_Alloc(fine->arena, 2 * (size_t)fine->vertexCount, sizeof(float));
    if (skin->texcoords == NULL)
        return snwFailMemory(fine->message);

    // Linear between the two ends along each axis.
    for (int i = 0; i < 2 * fine->vertexCount; ++i)
    {
        int k = i % 2, a = ends[k][0], b = ends[k][1];
        double from = k == 0 ? coarse->vertices[a].x : coarse->vertices[a].y;
        double to = k == 0 ? coarse->vertices[b].x : coarse->vertices[b].y;
        double at = k == 0 ? fine->vertices[i / 2].x : fine->vertices[i / 2].y;
        double share = to > from ? (at - from) / (to - from) : 0, u = (double)coarse->texcoords[a][k];
        skin->texcoords[i] = (float)fmin(fmax(u + share * ((double)coarse->texcoords[b][k] - u), 0), 1);
    }

    return snw_ok;
}

static snwResult BindPoints(Fine* fine, const snwWeights* weights, snwFineSkin* skin)
{
    skin->pointCount = fine->vertexCount;
    skin->triangleCount = fine->triangleCount;
    skin->triangles = fine->triangles[0];
    skin->points = snwArena_Alloc(fine->arena, 3 * (size_t)fine->vertexCount, sizeof(float));
    if (skin->points == NULL)
        return snwFailMemory(fine->message);

    // Paper lies in the plane z = 0.
    for (int i = 0; i < fine->vertexCount; ++i)
    {
        skin->points[3 * i] = (float)fine->vertices[i].x;
        skin->points[3 * i + 1] = (float)fine->vertices[i].y;
    }

    // Skinned by handles like any other skin.
    snwSkinningDef def = snwDefaultSkinningDef();
    def.positions = skin->points;
    def.stride = 3 * (int)sizeof(float);
    def.vertexCount = fine->vertexCount;
    def.weights = weights;

    return snwCreateSkinning(fine->context, &def, &skin->skinning, fine->message);
}

// The solver wants a character: this one has the handles of the coarse one, and nothing else that weights do not need.
static snwResult WeighPoints(Fine* fine, snwFineSkin* skin)
{
    const snwCharacterDef* coarse = fine->coarse;
    snwCharacterDef def = snwDefaultCharacterDef();
    snwWeightsDef ask = snwDefaultWeightsDef();
    snwCharacter* character = NULL;
    snwWeights* weights = NULL;

    // The rig of the coarse one on the finer mesh.
    def.name = coarse->name;
    def.vertices = fine->vertices;
    def.vertexCount = fine->vertexCount;
    def.triangles = (const int(*)[3])fine->triangles;
    def.triangleCount = fine->triangleCount;
    def.materials = coarse->materials;
    def.materialCount = coarse->materialCount;
    def.bones = coarse->bones;
    def.boneCount = coarse->boneCount;
    def.handles = coarse->handles;
    def.handleCount = coarse->handleCount;
    ask.handles = coarse->handleCount > 0;
    ask.tolerance = 1e-3; // nobody sees more

    snwResult result = snwCreateCharacter(fine->context, &def, &character, fine->message);
    if (result >= 0)
        result = snwComputeWeights(character, &ask, &weights, fine->message);
    if (result >= 0)
        result = BindPoints(fine, weights, skin);
    snwFree(fine->context, weights);
    snwCharacter_Release(character);

    return result;
}

snwResult snwCreateFineSkin(
    snwContext* context, const snwCharacterDef* character, int times, snwFineSkin** out, snwMessage* message)
{
    *out = NULL;
    snwFineSkin* skin = snwAlloc(context, sizeof *skin);
    if (skin == NULL)
        return snwFailMemory(message);
    skin->arena.context = context;

    Fine fine = {.context = context, .coarse = character, .arena = &skin->arena, .message = message};

    // Mesh, texture, weights: each needs the one before.
    snwResult result = MakeFineMesh(&fine, times);
    if (result >= 0 && character->texcoords != NULL)
        result = PlaceTexture(&fine, skin);
    if (result >= 0)
        result = WeighPoints(&fine, skin);
    if (result < 0)
        snwDestroyFineSkin(context, skin);
    else
        *out = skin;

    return result < 0 ? result : snw_ok;
}

void snwDestroyFineSkin(snwContext* context, snwFineSkin* skin)
{
    if (skin == NULL)
        return;
    snwDestroySkinning(skin->skinning);
    snwArena_Free(&skin->arena);
    snwFree(context, skin);
}

void snwFineSkin_Move(const snwFineSkin* skin, const snwMatrices* handles, float* points)
{
    snwSkinningPose pose = {.kind = snw_skinningLinear, .matrices = handles->data, .count = handles->count};
    snwSkinningTarget target = {.positionStride = 3 * (int)sizeof(float)};
    target.positions = points;
    snwSkinning_Apply(skin->skinning, &pose, &target, NULL);
}
