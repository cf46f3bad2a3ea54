// A meshing as files of TetGen's world: .smesh (what TetGen is given, with a seed point per region), MEDIT's .mesh
// and our .joint.

#include "asset/export_parts.h"
#include "asset/mesher_parts.h"
#include "asset/rig_parts.h"
#include "geom/mesh.h"
#include "geom/winding.h"
#include "scene/text.h"

#include <math.h>
#include <stdio.h>

enum
{
    snw_seedTriangles = 64, // that are looked below for a seed
    snw_seedDepths = 8
};

// ---------------------------------------------------------------------------------------------------------------------
// Seeds

typedef struct Seeds
{
    snwSoup** soups; // flesh, bones
    const snwMesherInput* input;
    int count;
} Seeds;

static const snwMend* MendOf(const Seeds* seeds, int surface)
{
    return surface == 0 ? &seeds->input->flesh : &seeds->input->bones[surface - 1];
}

// Is the point in region 0 (flesh) or k (bone k - 1)? Returns how far it is from all surfaces, -1 if not.
static double DepthIn(const Seeds* seeds, int region, snwVec3 point)
{
    double depth = INFINITY;
    for (int i = 0; i < seeds->count; ++i)
    {
        bool inside = snwSoup_Winding(seeds->soups[i], point) > 0.5;
        if (inside != (i == 0 || i == region))
            return -1;
        depth = fmin(depth, snwSoup_Closest(seeds->soups[i], point).distance);
    }
    return depth;
}

// Below some triangles of the region's own surface, at several depths: the deepest point that is found.
static bool FindSeed(const Seeds* seeds, int region, snwVec3* seed)
{
    const snwMend* mend = MendOf(seeds, region);
    int stride = mend->triangleCount / snw_seedTriangles + 1;
    double best = 0;

    // Some triangles, spread over the surface.
    for (int i = 0; i < mend->triangleCount; i += stride)
    {
        const int* t = mend->triangles[i];
        snwVec3 a = mend->vertices[t[0]], b = mend->vertices[t[1]], c = mend->vertices[t[2]];
        snwVec3 normal = snwVec3_Normalize(snwVec3_Cross(snwVec3_Sub(b, a), snwVec3_Sub(c, a)));
        snwVec3 middle = snwVec3_Scale(snwVec3_Add(snwVec3_Add(a, b), c), 1.0 / 3);

        for (int k = 0; k < snw_seedDepths; ++k)
        {
            snwVec3 point = snwVec3_MulAdd(middle, -ldexp(0.25 * mend->after.size, -2 * k), normal);
            double depth = DepthIn(seeds, region, point);
            if (depth > best)
                best = depth, *seed = point;
        }
    }

    return best > 0;
}

static snwResult MakeSoups(snwContext* context, Seeds* seeds, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < seeds->count && result >= 0; ++i)
    {
        const snwMend* mend = MendOf(seeds, i);
        snwSoupDef def = snwDefaultSoupDef();
        def.vertices = mend->vertices, def.vertexCount = mend->vertexCount;
        def.triangles = (const int(*)[3])mend->triangles, def.triangleCount = mend->triangleCount;
        result = snwCreateSoup(context, &def, &seeds->soups[i], message);
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// .smesh

static void PutMesherReal(snwWriter* out, double value)
{
    char text[32];
    snwFormatReal(text, value);
    snwExport_Put(out, " ");
    snwExport_Put(out, text);
}

static void PutMesherPoint(snwWriter* out, snwVec3 point)
{
    PutMesherReal(out, point.x);
    PutMesherReal(out, point.y);
    PutMesherReal(out, point.z);
}

static void PutSurfaces(snwWriter* out, const Seeds* seeds)
{
    // How many of all surfaces, then points, then triangles with markers.
    int points = 0, triangles = 0, first = 0, number = 0;
    for (int i = 0; i < seeds->count; ++i)
        points += MendOf(seeds, i)->vertexCount, triangles += MendOf(seeds, i)->triangleCount;
    snwExport_PutFormat(out, "# flesh has marker and region 1, bone i 2 + i\n%d 3 0 0\n", points);
    for (int i = 0; i < seeds->count; ++i)
        for (int k = 0; k < MendOf(seeds, i)->vertexCount; ++k)
        {
            snwExport_PutFormat(out, "%d", number++);
            PutMesherPoint(out, MendOf(seeds, i)->vertices[k]);
            snwExport_Put(out, "\n");
        }

    snwExport_PutFormat(out, "%d 1\n", triangles);
    for (int i = 0; i < seeds->count; first += MendOf(seeds, i)->vertexCount, ++i)
        for (int k = 0; k < MendOf(seeds, i)->triangleCount; ++k)
        {
            const int* t = MendOf(seeds, i)->triangles[k];
            snwExport_PutFormat(out, "3 %d %d %d %d\n", first + t[0], first + t[1], first + t[2], 1 + i);
        }

    snwExport_Put(out, "0\n"); // holes
}

static snwResult PutSeeds(snwWriter* out, const Seeds* seeds, snwMessage* message)
{
    snwExport_PutFormat(out, "%d\n", seeds->count);
    for (int i = 0; i < seeds->count; ++i)
    {
        snwVec3 seed = {0, 0, 0};
        if (!FindSeed(seeds, i, &seed))
            return snwFail(message, snw_errorInput, "make it thicker", "no point is inside of region %d alone", i);
        snwExport_PutFormat(out, "%d", i);
        PutMesherPoint(out, seed);
        snwExport_PutFormat(out, " %d\n", 1 + i);
    }
    return out->failed ? snwFailMemory(message) : snw_ok;
}

snwResult snwMesher_WriteSmesh(snwContext* context, const snwMesherDef* def, snwWriter* out, snwMessage* message)
{
    snwArena arena = {.context = context};
    snwMesherInput input;
    snwResult result = snwMesherInput_Make(def, &arena, &input, message);

    // TetGen crosses no surfaces, so what it cannot take is told before.
    result = result < 0 ? result : snwMesherInput_CheckForTetgen(def, &input, &arena, message);
    Seeds seeds = {.input = &input, .count = 1 + def->innerCount};
    seeds.soups = snwArena_Alloc(&arena, (size_t)seeds.count, sizeof(void*));
    if (result >= 0 && seeds.soups == NULL)
        result = snwFailMemory(message);
    result = result < 0 ? result : MakeSoups(context, &seeds, message);
    if (result >= 0)
    {
        PutSurfaces(out, &seeds);
        result = PutSeeds(out, &seeds, message);
    }

    for (int i = 0; i < seeds.count && seeds.soups != NULL; ++i)
        snwDestroySoup(seeds.soups[i]);
    snwArena_Free(&arena);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// .mesh and .joint

snwResult snwMeshed_WriteMedit(
    snwContext* context, const snwMeshed* meshed, int boneCount, snwWriter* out, snwMessage* message)
{
    int(*triangles)[3] = NULL, count = 0;
    snwArena arena = {.context = context};
    int* owners = snwArena_Alloc(&arena, (size_t)meshed->mesh.tetCount, sizeof *owners);
    snwBoneDef* bones = snwArena_Alloc(&arena, (size_t)boneCount + 1, sizeof *bones);
    bool enough = !arena.failed && snwMesh_FindBoundary(context, (const int(*)[4])meshed->mesh.tets,
                                       meshed->mesh.tetCount, &triangles, &count) >= 0;

    // Regions are bones, 0 is flesh; MEDIT's writer wants a character.
    for (int i = 0; i < meshed->mesh.tetCount && enough; ++i)
        owners[i] = meshed->regions[i] - 1;
    for (int i = 0; i < boneCount && enough; ++i)
        bones[i].name = "";
    snwCharacterDef character = snwDefaultCharacterDef();
    character.vertices = meshed->mesh.vertices, character.vertexCount = meshed->mesh.vertexCount;
    character.tets = (const int(*)[4])meshed->mesh.tets, character.tetCount = meshed->mesh.tetCount;
    character.elementBones = owners;
    character.bones = bones, character.boneCount = boneCount;
    character.materialCount = 1;
    if (enough)
        snwExport_WriteMedit(out, &character, &meshed->mesh.vertices[0].x, (const int*)triangles, count);
    snwFree(context, triangles);
    snwArena_Free(&arena);

    return enough && !out->failed ? snw_ok : snwFailMemory(message);
}

// The farthest vertex from one.
static int FarthestVertex(const snwFaces* faces, int from)
{
    int found = from;
    double most = 0;
    for (int i = 0; i < 3 * faces->triangleCount; ++i)
    {
        int vertex = faces->triangles[i / 3][i % 3];
        double distance = snwVec3_Distance(faces->vertices[vertex], faces->vertices[from]);
        if (distance > most)
            most = distance, found = vertex;
    }
    return found;
}

snwResult snwMeshed_WriteJoint(snwContext* context, const snwMesherDef* def, snwWriter* out, snwMessage* message)
{
    snwArena arena = {.context = context};
    snwAsset asset = {.context = context, .boneCount = def->innerCount};
    asset.bones = snwArena_Alloc(&arena, (size_t)def->innerCount + 1, sizeof *asset.bones);

    // A bone runs between the two vertices of its surface that are far apart.
    for (int i = 0; i < def->innerCount && asset.bones != NULL; ++i)
    {
        const snwFaces* faces = &def->inner[i];
        char name[32];
        snprintf(name, sizeof name, "bone%d", i);
        int head = FarthestVertex(faces, faces->triangles[0][0]), tail = FarthestVertex(faces, head);
        asset.bones[i].def = snwDefaultBoneDef();
        asset.bones[i].def.name = snwArena_Text(&arena, name);
        asset.bones[i].def.head = faces->vertices[head], asset.bones[i].def.tail = faces->vertices[tail];
        asset.bones[i].label = 2 + i;
    }

    snwResult result = arena.failed ? snwFailMemory(message) : snwJointText_Write(out, &asset, message);
    snwArena_Free(&arena);
    return result;
}
