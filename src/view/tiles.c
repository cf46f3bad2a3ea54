// Films of up to 16 runs side by side: one camera for all, a sheet of tiles with names, drawn frame by frame, and a
// still picture that looks at what matters.

#include "view/tiles.h"

#include "scene/file.h"
#include "view/caption.h"
#include "view/encode.h"
#include "view/focus.h"
#include "view/sheet.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SNW_SEEN   0.5f // cosine of the angle at which a side is still seen
#define SNW_AROUND 0.7f // of the focus: what one wants to see of it
#define SNW_LIKED  0.1f // more in sight by less is no reason to look from elsewhere

enum
{
    snw_maxTiles = 16,
    snw_sides = 12, // from which a picture may be taken
    snw_nameSize = 96
};

typedef struct Tiles
{
    snwContext* context;
    const snwTilesDef* def;
    snwSheet sheet;
    int columns, rows;
    int frameCount;
    char names[snw_maxTiles][snw_nameSize];
    char* frames; // folder
    char* path;   // of a frame
    size_t pathCapacity;
    char* logPath;
    snwFilmProgressFn* progress;
    void* user;
} Tiles;

// ---------------------------------------------------------------------------------------------------------------------
// Set up

// All get the camera of the film that moves furthest, but for those that explode: they would make specks of the others.
static void ShareCamera(const snwTilesDef* def)
{
    float least = def->films[0]->picture.radius;
    for (int i = 1; i < def->count; ++i)
        least = snwFloat_Min(least, def->films[i]->picture.radius);
    const snwFilm* widest = NULL;
    for (int i = 0; i < def->count; ++i)
    {
        const snwFilm* film = def->films[i];
        if (film->picture.radius <= 3 * least && (widest == NULL || film->picture.radius > widest->picture.radius))
            widest = film;
    }
    for (int i = 0; i < def->count && widest != NULL; ++i)
    {
        def->films[i]->camera = widest->camera;
        def->films[i]->picture.centre = widest->picture.centre;
        def->films[i]->picture.radius = widest->picture.radius;
    }
}

// A name that is wider than its tile loses its end.
static void FitName(const char* name, float size, float width, char fitted[snw_nameSize])
{
    snprintf(fitted, snw_nameSize, "%s", name);
    for (size_t length = strlen(fitted); length > 3 && snwText_Width(size, fitted) > width; --length)
        snprintf(fitted + length - 3, 4, "..");
}

static snwResult MakeTileSheet(Tiles* tiles, snwMessage* message)
{
    const snwFilmDef* film = &tiles->def->films[0]->def;
    int count = tiles->def->count;

    // Up to three side by side, then two rows, then four.
    tiles->rows = count <= 3 ? 1 : count <= 8 ? 2 : 4;
    tiles->columns = (count + tiles->rows - 1) / tiles->rows;
    snwSheetDef def = snwDefaultSheetDef();
    def.title = tiles->def->title;
    def.rowCount = tiles->rows;
    def.columnCount = tiles->columns;
    def.tileWidth = film->width;
    def.tileHeight = film->height;
    def.captions = true;
    def.textSize = snwFloat_Clamp((float)film->width / 24, 10, 22);

    // Names as far as their tiles are wide.
    for (int i = 0; i < count; ++i)
    {
        const snwFilm* shown = tiles->def->films[i];
        char name[snw_nameSize];
        snprintf(name, sizeof name, "%s", tiles->def->names[i]);
        if (shown->differs) // what its colours stand for
            snprintf(
                name, sizeof name, "%s: %.4g to %.4g mm", tiles->def->names[i], shown->scale.lower, shown->scale.upper);
        FitName(name, def.textSize, (float)film->width, tiles->names[i]);
    }

    return snwCreateSheet(tiles->context, &def, &tiles->sheet, message);
}

static snwResult MakePaths(Tiles* tiles, snwMessage* message)
{
    const char* directory = tiles->def->directory != NULL ? tiles->def->directory : ".";
    tiles->pathCapacity = strlen(directory) + 64;
    tiles->frames = snwAlloc(tiles->context, tiles->pathCapacity);
    tiles->path = snwAlloc(tiles->context, tiles->pathCapacity);
    tiles->logPath = snwAlloc(tiles->context, tiles->pathCapacity);
    if (tiles->frames == NULL || tiles->path == NULL || tiles->logPath == NULL)
    {
        snwFailMemory(message);
        return snw_errorMemory;
    }
    snprintf(tiles->frames, tiles->pathCapacity, "%s/frames", directory);
    snprintf(tiles->logPath, tiles->pathCapacity, "%s/ffmpeg.log", directory);
    return tiles->def->filmPath != NULL ? snwMakeFolder(tiles->frames, message) : snw_ok;
}

static snwResult SetUp(Tiles* tiles, snwMessage* message)
{
    const snwTilesDef* def = tiles->def;
    if (def->count < 1 || def->count > snw_maxTiles)
    {
        snwFail(message, snw_errorArgument, "give 1 to 16", "%d films side by side", def->count);
        return snw_errorArgument;
    }

    // All have frames, and the longest says how many there are.
    snwResult result = snw_ok;
    for (int i = 0; i < def->count && result >= 0; ++i)
    {
        if (def->films[i]->frames.count == 0)
        {
            snwFail(message, snw_errorArgument, "add a frame before drawing", "film %d has no frames", i);
            return snw_errorArgument;
        }
        if (def->films[i]->frames.count > tiles->frameCount)
            tiles->frameCount = def->films[i]->frames.count;
        result = snwFilm_SetUp(def->films[i], message);
    }

    if (result < 0)
        return result;

    // One camera for all: what is compared is seen from one place.
    ShareCamera(def);
    result = MakeTileSheet(tiles, message);
    return result >= 0 ? MakePaths(tiles, message) : result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Drawing

// captions: only once, for drawing letters over themselves makes them bolder.
static snwResult DrawTiles(Tiles* tiles, int frame, int gain, bool captions, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < tiles->def->count && result >= 0; ++i)
    {
        snwFilm* film = tiles->def->films[i];
        int last = film->frames.count - 1, samples = film->def.samples * gain;
        result = snwFilm_Draw(film, frame < last ? frame : last, samples < 256 ? samples : 256, message);
        if (result >= 0)
            snwSheet_PutTile(
                &tiles->sheet, i / tiles->columns, i % tiles->columns, &film->image, captions ? tiles->names[i] : NULL);
    }
    return result;
}

static snwResult AdvanceTiles(Tiles* tiles, int done, snwMessage* message)
{
    int total = tiles->frameCount + 1;
    snwResult result = tiles->progress != NULL ? tiles->progress(done, total, tiles->user) : snw_ok;
    return result >= 0 ? snw_ok : snwFail(message, result, NULL, "the drawing was stopped");
}

static void TurnCamera(snwCamera* camera, float co, float si)
{
    snwFloat3* axes[] = {&camera->right, &camera->up, &camera->forward};
    for (int i = 0; i < 3; ++i)
        *axes[i] = (snwFloat3){co * axes[i]->x + si * axes[i]->z, axes[i]->y, co * axes[i]->z - si * axes[i]->x};
}

// Turns the camera about the vertical to the side that the focus faces, unless it sees that side.
static void FaceFocus(const snwTilesDef* def, snwCamera* camera)
{
    snwFloat3 normal = snwFloat3_FromVec3(def->focusNormal), forward = camera->forward;
    normal.y = forward.y = 0;
    float length = snwFloat3_Length(normal) * snwFloat3_Length(forward);
    float co = -snwFloat3_Dot(normal, forward) / length, si = -snwFloat3_Cross(forward, normal).y / length;
    if (length > 0.3f && co <= SNW_SEEN)
        TurnCamera(camera, co, si);
}

// On from there to the side from which most of the flesh around the focus is in sight: an axe, a tail or a leg may hide
// it.
static void FindSide(const snwTilesDef* def, int frame, const snwFocus* focus, float away, snwCamera* camera)
{
    const snwFilm* film = def->films[def->count - 1];
    snwCamera best = *camera;
    float most = 0;
    for (int i = 0; i < snw_sides; ++i)
    {
        int turns = (i + 1) / 2 * (i % 2 == 1 ? 1 : -1);
        float angle = 2 * SNW_PIF * (float)turns / snw_sides;
        snwCamera side = *camera;
        TurnCamera(&side, cosf(angle), sinf(angle));
        float seen = snwFocus_Seen(film, frame, focus, side.forward, away) + (i == 0 ? SNW_LIKED : 0);
        if (seen <= most)
            continue;
        most = seen;
        best = side;
    }
    *camera = best;
}

// From the side of the film, or where the focus is to be seen, but so near that the focus fills the picture.
static void LookAtFocus(const snwTilesDef* def, int frame)
{
    snwFloat3 at = {(float)def->focus.x, (float)def->focus.y, (float)def->focus.z};
    snwCamera camera = def->films[0]->camera; // all films share it
    snwFocus focus = {at, SNW_AROUND * (float)def->focusRadius};
    float away = (float)def->focusRadius / snwFloat_Min(camera.tanX, camera.tanY);
    if (!(def->focusRadius > 0))
        return;
    FaceFocus(def, &camera);
    FindSide(def, frame, &focus, away, &camera);
    camera.position = snwFloat3_Sub(at, snwFloat3_Scale(camera.forward, away));
    for (int i = 0; i < def->count; ++i)
        def->films[i]->camera = camera;
}

static snwResult DrawTilePicture(Tiles* tiles, snwMessage* message)
{
    snwCamera film = tiles->def->films[0]->camera; // all films share it
    int frame = tiles->def->pictureFrame;
    frame = frame >= 0 ? frame : snwFilm_TellingFrame(tiles->def->films[0]);
    LookAtFocus(tiles->def, frame);
    snwResult result = DrawTiles(tiles, frame, 4, true, message);
    for (int i = 0; i < tiles->def->count; ++i)
        tiles->def->films[i]->camera = film;
    if (result >= 0 && tiles->def->picturePath != NULL)
        result = snwImage_WritePng(
            tiles->context, &tiles->sheet.image, tiles->def->picturePath, 9, tiles->def->overwrite, message);
    return result >= 0 ? AdvanceTiles(tiles, 1, message) : result;
}

static snwResult DrawTileFrames(Tiles* tiles, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < tiles->frameCount && result >= 0; ++i)
    {
        snwFormatFramePath(tiles->path, tiles->pathCapacity, tiles->frames, i);
        result = DrawTiles(tiles, i, 1, false, message);
        if (result >= 0)
            result = snwImage_WritePng(
                tiles->context, &tiles->sheet.image, tiles->path, 1, tiles->def->overwrite, message);
        if (result >= 0)
            result = AdvanceTiles(tiles, i + 2, message);
    }
    return result;
}

static void RemoveTileFrames(Tiles* tiles)
{
    for (int i = 0; i < tiles->frameCount; ++i)
    {
        snwFormatFramePath(tiles->path, tiles->pathCapacity, tiles->frames, i);
        unlink(tiles->path);
    }
    rmdir(tiles->frames); // stays if somebody else put something there
}

static snwResult WhileEncoding(void* user)
{
    const Tiles* tiles = user;
    int total = tiles->frameCount + 1;
    return tiles->progress != NULL ? tiles->progress(total, total, tiles->user) : snw_ok;
}

static snwResult DrawAndEncodeTiles(Tiles* tiles, snwMessage* message)
{
    // Tiles as PNG, then the film from them.
    snwResult result = DrawTileFrames(tiles, message);
    if (result >= 0)
    {
        snwEncodeDef encode = {
            .frames = tiles->frames,
            .film = tiles->def->filmPath,
            .logPath = tiles->logPath,
            .framesPerSecond = tiles->def->films[0]->framesPerSecond,
            .frameCount = tiles->frameCount,
            .overwrite = tiles->def->overwrite,
            .waiting = WhileEncoding,
            .user = tiles,
        };
        result = snwEncodeFilm(tiles->context, &encode, message);
    }

    if (result >= 0 || result == snw_errorInterrupted) // else somebody may still make a film of them
        RemoveTileFrames(tiles);
    return result;
}

snwResult snwTiles_Draw(
    snwContext* context, const snwTilesDef* def, snwFilmProgressFn* progress, void* user, snwMessage* message)
{
    Tiles tiles = {.context = context, .def = def, .progress = progress, .user = user};
    snwResult result = SetUp(&tiles, message);
    if (result >= 0)
        result = DrawTilePicture(&tiles, message);
    if (result >= 0 && def->filmPath != NULL)
        result = DrawAndEncodeTiles(&tiles, message);
    snwDestroySheet(context, &tiles.sheet);
    snwFree(context, tiles.frames);
    snwFree(context, tiles.path);
    snwFree(context, tiles.logPath);
    return result;
}
