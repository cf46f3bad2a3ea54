// Handles of a picture: those of the sidecar, or where a person would take hold.
//
// Without a sidecar the first one is the middle: the vertex that is deepest inside among those near the centre. The
// others are ends: what lies farthest, along the sheet and not across gaps, from all handles so far, drawn back from
// the tip to the deepest place close by. That ends when nothing is far any more.

#include "prepare/flat.h"

#include "scene/blueprint_tables.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
    flat_mostFlatHandles = 64,
    flat_ownHandles = 12, // without being asked
};

static const double s_farEnough = 0.3; // of the farthest place from the middle
static const double s_drawBack = 0.25; // of the way to the middle, at most

// ---------------------------------------------------------------------------------------------------------------------
// Distances along the sheet

static bool RelaxEdge(const snwFlatMesh* mesh, int a, int b, double* distances)
{
    double length = hypot(mesh->vertices[a][0] - mesh->vertices[b][0], mesh->vertices[a][1] - mesh->vertices[b][1]);
    if (!(distances[b] + length < distances[a]))
        return false;
    distances[a] = distances[b] + length;
    return true;
}

// Along edges, from what is there; sweeps to and fro until nothing changes.
static void SpreadDistances(const snwFlatMesh* mesh, double* distances)
{
    for (bool changed = true, back = false; changed; back = !back)
    {
        changed = false;
        for (int n = 0; n < mesh->triangleCount; ++n)
        {
            const int* t = mesh->triangles[back ? mesh->triangleCount - 1 - n : n];
            for (int k = 0; k < 6; ++k)
                changed |= RelaxEdge(mesh, t[k % 3], t[(k + 1 + k / 3) % 3], distances);
        }
    }
}

typedef struct Places
{
    double* depths;    // to the rim
    double* distances; // to the nearest handle
    double* reach;     // to the middle
    int chosen[flat_mostFlatHandles];
    int count;
} Places;

static int Deepest(const snwFlatMesh* mesh, const double* depths, const double centre[2], double near)
{
    int best = 0;
    double most = -DBL_MAX;
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        double away = hypot(mesh->vertices[i][0] - centre[0], mesh->vertices[i][1] - centre[1]);
        double score = depths[i] - away * near;
        if (score > most)
            most = score, best = i;
    }
    return best;
}

static void Centre(const snwFlatMesh* mesh, double centre[2])
{
    double area = 0, sum[2] = {0, 0};
    for (int t = 0; t < mesh->triangleCount; ++t)
    {
        const double *a = mesh->vertices[mesh->triangles[t][0]], *b = mesh->vertices[mesh->triangles[t][1]],
                     *c = mesh->vertices[mesh->triangles[t][2]];
        double own = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        area += own;
        for (int k = 0; k < 2; ++k)
            sum[k] += own * (a[k] + b[k] + c[k]) / 3;
    }
    centre[0] = sum[0] / area;
    centre[1] = sum[1] / area;
}

static int FarthestFromChosen(const snwFlatMesh* mesh, const double* distances)
{
    int best = 0;
    for (int i = 1; i < mesh->vertexCount; ++i)
        best = distances[i] < DBL_MAX && distances[i] > distances[best] ? i : best;
    return best;
}

// The deepest vertex near a tip that is not farther from the middle than it.
static int DrawBack(const snwFlatMesh* mesh, const Places* places, int tip)
{
    int best = tip;
    double near = s_drawBack * places->distances[tip];
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        double away = hypot(
            mesh->vertices[i][0] - mesh->vertices[tip][0], mesh->vertices[i][1] - mesh->vertices[tip][1]);
        if (away <= near && places->depths[i] > places->depths[best] && places->reach[i] <= places->reach[tip])
            best = i;
    }
    return best;
}

static void ChooseVertex(const snwFlatMesh* mesh, Places* places, int vertex)
{
    places->chosen[places->count++] = vertex;
    places->distances[vertex] = 0;
    SpreadDistances(mesh, places->distances);
}

// most: handles; all of them are placed if `all`, else only those that are far from the others.
static bool FindHandlePlaces(const snwFlatMesh* mesh, snwArena* arena, int most, bool all, Places* places)
{
    size_t count = (size_t)mesh->vertexCount;
    double centre[2], far = 0;
    *places = (Places){snwArena_Alloc(arena, count, sizeof(double)), snwArena_Alloc(arena, count, sizeof(double)),
        snwArena_Alloc(arena, count, sizeof(double)), {0}, 0};
    if (arena->failed)
        return false;

    // Depth: the way over edges from the rim.
    for (size_t i = 0; i < count; ++i)
        places->depths[i] = places->distances[i] = DBL_MAX;
    for (int i = 0; i < mesh->edgeCount; ++i)
        places->depths[mesh->edges[i][0]] = 0;
    SpreadDistances(mesh, places->depths);

    // The first one in the middle; distances from it are how far anything is out.
    Centre(mesh, centre);
    ChooseVertex(mesh, places, Deepest(mesh, places->depths, centre, 0.35));
    memcpy(places->reach, places->distances, count * sizeof(double));

    // One after the other, each at the tip that is farthest from all before it, drawn back into the flesh.
    while (places->count < most)
    {
        int tip = FarthestFromChosen(mesh, places->distances);
        far = fmax(far, places->distances[tip]);
        if (!all && places->distances[tip] < s_farEnough * far)
            break;
        ChooseVertex(mesh, places, DrawBack(mesh, places, tip));
        places->distances[tip] = 0;
        SpreadDistances(mesh, places->distances);
    }

    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Names say where

static bool IsHandleNameTaken(const snwFlatPreparer* p, const char* name)
{
    for (int i = 0; i < p->handleCount; ++i)
        if (strcmp(p->handles[i].name, name) == 0)
            return true;
    return false;
}

static const char* PlaceName(snwFlatPreparer* p, const double* at, const double* middle)
{
    static const char* const s_names[] = {
        "right", "upper right", "top", "upper left", "left", "lower left", "bottom", "lower right"};
    char name[32];
    int eighth = (int)lround(atan2(at[1] - middle[1], at[0] - middle[0]) / (SNW_PI / 4));
    const char* word = at == middle ? "middle" : s_names[(eighth + 8) % 8];
    snprintf(name, sizeof name, "%s", word);
    for (int n = 2; IsHandleNameTaken(p, name); ++n)
        snprintf(name, sizeof name, "%s %d", word, n);
    return snwArena_Text(&p->base->arena, name);
}

static snwResult MakeOwn(snwFlatPreparer* p, int count)
{
    snwArena* arena = &p->base->arena;
    Places places;
    p->handles = snwArena_Alloc(arena, flat_mostFlatHandles, sizeof *p->handles);
    if (!FindHandlePlaces(&p->mesh, arena, count > 0 ? count : flat_ownHandles, count > 0, &places))
        return snwFailMemory(p->base->message);

    // Named by where they are as seen from the first.
    for (int i = 0; i < places.count; ++i)
    {
        const double *at = p->mesh.vertices[places.chosen[i]], *middle = p->mesh.vertices[places.chosen[0]];
        snwHandleDef handle = snwDefaultHandleDef();
        handle.name = PlaceName(p, at, middle);
        handle.position = (snwVec3){at[0], at[1], 0};
        p->handles[p->handleCount++] = handle;
    }

    if (count == 0)
        snwPreparer_Note(p->base, "%d handles were put where it can be taken hold of; the sidecar may say otherwise",
            p->handleCount);
    return arena->failed ? snwFailMemory(p->base->message) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// The sidecar's

// Pixels from the picture's top left corner -> metres.
static snwVec3 FromPixels(const snwFlatPreparer* p, snwVec3 pixels)
{
    double point[2];
    snwFlatPreparer_Place(p, (double[2]){pixels.x, pixels.y}, point);
    return (snwVec3){point[0], point[1], 0};
}

// Places on paper are two numbers; the table wants three.
static json_t* AddDepths(const json_t* value)
{
    static const char* const s_keys[] = {"at", "tail"};
    json_t* copy = json_deep_copy(value);
    for (int i = 0; i < 2; ++i)
    {
        json_t* place = json_object_get(copy, s_keys[i]);
        if (json_is_array(place) && json_array_size(place) == 2)
            json_array_append_new(place, json_integer(0));
    }
    return copy;
}

static snwResult ReadFlatHandle(snwFlatPreparer* p, snwJson* json, const json_t* value, snwHandleData* data)
{
    json_t* copy = AddDepths(value);
    if (copy == NULL)
        return snwFailMemory(p->base->message);
    snwResult result = snwTable_Read(json, &snw_handleTable, copy, data, NULL);
    if (result >= 0)
        data->def.name = snwArena_Text(&p->base->arena, data->def.name);
    json_decref(copy);
    return result < 0 || !p->base->arena.failed ? result : snwFailMemory(p->base->message);
}

static snwResult AddFlatHandle(snwFlatPreparer* p, snwJson* json, const json_t* value)
{
    snwHandleData data = {0};
    snwResult result = ReadFlatHandle(p, json, value, &data);
    if (result < 0)
        return result;

    // What a blueprint may say but a picture may not.
    if (data.mirror)
        return snwJson_Fail(json, "write both down", "handles of a picture have no mirror");
    if (IsHandleNameTaken(p, data.def.name))
        return snwJson_Fail(json, "names must be unique", "the name '%.60s' is taken", data.def.name);
    data.def.position = FromPixels(p, data.def.position);
    p->handles[p->handleCount++] = data.def;

    // A bone follows the bone that was given before it.
    if (data.def.kind != snw_handleBone)
        return snw_ok;
    snwBoneDef bone = snwDefaultBoneDef();
    bone.name = data.def.name;
    bone.head = data.def.position;
    bone.tail = FromPixels(p, data.tail);
    bone.parent = p->boneCount - 1;
    p->bones[p->boneCount++] = bone;

    return snw_ok;
}

static snwResult ReadList(snwFlatPreparer* p, snwJson* json)
{
    const json_t* list = p->settings.handles;
    size_t count = json_array_size(list);
    if (count < 1 || count > flat_mostFlatHandles)
        return snwJson_Fail(json, NULL, "must be 1 to %d handles", flat_mostFlatHandles);
    p->handles = snwArena_Alloc(&p->base->arena, count, sizeof *p->handles);
    p->bones = snwArena_Alloc(&p->base->arena, count, sizeof *p->bones);
    snwResult result = p->base->arena.failed ? snwFailMemory(p->base->message) : snw_ok;
    for (size_t i = 0; i < count && result >= 0; ++i)
    {
        size_t mark = snwJson_EnterIndex(json, i);
        result = AddFlatHandle(p, json, json_array_get(list, i));
        snwJson_Leave(json, mark);
    }
    return result >= 0 && p->base->arena.failed ? snwFailMemory(p->base->message) : result;
}

snwResult snwFlatPreparer_MakeHandles(snwFlatPreparer* p)
{
    const json_t* handles = p->settings.handles;
    double number = p->base->def->handles;
    snwJson json = {.context = p->base->context, .message = p->base->message, .file = p->settings.file};
    snwJson_Enter(&json, "handles");
    snwResult result = snw_ok;
    if (p->base->def->handles == 0 && json_is_array(handles))
        return ReadList(p, &json);
    if (p->base->def->handles == 0 && handles != NULL)
        result = snwJson_ReadReal(&json, handles, 1, flat_mostFlatHandles, &number);
    return result < 0 ? result : MakeOwn(p, (int)number);
}
