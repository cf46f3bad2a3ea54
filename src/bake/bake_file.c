// The whole way in one call, for programs.

#include "bake/parts.h"

#include "bake/output.h"

#include <stdio.h>
#include <string.h>

bool snwBake_NameFolder(const char* output, char* folder, size_t capacity)
{
    const char *slash = strrchr(output, '/'), *dot = strrchr(output, '.');
    int length = dot != NULL && (slash == NULL || dot > slash + 1) ? (int)(dot - output) : (int)strlen(output);
    return snprintf(folder, capacity, "%.*s.bake", length, output) < (int)capacity;
}

snwResult snwBake_FindOutput(
    const snwBake* bake, const char* path, bool overwrite, snwBakeOutputDef* def, snwMessage* message)
{
    const snwBakeSettings* settings = &bake->settings;
    *def = snwDefaultBakeOutputDef();
    def->path = path;
    def->tolerance = settings->tolerance;
    def->most = settings->most;
    def->influences = settings->influences;
    def->compress = settings->compress;
    def->choose = strcmp(settings->format, "auto") == 0;
    def->overwrite = overwrite;
    if (settings->up[0] != 0)
        def->up = settings->up[0] == 'z' ? snw_upZ : snw_upY;
    if (settings->format[0] != 0 && !snwBakeFormat_Find(settings->format, &def->format))
        return snwFail(message, snw_errorInput, "auto, glb, morphs, joints, pc2, mdd or obj", "there is no format '%s'",
            settings->format);
    return snwBakeOutput_Check(bake->context, def, bake->asset, message);
}

snwBakeFileDef snwDefaultBakeFileDef(void)
{
    return (snwBakeFileDef){0};
}

static snwResult Progressed(const snwBakeProgress* progress, void* user)
{
    const snwBakeFileDef* def = user;
    return def->progress != NULL ? def->progress(progress->word, progress->done, progress->total, def->user) : snw_ok;
}

static snwResult Written(int done, int total, void* user)
{
    return Progressed(&(snwBakeProgress){snw_bakeWriting, "writing", done, total}, user);
}

static void AddNotes(snwBakeFileReport* report, const char lines[][224], int count)
{
    int room = (int)(sizeof report->notes / sizeof report->notes[0]);
    for (int i = 0; i < count && report->noteCount < room; ++i)
        snprintf(report->notes[report->noteCount++], sizeof report->notes[0], "%s", lines[i]);
}

static void TellBakeFile(const snwBake* bake, const snwBakeOutputReport* written, snwBakeFileReport* report)
{
    const snwBakeReport* from = &bake->report;
    *report = (snwBakeFileReport){.frameCount = from->frames,
        .rate = from->rate,
        .flesh = from->lag,
        .targets = written->targets,
        .maxError = written->maxError,
        .bytes = written->bytes[0],
        .difference = from->checked ? from->against.bare : 0,
        .torn = from->checked ? from->against.torn : 0};
    snprintf(report->clip, sizeof report->clip, "%s", from->clip);
    AddNotes(report, from->warnings, from->warningCount);
    AddNotes(report, from->notes, from->noteCount);
    AddNotes(report, written->notes, written->noteCount);
}

// From the open bake to files that are right.
static snwResult WriteBakeFiles(
    snwBake* bake, const snwBakeFileDef* def, snwBakeOutputReport* written, snwMessage* message)
{
    snwBakeOutputDef out;
    snwResult result = snwBake_FindOutput(bake, def->output, def->overwrite, &out, message);
    if (result >= 0)
        result = snwBake_Run(bake, message);
    if (result < 0)
        return result;
    out.progress = Written;
    out.user = (void*)def;
    result = snwBakeOutput_Write(bake->context, snwBake_GetFrames(bake), &out, written, message);
    if (result < 0)
        return result;
    result = snwBake_CheckWritten(bake, written, message);
    for (int i = 0; i < written->fileCount && result < 0; ++i)
        remove(written->files[i]); // nobody shall take it for right; the frames stay
    return result;
}

static snwResult BakeWith(
    snwContext* context, const snwBakeFileDef* def, const json_t* words, snwBakeFileReport* report, snwMessage* message)
{
    char folder[snw_bakePathSize];
    if (!snwBake_NameFolder(def->output, folder, sizeof folder))
        return snwFail(message, snw_errorArgument, "a shorter one", "the path of the output is too long");

    // The steps of the command line, with its defaults.
    snwBakeDef inner = snwDefaultBakeDef();
    inner.source = def->source;
    inner.folder = def->folder != NULL ? def->folder : folder;
    inner.words = words;
    inner.sidecar = def->sidecar;
    inner.prepare.elements = def->elements > 0 ? def->elements : inner.prepare.elements;
    inner.prepare.scale = def->scale > 0 ? def->scale : inner.prepare.scale;
    inner.progress = Progressed;
    inner.user = (void*)def;

    // Finished frames stay in the folder if anything fails.
    snwBake* bake = NULL;
    snwBakeOutputReport* written = snwAlloc(context, sizeof *written);
    snwResult result = written != NULL ? snwBake_Open(context, &inner, &bake, message) : snwFailMemory(message);
    if (bake != NULL && written != NULL)
    {
        result = WriteBakeFiles(bake, def, written, message);
        if (result >= 0 && report != NULL)
            TellBakeFile(bake, written, report);
        if (result >= 0)
            snwBake_RemoveFolder(bake);
        else
            snwBake_TidyFolder(bake);
    }

    snwBake_Close(bake);
    snwFree(context, written);
    return result < 0 ? result : snw_ok;
}

snwResult snwBakeFile(snwContext* context, const snwBakeFileDef* def, snwBakeFileReport* report, snwMessage* message)
{
    if (def->source == NULL || def->output == NULL)
        return snwFail(message, snw_errorArgument, "name both", "a bake needs a source and an output");
    json_t* words = def->settings != NULL ? json_loads(def->settings, 0, NULL) : NULL;
    snwResult result = def->settings != NULL && !json_is_object(words)
                           ? snwFail(
                                 message, snw_errorArgument, "{\"clip\": \"Run\"}", "the settings are no JSON object")
                           : BakeWith(context, def, words, report, message);
    json_decref(words);
    return result;
}
