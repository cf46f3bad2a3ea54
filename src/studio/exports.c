// Files of the recording. Everything that shows the performance is made by performing it again, in a sim and a context
// of its own, and every frame must have the hash that it had when it was shown: so what is exported is what was seen.

#include "studio/exports.h"

#include "scene/file.h"
#include "scene/file.h"
#include "studio/autosave.h"
#include "studio/folder.h"
#include "studio/requests.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct
{
    const char *word, *ending;
    snwResult (*write)(snwExportWork* work);
} s_exports[] = {
    {"glb", ".glb", snwExportWork_Bake},
    {"joints", ".glb", snwExportWork_Bake},
    {"pc2", ".pc2", snwExportWork_Bake},
    {"mdd", ".mdd", snwExportWork_Bake},
    {"obj", ".obj", snwExportWork_Bake},
    {"mp4", ".mp4", snwExportWork_Film},
    {"scene", ".json", snwExportWork_Scene},
    {"log", ".jsonl", snwExportWork_Log},
    {"sidecar", ".sinew.json", snwExportWork_Sidecar},
};

static int FindExport(const char* word)
{
    for (size_t i = 0; i < sizeof s_exports / sizeof s_exports[0]; ++i)
        if (strcmp(word, s_exports[i].word) == 0)
            return (int)i;
    return -1;
}

bool snwExportWord_IsKnown(const char* word)
{
    return FindExport(word) >= 0;
}

void snwExportWork_Note(snwExportWork* work, const char* format, ...)
{
    va_list list;
    if (work->noteCount == snw_maxExportNotes)
        return;
    va_start(list, format);
    vsnprintf(work->notes[work->noteCount++], sizeof work->notes[0], format, list);
    va_end(list);
}

// ---------------------------------------------------------------------------------------------------------------------
// The performance

static snwResult OnExportFrame(const snwRunFrame* frame, void* user, snwMessage* message)
{
    snwExportWork* work = user;
    double share = frame->frameCount > 0 ? (double)frame->frame / frame->frameCount : 1;
    snwResult result = snwJob_Progress(work->job, "performing", 0.5 * share);
    if (result < 0)
        return result;
    return work->onFrame(work, frame, message);
}

snwResult snwExportWork_Perform(snwExportWork* work, snwExportFrameFn* onFrame)
{
    const snwRecording* recording = &work->job->base.recording;
    snwLog log = {.file = work->job->base.stage->file,
        .commands = recording->commands.data,
        .commandCount = recording->commands.count,
        .hashes = recording->hashes.data,
        .frameCount = recording->hashes.count,
        .complete = true};
    snwRunDef run = snwDefaultRunDef();
    snwRunReport report;

    // Replayed from the recording: a frame that comes out another time is a failure, for it is not what was shown.
    run.replay = &log;
    run.onFrame = OnExportFrame;
    run.user = work;
    work->onFrame = onFrame;

    snwResult result = snwRun(work->context, &run, &report, work->message);
    if (result == snw_warning && report.firstDifference >= 0)
        return snwFail(work->message, snw_errorInput, "reset the scene and record again",
            "frame %d came out another time than it was shown", report.firstDifference);
    if (result >= 0)
        snwExportWork_Note(work, "all %d frames are those that were shown, bit for bit", report.frames + 1);
    return result < 0 ? result : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Small files

snwResult snwExportWork_Log(snwExportWork* work)
{
    return snwSession_SaveLog(
        work->context, work->job->base.stage, &work->job->base.recording, work->path, false, work->message);
}

// Two scripts as one: of one step the scene's own comes first, as in the recording.
static int MergeCommands(const snwSceneDef* scene, const snwRecording* recording, snwCommand* out)
{
    int a = 0, b = 0, count = 0;
    while (a < scene->commandCount || b < recording->commands.count)
    {
        bool own = b == recording->commands.count ||
                   (a < scene->commandCount && scene->commands[a].step <= recording->commands.data[b].step);
        out[count++] = own ? scene->commands[a++] : recording->commands.data[b++];
    }
    return count;
}

// The scene with what was done as its script: `sinew sim` of it shows the performance.
snwResult snwExportWork_Scene(snwExportWork* work)
{
    const snwStage* stage = work->job->base.stage;
    const snwRecording* recording = &work->job->base.recording;
    snwSceneDef def = *snwScene_GetDef(stage->file.scene);
    snwSceneFile file = stage->file;
    size_t room = (size_t)(def.commandCount + recording->commands.count) + 1, size = 0;
    snwCommand* commands = snwAllocArray(work->context, room, sizeof *commands);
    char* text = NULL;
    if (commands == NULL)
        return snwFailMemory(work->message);

    // The scene's own commands and those of the recording, by their steps.
    def.commandCount = MergeCommands(&def, recording, commands);
    def.commands = commands;
    if (recording->hashes.count > 1)
        def.duration = (recording->hashes.count - 1) / def.rate;

    // The stage's own scene stays as it is.
    file.scene = NULL;
    snwResult result = snwCreateScene(work->context, &def, &file.scene, work->message);
    if (result >= 0)
        result = snwSceneFile_Format(work->context, &file, &text, &size, work->message);
    if (result >= 0)
        result = snwFile_Write(work->context, work->path, text, size, false, work->message);

    if (text != NULL)
        snwContext_Free(work->context, text);
    snwScene_Release(file.scene);
    snwFree(work->context, commands);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Films

static snwResult FilmFrame(snwExportWork* work, const snwRunFrame* frame, snwMessage* message)
{
    return snwFilm_AddFrame(work->film, frame->sim, message);
}

static snwResult OnExportDrawn(int done, int total, void* user)
{
    snwExportWork* work = user;
    return snwJob_Progress(work->job, "drawing", 0.5 + 0.5 * done / (total > 0 ? total : 1));
}

static snwResult DrawExportFilm(snwExportWork* work, const char* folder)
{
    snwFilmDef def = snwDefaultFilmDef();
    const snwSceneFile* file = &work->job->base.stage->file;
    def.directory = folder;
    def.filmPath = work->path;
    def.width = 768;
    def.height = 432;
    def.samples = 4;
    def.camera = file->camera;
    snwResult result = snwCreateFilm(work->context, &def, file->scene, &work->film, work->message);
    if (result < 0)
        return result;
    result = snwExportWork_Perform(work, FilmFrame);
    if (result >= 0)
        result = snwFilm_Finish(work->film, OnExportDrawn, work, work->message);
    snwDestroyFilm(work->film);
    return result;
}

// What a film that was stopped leaves of its frames goes with their folder, which is ours alone.
static void RemoveFolder(const char* folder, int depth)
{
    char path[snw_stagePath];
    DIR* list = opendir(folder);
    for (struct dirent* entry; list != NULL && (entry = readdir(list)) != NULL;)
    {
        bool own = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (own || !snwJoinPath(path, sizeof path, folder, entry->d_name))
            continue;
        if (unlink(path) != 0 && depth > 0)
            RemoveFolder(path, depth - 1);
    }
    if (list != NULL)
        closedir(list);
    rmdir(folder);
}

snwResult snwExportWork_Film(snwExportWork* work)
{
    char folder[snw_stagePath], name[48];
    if (!snwHasProgram("ffmpeg"))
        return snwFail(work->message, snw_errorUnsupported, "apt install ffmpeg", "the program ffmpeg is not here");
    snprintf(name, sizeof name, ".film-%d-%d", (int)getpid(), work->job->number);
    if (!snwJoinPath(folder, sizeof folder, work->job->session->folder, name))
        return snwFail(work->message, snw_errorIo, "a shorter folder", "the path is too long");
    snwResult result = DrawExportFilm(work, folder);
    RemoveFolder(folder, 1);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The job

static snwResult MakeExportContext(snwExportWork* work)
{
    snwContextDef def = snwDefaultContextDef();
    int threads = snwContext_ThreadCount(work->job->session->context) / 2; // the preview goes on
    def.threadCount = threads > 0 ? threads : 1;
    return snwCreateContext(&def, &work->context, work->message);
}

static void NameExportFile(snwJob* job, const char* path)
{
    struct stat info;
    const char* slash = strrchr(path, '/');
    snprintf(job->file, sizeof job->file, "%s", slash != NULL ? slash + 1 : path);
    job->bytes = stat(path, &info) == 0 ? (double)info.st_size : 0;
}

static snwResult WriteExport(snwExportWork* work, int kind)
{
    snwJob* job = work->job;
    const char* stem = job->name[0] != 0 ? job->name : job->base.stage->name;
    bool alone = strcmp(s_exports[kind].ending, ".pc2") == 0 || strcmp(s_exports[kind].ending, ".mdd") == 0 ||
                 strcmp(s_exports[kind].ending, ".obj") == 0;
    snwResult result = snwFolder_NewPath(job->session, stem, s_exports[kind].ending, alone, work->path, work->message);
    if (result >= 0)
        result = s_exports[kind].write(work);
    if (result >= 0)
        NameExportFile(job, work->written[0] != 0 ? work->written : work->path);
    return result;
}

static void KeepNotes(snwExportWork* work)
{
    size_t length = 0;
    for (int i = 0; i < work->noteCount; ++i)
        length += (size_t)snprintf(
            work->job->notes + length, sizeof work->job->notes - length, "%s%s", i > 0 ? "\n" : "", work->notes[i]);
}

snwResult snwJob_Export(snwJob* job)
{
    snwExportWork* work = snwAlloc(job->context, sizeof *work);
    if (work == NULL)
        return snwFailMemory(&job->message);
    work->job = job;
    work->message = &job->message;
    snwResult result = MakeExportContext(work);
    if (result >= 0)
    {
        result = WriteExport(work, FindExport(job->format));
        KeepNotes(work);
        snwDestroyContext(work->context);
    }
    snwFree(job->context, work);
    return result;
}

void snwJob_WriteFiles(const snwJob* job, snwText* text)
{
    char notes[sizeof job->notes], *rest = notes;
    snwText_Key(text, "file");
    snwText_String(text, job->file);
    snwText_Key(text, "bytes");
    snwText_Real(text, job->bytes);
    snwText_Key(text, "notes");
    snwText_Open(text, '[');
    memcpy(notes, job->notes, sizeof notes);
    for (char* note; (note = strtok_r(rest, "\n", &rest)) != NULL;)
        snwText_String(text, note);
    snwText_Close(text, ']');
}

// ---------------------------------------------------------------------------------------------------------------------
// As a command line

// 'it'\''s': safe for any shell of the POSIX kind.
static void Quote(const char* word, char* out, size_t capacity)
{
    size_t length = 0;
    out[length++] = '\'';
    for (; *word != 0 && length + 6 < capacity; ++word)
    {
        if (*word == '\'')
        {
            memcpy(out + length, "'\\'", 3);
            length += 3;
        }
        out[length++] = *word;
    }
    out[length++] = '\'';
    out[length] = 0;
}

snwResult snwAct_Words(snwAnswer* answer)
{
    snwSession* session = answer->session;
    char path[snw_stagePath], quoted[snw_stagePath * 2], words[snw_stagePath * 3];
    snwResult result = snwFolder_NewPath(session, session->stage->name, ".jsonl", false, path, answer->json.message);
    if (result >= 0)
        result = snwSession_SaveLog(
            session->context, session->stage, &session->recording, path, false, answer->json.message);
    if (result < 0)
        return result;
    Quote(path, quoted, sizeof quoted);
    snprintf(words, sizeof words, "sinew replay %s -o %.*s-out' --export glb", quoted, (int)strlen(quoted) - 7, quoted);
    snwText_Key(&answer->text, "text");
    snwText_String(&answer->text, words);
    snwText_Key(&answer->text, "file");
    snwText_String(&answer->text, strrchr(path, '/') + 1);
    return snw_ok;
}
