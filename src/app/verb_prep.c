// sinew prep: an artist's file or a picture becomes a prepared character; or a report, with a picture, of what is
// wrong with it.

#include "app/asset_report.h"
#include "app/common.h"
#include "app/console.h"
#include "app/prep_nested.h"
#include "app/verbs.h"
#include "prepare/prepare.h"
#include "scene/file.h"
#include "view/defects.h"
#include "sim/vocabulary.h"

#include <stdlib.h>
#include <string.h>

// The surfaces with what is wrong about them, in one picture.
static snwResult DrawReport(const snwAssetReport* report, const snwArgs* args, snwMessage* message)
{
    const char* path = snwArgs_Text(args, "output");
    int count = report->surfaces.count;
    snwDefectSurface* surfaces = calloc((size_t)count + 1, sizeof *surfaces);
    snwReportLine lines[snw_maxReportLines];
    snwDefectsDef def = snwDefaultDefectsDef();
    snwImage image = {0};

    // Surfaces and their findings, as the drawing takes them.
    if (surfaces == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < count; ++i)
        surfaces[i] = (snwDefectSurface){report->surfaces.items[i].vertices,
            (const int(*)[3])report->surfaces.items[i].triangles, &report->surfaces.items[i].survey};

    // Where there is one surface alone, a line says how it is on the whole.
    def.surfaces = surfaces;
    def.surfaceCount = count;
    def.title = report->asset->name;
    if (count == 1 && snwSurvey_Describe(&report->surfaces.items[0].survey, "", lines) > 0)
        def.subtitle = lines[0].text;

    snwResult result = count > 0 ? snwDrawDefects(report->context, &def, &image, message)
                                 : snwFail(message, snw_errorInput, NULL, "there is no surface to draw");
    if (result >= 0)
        result = snwImage_WritePng(report->context, &image, path, 9, snwArgs_Has(args, "force"), message);
    snwDestroyImage(report->context, &image);
    free(surfaces);

    return result;
}

static snwExit ReportPrep(snwContext* context, const snwArgs* args)
{
    snwAssetReport report;
    snwMessage message = {0};
    const char* picture = snwArgs_Text(args, "output");

    // A picture that may not be written is told before the file is read.
    snwResult result = picture == NULL ? snw_ok
                                       : snwPartFile_Check(context, picture, snwArgs_Has(args, "force"), &message);

    if (result < 0)
        return snwReportMessage(&message);
    result = snwAssetReport_Make(context, args->operands[0], &report, &message);
    snwExit exit = result < 0 ? snwReportInput(&message) : snwAssetReport_Print(&report, snwArgs_Has(args, "json"));
    if (result >= 0 && picture != NULL)
    {
        result = DrawReport(&report, args, &message);
        exit = result < 0 ? snwReportMessage(&message) : exit;
        if (result >= 0)
            snwNote("picture   %s", picture);
    }

    snwAssetReport_Free(&report);
    return exit;
}

// ---------------------------------------------------------------------------------------------------------------------
// Preparing

static snwResult ShowStep(snwPrepareStep step, void* user)
{
    snwProgress* progress = user;
    progress->label = snwPrepareStep_Name(step);
    snwProgress_Update(progress, (int)step);
    return *snwInterrupt_Flag() ? snw_errorInterrupted : snw_ok;
}

static bool ReadPrepOptions(const snwArgs* args, snwPrepareDef* def)
{
    const char* mesher = snwArgs_Text(args, "mesher");
    *def = snwDefaultPrepareDef();
    if (mesher != NULL)
        snwMesher_Find(mesher, &def->mesher); // the table checked the word
    def->sidecar = snwArgs_Text(args, "sidecar");
    def->cache = snwArgs_Text(args, "cache");
    const char* collapse = snwArgs_Text(args, "collapse");
    if (collapse != NULL && strcmp(collapse, "angle") == 0)
        def->decimation = snw_decimateAngle;
    return snwArgs_Int(args, "decimate", 4, 20000000, &def->decimate) &&
           snwArgs_Int(args, "elements", 1, 20000000, &def->elements) &&
           snwArgs_Int(args, "handles", 1, 64, &def->handles) && snwArgs_Real(args, "size", 1e-3, 1000, &def->size) &&
           snwArgs_Real(args, "cache-rate", 0.1, 10000, &def->cacheRate) &&
           snwArgs_Real(args, "scale", 1e-9, 1e9, &def->scale);
}

static snwResult WritePrepared(
    snwContext* context, const snwPrepared* prepared, const snwArgs* args, size_t* size, snwMessage* message)
{
    void* data = NULL;
    snwResult result = snwPrepared_Save(prepared, &data, size, message);
    if (result >= 0)
        result = snwFile_Write(context, snwArgs_Text(args, "output"), data, *size, snwArgs_Has(args, "force"), message);
    snwFree(context, data);
    return result;
}

static json_t* SurfaceJson(const snwPrepared* prepared)
{
    json_t* list = json_array();
    for (int i = 0; i < snwPrepared_GetInfo(prepared).surfaceCount; ++i)
    {
        const snwSurfaceInfo* surface = snwPrepared_GetSurface(prepared, i);
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:i, s:i}", "name", surface->name, "kind", snw_surfaceKindWords[surface->kind],
                      "vertices", surface->vertexCount, "triangles", surface->triangleCount));
    }
    return list;
}

static snwExit PrintJson(const snwPrepared* prepared, const snwPrepareReport* report, size_t size)
{
    snwCharacterInfo info = snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared));
    snwPreparedInfo made = snwPrepared_GetInfo(prepared);
    json_t *root = json_object(), *notes = json_array(), *steps = json_object();

    for (int i = 0; i < report->noteCount; ++i)
        json_array_append_new(notes, json_string(report->notes[i]));
    for (int i = 0; i < snw_prepareStepCount; ++i)
        json_object_set_new(steps, snwPrepareStep_Name((snwPrepareStep)i), snwJsonReal(report->seconds[i]));

    // What came of it, and what it took.
    json_object_set_new(root, "source", json_string(made.source));
    json_object_set_new(root, "scale", snwJsonReal(made.scale));
    json_object_set_new(root, "mesher", json_string(snwMesher_Name(report->mesher)));
    json_object_set_new(root, "tets", json_integer(info.tetCount));
    json_object_set_new(root, "triangles", json_integer(info.triangleCount));
    json_object_set_new(root, "vertices", json_integer(info.vertexCount));
    json_object_set_new(root, "handles", json_integer(info.handleCount));
    json_object_set_new(root, "bones", json_integer(info.boneCount));
    json_object_set_new(root, "joints", json_integer(info.jointCount));
    json_object_set_new(root, "motions", json_integer(info.motionCount));
    json_object_set_new(root, "regions", json_integer(info.materialCount));
    json_object_set_new(root, "mass", snwJsonReal(info.mass));
    json_object_set_new(root, "bytes", json_integer((json_int_t)size));
    json_object_set_new(root, "embedding_error", snwJsonReal(made.embeddingError));
    json_object_set_new(root, "outside", json_integer(report->outsideCount));

    json_object_set_new(root, "surfaces", SurfaceJson(prepared));
    json_object_set_new(root, "seconds", steps);
    json_object_set_new(root, "notes", notes);

    return snwPrintJson(root);
}

static void PrintBody(const snwCharacterInfo* info, const snwPrepareReport* report)
{
    snwNote("body      %d tetrahedra, %d vertices, %d material%s", info->tetCount, info->vertexCount,
        info->materialCount, info->materialCount == 1 ? "" : "s");
    snwNote("skeleton  %d bones, %d joints, %d motions", info->boneCount, info->jointCount, info->motionCount);
    snwNote("surfaces  %d soft, %d carried, %d rigid", report->softCount, report->carriedCount, report->rigidCount);
}

static void PrintSheet(const snwCharacterDef* def)
{
    snwNote("sheet     %d triangles, %d vertices, %d x %d pixels", def->triangleCount, def->vertexCount,
        def->texture.width, def->texture.height);
    for (int i = 0; i < def->handleCount; ++i)
        snwNote("handle    %s", def->handles[i].name);
}

static void PrintPrepNotes(const snwPrepared* prepared, const snwPrepareReport* report, const char* path, size_t size)
{
    snwCharacterInfo info = snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared));
    double seconds = 0;
    for (int i = 0; i < snw_prepareStepCount; ++i)
        seconds += report->seconds[i];
    for (int i = 0; i < report->noteCount; ++i)
        snwNote("note      %s", report->notes[i]);
    snwVec3 side = {info.upper.x - info.lower.x, info.upper.y - info.lower.y, info.upper.z - info.lower.z};
    snwNote("size      %.3g x %.3g x %.3g m, %.3g kg", side.x, side.y, side.z, info.mass);
    if (info.triangleCount > 0)
        PrintSheet(snwCharacter_GetDef(snwPrepared_GetCharacter(prepared)));
    else
        PrintBody(&info, report);
    snwNote("written   %s, %.1f MB in %.2f s", path, (double)size / 1e6, seconds);
}

static snwExit PrepareToFile(snwContext* context, const snwArgs* args)
{
    snwPrepareDef def;
    snwMessage message = {0};
    const char* path = snwArgs_Text(args, "output");
    if (!ReadPrepOptions(args, &def))
        return snw_exitUsage;

    // The file that shall be written comes first: preparing takes a while.
    snwResult result = snwPartFile_Check(context, path, snwArgs_Has(args, "force"), &message);
    if (result < 0)
        return snwReportMessage(&message);
    snwPrepareReport* report = snwAlloc(context, sizeof *report);
    snwPrepared* prepared = NULL;
    if (report == NULL)
        return snwReportMemory();

    // There is nothing to lose until it is written.
    snwInterrupt_Listen();
    snwInterrupt_NothingToLose(true, NULL);
    snwProgress progress = snwProgress_Begin("prepare", snw_prepareStepCount);
    def.progress = ShowStep;
    def.user = &progress;
    result = snwPrepareFile(context, args->operands[0], &def, &prepared, report, &message);
    snwInterrupt_NothingToLose(false, NULL);
    snwProgress_End(&progress);

    size_t size = 0;
    snwExit exit = result < 0 ? snwReportInput(&message) : snw_exitOk;
    if (result >= 0 && WritePrepared(context, prepared, args, &size, &message) < 0)
        exit = snwReportMessage(&message);
    if (exit == snw_exitOk && snwArgs_Has(args, "json"))
        exit = PrintJson(prepared, report, size);
    else if (exit == snw_exitOk)
        PrintPrepNotes(prepared, report, path, size);

    snwPrepared_Release(prepared);
    snwFree(context, report);
    return exit;
}

static snwExit RunPrep(const snwArgs* args)
{
    snwContext* context = NULL;
    bool report = snwArgs_Has(args, "report");
    if (!report && snwArgs_Text(args, "output") == NULL)
        return snwUsage("-o character.snw, or --report", "what shall be done with the file?");
    snwExit exit = snwContextFromArgs(args, &context);
    if (exit == snw_exitOk)
        exit = report                                ? ReportPrep(context, args)
               : snwArgs_Text(args, "inner") != NULL ? snwPrepNested(context, args)
                                                     : PrepareToFile(context, args);
    snwDestroyContext(context);
    return exit;
}

static const snwOption s_options[] = {
    {"output", 'o', "FILE", false, snw_completeFile, NULL,
        "the prepared character, character.snw; with --report a picture of what is wrong, a PNG file"},
    {"mesher", 0, "NAME", false, snw_completeWords, "auto lattice tetgen",
        "how its tetrahedra are made: auto (default), lattice (takes any surface) or tetgen (keeps a clean one)"},
    {"elements", 'e', "N", false, snw_completeNothing, NULL,
        "tetrahedra of the body, about; by the number of bones if absent. Triangles of a picture, 1500 if absent"},
    {"size", 0, "M", false, snw_completeNothing, NULL, "longest side of a picture's character; 1 m if absent"},
    {"handles", 0, "N", false, snw_completeNothing, NULL,
        "so many handles for a picture; one in the middle and one in each limb if absent"},
    {"decimate", 0, "N", false, snw_completeNothing, NULL,
        "triangles that the surface keeps before it is filled; all if absent"},
    {"collapse", 0, "KIND", false, snw_completeWords, "quadric angle",
        "how triangles go: quadric (default) keeps the shape, angle is the pbcd thesis' cost of angle and length"},
    {"inner", 0, "FILE", false, snw_completeFile, NULL,
        "surfaces of bones inside of FILE's: each closed piece is a bone; writes BASE.smesh, .mesh and .joint"},
    {"scale", 0, "M", false, snw_completeNothing, NULL, "metres per unit of the file; else it is told or guessed"},
    {"cache", 0, "FILE", false, snw_completeFile, NULL,
        "a PC2 or MDD file whose motion of the surface becomes a motion of the character, named like the file"},
    {"cache-rate", 0, "FPS", false, snw_completeNothing, NULL, "frames of a PC2 file per second (default 24)"},
    {"sidecar", 0, "FILE", false, snw_completeFile, NULL, "settings; NAME.sinew.json beside the file if absent"},
    {"report", 0, NULL, false, snw_completeNothing, NULL,
        "say what the file holds, what was repaired, and what is wrong with its surfaces; prepare nothing"},
    {"force", 'f', NULL, false, snw_completeNothing, NULL, "replace a file that exists"},
    {"json", 'j', NULL, false, snw_completeNothing, NULL, "print as JSON"},
    SNW_CONTEXT_OPTIONS,
    {0},
};

static const snwExample s_examples[] = {
    {"sinew prep fox.glb -o fox.snw", "a body, bones and motions from a rigged file"},
    {"sinew prep fox.glb -o fox.snw --elements 20000", "a finer body"},
    {"sinew prep ghost.png -o ghost.snw", "a flat character, cut out of a picture with transparency"},
    {"sinew prep skin.obj --inner bones.obj -o body.mesh",
        "tetrahedra that keep both surfaces, with a region per bone"},
    {"sinew prep fox.glb --report", "is it closed, does it cross itself, which bones have no weight?"},
    {"sinew prep fox.glb --report -o fox.png", "show where"},
    {0},
};

const snwVerb snwPrepVerb = {
    .name = "prep",
    .operands = "FILE",
    .leastOperands = 1,
    .mostOperands = 1,
    .complete = snw_completeFile,
    .summary = "make a character of an artist's file, or look at it first",
    .about =
        "FILE is a surface, a mesh, a rigged character or a PNG or WebP picture; docs/formats.md lists the formats,\n"
        "docs/prep.md what is done with it and how to say otherwise.",
    .options = s_options,
    .examples = s_examples,
    .run = RunPrep,
};
