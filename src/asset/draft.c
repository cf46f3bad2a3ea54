// Meshes in the making: what readers collect - points, faces of any number of corners, elements, parts - checked and
// turned into a mesh of triangles, tets and hexes, with notes about what was repaired.

#include "asset/draft.h"

#include "asset/polygon.h"
#include "base/hash.h"
#include "base/sort.h"
#include "geom/mesh.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

snwDraft snwMakeDraft(snwAsset* asset, const char* facePlace, int base)
{
    return (snwDraft){.asset = asset, .facePlace = facePlace, .base = base};
}

void snwDraft_Free(snwDraft* draft)
{
    snwContext* context = draft->asset->context;
    snwArray_Free(context, &draft->positions);
    snwArray_Free(context, &draft->vertexLabels);
    snwArray_Free(context, &draft->corners);
    snwArray_Free(context, &draft->faces);
    snwArray_Free(context, &draft->parts);
    snwArray_Free(context, &draft->edges);
    snwArray_Free(context, &draft->tets);
    snwArray_Free(context, &draft->hexes);
}

// ---------------------------------------------------------------------------------------------------------------------
// Collecting

void snwDraft_AddPoint(snwDraft* draft, snwVec3 point)
{
    if (!snwArray_Push(draft->asset->context, &draft->positions, point))
        draft->failed = true;
}

void snwDraft_BeginFace(snwDraft* draft, int place, int label)
{
    snwDraftFace face = {draft->corners.count, place, label};
    if (!snwArray_Push(draft->asset->context, &draft->faces, face))
        draft->failed = true;
}

void snwDraft_AddCorner(snwDraft* draft, int vertex)
{
    if (!snwArray_Push(draft->asset->context, &draft->corners, vertex))
        draft->failed = true;
}

void snwDraft_AddFace(snwDraft* draft, const int* corners, int count, int place, int label)
{
    snwDraft_BeginFace(draft, place, label);
    for (int i = 0; i < count; ++i)
        snwDraft_AddCorner(draft, corners[i]);
}

void snwDraft_AddElement(snwDraft* draft, snwDraftElements* list, const int* corners, int count, int label)
{
    snwDraftElement element = {.label = label};
    for (int i = 0; i < count; ++i)
        element.corners[i] = corners[i];
    if (!snwArray_Push(draft->asset->context, list, element))
        draft->failed = true;
}

void snwDraft_BeginPart(snwDraft* draft, const char* name, const char* material)
{
    snwDraftPart part = {name, material, draft->faces.count};
    int last = draft->parts.count - 1;
    if (last >= 0 && draft->parts.data[last].firstFace == part.firstFace)
        draft->parts.data[last] = part;
    else if (!snwArray_Push(draft->asset->context, &draft->parts, part))
        draft->failed = true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Vertices

static snwResult CheckDraftPoints(const snwDraft* draft, snwMessage* message)
{
    for (int i = 0; i < draft->positions.count; ++i)
    {
        snwVec3 p = draft->positions.data[i];
        if (fabs(p.x) <= SNW_MAX_COORDINATE && fabs(p.y) <= SNW_MAX_COORDINATE && fabs(p.z) <= SNW_MAX_COORDINATE)
            continue;
        snwResult result = snwFail(message, snw_errorInput, "export it again, and look at this vertex before",
            "the position is not finite, or beyond 1e30");
        snwMessage_AddPlace(message, "vertex %d", i + draft->base);
        return result;
    }
    return snw_ok;
}

static snwResult FailIndex(const snwDraft* draft, const char* what, int64_t place, int vertex, snwMessage* message)
{
    snwResult result = snwFail(message, snw_errorInput, "the file is damaged or not complete: export it again",
        "it uses vertex %lld, but vertices go from %d to %d", (long long)vertex + draft->base, draft->base,
        draft->positions.count - 1 + draft->base);
    snwMessage_AddPlace(message, "%s %lld", what, (long long)place);
    return result;
}

// Vertices that lie on others. The hash is of the bits, so it takes equal ones only; 0 and -0 are the same.
static bool CountDoubles(snwContext* context, const snwVec3* points, int count, int64_t* doubles, int* first)
{
    uint64_t* keys = snwAllocArray(context, (size_t)count, sizeof *keys);
    int* order = snwAllocArray(context, (size_t)count, sizeof *order);
    bool enough = keys != NULL && order != NULL;

    // Sorted by the hash of their bits, equal points are neighbours.
    for (int i = 0; enough && i < count; ++i)
    {
        snwVec3 p = {points[i].x + 0.0, points[i].y + 0.0, points[i].z + 0.0};
        keys[i] = snwHash(&p, sizeof p, 0);
        order[i] = i;
    }

    // The first of them is told.
    enough = enough && snwSortKeys(context, keys, order, count);
    for (int i = 1; enough && i < count; ++i)
        if (keys[i] == keys[i - 1])
        {
            *doubles += 1;
            *first = *doubles == 1 || order[i] < *first ? order[i] : *first;
        }

    snwFree(context, keys);
    snwFree(context, order);
    return enough;
}

static snwResult NoteDoubles(const snwDraft* draft, snwMessage* message)
{
    int64_t doubles = 0;
    int first = 0;
    char place[48];
    if (!CountDoubles(draft->asset->context, draft->positions.data, draft->positions.count, &doubles, &first))
        return snwFailMemory(message);
    snprintf(place, sizeof place, "vertex %d", first + draft->base);
    snwAsset_NoteMany(
        draft->asset, snw_noteOdd, doubles, place, "vertices lie exactly on another one; they are kept apart");
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Edges, tets, hexes

typedef struct ElementKind
{
    const char* name; // of one
    const char* note; // if some use a vertex twice
    int arity;
} ElementKind;

static bool UsesTwice(const int* corners, int count)
{
    for (int i = 1; i < count; ++i)
        for (int k = 0; k < i; ++k)
            if (corners[i] == corners[k])
                return true;
    return false;
}

static snwResult CheckDraftElements(
    const snwDraft* draft, snwDraftElements* list, ElementKind kind, snwMessage* message)
{
    int kept = 0, first = 0;

    // Indices that do not exist are errors; elements that use a vertex twice are left out and noted.
    for (int i = 0; i < list->count; ++i)
    {
        const int* corners = list->data[i].corners;
        for (int k = 0; k < kind.arity; ++k)
            if (corners[k] < 0 || corners[k] >= draft->positions.count)
                return FailIndex(draft, kind.name, (int64_t)i + draft->base, corners[k], message);
        if (!UsesTwice(corners, kind.arity))
            list->data[kept++] = list->data[i];
        else if (kept == i)
            first = i;
    }

    // The first one that was left out, as the file counts.
    char place[48];
    snprintf(place, sizeof place, "%s %d", kind.name, first + draft->base);
    snwAsset_NoteMany(draft->asset, snw_noteRepaired, list->count - kept, place, "%s", kind.note);
    list->count = kept;

    return snw_ok;
}

static void CopyDraftElements(
    snwAsset* asset, const snwDraftElements* list, int arity, const int** corners, const int** labels)
{
    if (list->count == 0)
        return;
    int* to = snwAsset_Alloc(asset, (int64_t)list->count * arity, sizeof *to);
    int* toLabels = labels == NULL ? NULL : snwAsset_Alloc(asset, list->count, sizeof *toLabels);
    if (to == NULL || (labels != NULL && toLabels == NULL))
        return; // the arena remembers
    for (int i = 0; i < list->count; ++i)
    {
        memcpy(to + (size_t)i * (size_t)arity, list->data[i].corners, (size_t)arity * sizeof *to);
        if (labels != NULL)
            toLabels[i] = list->data[i].label;
    }
    *corners = to;
    if (labels != NULL)
        *labels = toLabels;
}

// ---------------------------------------------------------------------------------------------------------------------
// Faces

typedef struct Cutting
{
    snwDraft* draft;
    snwPolygonCutter cutter;
    int (*triangles)[3];
    int* labels; // NULL: none
    int count;
    int64_t repeated, small, crossing, large;
    int repeatedPlace, smallPlace, crossingPlace, largePlace;
} Cutting;

static int LastCorner(const snwDraft* draft, int face)
{
    return face + 1 < draft->faces.count ? draft->faces.data[face + 1].first : draft->corners.count;
}

static void Tally(int64_t* count, int* place, int here)
{
    if ((*count)++ == 0)
        *place = here;
}

static snwResult CheckFaceCorners(const snwDraft* draft, snwMessage* message)
{
    for (int i = 0; i < draft->faces.count; ++i)
        for (int k = draft->faces.data[i].first; k < LastCorner(draft, i); ++k)
            if (draft->corners.data[k] < 0 || draft->corners.data[k] >= draft->positions.count)
                return FailIndex(draft, draft->facePlace, draft->faces.data[i].place, draft->corners.data[k], message);
    return snw_ok;
}

// Corners that follow themselves are dropped in place; gives how many are left.
static int DropRepeats(int* corners, int count)
{
    int kept = 0;
    for (int i = 0; i < count; ++i)
        if (kept == 0 || corners[i] != corners[kept - 1])
            corners[kept++] = corners[i];
    while (kept > 1 && corners[kept - 1] == corners[0])
        kept -= 1;
    return kept;
}

static bool CutFace(Cutting* cutting, int index)
{
    snwDraft* draft = cutting->draft;
    const snwDraftFace* face = &draft->faces.data[index];
    int given = LastCorner(draft, index) - face->first;
    int* corners = given > 0 ? draft->corners.data + face->first : NULL;
    int count = DropRepeats(corners, given);

    // Cut into triangles; what comes of corners that repeat is counted for the notes.
    if (count < 3)
    {
        Tally(&cutting->small, &cutting->smallPlace, face->place);
        return true;
    }

    if (count < given)
        Tally(&cutting->repeated, &cutting->repeatedPlace, face->place);
    int(*to)[3] = cutting->triangles + cutting->count;

    // However it looks, it is cut somehow: holes would be worse.
    snwPolygonCut outcome = snwPolygonCutter_Cut(&cutting->cutter, corners, count, to);
    if (outcome == snw_polygonCrossing)
        Tally(&cutting->crossing, &cutting->crossingPlace, face->place);
    if (outcome == snw_polygonTooLarge)
        Tally(&cutting->large, &cutting->largePlace, face->place);
    int kept = 0; // a corner that comes back later can make triangles that use it twice

    // Triangles that use a corner twice go; the others close up.
    for (int i = 0; i < count - 2; ++i)
    {
        if (UsesTwice(to[i], 3))
            continue;
        memmove(to[kept], to[i], sizeof *to);
        if (cutting->labels != NULL)
            cutting->labels[cutting->count + kept] = face->label;
        kept += 1;
    }

    cutting->count += kept;
    return outcome != snw_polygonNoMemory;
}

static void NoteFaces(const Cutting* cutting)
{
    const struct
    {
        snwAssetNoteKind kind;
        int64_t count;
        int place;
        const char* text;
    } notes[] = {
        {snw_noteRepaired, cutting->repeated, cutting->repeatedPlace,
            "faces name a corner twice in a row; once is enough"},
        {snw_noteRepaired, cutting->small, cutting->smallPlace, "faces with fewer than three corners were left out"},
        {snw_noteOdd, cutting->crossing, cutting->crossingPlace,
            "polygons cross themselves or have no area; their triangles overlap"},
        {snw_noteOdd, cutting->large, cutting->largePlace,
            "polygons have too many corners to look at them closely; they were cut as fans"},
    };

    // One note per kind, with a count and the place of the first.
    for (size_t i = 0; i < sizeof notes / sizeof *notes; ++i)
    {
        char place[48];
        snprintf(place, sizeof place, "%s %d", cutting->draft->facePlace, notes[i].place);
        snwAsset_NoteMany(cutting->draft->asset, notes[i].kind, notes[i].count, place, "%s", notes[i].text);
    }
}

static snwAssetPart MakePart(const snwAssetMesh* mesh, const char* name, const char* material, int first, int end)
{
    int lower = mesh->vertexCount, upper = -1;
    for (int i = first; i < end; ++i)
        for (int k = 0; k < 3; ++k)
        {
            lower = mesh->triangles[i][k] < lower ? mesh->triangles[i][k] : lower;
            upper = mesh->triangles[i][k] > upper ? mesh->triangles[i][k] : upper;
        }
    return (snwAssetPart){name, material, lower, upper - lower + 1, first, end - first};
}

// firstTriangles: of each part of the draft, and the end.
static void MakeDraftParts(snwDraft* draft, snwAssetMesh* mesh, const int* firstTriangles)
{
    int count = draft->parts.count;
    snwAssetPart* parts = mesh->triangles == NULL ? NULL : snwAsset_Alloc(draft->asset, count + 1, sizeof *parts);
    if (parts == NULL)
        return;
    int leading = count == 0 ? mesh->triangleCount : firstTriangles[0]; // before the first part begins
    if (leading > 0)
        parts[mesh->partCount++] = MakePart(mesh, draft->asset->name, "", 0, leading);
    for (int i = 0; i < count; ++i)
        if (firstTriangles[i + 1] > firstTriangles[i])
            parts[mesh->partCount++] = MakePart(mesh, draft->parts.data[i].name, draft->parts.data[i].material,
                firstTriangles[i], firstTriangles[i + 1]);
    mesh->parts = parts;
}

static int64_t MostTriangles(const snwDraft* draft)
{
    int64_t most = 0;
    for (int i = 0; i < draft->faces.count; ++i)
    {
        int corners = LastCorner(draft, i) - draft->faces.data[i].first;
        most += corners > 2 ? corners - 2 : 0;
    }
    return most;
}

static snwResult CutFaces(snwDraft* draft, snwAssetMesh* mesh, snwMessage* message)
{
    snwAsset* asset = draft->asset;
    Cutting cutting = {.draft = draft};
    int64_t most = MostTriangles(draft);
    int* firstTriangles = snwAllocArray(asset->context, (size_t)draft->parts.count + 1, sizeof *firstTriangles);
    cutting.triangles = snwAsset_Alloc(asset, most, sizeof *cutting.triangles);
    cutting.labels = draft->faceLabels ? snwAsset_Alloc(asset, most, sizeof *cutting.labels) : NULL;
    cutting.cutter = (snwPolygonCutter){
        .context = asset->context, .positions = draft->positions.data, .budget = 30000000 + 2000 * most};
    bool enough = firstTriangles != NULL && cutting.triangles != NULL && !asset->arena.failed;
    int part = 0;

    // Parts begin at faces, and from now on at triangles.
    for (int i = 0; enough && i < draft->faces.count; ++i)
    {
        while (part < draft->parts.count && draft->parts.data[part].firstFace <= i)
            firstTriangles[part++] = cutting.count;
        enough = CutFace(&cutting, i);
    }

    snwPolygonCutter_Free(&cutting.cutter);

    // Parts behind the last face are empty.
    if (enough)
    {
        while (part <= draft->parts.count)
            firstTriangles[part++] = cutting.count;
        mesh->triangles = cutting.count > 0 ? (const int(*)[3])cutting.triangles : NULL;
        mesh->triangleCount = cutting.count;
        mesh->triangleLabels = cutting.count > 0 ? cutting.labels : NULL;
        MakeDraftParts(draft, mesh, firstTriangles);
        NoteFaces(&cutting);
    }

    snwFree(asset->context, firstTriangles);
    return enough ? snw_ok : snwFailMemory(message);
}

// ---------------------------------------------------------------------------------------------------------------------
// The whole

static void OrderPair(int* a, int* b)
{
    int least = *a < *b ? *a : *b;
    *b = *a < *b ? *b : *a;
    *a = least;
}

// Tets with the same four corners, in whatever order.
static snwResult NoteDoubleTets(const snwDraft* draft, const snwAssetMesh* mesh, snwMessage* message)
{
    snwContext* context = draft->asset->context;
    if (mesh->tetCount == 0)
        return snw_ok;
    uint64_t* keys = snwAllocArray(context, (size_t)mesh->tetCount, sizeof *keys);
    int* tets = snwAllocArray(context, (size_t)mesh->tetCount, sizeof *tets);
    bool fine = keys != NULL && tets != NULL;

    // Sorted corners, then sorted hashes: copies are neighbours.
    for (int i = 0; i < mesh->tetCount && fine; ++i)
    {
        int v[4] = {mesh->tets[i][0], mesh->tets[i][1], mesh->tets[i][2], mesh->tets[i][3]};
        OrderPair(&v[0], &v[1]), OrderPair(&v[2], &v[3]), OrderPair(&v[0], &v[2]), OrderPair(&v[1], &v[3]),
            OrderPair(&v[1], &v[2]);
        keys[i] = snwHash(v, sizeof v, 0);
        tets[i] = i;
    }

    fine = fine && snwSortKeys(context, keys, tets, mesh->tetCount);

    // Equal hashes are equal corners: 64 bits do not meet by chance.
    int64_t doubles = 0;
    char place[48] = "";
    for (int i = 1; i < mesh->tetCount && fine; ++i)
        if (keys[i] == keys[i - 1] && doubles++ == 0)
            snprintf(place, sizeof place, "tet %d", tets[i] + draft->base);
    snwAsset_NoteMany(draft->asset, snw_noteOdd, doubles, place, "tets are there twice");
    snwFree(context, keys);
    snwFree(context, tets);

    return fine ? snw_ok : snwFailMemory(message);
}

static snwResult NoteUnused(const snwDraft* draft, const snwAssetMesh* mesh, snwMessage* message)
{
    // Whatever may use a vertex.
    const struct
    {
        const int* corners;
        int64_t count;
    } lists[] = {
        {mesh->triangles == NULL ? NULL : mesh->triangles[0], 3 * (int64_t)mesh->triangleCount},
        {mesh->tets == NULL ? NULL : mesh->tets[0], 4 * (int64_t)mesh->tetCount},
        {mesh->hexes == NULL ? NULL : mesh->hexes[0], 8 * (int64_t)mesh->hexCount},
        {mesh->edges == NULL ? NULL : mesh->edges[0], 2 * (int64_t)mesh->edgeCount},
    };
    snwContext* context = draft->asset->context;
    char* used = snwAlloc(context, (size_t)mesh->vertexCount);
    int64_t any = 0, unused = 0;
    int first = 0;
    if (used == NULL)
        return snwFailMemory(message);

    // Marked by everything that is there; a cloud of points has nothing, and is left in peace.
    for (size_t l = 0; l < sizeof lists / sizeof *lists; ++l)
        for (int64_t i = 0; lists[l].corners != NULL && i < lists[l].count; ++i, ++any)
            used[lists[l].corners[i]] = 1;
    for (int i = 0; any > 0 && i < mesh->vertexCount; ++i)
        if (!used[i])
            Tally(&unused, &first, i);
    char place[48];
    snprintf(place, sizeof place, "vertex %d", first + draft->base);
    snwAsset_NoteMany(draft->asset, snw_noteOdd, unused, place, "vertices belong to nothing; they are kept");
    snwFree(context, used);

    return snw_ok;
}

// Some programs list the faces of all tets, the inner ones too. They are kept, but are no skin.
static snwResult NoteInner(const snwDraft* draft, const snwAssetMesh* mesh, snwMessage* message)
{
    int(*boundary)[3] = NULL;
    int count = 0;
    if (mesh->tetCount == 0 || mesh->triangleCount == 0)
        return snw_ok;
    snwContext* context = draft->asset->context;
    if (snwMesh_FindBoundary(context, mesh->tets, mesh->tetCount, &boundary, &count) < 0)
        return snwFailMemory(message);
    snwAsset_NoteMany(draft->asset, snw_noteOdd, mesh->triangleCount - count, "",
        "triangles lie inside of the tets: they are no skin");
    snwFree(context, boundary);
    return snw_ok;
}

static void FillDraftMesh(snwDraft* draft, snwAssetMesh* mesh)
{
    snwAsset* asset = draft->asset;
    mesh->name = asset->name;
    mesh->vertexCount = draft->positions.count;
    mesh->positions = snwArena_Copy(
        &asset->arena, draft->positions.data, (size_t)draft->positions.count, sizeof(snwVec3));
    if (draft->vertexLabels.count == draft->positions.count)
        mesh->vertexLabels = snwArena_Copy(
            &asset->arena, draft->vertexLabels.data, (size_t)draft->vertexLabels.count, sizeof(int));
    mesh->edgeCount = draft->edges.count;
    mesh->tetCount = draft->tets.count;
    mesh->hexCount = draft->hexes.count;
    CopyDraftElements(asset, &draft->edges, 2, (const int**)&mesh->edges, NULL);
    CopyDraftElements(asset, &draft->tets, 4, (const int**)&mesh->tets, &mesh->tetLabels);
    CopyDraftElements(asset, &draft->hexes, 8, (const int**)&mesh->hexes, &mesh->hexLabels);
}

static snwResult CheckAll(snwDraft* draft, snwMessage* message)
{
    // In the order in which mistakes would be told.
    static const ElementKind s_edges = {"edge", "edges from a vertex to itself were left out", 2};
    static const ElementKind s_tets = {"tet", "tets that use a vertex twice were left out", 4};
    static const ElementKind s_hexes = {"hex", "hexes that use a vertex twice were left out", 8};
    if (draft->failed)
        return snwFailMemory(message);
    if (draft->positions.count == 0)
        return snwFail(
            message, snw_errorInput, "export it again with its mesh selected", "there are no vertices in it");
    if (draft->positions.count > snw_maxAssetVertices || draft->faces.count > snw_maxAssetVertices)
        return snwFail(message, snw_errorInput, "make the mesh coarser", "it has more than %d vertices or faces",
            snw_maxAssetVertices);

    snwResult result = CheckDraftPoints(draft, message);
    if (result >= 0)
        result = CheckDraftElements(draft, &draft->edges, s_edges, message);
    if (result >= 0)
        result = CheckDraftElements(draft, &draft->tets, s_tets, message);
    if (result >= 0)
        result = CheckDraftElements(draft, &draft->hexes, s_hexes, message);

    return result < 0 ? result : CheckFaceCorners(draft, message);
}

snwResult snwDraft_Finish(snwDraft* draft, snwAssetMesh** out, snwMessage* message)
{
    *out = NULL;
    snwResult result = CheckAll(draft, message);
    if (result < 0)
        return result;
    snwAsset* asset = draft->asset;
    snwAssetMesh* mesh = snwAsset_Alloc(asset, 1, sizeof *mesh);
    if (mesh == NULL)
        return snwFailMemory(message);

    // Faces are cut, then oddities are looked for in what came out.
    FillDraftMesh(draft, mesh);
    result = CutFaces(draft, mesh, message);
    if (result >= 0)
        result = NoteDoubles(draft, message);
    if (result < 0 || asset->arena.failed)
        return result < 0 ? result : snwFailMemory(message);
    result = NoteInner(draft, mesh, message);
    if (result >= 0)
        result = NoteUnused(draft, mesh, message);
    if (result >= 0)
        result = NoteDoubleTets(draft, mesh, message);
    if (result < 0)
        return result;
    // Only a whole mesh is the asset's.
    asset->meshes = *out = mesh;
    asset->meshCount = 1;

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Values of corners and vertices

bool snwDraftValues_Begin(snwContext* context, snwDraftValues* values, int vertexCount)
{
    values->chosen = snwAllocRaw(context, ((size_t)vertexCount + 1) * sizeof *values->chosen);
    for (int i = 0; values->chosen != NULL && i < vertexCount; ++i)
        values->chosen[i] = -1;
    return values->chosen != NULL;
}

void snwDraftValues_Choose(snwDraftValues* values, int vertex, int64_t value)
{
    if (value < 0 || value >= values->count)
    {
        values->outside += 1;
        return;
    }
    int known = values->chosen[vertex];
    const float* from = values->from;
    if (known < 0)
        values->chosen[vertex] = (int)value;
    else if (known != value &&
             memcmp(from + (size_t)known * (size_t)values->width, from + (size_t)value * (size_t)values->width,
                 (size_t)values->width * sizeof *from) != 0)
        Tally(&values->differing, &values->differingVertex, vertex);
}

float* snwDraftValues_End(snwAsset* asset, snwDraftValues* values, int vertexCount)
{
    bool any = false;
    for (int i = 0; values->chosen != NULL && i < vertexCount; ++i)
        any = any || values->chosen[i] >= 0;
    float* to = any ? snwAsset_Alloc(asset, (int64_t)vertexCount * values->width, sizeof *to) : NULL;
    for (int i = 0; to != NULL && i < vertexCount; ++i)
        if (values->chosen[i] >= 0)
            memcpy(to + (size_t)i * (size_t)values->width,
                values->from + (size_t)values->chosen[i] * (size_t)values->width, (size_t)values->width * sizeof *to);
    snwFree(asset->context, values->chosen);
    values->chosen = NULL;
    return to;
}

void snwAsset_RepairNormals(snwAsset* asset, float (*normals)[3], int count)
{
    int64_t repaired = 0;
    int first = 0;
    for (int i = 0; normals != NULL && i < count; ++i)
    {
        double x = normals[i][0], y = normals[i][1], z = normals[i][2], length = sqrt(x * x + y * y + z * z);
        if (length == 0 || fabs(length - 1) <= 0.01)
            continue;
        for (int k = 0; k < 3; ++k)
            normals[i][k] = (float)(normals[i][k] / length);
        Tally(&repaired, &first, i);
    }
    char place[48];
    snprintf(place, sizeof place, "normal %d", first);
    snwAsset_NoteMany(asset, snw_noteRepaired, repaired, place, "normals that were not of length 1 are now");
}

bool snwToFloat(double value, float* out)
{
    bool fits = fabs(value) <= (double)FLT_MAX;
    *out = fits ? (float)value : 0.0f;
    return fits;
}
