// From a blueprint to a mesh, and from that to a character.

#include "sim/blueprint.h"
#include "geom/fit.h"
#include "geom/label.h"
#include "geom/lattice.h"
#include "geom/voxel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum
{
    snw_flatTexture = 1024, // pixels along the longer side of a drawn picture
    snw_defaultTets = 20000 // where nothing is asked for
};

typedef struct Builder
{
    snwContext* context;
    const snwBlueprint* blueprint;
    snwBlueprintSize size;
    snwFlesh flesh; // with a grid
    snwSolid solid;
    snwArena* arena;
    snwBlueprintMesh* mesh;
    snwMessage* message;
} Builder;

// ---------------------------------------------------------------------------------------------------------------------
// Ribbons

// Cells shrink with those of the body where another size than the blueprint's own is asked for.
static snwRibbon SizedRibbon(const Builder* builder, int index)
{
    snwRibbon ribbon = builder->blueprint->ribbons[index];
    int own = builder->blueprint->size.tets, wanted = builder->size.tets;
    double scale = own > 0 && wanted > 0 ? sqrt((double)wanted / own) : 1;
    for (int i = 0; i < 2; ++i)
        ribbon.cells[i] = (int)fmax(1, lround(scale * ribbon.cells[i]));
    return ribbon;
}

// The bone that holds a point of the ribbon; -1: none.
static int Holder(const Builder* builder, const snwRibbon* ribbon, snwVec3 point)
{
    int best = -1;
    double nearest = ribbon->grip;
    for (int i = 0; i < ribbon->holderCount; ++i)
    {
        double distance = snwFlesh_BoneDistance(&builder->flesh, ribbon->holders[i], point);
        if (distance >= nearest)
            continue;
        nearest = distance;
        best = ribbon->holders[i];
    }
    return best;
}

static int TetBone(const int* vertexBones, const int tet[4])
{
    int bone = vertexBones[tet[0]];
    for (int i = 1; i < 4; ++i)
        if (vertexBones[tet[i]] != bone)
            return -1;
    return bone;
}

typedef struct Ribbons
{
    snwTetMesh* meshes;
    int** vertexBones;
    int count, vertexCount, tetCount, elasticCount, heldCount;
} Ribbons;

static bool MeshRibbons(const Builder* builder, Ribbons* ribbons)
{
    int count = builder->blueprint->ribbonCount;
    *ribbons = (Ribbons){.count = count,
        .meshes = snwArena_Alloc(builder->arena, (size_t)count, sizeof *ribbons->meshes),
        .vertexBones = snwArena_Alloc(builder->arena, (size_t)count, sizeof *ribbons->vertexBones)};

    for (int i = 0; i < count && !builder->arena->failed; ++i)
    {
        snwRibbon ribbon = SizedRibbon(builder, i);
        snwTetMesh* mesh = &ribbons->meshes[i];
        if (!snwRibbon_Mesh(&ribbon, builder->arena, mesh))
            return false;

        // Vertices that a bone holds move with it; the rest of the ribbon is flesh.
        int* bones = snwArena_Alloc(builder->arena, (size_t)mesh->vertexCount, sizeof *bones);
        for (int v = 0; bones != NULL && v < mesh->vertexCount; ++v)
        {
            bones[v] = Holder(builder, &ribbon, mesh->vertices[v]);
            ribbons->heldCount += bones[v] >= 0;
        }

        // The lattice is told of their sizes, so that all of it together is as large as was asked for.
        ribbons->vertexBones[i] = bones;
        ribbons->vertexCount += mesh->vertexCount;
        ribbons->tetCount += mesh->tetCount;
    }

    ribbons->elasticCount = ribbons->vertexCount - ribbons->heldCount;
    return !builder->arena->failed;
}

// An edge from a held vertex to the nearest vertex of its bone in the body, so that methods without bones hold it too.
static void Tie(snwBlueprintMesh* mesh, int bodyVertices, int vertex)
{
    int best = -1;
    double nearest = DBL_MAX;
    for (int i = 0; i < bodyVertices; ++i)
    {
        double distance = snwVec3_Distance(mesh->body.vertices[i], mesh->body.vertices[vertex]);
        if (mesh->vertexBones[i] == mesh->vertexBones[vertex] && distance < nearest)
        {
            nearest = distance;
            best = i;
        }
    }
    if (best < 0)
        return;
    mesh->ties[mesh->tieCount][0] = best;
    mesh->ties[mesh->tieCount++][1] = vertex;
}

static bool AppendRibbons(const Builder* builder, const Ribbons* ribbons)
{
    snwBlueprintMesh* mesh = builder->mesh;
    int vertices = mesh->body.vertexCount, tets = mesh->body.tetCount;
    size_t allVertices = (size_t)vertices + (size_t)ribbons->vertexCount;
    size_t allTets = (size_t)tets + (size_t)ribbons->tetCount;
    snwVec3* positions = snwArena_Alloc(builder->arena, allVertices, sizeof *positions);
    int* vertexBones = snwArena_Alloc(builder->arena, allVertices, sizeof *vertexBones);
    int(*corners)[4] = snwArena_Alloc(builder->arena, allTets, sizeof *corners);
    int* tetBones = snwArena_Alloc(builder->arena, allTets, sizeof *tetBones);
    mesh->ties = snwArena_Alloc(builder->arena, (size_t)ribbons->heldCount + 1, sizeof *mesh->ties);
    if (builder->arena->failed || mesh->body.vertices == NULL || mesh->vertexBones == NULL ||
        mesh->elementBones == NULL)
        return false;

    // The body keeps its numbers; ribbons follow, one after the other.
    memcpy(positions, mesh->body.vertices, (size_t)vertices * sizeof *positions);
    memcpy(vertexBones, mesh->vertexBones, (size_t)vertices * sizeof *vertexBones);
    memcpy(corners, mesh->body.tets, (size_t)tets * sizeof *corners);
    memcpy(tetBones, mesh->elementBones, (size_t)tets * sizeof *tetBones);
    mesh->body = (snwTetMesh){positions, vertices, corners, tets};
    mesh->vertexBones = vertexBones;
    mesh->elementBones = tetBones;

    // A tet whose corners all move with one bone is the bone's.
    for (int r = 0; r < ribbons->count; ++r)
    {
        const snwTetMesh* ribbon = &ribbons->meshes[r];
        int first = mesh->body.vertexCount;
        memcpy(&positions[first], ribbon->vertices, (size_t)ribbon->vertexCount * sizeof *positions);
        memcpy(&vertexBones[first], ribbons->vertexBones[r], (size_t)ribbon->vertexCount * sizeof *vertexBones);

        for (int t = 0; t < ribbon->tetCount; ++t, ++mesh->body.tetCount)
        {
            for (int i = 0; i < 4; ++i)
                corners[mesh->body.tetCount][i] = first + ribbon->tets[t][i];
            tetBones[mesh->body.tetCount] = TetBone(vertexBones, corners[mesh->body.tetCount]);
        }

        // Only vertices of the body itself are tied to.
        mesh->body.vertexCount += ribbon->vertexCount;
        for (int v = first; v < mesh->body.vertexCount; ++v)
            if (vertexBones[v] >= 0)
                Tie(mesh, vertices, v);
    }

    mesh->elasticCount += ribbons->elasticCount;
    mesh->ribbonTetCount = ribbons->tetCount;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Colours

typedef struct ColorTask
{
    const snwFlesh* flesh;
    const snwVec3* vertices;
    float (*colors)[3];
} ColorTask;

static void ColorRange(int begin, int end, void* data)
{
    ColorTask* task = data;
    for (int i = begin; i < end; ++i)
        snwFlesh_Color(task->flesh, task->vertices[i], task->colors[i]);
}

// The first `bodyCount` vertices are the body's, the others the ribbons'.
static bool ColorVertices(const Builder* builder, int bodyCount, const Ribbons* ribbons)
{
    snwBlueprintMesh* mesh = builder->mesh;
    mesh->colors = snwArena_Alloc(builder->arena, (size_t)mesh->body.vertexCount, sizeof *mesh->colors);
    if (mesh->colors == NULL)
        return false;
    ColorTask task = {&builder->flesh, mesh->body.vertices, mesh->colors};
    if (builder->blueprint->flesh.partCount > 0)
        snwParallelFor(builder->context, bodyCount, 256, ColorRange, &task);
    else
        for (int i = 0; i < bodyCount; ++i)
            memcpy(mesh->colors[i], builder->blueprint->color, sizeof mesh->colors[i]);
    for (int r = 0, v = bodyCount; r < ribbons->count; ++r)
        for (int i = 0; i < ribbons->meshes[r].vertexCount; ++i, ++v)
            memcpy(mesh->colors[v], builder->blueprint->ribbons[r].color, sizeof mesh->colors[v]);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Bodies

static snwResult LabelMesh(Builder* builder, double offset)
{
    snwBoneLabels labels;
    snwBlueprintMesh* mesh = builder->mesh;
    snwResult result = snwLabelBones(
        builder->context, &builder->solid, &mesh->body, offset, builder->arena, &labels, builder->message);
    if (result < 0)
        return result;
    mesh->vertexBones = labels.vertexBones;
    mesh->elementBones = labels.tetBones;
    mesh->elasticCount = labels.elasticCount;
    return result;
}

static snwResult MeshBox(Builder* builder)
{
    const snwBlueprint* blueprint = builder->blueprint;
    int refine = builder->size.refine > 0 ? builder->size.refine : 1, cells[3];
    double tets = 6;
    for (int i = 0; i < 3; ++i)
    {
        cells[i] = refine * blueprint->boxCells[i];
        tets *= cells[i];
    }
    if (tets > snw_maxMeshTets)
        return snwFail(builder->message, snw_errorInput, "refine less", "%.0f tets, at most %d", tets, snw_maxMeshTets);
    if (!snwMakeBoxMesh(builder->arena, blueprint->boxSize, cells, &builder->mesh->body))
        return snwFailMemory(builder->message);
    return LabelMesh(builder, 0);
}

static snwResult MeshLattice(Builder* builder, const Ribbons* ribbons)
{
    const snwBlueprint* blueprint = builder->blueprint;
    snwBlueprintMesh* mesh = builder->mesh;
    snwFitDef def = {.solid = &builder->solid,
        .tets = builder->size.tets,
        .elasticVertices = builder->size.elasticVertices,
        .vertices = builder->size.vertices,
        .skinVertices = builder->size.skinVertices,
        .extraTets = ribbons->tetCount,
        .extraElasticVertices = ribbons->elasticCount,
        .extraVertices = ribbons->vertexCount,
        .extraSkinVertices = ribbons->vertexCount,
        .detailRatio = 1 / blueprint->detail,
        .coarseInside = blueprint->coarse};

    // The whole mesh is to have this many of whatever is asked for, ribbons included.
    if (def.tets + def.vertices + def.skinVertices + def.elasticVertices == 0)
        def.tets = snw_defaultTets;
    snwFit fit;
    snwResult result = snwFitMesh(builder->context, &def, builder->arena, &fit, builder->message);
    if (result < 0)
        return result;

    // Bones by number, -1 where it is flesh.
    mesh->body = fit.mesh;
    mesh->vertexBones = fit.labels.vertexBones;
    mesh->elementBones = fit.labels.tetBones;
    mesh->elasticCount = fit.labels.elasticCount;
    mesh->spacing = fit.spacing;
    mesh->skinCount = fit.skinVertexCount + ribbons->vertexCount;

    return result;
}

// Gives a hex to a bone if no other bone has one of its corners.
static bool ClaimHex(snwBlueprintMesh* mesh, int hex, int bone)
{
    for (int k = 0; k < 8; ++k)
    {
        int owner = mesh->vertexBones[mesh->hexes[hex][k]];
        if (owner >= 0 && owner != bone)
            return false;
    }
    for (int k = 0; k < 8; ++k)
        mesh->vertexBones[mesh->hexes[hex][k]] = bone;
    mesh->elementBones[hex] = bone;
    return true;
}

static snwVec3 HexCentre(const snwBlueprintMesh* mesh, int hex)
{
    snwVec3 sum = {0, 0, 0};
    for (int k = 0; k < 8; ++k)
        sum = snwVec3_Add(sum, mesh->body.vertices[mesh->hexes[hex][k]]);
    return snwVec3_Scale(sum, 1.0 / 8);
}

// Hexes with their centre in the bone, then the nearest ones until it has as many as a bone needs.
static void LabelHexes(Builder* builder, int bone)
{
    snwBlueprintMesh* mesh = builder->mesh;
    int owned = 0;

    for (int i = 0; i < mesh->hexCount; ++i)
        if (mesh->elementBones[i] < 0 && snwFlesh_BoneDistance(&builder->flesh, bone, HexCentre(mesh, i)) < 0)
            owned += ClaimHex(mesh, i, bone);

    // Too few: the nearest ones, whether or not their centres are inside.
    for (int tries = 0; owned < snw_minBoneTets && tries < 8 * snw_minBoneTets; ++tries)
    {
        int best = -1;
        double nearest = DBL_MAX;
        for (int i = 0; i < mesh->hexCount; ++i)
        {
            double distance = mesh->elementBones[i] == -1
                                  ? snwFlesh_BoneDistance(&builder->flesh, bone, HexCentre(mesh, i))
                                  : DBL_MAX;
            if (distance < nearest)
                nearest = distance, best = i;
        }

        if (best < 0)
            break;
        if (ClaimHex(mesh, best, bone))
            ++owned;
        else
            mesh->elementBones[best] = -2; // not for this bone
    }

    // The next bone may ask for them again.
    for (int i = 0; i < mesh->hexCount; ++i)
        mesh->elementBones[i] = mesh->elementBones[i] == -2 ? -1 : mesh->elementBones[i];
}

// Voxels have their corners by bits, characters around each face.
static bool CopyHexes(Builder* builder, const snwHexMesh* voxels)
{
    static const int s_order[8] = {0, 1, 3, 2, 4, 5, 7, 6};
    snwBlueprintMesh* mesh = builder->mesh;
    size_t vertices = (size_t)voxels->vertexCount, hexes = (size_t)voxels->hexCount;

    mesh->hexes = snwArena_Alloc(builder->arena, hexes, sizeof *mesh->hexes);
    mesh->vertexBones = snwArena_Alloc(builder->arena, vertices, sizeof *mesh->vertexBones);
    mesh->elementBones = snwArena_Alloc(builder->arena, hexes, sizeof *mesh->elementBones);
    if (mesh->hexes == NULL || mesh->vertexBones == NULL || mesh->elementBones == NULL)
        return false;

    mesh->body = (snwTetMesh){.vertices = voxels->vertices, .vertexCount = voxels->vertexCount};
    mesh->hexCount = voxels->hexCount;
    mesh->spacing = voxels->spacing;

    // All flesh, until bones claim theirs.
    for (int i = 0; i < 8 * mesh->hexCount; ++i)
        mesh->hexes[i / 8][i % 8] = voxels->hexes[i / 8][s_order[i % 8]];
    for (int i = 0; i < mesh->body.vertexCount; ++i)
        mesh->vertexBones[i] = -1;
    for (int i = 0; i < mesh->hexCount; ++i)
        mesh->elementBones[i] = -1;

    return true;
}

static snwResult MeshHexes(Builder* builder)
{
    snwBlueprintMesh* mesh = builder->mesh;
    snwHexMesh voxels;
    snwResult result = snwFitVoxels(
        builder->context, &builder->solid, builder->size.hexes, builder->arena, &voxels, builder->message);
    if (result >= 0 && !CopyHexes(builder, &voxels))
        result = snwFailMemory(builder->message);
    if (result < 0)
        return result;
    for (int bone = 0; bone < builder->blueprint->boneCount; ++bone)
        LabelHexes(builder, bone);
    for (int i = 0; i < mesh->body.vertexCount; ++i)
        mesh->elasticCount += mesh->vertexBones[i] < 0;
    return result;
}

// Vertices in the plane z = 0, and where each lies in the drawn picture.
static bool UseFlatMesh(Builder* builder, const snwFlatMesh* flat, const snwFlatPicture* picture)
{
    snwBlueprintMesh* mesh = builder->mesh;
    size_t count = (size_t)flat->vertexCount;
    mesh->body.vertices = snwArena_Alloc(builder->arena, count, sizeof *mesh->body.vertices);
    mesh->texcoords = snwArena_Alloc(builder->arena, count, sizeof *mesh->texcoords);
    if (builder->arena->failed)
        return false;

    // In the picture from 0 to 1: what rounds beyond its rim is put back.
    for (size_t i = 0; i < count; ++i)
    {
        double uv[2];
        snwFlatPicture_Place(picture, flat->vertices[i], uv);
        mesh->body.vertices[i] = (snwVec3){flat->vertices[i][0], flat->vertices[i][1], 0};
        mesh->texcoords[i][0] = (float)fmin(fmax(uv[0], 0), 1);
        mesh->texcoords[i][1] = (float)fmin(fmax(uv[1], 0), 1);
    }

    // Flat flesh is all skin and all elastic: it has no bones inside.
    mesh->body.vertexCount = mesh->elasticCount = mesh->skinCount = flat->vertexCount;
    mesh->triangles = flat->triangles;
    mesh->triangleCount = flat->triangleCount;
    mesh->texture = (snwTexture){picture->width, picture->height, picture->pixels};

    return true;
}

static snwResult MeshFlat(Builder* builder)
{
    const snwFlatBlueprint* flat = &builder->blueprint->flat;
    const snwBlueprintSize* size = &builder->size;
    // Euler: triangles are about twice as many as vertices, less those of the outline
    int vertices = size->vertices > 0 ? size->vertices : size->triangles > 0 ? size->triangles * 11 / 20 + 30 : 1000;
    snwFlatFitDef def = {vertices, size->triangles > 0 ? size->triangles : vertices * 9 / 5, 25};
    snwFlatMesh mesh;
    snwFlatPicture picture;
    snwResult result = snwFlat_MakeMesh(builder->context, flat, &def, builder->arena, &mesh, builder->message);
    if (result >= 0)
        result = snwFlat_Paint(builder->context, flat, snw_flatTexture, builder->arena, &picture, builder->message);
    if (result >= 0 && !UseFlatMesh(builder, &mesh, &picture))
        result = snwFailMemory(builder->message);
    return result;
}

snwResult snwBlueprint_Mesh(snwContext* context, const snwBlueprint* blueprint, const snwBlueprintSize* size,
    snwArena* arena, snwBlueprintMesh* mesh, snwMessage* message)
{
    *mesh = (snwBlueprintMesh){0};
    Builder builder = {.context = context,
        .blueprint = blueprint,
        .size = size != NULL ? *size : blueprint->size,
        .flesh = blueprint->flesh,
        .arena = arena,
        .mesh = mesh,
        .message = message};

    if (!snwFlesh_MakeGrid(&builder.flesh, arena))
        return snwFailMemory(message);
    builder.solid = snwFlesh_Solid(&builder.flesh);
    Ribbons ribbons = {0};

    // What the blueprint is says how it is meshed: paper, a box, voxels, or flesh around bones with ribbons in it.
    snwResult result = snw_ok;
    if (blueprint->flat.ringCount > 0)
        result = MeshFlat(&builder);
    else if (blueprint->boxSize.x > 0)
        result = MeshBox(&builder);
    else if (builder.size.hexes > 0)
        result = MeshHexes(&builder);
    else if (!MeshRibbons(&builder, &ribbons))
        result = snwFailMemory(message);
    else
        result = MeshLattice(&builder, &ribbons);

    // Ribbons come last, so that the body's vertices are the first ones.
    int bodyCount = mesh->body.vertexCount;
    if (result >= 0 && ribbons.count > 0 && !AppendRibbons(&builder, &ribbons))
        result = snwFailMemory(message);
    if (result >= 0 && mesh->triangleCount == 0 && !ColorVertices(&builder, bodyCount, &ribbons))
        result = snwFailMemory(message);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Characters

// A ribbon of a material of its own is a region of its own; regions stay NULL if there is none.
static bool ChooseMaterials(const snwBlueprint* blueprint, const snwBlueprintMesh* mesh, snwArena* arena,
    snwMaterial** materials, int** regions)
{
    int tetCount = mesh->body.tetCount, first = tetCount - mesh->ribbonTetCount;
    bool own = false;
    for (int r = 0; r < blueprint->ribbonCount && mesh->ribbonTetCount > 0; ++r)
        own = own || blueprint->ribbons[r].material.density > 0;

    *regions = own ? snwArena_Alloc(arena, (size_t)tetCount, sizeof **regions) : NULL;
    *materials = snwArena_Alloc(arena, (size_t)blueprint->ribbonCount + 1, sizeof **materials);
    if (*materials == NULL || (own && *regions == NULL))
        return false;

    // Region 0 is the body; each ribbon has one of its own, be its material the body's.
    (*materials)[0] = blueprint->material;
    for (int t = 0; own && t < first; ++t)
        (*regions)[t] = 0;

    for (int r = 0; own && r < blueprint->ribbonCount; ++r)
    {
        const snwRibbon* ribbon = &blueprint->ribbons[r];
        (*materials)[r + 1] = ribbon->material.density > 0 ? ribbon->material : blueprint->material;
        for (int64_t t = 0; t < snwRibbon_TetCount(ribbon); ++t)
            (*regions)[first++] = r + 1;
    }

    return true;
}

static snwResult CreateFrom(snwContext* context, const snwBlueprint* blueprint, const snwBlueprintMesh* mesh,
    snwArena* arena, const char* name, const char* source, snwCharacter** character, snwMessage* message)
{
    snwCharacterDef def = snwDefaultCharacterDef();
    snwMaterial* materials;
    int* regions;
    if (!ChooseMaterials(blueprint, mesh, arena, &materials, &regions))
        return snwFailMemory(message);

    // The mesh.
    def.name = name != NULL ? name : blueprint->name;
    def.source = source;
    def.vertices = mesh->body.vertices;
    def.vertexCount = mesh->body.vertexCount;
    def.tets = (const int(*)[4])mesh->body.tets;
    def.tetCount = mesh->body.tetCount;
    def.hexes = (const int(*)[8])mesh->hexes;
    def.hexCount = mesh->hexCount;
    def.triangles = (const int(*)[3])mesh->triangles;
    def.triangleCount = mesh->triangleCount;
    def.texcoords = (const float(*)[2])mesh->texcoords;
    def.texture = mesh->texture;
    def.elementBones = mesh->elementBones;
    def.edges = (const int(*)[2])mesh->ties;
    def.edgeCount = mesh->tieCount;

    // What it is made of.
    def.regions = regions;
    def.materials = materials;
    def.materialCount = regions != NULL ? blueprint->ribbonCount + 1 : 1;

    // The rig, and how it is posed.
    def.bones = blueprint->bones;
    def.boneCount = blueprint->boneCount;
    def.joints = blueprint->joints;
    def.jointCount = blueprint->jointCount;
    def.handles = blueprint->handles;
    def.handleCount = blueprint->handleCount;
    def.constraints = blueprint->constraints;
    def.constraintCount = blueprint->constraintCount;
    def.motions = blueprint->motions;
    def.motionCount = blueprint->motionCount;

    // How it looks.
    memcpy(def.color, blueprint->color, sizeof def.color);
    def.colors = (const float(*)[3])mesh->colors;

    return snwCreateCharacter(context, &def, character, message);
}

snwResult snwBlueprint_Create(snwContext* context, const snwBlueprint* blueprint, const snwBlueprintSize* size,
    const char* name, const char* source, snwCharacter** character, snwMessage* message)
{
    snwArena arena = {.context = context};
    snwBlueprintMesh mesh;
    *character = NULL;
    snwResult result = snwBlueprint_Mesh(context, blueprint, size, &arena, &mesh, message);
    if (result >= 0)
    {
        snwMessage words = {0};
        snwResult made = CreateFrom(context, blueprint, &mesh, &arena, name, source, character, &words);
        if (made < 0 && message != NULL)
            *message = words;
        result = made < 0 ? made : result;
    }
    snwArena_Free(&arena);
    return result;
}
