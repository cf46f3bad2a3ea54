// Exports of a run, one kind and body at a time: point caches, sequences of OBJ or PLY, MEDIT meshes, and takes
// (clips or GLB) that are written at the end. Frames come one by one.

#include "asset/export_parts.h"
#include "asset/export_take.h"
#include "asset/fine_skin.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

struct snwExporter
{
    snwContext* context;
    snwScene* scene;
    snwExportDef def; // its path belongs to the exporter
    char* path;       // of the file that is being written
    size_t pathCapacity;
    int frames; // added so far
    bool zUp;
    snwPointCache cache;
    snwTake take;
    snwFineSkin* fine; // NULL: the skin that is simulated
    float* positions;  // of one frame, in the axes of the file
    float* normals;
    int capacity;
};

static const struct
{
    const char* name;
    const char* ending;
    bool sequence;
} s_kinds[snw_exportKindCount] = {
    [snw_exportObj] = {"obj", ".obj", true},
    [snw_exportPly] = {"ply", ".ply", true},
    [snw_exportPc2] = {"pc2", ".pc2", false},
    [snw_exportMdd] = {"mdd", ".mdd", false},
    [snw_exportMedit] = {"medit", ".mesh", false},
    [snw_exportClips] = {"clips", ".clips.json", false},
    [snw_exportGlb] = {"glb", ".glb", false},
};

snwExportDef snwDefaultExportDef(snwExportKind kind)
{
    return (snwExportDef){.kind = kind, .path = "", .frameCount = 1, .rate = 60, .meditFrame = -1};
}

const char* snwExportKind_Name(snwExportKind kind)
{
    return s_kinds[kind].name;
}

bool snwExportKind_IsSequence(snwExportKind kind)
{
    return s_kinds[kind].sequence;
}

// ---------------------------------------------------------------------------------------------------------------------
// Names

static void CleanName(const char* from, char* name, size_t capacity)
{
    size_t length = 0;
    for (; *from != 0 && length + 1 < capacity; ++from)
    {
        unsigned char c = (unsigned char)*from;
        bool plain = isalnum(c) || c == '-' || c == '_' || c == '+' || c >= 0x80 || (c == '.' && length > 0);
        name[length++] = plain ? (char)c : '_';
    }
    if (length == 0)
        name[length++] = '_';
    name[length] = 0;
}

void snwExport_FileName(const snwScene* scene, int body, char* name, size_t capacity)
{
    const snwSceneDef* def = snwScene_GetDef(scene);
    char other[128], own[128];
    CleanName(def->bodies[body].name, own, sizeof own);
    bool taken = false;
    for (int i = 0; i < def->bodyCount && !taken; ++i)
    {
        if (i == body)
            continue;
        CleanName(def->bodies[i].name, other, sizeof other);
        taken = strcmp(other, own) == 0;
    }
    // '~' cannot come out of CleanName, so a numbered name meets no other.
    if (taken)
        snprintf(name, capacity, "%s~%d", own, body);
    else
        snprintf(name, capacity, "%s", own);
}

static const char* FramePath(snwExporter* exporter, int frame)
{
    const char* ending = s_kinds[exporter->def.kind].ending;
    if (snwExportKind_IsSequence(exporter->def.kind))
        snprintf(exporter->path, exporter->pathCapacity, "%s-%05d%s", exporter->def.path, frame, ending);
    else
        snprintf(exporter->path, exporter->pathCapacity, "%s%s", exporter->def.path, ending);
    return exporter->path;
}

// ---------------------------------------------------------------------------------------------------------------------
// Making one

static bool IsCache(snwExportKind kind)
{
    return kind == snw_exportPc2 || kind == snw_exportMdd;
}

static bool IsTake(snwExportKind kind)
{
    return kind == snw_exportClips || kind == snw_exportGlb;
}

static snwResult CheckExportDef(const snwExportDef* def, const snwScene* scene, snwMessage* message)
{
    const snwSceneDef* sceneDef = snwScene_GetDef(scene);
    if ((int)def->kind < 0 || def->kind >= snw_exportKindCount)
        return snwFail(message, snw_errorArgument, NULL, "there is no kind of export %d", (int)def->kind);
    if (def->body < 0 || def->body >= sceneDef->bodyCount)
        return snwFail(message, snw_errorArgument, NULL, "export of body %d, but the scene has %d", def->body,
            sceneDef->bodyCount);
    if (def->path == NULL || def->path[0] == 0 || def->frameCount < 1 || !(def->rate > 0))
        return snwFail(message, snw_errorArgument, "start from snwDefaultExportDef",
            "an export needs a path, frames and their rate");
    if (IsTake(def->kind) && snwCharacter_HandleCount(sceneDef->bodies[def->body].character) == 0)
        return snwFail(message, snw_errorUnsupported, "a character with handles or bones",
            "body '%s' has no handles to export", sceneDef->bodies[def->body].name);
    return snw_ok;
}

static snwResult OpenExport(snwExporter* exporter, snwMessage* message)
{
    const snwExportDef* def = &exporter->def;
    const char* path = FramePath(exporter, 0);
    if (!IsCache(def->kind))
        return snwPartFile_Check(exporter->context, path, def->overwrite, message);
    snwResult result = snwPointCache_Open(
        &exporter->cache, exporter->context, path, def->kind == snw_exportMdd, def->overwrite, message);
    exporter->cache.expected = def->frameCount;
    exporter->cache.rate = def->rate;
    return result;
}

snwResult snwExporter_Open(
    snwContext* context, const snwExportDef* def, snwScene* scene, snwExporter** result, snwMessage* message)
{
    *result = NULL;
    snwResult checked = CheckExportDef(def, scene, message);
    if (checked < 0)
        return checked;
    snwExporter* exporter = snwAlloc(context, sizeof *exporter);
    if (exporter == NULL)
        return snwFailMemory(message);

    // It keeps the scene, for bodies are looked up in every frame.
    snwScene_Retain(scene);
    exporter->context = context;
    exporter->scene = scene;
    exporter->take = (snwTake){.context = context, .scene = scene, .body = def->body};
    exporter->def = *def;

    // Caches usually have z upwards, all other kinds y.
    exporter->zUp = def->up == snw_upZ || (def->up == snw_upUsual && IsCache(def->kind));
    exporter->pathCapacity = strlen(def->path) + 32;
    exporter->path = snwAlloc(context, exporter->pathCapacity);
    exporter->def.path = snwCopyText(context, def->path);

    bool made = exporter->path != NULL && exporter->def.path != NULL;
    checked = made ? OpenExport(exporter, message) : snwFailMemory(message);
    if (checked < 0)
        snwExporter_Drop(exporter);
    else
        *result = exporter;

    return checked;
}

void snwExporter_Drop(snwExporter* exporter)
{
    if (exporter == NULL)
        return;
    snwContext* context = exporter->context;
    snwPartFile_Drop(&exporter->cache.output);
    snwTake_Free(&exporter->take);
    snwDestroyFineSkin(context, exporter->fine);
    snwFree(context, exporter->path);
    snwFree(context, (void*)exporter->def.path);
    snwFree(context, exporter->positions);
    snwFree(context, exporter->normals);
    snwScene_Release(exporter->scene);
    snwFree(context, exporter);
}

// ---------------------------------------------------------------------------------------------------------------------
// A frame

static bool ReserveVertices(snwExporter* exporter, int count)
{
    if (exporter->positions != NULL && exporter->normals != NULL && count <= exporter->capacity)
        return true;
    snwFree(exporter->context, exporter->positions);
    snwFree(exporter->context, exporter->normals);
    exporter->positions = snwAllocArray(exporter->context, 3 * (size_t)count + 3, sizeof(float));
    exporter->normals = snwAllocArray(exporter->context, 3 * (size_t)count + 3, sizeof(float));
    exporter->capacity = count;
    return exporter->positions != NULL && exporter->normals != NULL;
}

static void CopyScaledRows(const snwExporter* exporter, const float* from, int stride, int count, float* to)
{
    for (int i = 0; i < count; ++i)
    {
        float p[3];
        memcpy(p, (const char*)from + (size_t)i * (size_t)stride, sizeof p);
        to[3 * (size_t)i] = p[0];
        to[3 * (size_t)i + 1] = exporter->zUp ? -p[2] : p[1];
        to[3 * (size_t)i + 2] = exporter->zUp ? p[1] : p[2];
    }
}

// The finer skin of characters that ask for one; others have none, and caches of all vertices neither.
static snwResult FindFine(snwExporter* exporter, const snwSim* sim, snwMessage* message)
{
    const snwExportDef* def = &exporter->def;
    const snwCharacterDef* character = snwCharacter_GetDef(
        snwScene_GetDef(exporter->scene)->bodies[def->body].character);
    int times = snwFineSkin_Wanted(character->source);
    snwMatrices handles;
    if (exporter->frames > 0 || times == 0 || character->triangleCount == 0 ||
        (def->allVertices && IsCache(def->kind)) || snwSim_GetHandleMatrices(sim, def->body, &handles) < 0 ||
        handles.count == 0)
        return snw_ok;
    return snwCreateFineSkin(exporter->context, character, times, &exporter->fine, message);
}

static snwResult GetFine(snwExporter* exporter, const snwSim* sim, snwExportShape* shape, snwMessage* message)
{
    const snwFineSkin* fine = exporter->fine;
    snwMatrices handles;
    if (snwSim_GetHandleMatrices(sim, exporter->def.body, &handles) < 0 || !ReserveVertices(exporter, fine->pointCount))
        return snwFailMemory(message);
    const float front[3] = {0, 0, 1};
    snwFineSkin_Move(fine, &handles, exporter->positions);
    CopyScaledRows(exporter, exporter->positions, 3 * (int)sizeof(float), fine->pointCount, exporter->positions);
    CopyScaledRows(exporter, front, 0, fine->pointCount, exporter->normals);
    shape->positions = exporter->positions;
    shape->normals = exporter->normals;
    shape->count = fine->pointCount;
    shape->triangles = fine->triangles;
    shape->triangleCount = fine->triangleCount;
    shape->texcoords = (const float(*)[2])fine->texcoords;
    return snw_ok;
}

// The skin; all vertices if they are asked for or there is no skin.
static snwResult GetShape(snwExporter* exporter, snwSim* sim, snwExportShape* shape, snwMessage* message)
{
    const snwExportDef* def = &exporter->def;
    const snwBodyDef* body = &snwScene_GetDef(exporter->scene)->bodies[def->body];
    snwSkin skin;
    snwVertices vertices;

    if (snwSim_GetSkin(sim, def->body, &skin) < 0 || snwSim_GetShown(sim, def->body, &vertices) < 0)
        return snwFail(message, snw_errorArgument, NULL, "body '%s' has no shape to export", body->name);

    // Without a skin (a spring), or if they are asked for, all vertices are written.
    bool all = skin.triangleCount == 0 || (def->allVertices && IsCache(def->kind));
    const snwCharacterDef* character = snwCharacter_GetDef(body->character);
    *shape = (snwExportShape){.name = body->name, .character = character};
    snwResult result = FindFine(exporter, sim, message);
    if (result < 0 || exporter->fine != NULL)
        return result < 0 ? result : GetFine(exporter, sim, shape, message);

    shape->texcoords = character->texcoords;
    shape->colors = character->colors;
    shape->count = all ? vertices.count : skin.vertexCount;
    if (!ReserveVertices(exporter, shape->count))
        return snwFailMemory(message);
    shape->positions = exporter->positions;
    if (all)
    {
        CopyScaledRows(exporter, vertices.positions, vertices.stride, vertices.count, exporter->positions);
        return snw_ok;
    }

    // The skin: positions, normals and triangles, and which vertices of the mesh they are.
    CopyScaledRows(exporter, skin.positions, skin.stride, skin.vertexCount, exporter->positions);
    CopyScaledRows(exporter, skin.normals, skin.stride, skin.vertexCount, exporter->normals);
    shape->normals = exporter->normals;
    shape->triangles = skin.triangles;
    shape->triangleCount = skin.triangleCount;
    shape->vertices = skin.vertices;

    return snw_ok;
}

static snwResult WriteExportFile(snwExporter* exporter, const snwWriter* out, snwMessage* message)
{
    if (out->failed)
        return snwFailMemory(message);
    return snwFile_Write(exporter->context, FramePath(exporter, exporter->frames), out->data, out->size,
        exporter->def.overwrite, message);
}

static snwResult AddShape(snwExporter* exporter, snwSim* sim, snwMessage* message)
{
    snwExportShape shape = {0};
    snwResult result = GetShape(exporter, sim, &shape, message);
    if (result < 0)
        return result;
    if (IsCache(exporter->def.kind))
        return snwPointCache_AddFrame(&exporter->cache, shape.positions, shape.count, message);
    snwWriter out = {.context = exporter->context};
    if (exporter->def.kind == snw_exportObj)
        snwExport_WriteObj(&out, &shape);
    else
        snwExport_WritePly(&out, &shape);
    result = WriteExportFile(exporter, &out, message);
    snwFree(exporter->context, out.data);
    return result;
}

static void MeditPositions(const snwExporter* exporter, const snwVertices* now, double* positions)
{
    const snwCharacterDef* character = snwCharacter_GetDef(
        snwScene_GetDef(exporter->scene)->bodies[exporter->def.body].character);
    for (int i = 0; i < character->vertexCount; ++i)
    {
        snwVec3 p = character->vertices[i];
        if (exporter->def.meditFrame >= 0)
        {
            const float* row = (const float*)((const char*)now->positions + (size_t)i * (size_t)now->stride);
            p = (snwVec3){row[0], row[1], row[2]};
        }
        positions[3 * (size_t)i] = p.x;
        positions[3 * (size_t)i + 1] = exporter->zUp ? -p.z : p.y;
        positions[3 * (size_t)i + 2] = exporter->zUp ? p.y : p.z;
    }
}

static snwResult AddMedit(snwExporter* exporter, snwSim* sim, snwMessage* message)
{
    int frame = exporter->def.meditFrame >= 0 ? exporter->def.meditFrame : 0;
    if (exporter->frames != frame)
        return snw_ok;

    // One frame alone, whichever was asked for.
    snwCharacter* body = snwScene_GetDef(exporter->scene)->bodies[exporter->def.body].character;
    const snwCharacterDef* character = snwCharacter_GetDef(body);
    snwSkin skin;
    snwVertices now;
    if (snwCharacter_GetRestSkin(body, &skin) < 0 || snwSim_GetShown(sim, exporter->def.body, &now) < 0)
        return snwFail(message, snw_errorArgument, NULL, "body %d has no mesh to export", exporter->def.body);
    snwContext* context = exporter->context;
    double* positions = snwAllocArray(context, 3 * (size_t)character->vertexCount + 3, sizeof *positions);
    int* triangles = snwAllocArray(context, 3 * (size_t)skin.triangleCount + 3, sizeof *triangles);
    snwWriter out = {.context = context, .failed = positions == NULL || triangles == NULL};

    // The skin by the numbers of the mesh's own vertices.
    if (!out.failed)
    {
        MeditPositions(exporter, &now, positions);
        for (size_t i = 0; i < 3 * (size_t)skin.triangleCount; ++i)
            triangles[i] = skin.vertices[skin.triangles[i]];
        snwExport_WriteMedit(&out, character, positions, triangles, skin.triangleCount);
    }

    snwResult result = WriteExportFile(exporter, &out, message);
    snwFree(context, positions);
    snwFree(context, triangles);
    snwFree(context, out.data);

    return result;
}

snwResult snwExporter_AddFrame(snwExporter* exporter, snwSim* sim, snwMessage* message)
{
    if (snwSim_GetScene(sim) != exporter->scene)
        return snwFail(message, snw_errorArgument, "one exporter per scene", "the sim shows another scene");
    snwExportKind kind = exporter->def.kind;
    snwResult result = kind == snw_exportMedit ? AddMedit(exporter, sim, message)
                       : IsTake(kind)          ? snwTake_AddFrame(&exporter->take, sim, message)
                                               : AddShape(exporter, sim, message);
    exporter->frames += result >= 0;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The end

// An older and longer sequence must not show behind this one.
static void RemoveOlderFrames(snwExporter* exporter)
{
    for (int i = exporter->frames; exporter->def.overwrite && unlink(FramePath(exporter, i)) == 0; ++i)
    {
    }
}

static snwResult WriteExportClips(snwExporter* exporter, snwMessage* message)
{
    snwText text = snwCreateText(exporter->context, 4);
    snwResult result = snwTake_WriteClips(&exporter->take, &text, message);
    if (result >= 0)
        result = snwFile_Write(
            exporter->context, FramePath(exporter, 0), text.data, text.size, exporter->def.overwrite, message);
    snwText_Free(&text);
    return result;
}

static snwResult WriteGlb(snwExporter* exporter, snwMessage* message)
{
    unsigned char* data = NULL;
    size_t size = 0;
    snwResult result = snwTake_WriteGlb(&exporter->take, &data, &size, message);
    if (result >= 0)
        result = snwFile_Write(exporter->context, FramePath(exporter, 0), data, size, exporter->def.overwrite, message);
    snwFree(exporter->context, data);
    return result;
}

snwResult snwExporter_Finish(snwExporter* exporter, snwMessage* message)
{
    const snwExportDef* def = &exporter->def;
    snwResult result = snw_ok;
    if (exporter->frames > 0 && IsCache(def->kind))
        result = snwPointCache_Finish(&exporter->cache, message);
    if (exporter->frames > 0 && def->kind == snw_exportClips)
        result = WriteExportClips(exporter, message);
    if (exporter->frames > 0 && def->kind == snw_exportGlb)
        result = WriteGlb(exporter, message);
    if (exporter->frames > 0 && snwExportKind_IsSequence(def->kind))
        RemoveOlderFrames(exporter);
    if (def->kind == snw_exportMedit && def->meditFrame >= exporter->frames)
        result = snwFail(message, snw_errorArgument, "a frame that the run reaches",
            "no .mesh was written: the run has no frame %d", def->meditFrame);
    snwExporter_Drop(exporter);
    return result;
}
