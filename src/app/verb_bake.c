// sinew bake: an artist's animation with flesh added, written as the artist's own file, a cache or Alembic; with a
// report, a film and settings that are kept in a sidecar.

#include "app/bake_film.h"
#include "app/bake_report.h"
#include "app/common.h"
#include "app/console.h"
#include "app/perform.h"
#include "app/settings.h"
#include "app/verbs.h"
#include "base/ending.h"
#include "base/result.h"
#include "scene/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job
{
    const snwArgs* args;
    snwContext* context;
    json_t* words; // settings that the command line gives
    const char* output;
    char folder[snw_maxPath]; // where an interrupted bake is kept
    bool force, json;
    snwBakeOutputDef out;
    snwBakeOutputReport* written;
    snwBake* bake;
    snwProgress progress;
    snwBakeStage stage; // that the progress is of
    char lastWords[snw_maxPath + 128];
} Job;

// ---------------------------------------------------------------------------------------------------------------------
// The command line

// Options that are keys of the sidecar: the same words with a dash for the underscore.
static const struct
{
    const char *option, *key;
} s_words[] = {{"clip", "clip"}, {"start", "start"}, {"end", "end"}, {"fps", "fps"}, {"preroll", "preroll"},
    {"loop", "loop"}, {"blend", "blend"}, {"softness", "softness"}, {"falloff", "falloff"}, {"gravity", "gravity"},
    {"preset", "preset"}, {"material", "material"}, {"collide", "collide"}, {"self-collision", "self_collision"},
    {"keep-trajectory", "keep_trajectory"}, {"method", "method"}, {"substeps", "substeps"},
    {"iterations", "iterations"}, {"set", "settings"}, {"only", "only"}, {"bones", "bones"}, {"rigid", "rigid"},
    {"carried", "carried"}, {"soft", "soft"}, {"format", "format"}, {"tolerance", "tolerance"}, {"most", "most"},
    {"influences", "influences"}, {"compress", "compress"}, {"up", "up"}, {"cache", "cache"},
    {"motion-from", "motion_from"}, {"joint-map", "joint_map"}};

static snwExit ReadWords(Job* job)
{
    snwMessage message = {0};
    job->words = json_object();

    // Options in the order of the table, each as often as it was given; --set is checked at once, as its words are
    // the command line's own.
    for (size_t i = 0; i < sizeof s_words / sizeof *s_words; ++i)
        for (int k = 0; k < snwArgs_Count(job->args, s_words[i].option); ++k)
        {
            const char* value = snwArgs_Nth(job->args, s_words[i].option, k);
            if (strcmp(s_words[i].option, "set") == 0)
            {
                snwSetting setting;
                snwExit exit = snwSetting_Parse(value, &setting);
                if (exit != snw_exitOk)
                    return exit;
            }
            if (snwBakeWord_Add(job->words, s_words[i].key, value != NULL ? value : "", &message) < 0)
                return snwUsage(
                    message.remedy[0] != 0 ? message.remedy : NULL, "--%s: %s", s_words[i].option, message.text);
        }

    return snw_exitOk;
}

// What is wrong with the words alone is told of them, not of a file.
static snwExit CheckWords(Job* job)
{
    snwMessage message = {0};
    snwBakeSettings settings;
    snwResult result = snwBakeSettings_Read(job->context, NULL, "", job->words, &settings, &message);
    snwExit exit = snw_exitOk;

    // The failure's place names a key; the option of that key is what the user wrote.
    if (result < 0)
    {
        const char *remedy = message.remedy[0] != 0 ? message.remedy : NULL, *option = NULL;
        size_t length = strcspn(message.place, ".[");
        for (size_t i = 0; i < sizeof s_words / sizeof *s_words; ++i)
            if ((strlen(s_words[i].key) == length && strncmp(s_words[i].key, message.place, length) == 0) ||
                (strncmp(message.place, "materials", 9) == 0 && strcmp(s_words[i].key, "material") == 0))
                option = s_words[i].option;

        const char* rest = message.place + length; // of --material: which number
        exit = option != NULL ? snwUsage(remedy, "--%s%s%s: %s", option, rest[0] == '.' ? " " : "",
                                    rest[0] == '.' ? rest + 1 : "", message.text)
                              : snwUsage(remedy, "%s", message.text);
    }
    else if (json_object_get(job->words, "joint_map") != NULL && snwArgs_Text(job->args, "motion-from") == NULL)
        exit = snwUsage(
            "--motion-from run.glb", "--joint-map tells about the joints of another file, and there is none");
    else if (snwArgs_Text(job->args, "method") != NULL && snwMethod_Find(settings.method) < 0)
        exit = snwUsage("sinew info --methods", "there is no method '%s'", settings.method);

    snwBakeSettings_Free(&settings);
    return exit;
}

static bool ReadPrepare(const snwArgs* args, snwPrepareDef* def)
{
    const char* mesher = snwArgs_Text(args, "mesher");
    if (mesher != NULL)
        snwMesher_Find(mesher, &def->mesher);
    return snwArgs_Int(args, "elements", 1, 20000000, &def->elements) &&
           snwArgs_Real(args, "scale", 1e-9, 1e9, &def->scale);
}

static snwExit CheckFree(Job* job, const char* path)
{
    snwMessage message = {0};
    return path == NULL || snwPartFile_Check(job->context, path, job->force, &message) >= 0
               ? snw_exitOk
               : snwReportMessage(&message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Progress

static snwResult ShowProgress(const snwBakeProgress* progress, void* user)
{
    Job* job = user;
    if (job->progress.label == NULL || job->stage != progress->stage || job->progress.total != progress->total)
    {
        snwProgress_End(&job->progress);
        job->progress = snwProgress_Begin(progress->word, progress->total);
        job->stage = progress->stage;
    }
    job->progress.label = progress->word;
    snwProgress_Update(&job->progress, progress->done);
    return *snwInterrupt_Flag() ? snw_errorInterrupted : snw_ok;
}

static snwResult ShowWriting(int done, int total, void* user)
{
    return ShowProgress(&(snwBakeProgress){snw_bakeWriting, "writing", done, total}, user);
}

static snwResult ShowDrawing(int done, int total, void* user)
{
    return ShowProgress(&(snwBakeProgress){snw_bakeDrawing, "drawing", done, total}, user);
}

// ---------------------------------------------------------------------------------------------------------------------
// The work

static snwResult SaveSettings(Job* job, snwMessage* message)
{
    char path[snw_maxPath], *text = NULL;
    size_t size = 0;
    const char* sidecar = snwArgs_Text(job->args, "sidecar");
    if (!snwArgs_Has(job->args, "save-settings"))
        return snw_ok;

    // The sidecar that was read, or the one that belongs to the character.
    if (sidecar != NULL)
        snprintf(path, sizeof path, "%s", sidecar);
    else if (!snwSidecarPath(job->args->operands[0], path, sizeof path))
        return snwFail(message, snw_errorIo, NULL, "the path is too long");

    // The sidecar as it is, with what the command line changed.
    snwResult result = snwBakeSettings_Format(
        job->context, snwBake_GetSidecar(job->bake), snwBake_GetSettings(job->bake), &text, &size, message);
    if (result >= 0)
        result = snwFile_Write(job->context, path, text, size, true, message);
    snwFree(job->context, text);
    if (result >= 0)
        snwNote("settings   %s", path);

    return result;
}

static snwResult DrawBakeFilm(Job* job, snwMessage* message)
{
    snwBakeFilmDef def = snwDefaultBakeFilmDef();
    def.path = snwArgs_Text(job->args, "film");
    def.picture = snwArgs_Text(job->args, "picture");
    if (def.path == NULL && def.picture == NULL)
        return snw_ok;

    // Without ffmpeg the picture is still worth drawing.
    if (def.path != NULL && !snwHasProgram("ffmpeg"))
    {
        snwReport(snw_warning, "apt install ffmpeg", "there is no film, for the program ffmpeg is not here");
        def.path = NULL;
        if (def.picture == NULL)
            return snw_ok;
    }

    def.folder = job->folder;
    def.overwrite = job->force;
    def.progress = ShowDrawing;
    def.user = job;
    snwResult result = snwBakeFilm_Draw(job->context, job->bake, &def, message);
    snwProgress_End(&job->progress);
    if (result >= 0 && def.path != NULL)
        snwNote("film       %s", def.path);
    if (result >= 0 && def.picture != NULL)
        snwNote("picture    %s", def.picture);

    return result;
}

static snwResult WriteBakeOutput(Job* job, snwMessage* message)
{
    const char* scene = snwArgs_Text(job->args, "scene");
    snwResult result = snwBakeOutput_Write(
        job->context, snwBake_GetFrames(job->bake), &job->out, job->written, message);
    snwProgress_End(&job->progress);
    if (result >= 0)
    {
        result = snwBake_CheckWritten(job->bake, job->written, message);
        for (int i = 0; i < job->written->fileCount && result < 0; ++i)
            remove(job->written->files[i]); // nobody shall take it for right; the frames stay
    }
    if (result >= 0 && scene != NULL)
        result = snwBake_SaveScene(job->bake, scene, job->force, message);
    if (result >= 0)
        result = SaveSettings(job, message);
    return result < 0 ? result : DrawBakeFilm(job, message);
}

static snwExit ReportBake(Job* job)
{
    json_t* report = snwBakeReport_ToJson(job->bake, job->written);
    const char* path = snwArgs_Text(job->args, "report");
    snwMessage message = {0};
    if (path != NULL)
    {
        // The report as a file, whatever is printed.
        char* text = json_dumps(report, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
        if (text == NULL || snwFile_Write(job->context, path, text, strlen(text), job->force, &message) < 0)
        {
            free(text);
            json_decref(report);
            return snwReportMessage(&message);
        }

        free(text);
        snwNote("report     %s", path);
    }

    if (job->json)
        return snwPrintJson(report);
    json_decref(report);
    snwBakeReport_Print(job->bake, job->written);
    return snw_exitOk;
}

static snwExit Bake(Job* job, const snwBakeDef* def)
{
    snwMessage message = {0};

    // While it is being opened, Ctrl-C may simply end the program; afterwards finished frames are worth keeping.
    snwInterrupt_NothingToLose(true, job->folder);
    snwResult result = snwBake_Open(job->context, def, &job->bake, &message);
    snwInterrupt_NothingToLose(false, NULL);

    // Files are whole at any moment, so Ctrl-C need not wait for a frame.
    snprintf(job->lastWords, sizeof job->lastWords,
        "\nsinew: stopped; finished frames are kept in %s; the same command goes on\n", job->folder);
    snwInterrupt_EndSoon(job->lastWords);
    if (result >= 0)
        result = snwBake_FindOutput(job->bake, job->output, job->force, &job->out, &message);
    job->out.progress = ShowWriting;
    job->out.user = job;

    if (result < 0)
    {
        snwProgress_End(&job->progress);
        if (job->bake != NULL)
            snwBake_TidyFolder(job->bake);
        snwExit exit = result == snw_errorInterrupted ? snwReportMessage(&message) : snwReportInput(&message);
        return job->bake != NULL && result == snw_errorArgument ? snw_exitUsage : exit; // the name of the output
    }

    // From here on a failure leaves finished frames behind.
    result = snwBake_Run(job->bake, &message);
    snwProgress_End(&job->progress);
    if (result >= 0)
        result = WriteBakeOutput(job, &message);
    if (result < 0)
    {
        snwProgress_End(&job->progress);
        snwReportMessage(&message);
        snwBake_TidyFolder(job->bake);
        if (snwFileExists(job->folder))
            snwNote("finished frames are kept in %s; the same command goes on", job->folder);
        return snwExit_FromResult(result);
    }

    snwExit exit = ReportBake(job);
    if (!snwArgs_Has(job->args, "keep"))
        snwBake_RemoveFolder(job->bake);
    return exit;
}

static snwExit MakeBakeDef(Job* job, snwBakeDef* def)
{
    *def = snwDefaultBakeDef();
    def->source = job->args->operands[0];
    def->folder = job->folder;
    def->words = job->words;
    def->sidecar = snwArgs_Text(job->args, "sidecar");
    def->restart = snwArgs_Has(job->args, "restart");
    def->interrupt = snwInterrupt_Flag();
    def->progress = ShowProgress;
    def->user = job;

    // What is wrong with the words is told before any file is opened.
    if (!ReadPrepare(job->args, &def->prepare))
        return snw_exitUsage;
    snwExit words = CheckWords(job);
    if (words != snw_exitOk)
        return words;
    static const char* const s_files[] = {"film", "picture", "scene", "report"};
    for (size_t i = 0; i < sizeof s_files / sizeof *s_files; ++i)
        if (CheckFree(job, snwArgs_Text(job->args, s_files[i])) != snw_exitOk)
            return snw_exitFailed;

    return CheckFree(job, job->output);
}

static snwExit RunBake(const snwArgs* args)
{
    Job job = {.args = args, .output = snwArgs_Text(args, "output"), .force = snwArgs_Has(args, "force")};
    snwBakeDef def;
    job.json = snwArgs_Has(args, "json");
    if (job.output == NULL)
        return snwUsage("-o soft.glb", "where shall it go?");
    const char* film = snwArgs_Text(args, "film");
    if (film != NULL && !snwHasEnding(film, ".mp4") && !snwHasEnding(film, ".gif"))
        return snwUsage("--film NAME.mp4, or NAME.gif", "--film cannot write '%s'", film);
    if (!snwBake_NameFolder(job.output, job.folder, sizeof job.folder))
        return snwUsage("a shorter -o", "the path is too long");

    // The words decide whether there is anything to do at all.
    snwExit exit = ReadWords(&job);
    if (exit == snw_exitOk)
        exit = snwContextFromArgs(args, &job.context);

    if (exit == snw_exitOk)
    {
        snwInterrupt_Listen();
        job.written = snwAlloc(job.context, sizeof *job.written);
        exit = job.written == NULL ? snwReportMemory() : MakeBakeDef(&job, &def);
        if (exit == snw_exitOk)
            exit = Bake(&job, &def);
        snwBake_Close(job.bake);
        snwFree(job.context, job.written);
        snwDestroyContext(job.context);
    }

    json_decref(job.words);
    return exit;
}

// ---------------------------------------------------------------------------------------------------------------------

static const snwOption s_options[] = {
    {"output", 'o', "FILE", false, snw_completeFile, NULL, "what to write; its ending says the format"},
    {"format", 0, "NAME", false, snw_completeWords, "auto glb morphs joints pc2 mdd obj",
        "auto (glb or joints, whatever is smaller), glb (few morph targets), morphs (one per frame), joints (helper "
        "joints), pc2, mdd or obj"},
    {"tolerance", 0, "METRES", false, snw_completeNothing, NULL,
        "how far morph targets and helper joints may be off (default: 1/1500 of the size, 1 mm on a person)"},
    {"most", 0, "N", false, snw_completeNothing, NULL,
        "morph targets of a mesh or helper joints of a skin, at most (default: as many as are usual)"},
    {"influences", 0, "N", false, snw_completeNothing, NULL,
        "with helper joints: joints that a vertex follows, at most (default 8; 4 if a player reads no more)"},
    {"compress", 0, NULL, false, snw_completeNothing, NULL,
        "GLB and glTF with EXT_meshopt_compression: half the bytes, for three.js and engines; Blender does not read "
        "it"},
    {"up", 0, "AXIS", false, snw_completeWords, "y z", "of caches and OBJ files (default z for caches, y for OBJ)"},
    {"clip", 'c', "NAME", false, snw_completeNothing, NULL,
        "name of the clip, or its number from 1 (default: the first)"},
    {"start", 0, "S", false, snw_completeNothing, NULL, "first second of the clip"},
    {"end", 0, "S", false, snw_completeNothing, NULL, "last second of the clip"},
    {"fps", 0, "N", false, snw_completeNothing, NULL, "frames per second (default: those of the file's keys, or 30)"},
    {"preroll", 0, "S", false, snw_completeNothing, NULL, "hold the first pose for so long before the first frame"},
    {"loop", 0, NULL, false, snw_completeNothing, NULL, "the clip is a cycle: run it until it repeats, close the seam"},
    {"motion-from", 0, "FILE", false, snw_completeFile, NULL,
        "put a clip of that file (GLB, FBX, BVH ...) on this skeleton and bake it; --clip is then one of its"},
    {"joint-map", 0, "JOINT=ITS", true, snw_completeNothing, NULL,
        "with --motion-from: this joint is that one, where names do not tell (several times: these)"},
    {"cache", 0, "FILE", false, snw_completeFile, NULL,
        "a PC2 or MDD file whose motion of the vertices is the artist's"},
    {"softness", 0, "X", false, snw_completeNothing, NULL, "one knob: 2 gives way twice as far, 0.5 half (default 1)"},
    {"falloff", 0, "X", false, snw_completeNothing, NULL,
        "how much firmer hands, feet, faces and thin parts are (default 1; 0: as soft as the rest)"},
    {"preset", 'p', "NAME", false, snw_completeWords, "flesh muscle fat rubber jelly inflatable",
        "what it is made of (default flesh)"},
    {"material", 0, "[REGION:]NUMBERS", true, snw_completeNothing, NULL,
        "frequency=3,settling=0.5 or young=2e4,poisson=0.45, or a preset; of a bone's or material's region, or of all"},
    {"blend", 0, "X", false, snw_completeNothing, NULL, "0 is the artist's motion, 1 the flesh's (default 1)"},
    {"gravity", 0, "G", false, snw_completeNothing, NULL,
        "m/s^2 downwards, 9.81 on earth (default 0: what was modelled hangs as it should)"},
    {"keep-trajectory", 0, NULL, false, snw_completeNothing, NULL, "flesh does nothing that the rig could do (pbcd)"},
    {"collide", 0, "WHAT", true, snw_completeFile, NULL, "ground, or a file with a closed surface"},
    {"self-collision", 0, NULL, false, snw_completeNothing, NULL, "flesh does not pass through itself"},
    {"only", 0, "MESH", true, snw_completeNothing, NULL, "touch this mesh (several times: these)"},
    {"bones", 0, "BONE", true, snw_completeNothing, NULL, "move the flesh of this bone only (several times: these)"},
    {"rigid", 0, "PATTERN", true, snw_completeNothing, NULL,
        "surfaces or materials that move with a bone, like '*armor*': by shape, weights and names if nobody says it"},
    {"carried", 0, "PATTERN", true, snw_completeNothing, NULL, "the same of what rides on the flesh: clothes, hair"},
    {"soft", 0, "PATTERN", true, snw_completeNothing, NULL, "the same of what is flesh"},
    {"method", 'm', "NAME", false, snw_completeMethods, NULL,
        "default pbcd, which leaves bones where the artist has them"},
    {"substeps", 0, "N", false, snw_completeNothing, NULL, "parts of each frame: more are stiffer, and dearer"},
    {"iterations", 0, "N", false, snw_completeNothing, NULL, "sweeps of each part"},
    {"set", 's', "NAME=VALUE", true, snw_completeParams, NULL, "set a parameter: see sinew info --params"},
    {"elements", 'e', "N", false, snw_completeNothing, NULL, "tetrahedra of the body, about"},
    {"mesher", 0, "NAME", false, snw_completeWords, "auto lattice tetgen", "how they are made: see sinew prep"},
    {"scale", 0, "M", false, snw_completeNothing, NULL, "metres per unit of the file; else it is told or guessed"},
    {"sidecar", 0, "FILE", false, snw_completeFile, NULL, "settings; NAME.sinew.json beside the file if absent"},
    {"save-settings", 0, NULL, false, snw_completeNothing, NULL, "write these settings into the sidecar"},
    {"film", 0, "FILE", false, snw_completeFile, NULL, "before, after and the difference, as .mp4 or .gif"},
    {"picture", 0, "FILE", false, snw_completeFile, NULL, "the same where flesh moves most, from near, as .png"},
    {"scene", 0, "FILE", false, snw_completeFile, NULL, "write the scene that was run, for sinew sim"},
    {"report", 0, "FILE", false, snw_completeFile, NULL, "write the report as JSON"},
    {"restart", 0, NULL, false, snw_completeNothing, NULL, "do not go on with frames of a bake that was interrupted"},
    {"keep", 0, NULL, false, snw_completeNothing, NULL,
        "keep the frames in NAME.bake, for the next bake with these settings"},
    {"force", 'f', NULL, false, snw_completeNothing, NULL, "replace files that exist"},
    {"json", 'j', NULL, false, snw_completeNothing, NULL, "print the report as JSON"},
    SNW_CONTEXT_OPTIONS,
    {0},
};

static const snwExample s_examples[] = {
    {"sinew bake walk.glb -o walk_soft.glb", "the same file with living flesh"},
    {"sinew bake walk.glb -o soft.glb --clip Run --loop --softness 2", "a cycle that repeats, twice as soft"},
    {"sinew bake walk.glb -o soft.glb --preset fat --material head:muscle", "fat, but for the head"},
    {"sinew bake walk.glb -o soft.glb --material belly:frequency=2,settling=0.8", "how the belly swings"},
    {"sinew bake walk.glb -o walk.pc2 --start 1 --end 3 --fps 24", "a point cache for Blender and others"},
    {"sinew bake hero.glb --motion-from run.fbx -o hero_run.glb", "another file's clip on this skeleton, with flesh"},
    {"sinew bake biped --clip walk -o biped.glb --loop --film biped.mp4", "a built-in character, and a film"},
    {0},
};

const snwVerb snwBakeVerb = {
    .name = "bake",
    .operands = "FILE",
    .leastOperands = 1,
    .mostOperands = 1,
    .complete = snw_completeFile,
    .summary = "give an animated character living flesh",
    .about = "FILE is a rigged, animated file, a prepared character (.snw), or the name of a built-in\n"
             "one. What is written is the same file with flesh that lags, swings and settles; bones,\n"
             "materials, textures, cameras and other animations stay as they are. docs/bake.md tells\n"
             "the rest.\n"
             "\n"
             "Everything but the names of files can also stand in NAME.sinew.json beside FILE; the\n"
             "command line wins. Ctrl-C ends after the current frame and keeps what is finished: the\n"
             "same command goes on from there, and gives the same bits as if nothing had happened.",
    .options = s_options,
    .examples = s_examples,
    .run = RunBake,
};
