#include "app/bake_film.h"

#include "app/common.h"

snwBakeFilmDef snwDefaultBakeFilmDef(void)
{
    return (snwBakeFilmDef){.width = 480, .height = 432, .samples = 4, .repeats = 2};
}

typedef struct Pair
{
    snwFilm* films[2];
    snwSim* sim; // of the scene, at its start: it brings colliders
} Pair;

static snwResult MakePair(
    snwContext* context, snwBake* bake, const snwBakeFilmDef* def, Pair* pair, snwMessage* message)
{
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
    snwResult result = snwCreateSim(context, &sim, &pair->sim, message);
    for (int i = 0; i < 2 && result >= 0; ++i)
        result = snwCreateFilm(context, &film, sim.scene, &pair->films[i], message);
    return result;
}

static snwResult AddFrames(Pair* pair, snwBake* bake, int repeats, snwMessage* message)
{
    snwBakeFrames* frames = snwBake_GetFrames(bake);
    snwBakeInfo info = snwBakeFrames_GetInfo(frames);
    int count = info.loop ? info.frameCount - 1 : info.frameCount, shown = info.loop ? repeats * count : count;
    int vertices = snwCharacter_GetInfo(snwPrepared_GetCharacter(info.prepared)).vertexCount;
    snwResult result = snw_ok;
    for (int i = 0; i < shown && result >= 0; ++i)
    {
        result = snwBakeFrames_Read(frames, i % count, NULL, message);
        const float* bodies[2] = {snwBakeFrames_GetArtistBody(frames), snwBakeFrames_GetBody(frames)};
        for (int k = 0; k < 2 && result >= 0; ++k)
        {
            snwVertices now = {.positions = bodies[k], .count = vertices, .stride = 3 * (int)sizeof(float)};
            result = snwFilm_AddVertices(pair->films[k], pair->sim, &now, i / info.rate, message);
        }
    }
    return result;
}

snwResult snwBakeFilm_Draw(snwContext* context, snwBake* bake, const snwBakeFilmDef* def, snwMessage* message)
{
    static const char* const s_names[] = {"the artist's", "with flesh"};
    Pair pair = {0};
    snwResult result = MakePair(context, bake, def, &pair, message);
    if (result >= 0)
        result = AddFrames(&pair, bake, def->repeats, message);
    snwTilesDef tiles = {.films = pair.films,
        .names = s_names,
        .count = 2,
        .directory = def->folder,
        .filmPath = def->path,
        .picturePath = def->picture,
        .overwrite = def->overwrite};
    if (result >= 0)
        result = snwTiles_Draw(context, &tiles, def->progress, def->user, message);
    for (int i = 0; i < 2; ++i)
        if (pair.films[i] != NULL)
            snwDestroyFilm(pair.films[i]);
    if (pair.sim != NULL)
        snwDestroySim(pair.sim);
    return result;
}
