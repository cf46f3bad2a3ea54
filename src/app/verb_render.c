// sinew render: a still of a character in any of its looks, a contact sheet of several, or a check of pictures that
// are there.

#include "app/common.h"
#include "app/console.h"
#include "app/perform.h"
#include "app/verbs.h"
#include "scene/blueprint_file.h"
#include "scene/builtin.h"
#include "scene/file.h"
#include "scene/prepared_file.h"
#include "view/inspect.h"
#include "view/likeness.h"
#include "view/prepared_portrait.h"
#include "view/sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job
{
    const snwArgs* args;
    snwContext* context;
    snwPortraitDef view;
    snwLikenessLook look;
    double detail;
    double time; // s
    snwSkinningKind skinning;
    snwMessage message;
} Job;

// ---------------------------------------------------------------------------------------------------------------------
// One character

static int FindMotion(const snwBlueprint* blueprint, const char* name)
{
    for (int i = 0; i < blueprint->motionCount; ++i)
        if (strcmp(blueprint->motions[i].name, name) == 0)
            return i;
    return -1;
}

static snwResult ChooseMotion(Job* job, const snwBlueprint* blueprint, int* motion)
{
    const char* name = snwArgs_Text(job->args, "motion");
    *motion = name != NULL ? FindMotion(blueprint, name) : -1;
    if (name == NULL || *motion >= 0)
        return snw_ok;
    char known[200] = "it has none";
    size_t length = 0;
    for (int i = 0; i < blueprint->motionCount && length < sizeof known; ++i)
        length += (size_t)snprintf(
            known + length, sizeof known - length, "%s%s", i > 0 ? ", " : "known: ", blueprint->motions[i].name);
    return snwFail(&job->message, snw_errorInput, known, "%s has no motion '%s'", blueprint->name, name);
}

static bool IsPrepared(const char* path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".snw") == 0;
}

static snwResult FindPreparedMotion(Job* job, const snwCharacterDef* character, int* motion)
{
    snwBlueprint names = {
        .name = character->name, .motions = (snwMotionDef*)character->motions, .motionCount = character->motionCount};
    return ChooseMotion(job, &names, motion);
}

// A flat character has one side; whoever asks for an angle gets it.
static void FaceFront(Job* job)
{
    if (!snwArgs_Has(job->args, "azimuth"))
        job->view.azimuth = 0;
    if (!snwArgs_Has(job->args, "elevation"))
        job->view.elevation = 0;
}

static snwResult DrawPrepared(Job* job, snwImage* image)
{
    snwPrepared* prepared = NULL;
    snwPreparedPortrait portrait = {.look = job->look, .time = job->time, .skinning = job->skinning};
    snwResult result = snwPrepared_Open(job->context, job->args->operands[0], &prepared, &job->message);
    if (result < 0)
        return result;
    portrait.prepared = prepared;
    portrait.handle = snwArgs_Text(job->args, "handle");
    if (snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared)).triangleCount > 0)
        FaceFront(job);
    result = FindPreparedMotion(job, snwCharacter_GetDef(snwPrepared_GetCharacter(prepared)), &portrait.motion);
    if (result >= 0)
        result = snwPreparedPortrait_Draw(job->context, &portrait, &job->view, image, &job->message);
    snwPrepared_Release(prepared);
    return result;
}

static snwResult DrawOne(Job* job, snwImage* image)
{
    if (IsPrepared(job->args->operands[0]))
        return DrawPrepared(job, image);
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    snwLikeness likeness = {0};
    snwLikenessDef def = snwDefaultLikenessDef();
    snwResult result = snwBlueprintFile_Open(job->context, job->args->operands[0], &file, &job->message);
    if (result >= 0)
        result = ChooseMotion(job, &file.blueprint, &def.motion);

    // Some looks need the mesh that is simulated, which takes longer to make.
    bool mesh = job->look == snw_lookElements || job->look == snw_lookWeights || file.blueprint.flat.ringCount > 0;
    if (result >= 0 && mesh)
        result = snwBlueprint_Create(job->context, &file.blueprint, NULL, NULL, NULL, &character, &job->message);

    if (result >= 0)
    {
        def.blueprint = &file.blueprint;
        def.character = character;
        def.detail = job->detail;
        def.time = job->time;
        def.handle = snwArgs_Text(job->args, "handle");
        def.skinning = job->skinning;
        result = snwCreateLikeness(job->context, &def, &likeness, &job->message);
    }

    // A figure of paper is seen from the front unless somebody says otherwise.
    if (file.blueprint.flat.ringCount > 0)
        FaceFront(job);
    if (result >= 0)
        result = snwLikeness_Draw(&likeness, job->look, &job->view, image, &job->message);

    snwLikeness_Free(&likeness);
    if (character != NULL)
        snwCharacter_Release(character);
    snwBlueprintFile_Free(&file);

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Contact sheets: a row per character, three looks from three angles each

static const float s_angles[3][2] = {{35, 12}, {90, 6}, {215, 20}};
static const float s_cutAngles[3][2] = {{-35, 10}, {0, 6}, {40, 20}}; // from where the cut is seen

static const char* const s_columns[9] = {
    "flesh", "side", "back", "bones", "side", "back", "elements", "straight", "above"};

static snwResult DrawRow(Job* job, const char* name, int row, snwSheet* sheet)
{
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    snwLikeness likeness = {0};
    snwLikenessDef def = snwDefaultLikenessDef();
    snwResult result = snwBlueprintFile_Open(job->context, name, &file, &job->message);

    // Mesh and display surface, made once for nine tiles.
    if (result >= 0)
        result = snwBlueprint_Create(job->context, &file.blueprint, NULL, NULL, NULL, &character, &job->message);
    if (result >= 0)
    {
        def.blueprint = &file.blueprint;
        def.character = character;
        def.detail = job->detail;
        result = snwCreateLikeness(job->context, &def, &likeness, &job->message);
    }

    bool flat = file.blueprint.flat.ringCount > 0; // it has one side

    // Three looks, three angles each; of paper only the first angle of each.
    for (int i = 0; i < 9 && result >= 0; ++i)
    {
        snwPortraitDef view = job->view;
        snwImage tile = {0};
        float cut = (float)snwLikeness_CutAzimuth(&likeness);

        view.azimuth = flat ? 0 : i < 6 ? s_angles[i % 3][0] : cut + s_cutAngles[i % 3][0];
        view.elevation = flat ? 0 : i < 6 ? s_angles[i % 3][1] : s_cutAngles[i % 3][1];
        if (flat && i % 3 != 0)
            continue;
        result = snwLikeness_Draw(&likeness, (snwLikenessLook)(i / 3), &view, &tile, &job->message);
        if (result >= 0)
            snwSheet_PutTile(sheet, row, i, &tile, NULL);
        snwDestroyImage(job->context, &tile);
    }

    snwLikeness_Free(&likeness);
    if (character != NULL)
        snwCharacter_Release(character);
    snwBlueprintFile_Free(&file);
    return result;
}

static snwResult DrawRenderSheet(Job* job, snwImage* image)
{
    int count = job->args->operandCount > 0 ? job->args->operandCount : snwBuiltInCount();
    const char** names = calloc((size_t)count + 1, sizeof *names);
    if (names == NULL)
        return snwFailMemory(&job->message);

    // The characters that are named, or all built-in ones.
    for (int i = 0; i < count; ++i)
        names[i] = job->args->operandCount > 0 ? job->args->operands[i] : snwBuiltIn_Get(i)->name;

    snwSheetDef def = snwDefaultSheetDef();
    snwSheet sheet = {0};
    def.title = "The cast";
    def.subtitle = "flesh, bones through flesh, elements cut open";
    def.rows = names;
    def.rowCount = count;
    def.columns = s_columns;
    def.columnCount = 9;
    def.groupSize = 3;
    def.tileWidth = job->view.width;
    def.tileHeight = job->view.height;
    snwResult result = snwCreateSheet(job->context, &def, &sheet, &job->message);

    // A row at a time: a sheet of the whole cast takes a minute.
    snwProgress progress = snwProgress_Begin("cast", count);
    for (int i = 0; i < count && result >= 0; ++i)
    {
        result = DrawRow(job, names[i], i, &sheet);
        snwProgress_Update(&progress, i + 1);
    }

    snwProgress_End(&progress);
    free(names);
    if (result < 0)
        snwDestroySheet(job->context, &sheet);
    else
        *image = sheet.image;

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The verb

static bool ReadRenderOptions(Job* job)
{
    const snwArgs* args = job->args;
    bool sheet = snwArgs_Has(args, "sheet");
    int size = sheet ? 168 : 640, samples = 8;
    double azimuth = 35, elevation = 12; // of a solid character; a flat one is seen from the front

    // A sheet has many small tiles, so it is coarser in everything.
    job->view = snwDefaultPortraitDef();
    job->detail = sheet ? 110 : 200;
    if (!snwArgs_Int(args, "size", 16, 8192, &size) || !snwArgs_Int(args, "samples", 1, 256, &samples) ||
        !snwArgs_Real(args, "azimuth", -360, 360, &azimuth) || !snwArgs_Real(args, "elevation", -90, 90, &elevation) ||
        !snwArgs_Real(args, "detail", 10, 2000, &job->detail) || !snwArgs_Real(args, "time", 0, 1e6, &job->time))
        return false;

    // The tables have checked the words.
    const char* look = snwArgs_Text(args, "look");
    for (int i = 0; i < snw_likenessLookCount && look != NULL; ++i)
        if (strcmp(look, snw_likenessLookNames[i]) == 0)
            job->look = (snwLikenessLook)i;
    const char* skinning = snwArgs_Text(args, "skinning");
    if (skinning != NULL && strcmp(skinning, "dual-quaternion") == 0)
        job->skinning = snw_skinningDualQuaternion;
    job->view.width = job->view.height = size;
    job->view.samples = samples;
    job->view.azimuth = (float)azimuth;
    job->view.elevation = (float)elevation;
    job->view.ground = job->look != snw_lookSilhouette;
    if (snwArgs_Has(args, "transparent"))
        job->view.style = snw_styleClear;

    return true;
}

// Pictures and folders of frames that are there already.
static snwExit CheckFiles(const snwArgs* args)
{
    snwContext* context = NULL;
    snwExit exit = snwContextFromArgs(args, &context);

    // Each file is judged by itself; the worst result is the exit code.
    for (int i = 0; i < args->operandCount && context != NULL; ++i)
    {
        snwFilmCheck check;
        snwMessage message = {0};
        char fault[128];
        if (snwInspectFiles(context, args->operands[i], &check, &message) < 0)
        {
            exit = snwReportInput(&message);
            continue;
        }

        bool sound = snwFilmCheck_Format(&check, fault, sizeof fault) == 0;
        printf("%s: %s: %d frames, subject %.0f %% of the pixels in %.0f %% of the picture\n", args->operands[i],
            sound ? "ok" : fault, check.frames, 100 * check.meanSubject, 100 * check.fill);
        exit = !sound && exit == snw_exitOk ? snw_exitFailed : exit;
    }

    snwDestroyContext(context);
    return exit;
}

static snwExit CheckArgs(const snwArgs* args)
{
    bool sheet = snwArgs_Has(args, "sheet");
    if (snwArgs_Has(args, "check"))
        return args->operandCount > 0 ? snw_exitOk
                                      : snwUsage("a PNG file or a folder of them", "what shall be checked?");
    if (!snwArgs_Has(args, "output"))
        return snwUsage("-o picture.png", "where should the picture go?");
    if (!sheet && args->operandCount != 1)
        return snwUsage("--sheet draws several", "name one character, or ask for a sheet");
    if (sheet && (snwArgs_Has(args, "look") || snwArgs_Has(args, "motion")))
        return snwUsage("leave it out", "a sheet has all looks and the rest pose");
    return snw_exitOk;
}

static snwExit RunRender(const snwArgs* args)
{
    Job job = {.args = args};
    snwExit exit = CheckArgs(args);
    if (exit == snw_exitOk && snwArgs_Has(args, "check"))
        return CheckFiles(args);
    if (exit == snw_exitOk && !ReadRenderOptions(&job))
        exit = snw_exitUsage;
    if (exit == snw_exitOk)
        exit = snwContextFromArgs(args, &job.context);
    if (exit != snw_exitOk)
        return exit;
    const char* path = snwArgs_Text(args, "output");
    bool force = snwArgs_Has(args, "force");
    snwImage image = {0};

    // The output's name before the drawing.
    snwResult result = snwPartFile_Check(job.context, path, force, &job.message);
    if (result >= 0)
        result = snwArgs_Has(args, "sheet") ? DrawRenderSheet(&job, &image) : DrawOne(&job, &image);
    if (result >= 0)
        result = snwImage_WritePng(job.context, &image, path, 9, force, &job.message);
    snwDestroyImage(job.context, &image);
    snwDestroyContext(job.context);
    if (result < 0)
        return snwReportMessage(&job.message);
    snwNote("picture   %s", path);

    return snw_exitOk;
}

static const snwOption s_options[] = {
    {"output", 'o', "FILE", false, snw_completeFile, NULL, "the picture, a PNG file"},
    {"look", 0, "LOOK", false, snw_completeWords, "flesh bones elements silhouette weights",
        "flesh (default), bones through it, elements cut open, a silhouette, or weights as colours of the mesh"},
    {"handle", 0, "NAME", false, snw_completeNothing, NULL, "weights of this bone or handle alone, dark 0 to bright 1"},
    {"skinning", 0, "KIND", false, snw_completeWords, "linear dual-quaternion",
        "how a mesh with weights follows the pose of a motion: linear (default) or dual-quaternion"},
    {"azimuth", 0, "DEGREES", false, snw_completeNothing, NULL,
        "from where: 0 is the front, 90 its left side (default 35)"},
    {"elevation", 0, "DEGREES", false, snw_completeNothing, NULL, "from how high (default 12)"},
    {"motion", 0, "NAME", false, snw_completeNothing, NULL, "in a pose of this motion instead of at rest"},
    {"time", 0, "SECONDS", false, snw_completeNothing, NULL, "how far into the motion"},
    {"size", 0, "PIXELS", false, snw_completeNothing, NULL, "of the picture (default 640), or of a sheet's tile (168)"},
    {"samples", 0, "N", false, snw_completeNothing, NULL, "rays per pixel (default 8)"},
    {"detail", 0, "N", false, snw_completeNothing, NULL,
        "edges of triangles from one end of it to the other (default 200)"},
    {"transparent", 0, NULL, false, snw_completeNothing, NULL,
        "on nothing: a PNG with an opacity, to be laid over others"},
    {"sheet", 0, NULL, false, snw_completeNothing, NULL,
        "a contact sheet: every look from three angles, a row per character (all of them if none is named)"},
    {"check", 0, NULL, false, snw_completeNothing, NULL,
        "look at PNG files or folders of frames instead: none empty, white or frozen?"},
    {"force", 'f', NULL, false, snw_completeNothing, NULL, "replace a file that exists"},
    SNW_CONTEXT_OPTIONS,
    {0},
};

static const snwExample s_examples[] = {
    {"sinew render frog -o frog.png", "the frog, as it is modelled"},
    {"sinew render frog --look bones --azimuth 90 -o bones.png", "its skeleton from the side"},
    {"sinew render cow --motion walk --time 0.4 -o step.png", "a pose of its walk"},
    {"sinew render manikin --look weights -o weights.png", "which bones its flesh follows"},
    {"sinew render fox.snw --look bones -o fox.png", "what sinew prep made of a file"},
    {"sinew render --sheet -o cast.png", "all characters in all looks"},
    {"sinew render --check out/a/frames", "is there something to see in every frame?"},
    {0},
};

const snwVerb snwRenderVerb = {
    .name = "render",
    .operands = "[CHARACTER...]",
    .mostOperands = 1000,
    .complete = snw_completeCharacters,
    .summary = "draw built-in characters",
    .about = "CHARACTER is a built-in one (sinew demo --list names them) or a blueprint file, NAME.json.",
    .options = s_options,
    .examples = s_examples,
    .run = RunRender,
};
