// What is seen: the surfaces of the file, vertex by vertex, riding in the body; and all of it put together.
//
// Vertices at one place are one point of the embedding, whatever surface they belong to, so no seam can open.

#include "prepare/parts.h"

#include "base/sort.h"
#include "rig/weights.h"
#include "sim/character.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SNW_SEAM 1e-6 // of the size: vertices as near as this are one point

enum
{
    snw_anchorVertices = 24 // of flesh, that carry a rigid piece without a bone
};

typedef struct Finisher
{
    snwPreparer* preparer;
    snwSurfaceInfo* infos;
    int** points; // by surface
    int count;
    snwRigidAnchor* anchors;
    int anchorCount, anchorRoom;
    int* boneAnchors; // by bone, -1: none yet
    snwVec3* places;  // of all vertices that are not rigid
    int *placeSurface, *placeVertex;
    int placeCount;
    int *starts, *around; // elements of the body before it was parted, by vertex
    snwWeld weld;
    snwEmbedding embedding;
} Finisher;

// ---------------------------------------------------------------------------------------------------------------------
// Rigid pieces

// bone: whose motion it follows exactly, because it has no flesh; -1: none.
static bool AddAnchor(Finisher* f, const int* vertices, int count, int bone)
{
    if (f->anchorCount == f->anchorRoom)
    {
        int room = 2 * f->anchorRoom + 16;
        snwRigidAnchor* grown = snwPreparer_Alloc(f->preparer, room, sizeof *grown);
        if (grown == NULL)
            return false;
        if (f->anchorCount > 0)
            memcpy(grown, f->anchors, (size_t)f->anchorCount * sizeof *grown);
        f->anchors = grown;
        f->anchorRoom = room;
    }
    f->anchors[f->anchorCount++] = (snwRigidAnchor){vertices, count, bone};
    return true;
}

// All vertices that the bone owns; one anchor per bone. -1: it owns none, or there is no memory.
static int AnchorOfBone(Finisher* f, int bone)
{
    snwPreparer* p = f->preparer;
    if (f->boneAnchors[bone] >= 0)
        return f->boneAnchors[bone];
    int count = 0;
    for (int i = 0; i < p->body.vertexCount; ++i)
        count += p->vertexBones[i] == bone;
    int* vertices = count > 0 ? snwPreparer_Alloc(p, count, sizeof *vertices) : NULL;
    if (vertices == NULL)
        return -1;
    for (int i = 0, at = 0; i < p->body.vertexCount; ++i)
        if (p->vertexBones[i] == bone)
            vertices[at++] = i;
    f->boneAnchors[bone] = f->anchorCount;
    return AddAnchor(f, vertices, count, -1) ? f->boneAnchors[bone] : -1;
}

// The vertices of the body nearest to a place; of a bone without flesh where nobody tells where bones are.
static int AnchorAt(Finisher* f, snwVec3 place, int bone)
{
    snwPreparer* p = f->preparer;
    int n = p->body.vertexCount, count = n < snw_anchorVertices ? n : snw_anchorVertices;
    uint64_t* keys = snwAllocArray(p->context, (size_t)n, sizeof *keys);
    int* order = snwAllocArray(p->context, (size_t)n, sizeof *order);
    int* vertices = snwPreparer_Alloc(p, count, sizeof *vertices);
    bool made = keys != NULL && order != NULL && vertices != NULL;

    // Sorted by distance, the nearest few.
    for (int i = 0; i < n && made; ++i)
    {
        double distance = snwVec3_Distance(p->body.vertices[i], place); // positive doubles sort like their bits
        memcpy(&keys[i], &distance, sizeof distance);
        order[i] = i;
    }

    made = made && snwSortKeys(p->context, keys, order, n);
    for (int i = 0; i < count && made; ++i)
        vertices[i] = order[i];
    snwFree(p->context, keys);
    snwFree(p->context, order);

    return made && AddAnchor(f, vertices, count, bone) ? f->anchorCount - 1 : -1;
}

static snwResult AnchorPieces(Finisher* f, const snwRestSurface* surface, int* anchors)
{
    snwPreparer* p = f->preparer;
    for (int s = 0; s < surface->shellCount; ++s)
    {
        anchors[s] = -1;
        if (surface->shellKinds[s] != snw_surfaceRigid)
            continue;
        int bone = snwPreparer_BoneOf(p, surface->shellBones[s]);
        anchors[s] = bone >= 0 ? AnchorOfBone(f, bone) : -1;

        // A surface that is rigid as a whole stays in one piece.
        bool whole = bone < 0 && surface->kind == snw_surfaceRigid;
        for (int k = 0; k < s && whole && anchors[s] < 0; ++k)
            anchors[s] = snwPreparer_BoneOf(p, surface->shellBones[k]) < 0 ? anchors[k] : -1;
        snwVec3 centre = {0, 0, 0};
        int count = 0;

        // Its own middle, or that of the whole surface.
        for (int i = 0; i < surface->weld.count && anchors[s] < 0; ++i)
            if (whole || surface->shellOf[i] == s)
            {
                centre = snwVec3_Add(centre, surface->positions[surface->weld.sources[i]]);
                ++count;
            }

        // No bone with flesh of its own: the body's vertices next to it hold it.
        if (anchors[s] < 0)
            anchors[s] = AnchorAt(f, snwVec3_Scale(centre, 1.0 / (count > 0 ? count : 1)), bone);
        if (anchors[s] < 0)
            return snwFailMemory(p->message);
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Arrays

static void FaceNormals(const snwRestSurface* surface, snwVec3* sums)
{
    for (int i = 0; i < surface->triangleCount; ++i)
    {
        const int* t = surface->triangles[i];
        snwVec3 a = surface->positions[t[0]], b = surface->positions[t[1]], c = surface->positions[t[2]];
        snwVec3 normal = snwVec3_Cross(snwVec3_Sub(b, a), snwVec3_Sub(c, a));
        for (int k = 0; k < 3; ++k)
            sums[surface->weld.map[t[k]]] = snwVec3_Add(sums[surface->weld.map[t[k]]], normal);
    }
}

// The file's own, turned into the rest pose; else the means of the triangles around each place.
static const float (*MakeNormals(snwPreparer* p, const snwRestSurface* surface))[3]
{
    const snwAssetMesh* mesh = &p->asset->meshes[surface->mesh];
    float(*normals)[3] = snwPreparer_Alloc(p, surface->vertexCount + 1, sizeof *normals);
    snwVec3* sums = snwPreparer_Alloc(p, surface->weld.count + 1, sizeof *sums);
    snwMat3 turn = snwMat3_Cofactor(surface->place.linear);
    double sign = snwMat3_Determinant(surface->place.linear) < 0 ? -1 : 1;
    if (normals == NULL || sums == NULL)
        return NULL;
    FaceNormals(surface, sums);

    // Normals go by cofactors; a mirrored place turns them round.
    for (int i = 0; i < surface->vertexCount; ++i)
    {
        const float* given = mesh->normals != NULL ? mesh->normals[i] : NULL;
        snwVec3 n = sums[surface->weld.map[i]];
        if (given != NULL && fabsf(given[0]) + fabsf(given[1]) + fabsf(given[2]) > 0.5f)
            n = snwVec3_Scale(
                snwMat3_MulVec(turn, (snwVec3){(double)given[0], (double)given[1], (double)given[2]}), sign);
        n = snwVec3_Normalize(n);
        // A normal without length would be shaded as NaN.
        if (!(snwVec3_Length(n) > 0.5))
            n = (snwVec3){0, 1, 0};
        normals[i][0] = (float)n.x, normals[i][1] = (float)n.y, normals[i][2] = (float)n.z;
    }

    return (const float(*)[3])normals;
}

static snwResult MakeSurfaceParts(snwPreparer* p, const snwRestSurface* surface, snwSurfaceInfo* info)
{
    const snwAssetMesh* mesh = &p->asset->meshes[surface->mesh];
    bool own = mesh->tetCount + mesh->hexCount == 0;
    int count = own && mesh->partCount > 0 ? mesh->partCount : 1;
    snwSurfacePart* parts = snwPreparer_Alloc(p, count, sizeof *parts);
    snwResult result = snw_ok;

    if (parts == NULL)
        return snwFailMemory(p->message);

    // One part per material of the file, or one for all.
    for (int i = 0; i < count && result >= 0; ++i)
    {
        snwMaterialLook look;
        result = snwPreparer_Look(p, surface->mesh, i, &look);
        parts[i] = (snwSurfacePart){"", 0, surface->triangleCount, {look.color[0], look.color[1], look.color[2]},
            mesh->texcoords != NULL ? look.texture : -1};

        if (own && mesh->partCount > 0)
        {
            parts[i].material = mesh->parts[i].material;
            parts[i].firstTriangle = mesh->parts[i].firstTriangle;
            parts[i].triangleCount = mesh->parts[i].triangleCount;
        }
    }

    info->parts = parts;
    info->partCount = count;
    return result;
}

static const float (*MakeColors(snwPreparer* p, const snwAssetMesh* mesh))[3]
{
    float(*colors)[3] = mesh->colors != NULL ? snwPreparer_Alloc(p, mesh->vertexCount + 1, sizeof *colors) : NULL;
    for (int i = 0; i < mesh->vertexCount && colors != NULL; ++i)
        memcpy(colors[i], mesh->colors[i], sizeof colors[i]);
    return (const float(*)[3])colors;
}

static snwResult MakeSurfaceInfo(Finisher* f, const snwRestSurface* surface, snwSurfaceInfo* info)
{
    snwPreparer* p = f->preparer;
    const snwAssetMesh* mesh = &p->asset->meshes[surface->mesh];
    float(*positions)[3] = snwPreparer_Alloc(p, surface->vertexCount + 1, sizeof *positions);
    // The arrays are the file's own where they are as they should be.
    *info = (snwSurfaceInfo){.name = surface->name,
        .kind = surface->kind,
        .bone = surface->kind == snw_surfaceRigid ? snwPreparer_BoneOf(p, surface->rigidBone) : -1,
        .mesh = surface->mesh,
        .node = surface->node,
        .vertexCount = surface->vertexCount,
        .positions = (const float(*)[3])positions,
        .normals = MakeNormals(p, surface),
        .texcoords = mesh->texcoords,
        .colors = MakeColors(p, mesh),
        .triangles = (const int(*)[3])surface->triangles,
        .triangleCount = surface->triangleCount};

    // Place: rows of a 3 x 4 matrix, translation last.
    for (int i = 0; i < 12; ++i)
        info->place[i] = i % 4 < 3 ? surface->place.linear.m[i / 4][i % 4] : (&surface->place.translation.x)[i / 4];
    if (p->arena.failed)
        return snwFailMemory(p->message);
    for (int i = 0; i < surface->vertexCount; ++i)
    {
        snwVec3 x = surface->positions[i];
        positions[i][0] = (float)x.x, positions[i][1] = (float)x.y, positions[i][2] = (float)x.z;
    }

    return MakeSurfaceParts(p, surface, info);
}

// ---------------------------------------------------------------------------------------------------------------------
// Points

// For now points count all vertices that are not rigid; welding makes them fewer.
static snwResult AddPreparedSurface(Finisher* f, int index)
{
    snwPreparer* p = f->preparer;
    const snwRestSurface* surface = &p->surfaces[index];
    int* anchors = snwPreparer_Alloc(p, surface->shellCount + 1, sizeof *anchors);
    int* points = snwPreparer_Alloc(p, surface->vertexCount + 1, sizeof *points);

    if (p->arena.failed)
        return snwFailMemory(p->message);
    snwResult result = AnchorPieces(f, surface, anchors);

    // ~anchor for a vertex of a rigid piece, else its number among the points.
    for (int i = 0; i < surface->vertexCount && result >= 0; ++i)
    {
        int anchor = anchors[surface->shellOf[surface->weld.map[i]]];
        points[i] = anchor >= 0 ? ~anchor : f->placeCount;
        if (anchor >= 0)
            continue;
        f->placeSurface[f->placeCount] = index;
        f->placeVertex[f->placeCount] = i;
        f->places[f->placeCount++] = surface->positions[i];
    }

    f->points[f->count] = points;
    p->report->softCount += surface->kind == snw_surfaceSoft;
    p->report->carriedCount += surface->kind == snw_surfaceCarried;
    p->report->rigidCount += surface->kind == snw_surfaceRigid;

    return result < 0 ? result : MakeSurfaceInfo(f, surface, &f->infos[f->count++]);
}

static snwResult AddSurfaces(Finisher* f)
{
    snwPreparer* p = f->preparer;
    int64_t vertices = 1, room = p->surfaceCount + 1;

    // Room for every vertex, as if none were welded.
    for (int i = 0; i < p->surfaceCount; ++i)
        vertices += p->surfaces[i].vertexCount;
    f->infos = snwPreparer_Alloc(p, room, sizeof *f->infos);
    f->points = snwPreparer_Alloc(p, room, sizeof *f->points);
    f->places = snwPreparer_Alloc(p, vertices, sizeof *f->places);
    f->placeSurface = snwPreparer_Alloc(p, vertices, sizeof(int));
    f->placeVertex = snwPreparer_Alloc(p, vertices, sizeof(int));
    f->boneAnchors = snwPreparer_Alloc(p, p->boneCount + 1, sizeof *f->boneAnchors);
    if (p->arena.failed)
        return snwFailMemory(p->message);
    memset(f->boneAnchors, -1, ((size_t)p->boneCount + 1) * sizeof *f->boneAnchors);
    snwResult result = snw_ok;
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
        if (!p->surfaces[i].left)
            result = AddPreparedSurface(f, i);

    return result;
}

static bool FindCopiesAround(Finisher* f)
{
    snwPreparer* p = f->preparer;
    const snwTetMesh* whole = p->whole;
    f->starts = snwPreparer_Alloc(p, whole->vertexCount + 2, sizeof(int));
    f->around = snwPreparer_Alloc(p, 4 * (int64_t)whole->tetCount + 1, sizeof(int));
    for (int i = 0; i < 4 * whole->tetCount && !p->arena.failed; ++i)
        ++f->starts[whole->tets[i / 4][i % 4] + 2];
    for (int i = 1; i <= whole->vertexCount + 1 && !p->arena.failed; ++i)
        f->starts[i] += f->starts[i - 1];
    for (int i = 0; i < 4 * whole->tetCount && !p->arena.failed; ++i)
        f->around[f->starts[whole->tets[i / 4][i % 4] + 1]++] = i / 4;
    return !p->arena.failed;
}

static int CornerOf(const int tet[4], int vertex)
{
    int corner = -1;
    for (int k = 0; k < 4; ++k)
        corner = tet[k] == vertex ? k : corner;
    return corner;
}

// How much of what a vertex of a surface follows the place in an element follows, too: 0 .. 1.
static double Agreement(const Finisher* f, int place, const int corners[4], const double weights[4])
{
    const snwPreparer* p = f->preparer;
    const snwRigWeights* own = &p->weights[f->placeSurface[place]];
    double sum = 0;
    int vertex = f->placeVertex[place];
    for (int i = own->starts != NULL ? own->starts[vertex] : 0; own->starts != NULL && i < own->starts[vertex + 1]; ++i)
    {
        int bone = snwPreparer_BoneOf(p, own->bones[i]);
        double there = 0;
        for (int k = 0; k < 4 && bone >= 0; ++k)
            there += weights[k] * snwWeights_Get(p->boneWeights, corners[k], bone);
        sum += fmin(own->values[i], there);
    }
    return sum;
}

// An element that joined limbs is in several pieces: takes the one that follows what the point follows.
static void ChoosePiece(const void* user, int point, const double weights[4], int corners[4])
{
    const Finisher* f = user;
    const snwPreparer* p = f->preparer;
    int tet = -1, where[4];

    // The element of the whole body that has these four corners.
    for (int i = f->starts[corners[0]]; i < f->starts[corners[0] + 1] && tet < 0; ++i)
    {
        bool all = true;
        for (int k = 0; k < 4; ++k)
            all = all && CornerOf(p->whole->tets[f->around[i]], corners[k]) >= 0;
        tet = all ? f->around[i] : -1;
    }

    if (tet < 0 || p->pieces[tet + 1] - p->pieces[tet] < 2)
        return;

    // Its pieces after parting: by whose bones the point agrees most with.
    double best = -1;
    for (int k = 0; k < 4; ++k)
        where[k] = CornerOf(p->whole->tets[tet], corners[k]);
    for (int piece = p->pieces[tet]; piece < p->pieces[tet + 1]; ++piece)
    {
        int own[4];
        for (int k = 0; k < 4; ++k)
            own[k] = p->body.tets[piece][where[k]];
        double agreement = Agreement(f, f->weld.sources[point], own, weights);
        if (agreement > best)
            best = agreement, memcpy(corners, own, sizeof own);
    }
}

static snwResult EmbedPoints(Finisher* f)
{
    snwPreparer* p = f->preparer;

    // Points at one place are one, also across surfaces.
    snwWeldDef weld = {.positions = f->places, .count = f->placeCount, .tolerance = SNW_SEAM * p->size};
    snwResult result = snwWeldVertices(&p->arena, &weld, &f->weld, p->message);
    if (result < 0)
        return result;

    // From vertices to welded points.
    snwVec3* welded = snwPreparer_Alloc(p, f->weld.count + 1, sizeof *welded);
    if (welded == NULL)
        return snwFailMemory(p->message);
    for (int i = 0; i < f->weld.count; ++i)
        welded[i] = f->places[f->weld.sources[i]];
    for (int s = 0; s < f->count; ++s)
        for (int i = 0; i < f->infos[s].vertexCount; ++i)
            if (f->points[s][i] >= 0)
                f->points[s][i] = f->weld.map[f->points[s][i]];

    snwEmbeddingDef def = {.vertices = p->body.vertices,
        .vertexCount = p->body.vertexCount,
        .elements = {(const int*)p->body.tets, 4, p->body.tetCount},
        .points = welded,
        .pointCount = f->weld.count};

    // Parted limbs: points are found in the whole body, then go with the piece that follows their own bones.
    if (p->whole != NULL && p->boneWeights != NULL)
    {
        def.whole = (snwElements){(const int*)p->whole->tets, 4, p->whole->tetCount};
        def.choose = ChoosePiece;
        def.user = f;
        if (!FindCopiesAround(f))
            return snwFailMemory(p->message);
    }

    result = snwEmbedPoints(&p->arena, &def, &f->embedding, p->message);
    p->report->outsideCount = f->embedding.outsideCount;
    p->report->maxOutside = f->embedding.maxOutside;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Together

static snwResult CreateCharacter(snwPreparer* p, const snwWeights* weights, snwCharacter** character)
{
    snwCharacterDef def = snwDefaultCharacterDef();
    // Without elements of bones the array would only cost memory.
    bool owned = false;
    for (int i = 0; i < p->body.tetCount; ++i)
        owned = owned || p->elementBones[i] >= 0;
    def.name = p->asset->name;
    def.vertices = p->body.vertices;
    def.vertexCount = p->body.vertexCount;
    def.tets = (const int(*)[4])p->body.tets;
    def.tetCount = p->body.tetCount;
    def.regions = p->regions;
    def.elementBones = owned ? p->elementBones : NULL;
    def.materials = p->materials;
    def.materialCount = p->materialCount;
    def.bones = p->bones;
    def.boneCount = p->boneCount;
    def.joints = p->joints;
    def.jointCount = p->jointCount;
    def.motions = p->motions;
    def.motionCount = p->motionCount;
    if (weights != NULL)
        def.boneWeights = *weights;
    memcpy(def.color, p->color, sizeof def.color);

    return snwCreateCharacter(p->context, &def, character, p->message);
}

// With the file's weights; where it has none, with computed ones, for which there has to be a character first.
static snwResult MakePreparedCharacter(snwPreparer* p, snwCharacter** character)
{
    snwResult result = CreateCharacter(p, p->boneWeights, character);
    if (result < 0 || p->boneCount == 0 || p->boneWeights != NULL)
        return result;

    // Harmonic weights need bones and elements to be computed on.
    snwWeightsDef def = snwDefaultWeightsDef();
    snwWeights* weights = NULL;
    snwMessage words = {0};
    result = snwComputeWeights(*character, &def, &weights, &words);
    snwCharacter_Release(*character);
    *character = NULL;
    if (result < 0 && p->message != NULL)
        *p->message = words;
    if (result > 0)
        snwPreparer_Note(p, "%s", words.text);
    if (result >= 0)
        result = CreateCharacter(p, weights, character);
    snwFree(p->context, weights);

    return result;
}

static void FindColor(const Finisher* f, float color[3])
{
    double sum[3] = {0}, count = 0;

    // The mean colour of all soft parts, weighted by their triangles; of textures some 256 samples each.
    for (int s = 0; s < f->count; ++s)
        for (int i = 0; i < f->infos[s].partCount && f->infos[s].kind == snw_surfaceSoft; ++i)
        {
            const snwSurfacePart* part = &f->infos[s].parts[i];
            float mean[4] = {1, 1, 1, 1};
            const snwTexture* texture = part->texture >= 0 ? &f->preparer->textures[part->texture] : NULL;
            for (int t = 0; t < part->triangleCount && texture != NULL && f->infos[s].texcoords != NULL;
                 t += part->triangleCount / 256 + 1)
            {
                int corner = f->infos[s].triangles[part->firstTriangle + t][0];
                snwTexture_Sample(texture, f->infos[s].texcoords[corner], true, mean);
                for (int k = 0; k < 3; ++k)
                    sum[k] += (double)(mean[k] * part->color[k]);
                count += 1;
            }
            for (int k = 0; k < 3 && texture == NULL; ++k)
                sum[k] += (double)part->color[k] * part->triangleCount;
            count += texture == NULL ? part->triangleCount : 0;
        }

    for (int k = 0; k < 3; ++k)
        color[k] = count > 0 ? (float)fmin(fmax(sum[k] / count, 0), 1) : 0.8f;
}

static char* SettingsText(snwPreparer* p)
{
    size_t size = p->settings.document != NULL
                      ? json_dumpb(p->settings.document, NULL, 0, JSON_COMPACT | JSON_SORT_KEYS)
                      : 0;
    char* text = snwPreparer_Alloc(p, (int64_t)size + 1, 1);
    if (text != NULL && size > 0)
        json_dumpb(p->settings.document, text, size, JSON_COMPACT | JSON_SORT_KEYS);
    return text;
}

// The largest distance of a vertex at rest from where the file has it, as a share of the size.
static snwResult MeasureError(snwPreparer* p, snwPrepared* prepared, double* error)
{
    snwDisplay* display = NULL;
    float* rest = snwPreparer_Alloc(p, 3 * (int64_t)p->body.vertexCount + 1, sizeof *rest);
    if (rest == NULL)
        return snwFailMemory(p->message);

    // Shown as it will be, with vertices as floats.
    snwResult result = snwCreateDisplay(prepared, &display, p->message);
    for (int i = 0; i < p->body.vertexCount && result >= 0; ++i)
    {
        snwVec3 x = p->body.vertices[i];
        rest[3 * i] = (float)x.x, rest[3 * i + 1] = (float)x.y, rest[3 * i + 2] = (float)x.z;
    }

    if (result >= 0)
        result = snwDisplay_Update(display, rest, p->body.vertexCount, 12, p->message);
    *error = 0;

    // Surfaces that are left out have no number.
    for (int s = 0, k = 0; s < p->surfaceCount && result >= 0; ++s)
    {
        snwSkin skin = {0};
        if (p->surfaces[s].left || snwDisplay_GetSurface(display, k++, &skin) < 0)
            continue;
        for (int i = 0; i < skin.vertexCount; ++i)
        {
            const float* at = skin.positions + 3 * (size_t)i;
            snwVec3 now = {(double)at[0], (double)at[1], (double)at[2]};
            *error = fmax(*error, snwVec3_Distance(now, p->surfaces[s].positions[i]) / p->size);
        }
    }

    snwDestroyDisplay(display);
    return result;
}

static snwResult AssemblePrepared(Finisher* f, snwCharacter* character, snwPrepared** prepared)
{
    snwPreparer* p = f->preparer;
    int* nodes = snwPreparer_Alloc(p, p->boneCount + 1, sizeof *nodes);
    int* clips = p->motionCount > 0 ? snwPreparer_Alloc(p, p->motionCount, sizeof *clips) : NULL;
    char* settings = SettingsText(p);

    if (p->arena.failed)
        return snwFailMemory(p->message);

    // Which node of the file each bone was, and which animation each motion.
    for (int i = 0; i < p->boneCount; ++i)
        nodes[i] = p->rig[p->boneRig[i]].node;
    for (int i = 0; i < p->motionCount && clips != NULL; ++i)
        clips[i] = p->motionShapes[i] >= 0 ? p->motionShapes[i] : -1;
    const char* slash = strrchr(p->path, '/');

    snwPreparedDef def = {.character = character,
        .surfaces = f->infos,
        .surfaceCount = f->count,
        .anchors = f->anchors,
        .anchorCount = f->anchorCount,
        .points = (const int* const*)f->points,
        .embedding = &f->embedding,
        .textures = p->textures,
        .textureCount = p->textureCount,
        .info = {.source = slash != NULL ? slash + 1 : p->path,
            .sourceHash = p->sourceHash,
            .scale = p->scale,
            .settings = settings,
            .boneNodes = nodes,
            .clips = clips}};
    snwResult result = snwCreatePrepared(p->context, &def, prepared, p->message);
    bool shaped = false;
    for (int i = 0; i < p->motionCount; ++i)
        shaped = shaped || p->motions[i].vertices.sampleCount > 0;

    // Details are differences to what is shown, so there has to be something that shows.
    if (result >= 0 && shaped) // which only what rides in it can tell
        result = snwPreparer_DetailSurfaces(p, *prepared, f->infos);
    if (result >= 0 && shaped)
    {
        snwPrepared_Release(*prepared);
        result = snwCreatePrepared(p->context, &def, prepared, p->message);
    }

    if (result >= 0)
        result = MeasureError(p, *prepared, &(*prepared)->info.embeddingError);
    if (result < 0)
    {
        snwPrepared_Release(*prepared);
        *prepared = NULL;
    }

    return result;
}

snwResult snwPreparer_Finish(snwPreparer* p, snwPrepared** prepared)
{
    Finisher f = {.preparer = p};
    snwCharacter* character = NULL;
    snwResult result = AddSurfaces(&f);
    if (result >= 0)
        result = EmbedPoints(&f);
    FindColor(&f, p->color);
    if (result >= 0)
        result = MakePreparedCharacter(p, &character);
    if (result >= 0)
        result = AssemblePrepared(&f, character, prepared);
    if (character != NULL)
        snwCharacter_Release(character);
    return result;
}
