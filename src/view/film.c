// A film from its definition to its files: checked before anything is drawn, fed with frames of a run, then drawn,
// encoded, and its frames removed or kept.

#include "view/film_flat.h"

#include "view/encode.h"
#include "scene/file.h"

#include <string.h>
#include <unistd.h>

enum
{
    snw_frameEffort = 1,
    snw_pictureEffort = 6,
    snw_pictureGain = 4, // a picture to keep gets this many times the samples of a frame
};

snwFilmDef snwDefaultFilmDef(void)
{
    return (snwFilmDef){
        .width = 960,
        .height = 540,
        .framesPerSecond = 30,
        .samples = 8,
        .camera = {.automatic = true, .position = {2, 1.5, 3}, .fieldOfView = 32},
    };
}

const char* snwFilmLook_Name(snwFilmLook look)
{
    static const char* const names[snw_filmLookCount] = {
        "skin", "strain", "speed", "contact", "stiffness", "elements", "bones", "weights"};
    return (int)look >= 0 && look < snw_filmLookCount ? names[look] : "?";
}

bool snwFilm_HasValues(const snwFilm* film)
{
    return film->differs || (film->def.look >= snw_filmStrain && film->def.look <= snw_filmStiffness);
}

bool snwFilm_NeedsBones(const snwFilm* film)
{
    return film->def.look == snw_filmBones || (film->def.show & snw_showJoints) != 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Making one

static bool IsFinite(snwVec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

static snwResult CheckCamera(const snwCameraDef* camera, snwMessage* message)
{
    if (!(camera->fieldOfView >= 1 && camera->fieldOfView <= 120))
        return snwFail(message, snw_errorArgument, "give 1 to 120 degrees", "the camera's field of view is %g degrees",
            camera->fieldOfView);
    if (camera->automatic)
        return snw_ok;
    snwVec3 a = camera->position, b = camera->target;
    if (!IsFinite(a) || !IsFinite(b) || (a.x == b.x && a.y == b.y && a.z == b.z))
        return snwFail(message, snw_errorArgument, "give two different points, or an automatic camera",
            "the camera's position and target do not make a view");
    return snw_ok;
}

static snwResult CheckFilmDef(const snwFilmDef* def, snwMessage* message)
{
    if (def->width < 16 || def->width > 8192 || def->height < 16 || def->height > 8192)
        return snwFail(message, snw_errorArgument, "give 16 to 8192 pixels for each", "the picture size is %d x %d",
            def->width, def->height);

    if (def->samples < 1 || def->samples > 256)
        return snwFail(message, snw_errorArgument, "give 1 to 256", "rays per pixel: %d", def->samples);
    if (!(def->framesPerSecond > 0 && def->framesPerSecond <= 1000))
        return snwFail(
            message, snw_errorArgument, "give up to 1000", "frames per second of the film: %g", def->framesPerSecond);
    if (def->filmPath != NULL && !snwIsFilmName(def->filmPath))
    {
        snwResult result = snwFail(message, snw_errorArgument, "end the name in .mp4 or .gif", "unknown kind of film");
        snwMessage_SetFile(message, def->filmPath);
        return result;
    }

    // What contradicts each other.
    if (def->directory == NULL && (def->filmPath != NULL || def->keepFrames))
        return snwFail(message, snw_errorArgument, "give a folder", "a film needs a folder for its frames");
    if ((int)def->look < 0 || def->look >= snw_filmLookCount || (def->show & ~(uint32_t)snw_showAll) != 0)
        return snwFail(message, snw_errorArgument, "start from snwDefaultFilmDef", "unknown look %d or overlays %x",
            (int)def->look, def->show);
    if (def->transparent && (!def->keepFrames || def->filmPath != NULL))
        return snwFail(message, snw_errorArgument, "keep the frames, and ask for no film",
            "films have no opacity: only frames can be transparent");
    return CheckCamera(&def->camera, message);
}

static bool WantsFrames(const snwFilm* film)
{
    return film->def.filmPath != NULL || film->def.keepFrames;
}

static snwResult CheckFirstFrame(const snwFilm* film, snwMessage* message)
{
    size_t capacity = strlen(film->frameDirectory) + 32;
    char* path = snwAlloc(film->context, capacity);
    if (path == NULL)
        return snwFailMemory(message);
    snwFormatFramePath(path, capacity, film->frameDirectory, 0);
    snwResult result = snwPartFile_Check(film->context, path, film->def.overwrite, message);
    snwFree(film->context, path);
    return result;
}

// Whatever can go wrong with the files should go wrong now, not after the drawing.
static snwResult CheckOutputs(snwFilm* film, snwMessage* message)
{
    const snwFilmDef* def = &film->def;
    snwResult result = def->filmPath != NULL ? snwFindEncoder(def->filmPath, message) : snw_ok;
    if (result >= 0 && def->directory != NULL)
        result = snwMakeFolder(def->directory, message);
    if (result >= 0 && WantsFrames(film))
    {
        film->madeFrames = access(film->frameDirectory, F_OK) != 0;
        result = snwMakeFolder(film->frameDirectory, message);
        if (result >= 0)
            result = CheckFirstFrame(film, message);
    }
    if (result >= 0 && def->filmPath != NULL)
        result = snwPartFile_Check(film->context, def->filmPath, def->overwrite, message);
    if (result >= 0 && def->picturePath != NULL)
        result = snwPartFile_Check(film->context, def->picturePath, def->overwrite, message);
    return result;
}

static char* JoinFilmPath(snwContext* context, const char* directory, const char* name)
{
    size_t capacity = strlen(directory) + strlen(name) + 2;
    char* path = snwAlloc(context, capacity);
    if (path != NULL)
        snprintf(path, capacity, "%s/%s", directory, name);
    return path;
}

static bool CopyTexts(snwFilm* film, const snwFilmDef* def)
{
    snwContext* context = film->context;
    film->def.directory = def->directory != NULL ? snwCopyText(context, def->directory) : NULL;
    film->def.filmPath = def->filmPath != NULL ? snwCopyText(context, def->filmPath) : NULL;
    film->def.picturePath = def->picturePath != NULL ? snwCopyText(context, def->picturePath) : NULL;
    const char* directory = def->directory != NULL ? def->directory : ".";
    film->frameDirectory = JoinFilmPath(context, directory, "frames");
    film->logPath = JoinFilmPath(context, directory, "ffmpeg.log");
    return film->frameDirectory != NULL && film->logPath != NULL && !film->def.directory == !def->directory &&
           !film->def.filmPath == !def->filmPath && !film->def.picturePath == !def->picturePath;
}

snwResult snwCreateFilm(
    snwContext* context, const snwFilmDef* def, snwScene* scene, snwFilm** result, snwMessage* message)
{
    *result = NULL;
    snwResult checked = CheckFilmDef(def, message);
    if (checked < 0)
        return checked;
    snwFilm* film = snwAlloc(context, sizeof *film);
    if (film == NULL)
        return snwFailMemory(message);

    const snwSceneDef* sceneDef = snwScene_GetDef(scene);
    snwScene_Retain(scene);
    film->context = film->picture.context = film->inspector.context = context;

    // What the scene has, and how often it can be seen: not more often than frames are simulated.
    film->scene = scene;
    film->def = *def;
    film->bodyCount = sceneDef->bodyCount;
    film->colliderCount = sceneDef->colliderCount;
    film->propCount = sceneDef->propCount;
    film->flat = snwFilm_IsFlat(film);
    film->framesPerSecond = fmin(def->framesPerSecond, sceneDef->rate);

    // One more of each, for no array is empty.
    film->bodies = snwAllocArray(context, (size_t)film->bodyCount + 1, sizeof *film->bodies);
    film->colliderMeshes = snwAllocArray(context, (size_t)film->colliderCount + 1, sizeof *film->colliderMeshes);
    film->propMeshes = snwAllocArray(context, (size_t)film->propCount + 1, sizeof *film->propMeshes);
    bool made = CopyTexts(film, def) && film->bodies != NULL && film->colliderMeshes != NULL &&
                film->propMeshes != NULL;

    checked = made ? CheckOutputs(film, message) : snwFailMemory(message);
    if (checked < 0)
        snwDestroyFilm(film);
    else
        *result = film;
    return checked;
}

void snwDestroyFilm(snwFilm* film)
{
    if (film == NULL)
        return;
    snwContext* context = film->context;
    if (film->madeFrames)
        rmdir(film->frameDirectory); // an interrupted film may have no frames; a folder with something in it stays

    // Frames and bodies.
    for (int i = 0; i < film->frames.count; ++i)
        snwFilmFrame_Free(context, &film->frames.data[i]);
    snwArray_Free(context, &film->frames);

    // Surfaces may be shared between bodies of one character.
    for (int i = 0; film->bodies != NULL && i < film->bodyCount; ++i)
    {
        if (film->bodies[i].ownsSurface)
            snwDestroyFilmSurface(context, film->bodies[i].surface);
        snwFilmSkeleton_Free(context, &film->bodies[i].skeleton);
        snwFree(context, film->bodies[i].triangles);
        snwFree(context, film->bodies[i].vertices);
    }

    // What it drew with, and the texts of its definition.
    snwFree(context, film->scratch);
    snwFree(context, film->layers);
    snwFree(context, film->bodies);
    snwFree(context, film->colliderMeshes);
    snwFree(context, film->propMeshes);
    snwFree(context, (void*)film->def.directory);
    snwFree(context, (void*)film->def.filmPath);
    snwFree(context, (void*)film->def.picturePath);
    snwFree(context, film->frameDirectory);
    snwFree(context, film->logPath);
    snwDestroyImage(context, &film->image);
    snwInspector_Free(&film->inspector);
    snwDestroyRenderer(film->renderer);
    snwPicture_Free(&film->picture);
    snwScene_Release(film->scene);
    snwFree(context, film);
}

// ---------------------------------------------------------------------------------------------------------------------
// Keeping frames

// The film's own clock decides which frames of the run are seen.
static bool IsFrameDue(const snwFilm* film, double time)
{
    return time - film->firstTime >= film->frames.count / film->framesPerSecond - 1e-6;
}

static snwResult AddFrame(snwFilm* film, snwSim* sim, double time, snwMessage* message)
{
    if (snwSim_GetScene(sim) != film->scene)
        return snwFail(message, snw_errorArgument, "make one film per scene", "the sim shows another scene");
    snwResult result = film->frames.count == 0 ? snwFilm_MeetBodies(film, sim, message) : snw_ok;
    if (result < 0 || !IsFrameDue(film, time))
        return result;
    snwFilmFrame frame = {0};
    result = snwFilm_CopyFrame(film, sim, &frame, message);
    if (result >= 0 && !snwArray_Push(film->context, &film->frames, frame))
        result = snwFailMemory(message);
    if (result < 0)
        snwFilmFrame_Free(film->context, &frame);
    return result;
}

snwResult snwFilm_AddFrame(snwFilm* film, snwSim* sim, snwMessage* message)
{
    return AddFrame(film, sim, snwSim_GetTime(sim), message);
}

snwResult snwFilm_AddShown(snwFilm* film, snwSim* sim, const snwFilmShown* shown, snwMessage* message)
{
    film->shown = shown;
    snwResult result = AddFrame(film, sim, snwSim_GetTime(sim) + shown->time, message);
    film->shown = NULL;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Finishing

typedef struct Progress
{
    snwFilmProgressFn* report; // NULL: nobody asks
    void* user;
    int done, total;
} Progress;

static snwResult AdvanceProgress(Progress* progress, snwMessage* message)
{
    progress->done++;
    snwResult result = progress->report != NULL ? progress->report(progress->done, progress->total, progress->user)
                                                : snw_ok;
    return result >= 0 ? snw_ok : snwFail(message, result, "what was drawn is kept", "the drawing was stopped");
}

static snwResult DrawFilmPicture(snwFilm* film, Progress* progress, snwMessage* message)
{
    int samples = film->def.samples * snw_pictureGain;
    snwResult result = snwFilm_Draw(film, snwFilm_TellingFrame(film), samples < 256 ? samples : 256, message);
    if (result >= 0)
        result = snwImage_WritePng(
            film->context, &film->image, film->def.picturePath, snw_pictureEffort, film->def.overwrite, message);
    return result >= 0 ? AdvanceProgress(progress, message) : result;
}

static snwResult DrawFrames(snwFilm* film, char* path, size_t capacity, Progress* progress, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; result >= 0 && i < film->frames.count; ++i)
    {
        snwFormatFramePath(path, capacity, film->frameDirectory, i);
        result = snwFilm_Draw(film, i, film->def.samples, message);
        snwSubject subject = snwRenderer_Subject(film->renderer);
        if (result >= 0)
            result = snwInspector_Add(&film->inspector, &film->image, &subject, message);
        if (result >= 0)
            result = snwImage_WritePng(
                film->context, &film->image, path, snw_frameEffort, film->def.overwrite, message);
        if (result >= 0)
            result = AdvanceProgress(progress, message);
    }
    return result;
}

// Frames that an older, longer film left would play at the end of this one.
static void RemoveStale(const snwFilm* film, char* path, size_t capacity)
{
    int frame = film->frames.count;
    do
        snwFormatFramePath(path, capacity, film->frameDirectory, frame++);
    while (film->def.overwrite && unlink(path) == 0);
}

static void RemoveFilmFrames(snwFilm* film, char* path, size_t capacity)
{
    for (int i = 0; i < film->frames.count; ++i)
    {
        snwFormatFramePath(path, capacity, film->frameDirectory, i);
        unlink(path);
    }
    rmdir(film->frameDirectory); // stays if somebody else put something there
}

static snwResult DrawFilm(snwFilm* film, Progress* progress, snwMessage* message)
{
    size_t capacity = strlen(film->frameDirectory) + 32;
    char* path = snwAlloc(film->context, capacity);
    if (path == NULL)
        return snwFailMemory(message);

    // Frames as PNG, then the film from them.
    snwResult result = DrawFrames(film, path, capacity, progress, message);
    if (result >= 0 && film->def.filmPath != NULL)
    {
        snwEncodeDef encode = {
            .frames = film->frameDirectory,
            .film = film->def.filmPath,
            .logPath = film->logPath,
            .framesPerSecond = film->framesPerSecond,
            .frameCount = film->frames.count,
            .overwrite = film->def.overwrite,
        };
        result = snwEncodeFilm(film->context, &encode, message);
    }

    // Asked for, they stay; else they are of no use any more.
    if (result >= 0 && film->def.keepFrames)
        RemoveStale(film, path, capacity);
    else if (result >= 0)
        RemoveFilmFrames(film, path, capacity);
    snwFree(film->context, path);
    return result;
}

snwResult snwFilm_Finish(snwFilm* film, snwFilmProgressFn* report, void* user, snwMessage* message)
{
    if (film->frames.count == 0)
        return snwFail(message, snw_errorArgument, "add a frame before finishing", "the film has no frames");
    if (film->renderer != NULL)
        return snwFail(message, snw_errorArgument, "make a new film", "the film was finished before");
    bool picture = film->def.picturePath != NULL, frames = WantsFrames(film);
    Progress progress = {report, user, 0, (picture ? 1 : 0) + (frames ? film->frames.count : 0)};
    snwResult result = snwFilm_SetUp(film, message);
    if (result >= 0 && picture)
        result = DrawFilmPicture(film, &progress, message);
    if (result >= 0 && frames)
        result = DrawFilm(film, &progress, message);
    return result;
}

snwFilmCheck snwFilm_GetCheck(const snwFilm* film)
{
    return snwInspector_End(&film->inspector);
}
