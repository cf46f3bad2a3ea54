// The film of a bake: the artist's motion, the motion with flesh, and what flesh adds in colours, side by side; with
// a still of the place where flesh moves most.

#include "app/bake_film.h"

#include "app/common.h"
#include "base/context.h"
#include "base/result.h"
#include "view/film.h"

#include <math.h>

snwBakeFilmDef snwDefaultBakeFilmDef(void)
{
    return (snwBakeFilmDef){.width = 480, .height = 432, .samples = 4, .repeats = 2};
}

enum
{
    snw_artistFilm,
    snw_fleshFilm,
    snw_differenceFilm,
    snw_filmCount
};

// How much around the place where flesh moves most the picture shows.
#define SNW_FOCUS_MOVES 8    // times the way that flesh goes there: a sixteenth of the picture
#define SNW_FOCUS_LEAST 0.12 // of the size: one has to see what it is
#define SNW_FOCUS_MOST  0.25

typedef struct Trio
{
    snwFilm* films[snw_filmCount];
    snwSim* sim;       // of the scene, at its start: it brings colliders
    snwSkin* skins[2]; // of all surfaces: the artist's, with flesh
    int surfaceCount;
} Trio;

static snwResult MakeTrio(
    snwContext* context, snwBake* bake, const snwBakeFilmDef* def, Trio* trio, snwMessage* message)
{
    // Three films of the same camera and size.
    snwFilmDef film = snwDefaultFilmDef();
    snwSimDef sim = snwDefaultSimDef();
    film.directory = def->folder;
    film.width = def->width;
    film.height = def->height;
    film.samples = def->samples;
    film.overwrite = def->overwrite;
    film.framesPerSecond = snwBakeFrames_GetInfo(snwBake_GetFrames(bake)).rate;
    film.camera = snwBake_GetScene(bake)->camera;
    sim.scene = snwBake_GetScene(bake)->scene;
    trio->surfaceCount = snwPrepared_GetInfo(snwBake_GetPrepared(bake)).surfaceCount;
    for (int i = 0; i < 2; ++i)
        trio->skins[i] = snwAllocArray(context, (size_t)trio->surfaceCount + 1, sizeof(snwSkin));
    if (trio->skins[0] == NULL || trio->skins[1] == NULL)
        return snwFailMemory(message);

    // The sim is only there for the films' sake: bodies come from the bake.
    snwResult result = snwCreateSim(context, &sim, &trio->sim, message);
    for (int i = 0; i < snw_filmCount && result >= 0; ++i)
        result = snwCreateFilm(context, &film, sim.scene, &trio->films[i], message);
    if (result >= 0)
        trio->films[snw_differenceFilm]->differs = true;

    return result;
}

// What the film shows is what is written: surfaces, not bodies.
static snwResult AddFrames(Trio* trio, snwBake* bake, const snwBakeFilmDef* def, snwMessage* message)
{
    snwBakeFrames* frames = snwBake_GetFrames(bake);
    snwBakeInfo info = snwBakeFrames_GetInfo(frames);

    // A loop is shown several times, without its last frame, which is the first one again.
    int count = info.loop ? info.frameCount - 1 : info.frameCount, shown = info.loop ? def->repeats * count : count;
    int vertices = snwCharacter_GetInfo(snwPrepared_GetCharacter(info.prepared)).vertexCount;
    snwResult result = snw_ok;

    // Frames stay in memory until they are drawn: a picture needs its own alone.
    int first = def->path != NULL ? 0 : snwBake_GetReport(bake)->lagFrame;
    shown = def->path != NULL ? shown : first + 1;
    for (int i = first; i < shown && result >= 0; ++i)
    {
        result = snwBakeFrames_Read(frames, i % count, NULL, message);
        for (int s = 0; s < trio->surfaceCount && result >= 0; ++s)
        {
            result = snwBakeFrames_GetArtist(frames, s, &trio->skins[0][s], message);
            if (result >= 0)
                result = snwBakeFrames_GetSurface(frames, s, &trio->skins[1][s], message);
        }

        // The artist's film shows the artist's skins, the two others the flesh's.
        for (int k = 0; k < snw_filmCount && result >= 0; ++k)
        {
            const float* body = k == snw_artistFilm ? snwBakeFrames_GetArtistBody(frames)
                                                    : snwBakeFrames_GetBody(frames);
            snwVertices now = {.positions = body, .count = vertices, .stride = 3 * (int)sizeof(float)};
            snwFilmShown all = {&now, trio->skins[k != snw_artistFilm], trio->skins[0], i / info.rate};
            result = snwFilm_AddShown(trio->films[k], trio->sim, &all, message);
        }

        if (result >= 0 && def->progress != NULL && def->progress(i + 1, shown, def->user) < 0)
            result = snwFail(message, snw_errorInterrupted, NULL, "stopped before the film was drawn");
    }

    return result;
}

snwResult snwBakeFilm_Draw(snwContext* context, snwBake* bake, const snwBakeFilmDef* def, snwMessage* message)
{
    static const char* const s_names[] = {"the artist's", "with flesh", "what flesh adds"};
    const snwBakeReport* report = snwBake_GetReport(bake);
    Trio trio = {0};
    snwResult result = MakeTrio(context, bake, def, &trio, message);
    if (result >= 0)
        result = AddFrames(&trio, bake, def, message);

    // The still: around where flesh moves most, closer the less it moves.
    snwTilesDef tiles = {.films = trio.films,
        .names = s_names,
        .count = snw_filmCount,
        .directory = def->folder,
        .filmPath = def->path,
        .picturePath = def->picture,
        .pictureFrame = def->path != NULL ? report->lagFrame : 0,
        .focus = report->lagPlace,
        .focusNormal = report->lagNormal,
        .focusRadius = fmin(
            fmax(SNW_FOCUS_MOVES * report->lag, SNW_FOCUS_LEAST * report->size), SNW_FOCUS_MOST * report->size),
        .overwrite = def->overwrite};
    if (result >= 0)
        result = snwTiles_Draw(context, &tiles, def->progress, def->user, message);

    for (int i = 0; i < snw_filmCount; ++i)
        if (trio.films[i] != NULL)
            snwDestroyFilm(trio.films[i]);
    if (trio.sim != NULL)
        snwDestroySim(trio.sim);
    snwFree(context, trio.skins[0]);
    snwFree(context, trio.skins[1]);

    return result;
}
