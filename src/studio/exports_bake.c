// The recording through the writers of bakes: a reel of the surfaces that were shown. An artist's file keeps its
// document; for all else one is made, with the bodies as they stood in the first frame.

#include "studio/exports.h"

#include "asset/gltf_write.h"
#include "bake/reel.h"
#include "bake/settings.h"
#include "scene/file.h"
#include "scene/names.h"
#include "scene/prepared_file.h"
#include "sim/character.h"

#include <math.h>
#include <string.h>

typedef struct Reel
{
    snwExportWork* work;
    const snwSceneDef* scene;
    snwReel reel;
    snwArena arena;
    snwAsset* asset;
    snwReelSurface* surfaces;
    float* positions; // of the frame that was read, normals behind them, and
    size_t* firsts;   // where those of each body begin
} Reel;

// ---------------------------------------------------------------------------------------------------------------------
// Takes

static void NormalizeNormals(float* normals, int count)
{
    for (int i = 0; i < count; ++i)
    {
        float* n = normals + 3 * (size_t)i;
        float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; ++k)
            n[k] = length > 0 ? n[k] / length : (float)(k == 1);
    }
}

// All positions, then all normals.
static snwResult KeepFrame(snwExportWork* work, const snwRunFrame* frame, snwMessage* message)
{
    snwShown_Update(work->shown, frame->sim);
    bool kept = true;
    for (int i = 0; i < 2 * work->shown->bodyCount; ++i)
    {
        const snwShownBody* body = &work->shown->bodies[i % work->shown->bodyCount];
        size_t count = 3 * (size_t)body->pointCount;
        bool normals = i >= work->shown->bodyCount;
        if (normals)
            NormalizeNormals(body->normals, body->pointCount);
        kept = kept && fwrite(normals ? body->normals : body->positions, sizeof(float), count, work->takes) == count;
    }
    if (!kept)
        return snwFail(message, snw_errorIo, "make room on the disk", "cannot keep frame %d", frame->frame);
    return snw_ok;
}

static snwResult ReadTakeFrame(void* user, int frame, double* clipTime, snwMessage* message)
{
    Reel* r = user;
    size_t floats = r->work->floats;
    *clipTime = r->reel.start + frame / r->reel.rate;
    bool read = fseeko(r->work->takes, (off_t)((size_t)frame * floats * sizeof(float)), SEEK_SET) == 0 &&
                fread(r->positions, sizeof(float), floats, r->work->takes) == floats;
    return read ? snw_ok : snwFail(message, snw_errorIo, NULL, "cannot read frame %d again", frame);
}

static snwResult GetBody(void* user, int index, snwSkin* skin, snwMessage* message)
{
    const Reel* r = user;
    (void)message;
    *skin = (snwSkin){.positions = r->positions + r->firsts[index],
        .normals = r->positions + r->work->floats / 2 + r->firsts[index],
        .vertexCount = r->work->shown->bodies[index].pointCount,
        .stride = 3 * (int)sizeof(float)};
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// A document of our own

static int AddReelMaterial(Reel* r, snwGltfWriter* writer, int part)
{
    snwGltfMaterialDef material = snwDefaultGltfMaterialDef();
    snwShownPaint paint = snwShown_FindPaint(r->work->shown, r->scene, part);
    int body = r->work->shown->parts[part].body, first = r->work->shown->parts[part].firstPoint;
    const snwCharacterDef* def = &r->scene->bodies[body].character->def;
    float ignored[3];
    bool colored = paint.texture.width == 0 && snwShownBody_Color(&r->work->shown->bodies[body], def, first, ignored);
    material.name = def->name;
    material.doubleSided = def->triangleCount > 0;
    for (int k = 0; k < 3; ++k)
        material.color[k] = colored ? 1 : paint.color[k];
    if (paint.texture.width > 0)
        material.image = snwGltfWriter_AddTexture(writer, def->name, &paint.texture);
    return snwGltfWriter_AddMaterial(writer, &material);
}

static bool MakeReelParts(Reel* r, snwGltfWriter* writer, int index, snwAssetMesh* mesh, int** materials)
{
    const snwShownBody* body = &r->work->shown->bodies[index];
    snwAssetPart* parts = snwArena_Alloc(&r->arena, (size_t)body->partCount + 1, sizeof *parts);
    *materials = snwArena_Alloc(&r->arena, (size_t)body->partCount + 1, sizeof **materials);
    if (r->arena.failed)
        return false;
    for (int i = 0; i < body->partCount; ++i)
    {
        const snwShownPart* part = &r->work->shown->parts[body->firstPart + i];
        parts[i] = (snwAssetPart){
            mesh->name, "", part->firstPoint, part->pointCount, part->firstTriangle, part->triangleCount};
        (*materials)[i] = AddReelMaterial(r, writer, body->firstPart + i);
    }
    mesh->parts = parts;
    mesh->partCount = body->partCount;
    return true;
}

// positions and normals: of the first frame.
static bool CopyPoints(Reel* r, int index, snwAssetMesh* mesh)
{
    const snwShownBody* body = &r->work->shown->bodies[index];
    const snwCharacterDef* def = &r->scene->bodies[index].character->def;
    size_t count = (size_t)body->pointCount + 1;
    snwVec3* positions = snwArena_Alloc(&r->arena, count, sizeof *positions);
    float(*normals)[3] = snwArena_Alloc(&r->arena, count, sizeof *normals);
    float(*texcoords)[2] = snwArena_Alloc(&r->arena, count, sizeof *texcoords);
    float(*colors)[4] = snwArena_Alloc(&r->arena, count, sizeof *colors);
    snwShownPaint paint = snwShown_FindPaint(r->work->shown, r->scene, body->firstPart);
    bool textured = false, colored = false;

    // Paint as the page shows it: a texture where there is one, else colours.
    for (int i = 0; i < body->pointCount && !r->arena.failed; ++i)
    {
        const float* x = r->positions + r->firsts[index] + 3 * (size_t)i;
        const float* n = r->positions + r->work->floats / 2 + r->firsts[index] + 3 * (size_t)i;
        positions[i] = (snwVec3){(double)x[0], (double)x[1], (double)x[2]};
        memcpy(normals[i], n, sizeof normals[i]);
        textured = paint.texture.width > 0 || (body->surface != NULL && body->surface->paint != NULL);
        if (textured)
            memcpy(texcoords[i], snwShownBody_Texcoord(body, def, i), sizeof texcoords[i]);
        colored = !textured && snwShownBody_Color(body, def, i, colors[i]);
        colors[i][3] = 1;
    }

    mesh->positions = positions;
    mesh->normals = (const float(*)[3])normals;
    mesh->texcoords = textured ? (const float(*)[2])texcoords : NULL;
    mesh->colors = colored ? (const float(*)[4])colors : NULL;

    return !r->arena.failed;
}

static void AddReelBody(Reel* r, snwGltfWriter* writer, int index)
{
    const snwShownBody* body = &r->work->shown->bodies[index];
    snwAssetMesh mesh = {.name = r->scene->bodies[index].name,
        .vertexCount = body->pointCount,
        .triangles = (const int(*)[3])body->triangles,
        .triangleCount = body->triangleCount};
    int* materials = NULL;
    if (body->triangleCount == 0 || !MakeReelParts(r, writer, index, &mesh, &materials) || !CopyPoints(r, index, &mesh))
        return;
    snwGltfMeshDef def = {.mesh = &mesh, .materials = materials, .influences = 4};
    snwGltfNodeDef node = snwDefaultGltfNodeDef();
    node.name = mesh.name;
    node.mesh = snwGltfWriter_AddMesh(writer, &def);
    snwReelSurface* surface = &r->surfaces[r->reel.surfaceCount++];
    *surface = (snwReelSurface){.name = mesh.name, .mesh = node.mesh, .index = index};
    surface->node = snwGltfWriter_AddNode(writer, &node);
}

static snwResult ReadBackReel(Reel* r, snwGltfWriter* writer)
{
    unsigned char* data = NULL;
    size_t size = 0;
    snwResult result = snwGltfWriter_Write(writer, snw_gltfGlb, &data, &size, r->work->message);
    char* text = result >= 0 ? snwAllocRaw(r->work->context, size + 1) : NULL;
    if (text != NULL)
    {
        memcpy(text, data, size);
        text[size] = 0;
        snwAssetInput input = {"made.glb", text, size, NULL};
        result = snwAsset_Read(r->work->context, &input, &r->asset, r->work->message);
    }
    else if (result >= 0)
        result = snwFailMemory(r->work->message);
    snwFree(r->work->context, text);
    snwFree(r->work->context, data);
    return result;
}

static snwResult MakeDocument(Reel* r)
{
    snwGltfWriter* writer = NULL;
    double ignored;
    snwResult result = ReadTakeFrame(r, 0, &ignored, r->work->message);
    if (result >= 0)
        result = snwGltfWriter_Open(r->work->context, NULL, &writer, r->work->message);
    for (int i = 0; i < r->work->shown->bodyCount && result >= 0; ++i)
        AddReelBody(r, writer, i);
    if (result >= 0 && r->arena.failed)
        result = snwFailMemory(r->work->message);
    if (result >= 0 && r->reel.surfaceCount == 0)
        result = snwFail(r->work->message, snw_errorInput, NULL, "there is no surface to write");
    if (result >= 0)
        result = ReadBackReel(r, writer);
    snwGltfWriter_Close(writer);
    r->reel.scale = 1;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The artist's document

// Which point of the body stands for each vertex of a surface.
static int* MapSurfaceVertices(Reel* r, int surface)
{
    const snwFilmSurface* shown = r->work->shown->bodies[0].surface;
    const snwPrepared* prepared = shown->prepared;
    int first = 0, count = prepared->surfaces[surface].vertexCount;
    for (int i = 0; i < surface; ++i)
        first += prepared->surfaces[i].vertexCount;
    int* map = snwArena_Alloc(&r->arena, (size_t)count + 1, sizeof *map);
    for (int i = 0; i < shown->pointCount && map != NULL; ++i)
        if (shown->sources[i] >= first && shown->sources[i] < first + count)
            map[shown->sources[i] - first] = i;
    return map;
}

// The clip goes on while the recording is no longer than it.
static void FindClip(Reel* r)
{
    const char* motion = r->scene->bodies[0].motion;
    r->reel.animation = -1;
    r->reel.start = r->scene->bodies[0].motionStart;
    for (int i = 0; motion != NULL && i < r->asset->animationCount; ++i)
        if (strcmp(r->asset->animations[i].name, motion) == 0 &&
            r->reel.start + (r->reel.frameCount - 1) / r->reel.rate <= r->asset->animations[i].end + 0.5 / r->reel.rate)
            r->reel.animation = i;
    if (r->reel.animation >= 0)
        r->reel.clip = motion;
    else
    {
        r->reel.start = 0;
        if (motion != NULL && motion[0] != 0)
            snwExportWork_Note(r->work, "the recording is longer than the clip: all of its motion is in morph targets");
    }
}

static snwResult UseDocument(Reel* r, const char* path)
{
    const snwPrepared* prepared = r->work->shown->bodies[0].surface->prepared;
    snwResult result = snwAsset_Open(r->work->context, path, &r->asset, r->work->message);
    if (result < 0)
        return result;

    // Surfaces of the artist's document, with the vertices that each of them shows.
    r->surfaces = snwArena_Alloc(&r->arena, (size_t)prepared->info.surfaceCount + 1, sizeof *r->surfaces);

    for (int i = 0; i < prepared->info.surfaceCount && r->surfaces != NULL; ++i)
    {
        const snwSurfaceInfo* info = &prepared->surfaces[i];
        if (info->mesh >= 0 && info->mesh < r->asset->meshCount && info->node >= 0)
            r->surfaces[r->reel.surfaceCount++] = (snwReelSurface){
                info->name, info->mesh, info->node, 0, MapSurfaceVertices(r, i)};
    }

    // Which animation of the document is replaced.
    if (r->arena.failed)
        return snwFailMemory(r->work->message);
    FindClip(r);
    r->reel.scale = prepared->info.scale;
    r->reel.path = path;

    return snw_ok;
}

static bool HasDocument(const Reel* r, const char* path)
{
    const snwShown* shown = r->work->shown;
    size_t length = strlen(path);
    bool gltf = length > 5 && (strcmp(path + length - 4, ".glb") == 0 || strcmp(path + length - 5, ".gltf") == 0);
    return gltf && shown->bodyCount == 1 && shown->bodies[0].surface != NULL &&
           shown->bodies[0].surface->prepared != NULL;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult OnWritten(int done, int total, void* user)
{
    snwExportWork* work = user;
    return snwJob_Progress(work->job, "writing", 0.5 + 0.5 * done / (total > 0 ? total : 1));
}

static snwResult WriteReel(Reel* r, snwBakeOutputReport* report)
{
    snwExportWork* work = r->work;
    snwBakeOutputDef def = snwDefaultBakeOutputDef();
    snwBakeWriting writing = {work->context, &r->reel, &def, report, work->message};

    // The format by the word of the request, else by the name's ending.
    def.path = work->path;
    def.progress = OnWritten;
    def.user = work;
    if (!snwBakeFormat_Find(work->job->format, &def.format))
        def.format = snw_bakeAuto;
    r->reel.asset = r->asset;
    r->reel.surfaces = r->surfaces;
    snwResult result = snwBakeWriting_Write(&writing);
    if (result < 0)
        return result;

    // What the writer has to say goes into the answer.
    for (int i = 0; i < report->noteCount; ++i)
        snwExportWork_Note(work, "%s", report->notes[i]);
    if (report->targets > 0)
        snwExportWork_Note(
            work, "%d morph targets or joints, at most %.3g mm off", report->targets, 1e3 * report->maxError);
    if (report->fileCount > 0)
        snprintf(work->written, sizeof work->written, "%s", report->files[0]);

    return result;
}

static snwResult WriteTakes(snwExportWork* work)
{
    const char* path = work->job->base.stage->asset;
    Reel r = {
        .work = work, .scene = snwScene_GetDef(work->job->base.stage->file.scene), .arena = {.context = work->context}};
    snwBakeOutputReport* report = snwAlloc(work->context, sizeof *report);
    r.positions = snwArena_Alloc(&r.arena, work->floats + 1, sizeof *r.positions);
    r.firsts = snwArena_Alloc(&r.arena, (size_t)work->shown->bodyCount + 1, sizeof *r.firsts);
    r.surfaces = snwArena_Alloc(&r.arena, (size_t)work->shown->bodyCount + 1, sizeof *r.surfaces);

    // The recording as a reel: frames at the scene's rate, read back from the temporary file.
    r.reel = (snwReel){.animation = -1,
        .clip = "recording",
        .frameCount = work->job->base.recording.hashes.count,
        .rate = r.scene->rate,
        .scale = 1,
        .read = ReadTakeFrame,
        .get = GetBody,
        .user = &r};
    snwResult result = r.arena.failed || report == NULL ? snwFailMemory(work->message) : snw_ok;

    // Where each body's points begin in a frame.
    for (int i = 0; i < work->shown->bodyCount && result >= 0; ++i)
        r.firsts[i + 1] = r.firsts[i] + 3 * (size_t)work->shown->bodies[i].pointCount;
    if (result >= 0)
        result = HasDocument(&r, path) ? UseDocument(&r, path) : MakeDocument(&r);
    if (result >= 0)
        result = WriteReel(&r, report);
    snwAsset_Close(r.asset);
    snwArena_Free(&r.arena);
    snwFree(work->context, report);

    return result;
}

snwResult snwExportWork_Bake(snwExportWork* work)
{
    const snwSceneDef* scene = snwScene_GetDef(work->job->base.stage->file.scene);
    snwResult result = snwCreateShown(work->context, scene, &work->shown, work->message);
    if (result < 0)
        return result;

    // Positions and normals of all bodies are a frame; frames are kept on disk while they are performed.
    for (int i = 0; i < work->shown->bodyCount; ++i)
        work->floats += 6 * (size_t)work->shown->bodies[i].pointCount;
    work->takes = tmpfile();
    if (work->takes == NULL)
        result = snwFail(work->message, snw_errorIo, "make room in the folder for temporary files",
            "there is no temporary file to be had");

    // Performed once, then written from the frames on disk.
    if (result >= 0)
        result = snwExportWork_Perform(work, KeepFrame);
    if (result >= 0)
        result = WriteTakes(work);
    if (work->takes != NULL)
        fclose(work->takes);
    snwShown_Release(work->shown);

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The sidecar: what is set here, for `sinew bake`

static json_t* SettingsOfScene(const snwJob* job, const snwSceneDef* scene)
{
    json_t* settings = json_object();
    int method = snwMethod_Find(scene->method);
    for (int i = 0; i < snwMethod_GetInfo(method).paramCount; ++i)
    {
        const snwParamInfo* info = snwMethod_GetParam(method, i);
        if (job->params[i] == info->initial)
            continue;
        json_t* value = info->type == snw_paramChoice ? json_string(info->choices[(int)job->params[i]])
                        : info->type == snw_paramBool ? json_boolean(job->params[i] != 0)
                        : info->type == snw_paramInt  ? json_integer((json_int_t)job->params[i])
                                                      : json_real(job->params[i]);
        json_object_set_new(settings, info->name, value);
    }
    return settings;
}

static json_t* WordsOf(const snwJob* job, const snwSceneDef* scene)
{
    const snwMaterial* m = &job->material;
    const char* motion = scene->bodyCount > 0 ? scene->bodies[0].motion : NULL;
    json_t* words = json_pack("{s:f, s:f, s:s, s:o, s:{s:f, s:f, s:f, s:f, s:f, s:f}}", "fps", scene->rate, "gravity",
        -job->gravity.y, "method", scene->method, "settings", SettingsOfScene(job, scene), "material", "density",
        m->density, "young", m->young, "poisson", m->poisson, "damping", m->damping, "frequency", m->frequency,
        "settling", m->settling);
    if (motion != NULL && motion[0] != 0)
        json_object_set_new(words, "clip", json_string(motion));
    if (scene->colliderCount > 0)
        json_object_set_new(words, "collide", json_pack("[s]", "ground"));
    return words;
}

snwResult snwExportWork_Sidecar(snwExportWork* work)
{
    const snwSceneDef* scene = snwScene_GetDef(work->job->base.stage->file.scene);
    snwBakeSettings settings = {0};
    char* text = NULL;
    size_t size = 0;
    json_t* words = WordsOf(work->job, scene);
    snwResult result = words == NULL ? snwFailMemory(work->message)
                                     : snwBakeSettings_Read(work->context, NULL, "", words, &settings, work->message);
    if (result >= 0)
        result = snwBakeSettings_Format(work->context, NULL, &settings, &text, &size, work->message);
    if (result >= 0)
        result = snwFile_Write(work->context, work->path, text, size, false, work->message);
    snwFree(work->context, text);
    snwBakeSettings_Free(&settings);
    json_decref(words);
    return result;
}
