// Fig. 7 and 8: ours, ARAP and FAST under the same drags. Each drag goes its way within half a second and stays; the
// elements that are inside out are counted in every frame as it is shown, and the picture shows the moment in which
// the hand stops.

#include "rigpbd_bench.h"

#include "base/result.h"
#include "view/portrait.h"
#include "view/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_dragFrames = 30,
    snw_dragRest = 30, // frames after it
    snw_maxDrags = 4,
    snw_solverCount = 3,
    snw_dragCaseCount = 3,
    snw_tileSize = 360,
    snw_markSides = 24,
    snw_maxCorners = 16,
};

typedef struct Drag
{
    const char* handle;
    double x, y; // of the size; both 0: it is held
} Drag;

typedef struct Case
{
    const char* name;
    const char* figure;
    Drag drags[snw_maxDrags]; // a handle NULL ends them
} Case;

static const Case s_cases[snw_dragCaseCount] = {
    {"ghost", "Fig. 7", {{"hem_left", 0, 0}, {"hem_right", 0, 0}, {"top", 0.32, 0.06}, {"hand_left", 0.02, 0.2}}},
    {"ellipse", "Fig. 7", {{"cage_7", 0, 0}, {"cage_1", 0.3, -0.1}, {"cage_4", 0.25, 0}}},
    {"bunny", "Fig. 8", {{"chin", 0, 0}, {"ear_left_tip", -0.35, -0.2}, {"ear_right_tip", -0.2, 0.1}}},
};

static const char* const s_solvers[snw_solverCount] = {"rigpbd", "arap", "fast"};
static const char* const s_titles[snw_solverCount] = {"ours", "ARAP", "FAST"};

// What one solver makes of one case.
typedef struct Played
{
    bool known; // false: it failed, and a row tells why
    int flipped;
    float* shown;                    // x y z, when the hand stops
    snwVec3 hands[snw_maxDrags];     // where it is
    snwVec3 corners[snw_maxCorners]; // of the cage, then
    int cornerCount;
} Played;

static int FindHandle(const snwRigStage* stage, const char* name)
{
    for (int k = 0; k < stage->character->def.handleCount; ++k)
        if (strcmp(stage->character->def.handles[k].name, name) == 0)
            return k;
    return -1;
}

static double Ease(double t)
{
    t = t < 1 ? t : 1;
    return t * t * (3 - 2 * t);
}

static snwResult GiveAll(snwRigStage* stage, const Case* which, int frame, Played* played, snwMessage* message)
{
    double share = Ease((frame + 1.0) / snw_dragFrames) * stage->size;
    for (int i = 0; i < snw_maxDrags && which->drags[i].handle != NULL; ++i)
    {
        const Drag* drag = &which->drags[i];
        int handle = FindHandle(stage, drag->handle);
        if (handle < 0)
            return snwFail(message, snw_errorArgument, NULL, "%s has no handle '%s'", which->name, drag->handle);
        snwVec3 rest = snwRigStage_HandleRest(stage, handle);
        played->hands[i] = (snwVec3){rest.x + share * drag->x, rest.y + share * drag->y, 0};
        snwRigStage_Give(stage, handle, snw_dofX | snw_dofY, played->hands[i]);
    }
    return snw_ok;
}

static bool KeepShown(const snwRigStage* stage, Played* played)
{
    int count = stage->character->def.vertexCount;
    played->shown = malloc(3 * (size_t)count * sizeof *played->shown);
    for (int i = 0; i < count && played->shown != NULL; ++i)
    {
        snwVec3 x = snwRigStage_Shown(stage, i);
        float* to = played->shown + 3 * (size_t)i;
        to[0] = (float)x.x, to[1] = (float)x.y, to[2] = (float)x.z;
    }
    return played->shown != NULL;
}

static void KeepCage(const snwRigStage* stage, Played* played)
{
    const snwCharacterDef* def = &stage->character->def;
    for (int k = 0; k < def->handleCount && played->cornerCount < snw_maxCorners; ++k)
        if (def->handles[k].kind == snw_handleCage)
            played->corners[played->cornerCount++] = snwRigStage_HandlePlace(stage, k);
}

static snwResult Play(snwRigStage* stage, const Case* which, Played* played, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < snw_dragFrames + snw_dragRest && result >= 0; ++i)
    {
        result = GiveAll(stage, which, i, played, message);
        if (result >= 0)
            result = snwRigStage_Step(stage, message);
        int flipped = result >= 0 ? snwRigStage_Flipped(stage) : 0;
        played->flipped = flipped > played->flipped ? flipped : played->flipped;
        if (i != snw_dragFrames - 1 || result < 0)
            continue;
        KeepCage(stage, played);
        if (!KeepShown(stage, played))
            result = snwFailMemory(message);
    }
    played->known = result >= 0;
    return result;
}

static void AddRow(snwBenchRows* rows, const Case* which, int solver, const Played* played, const char* why)
{
    snwBenchRow row = snwMakeBenchRow(which->name, s_solvers[solver], "flipped");
    if (played->known)
        row.value = played->flipped, row.n = 1;
    if (solver == 0)
        row.target = 0, row.op = "<=";
    snprintf(row.note, sizeof row.note, "%s%s%.100s", which->figure, why[0] != 0 ? ": " : "", why);
    snwBenchRows_Add(rows, &row);
}

// ---------------------------------------------------------------------------------------------------------------------
// The picture

typedef struct Marks
{
    float positions[(snw_maxDrags * (snw_markSides + 1) + 4 * snw_maxCorners) * 3];
    int triangles[(snw_maxDrags * snw_markSides + 2 * snw_maxCorners) * 3];
    int vertexCount, triangleCount;
} Marks;

static int AddMarkVertex(Marks* marks, double x, double y, double z)
{
    float* p = marks->positions + 3 * (size_t)marks->vertexCount;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
    return marks->vertexCount++;
}

static void AddMarkTriangle(Marks* marks, int a, int b, int c)
{
    int* t = marks->triangles + 3 * (size_t)marks->triangleCount++;
    t[0] = a, t[1] = b, t[2] = c;
}

// A dark disc where each hand is, before the character.
static void AddMark(Marks* marks, snwVec3 at, double radius)
{
    int middle = AddMarkVertex(marks, at.x, at.y, 0.2 * radius);
    for (int i = 0; i < snw_markSides; ++i)
    {
        double angle = 2 * SNW_PI * i / snw_markSides;
        AddMarkVertex(marks, at.x + radius * cos(angle), at.y + radius * sin(angle), 0.2 * radius);
        AddMarkTriangle(marks, middle, middle + 1 + i, middle + 1 + (i + 1) % snw_markSides);
    }
}

// A side of the cage, as thin as it can be seen.
static void AddSide(Marks* marks, snwVec3 a, snwVec3 b, double width)
{
    snwVec3 along = snwVec3_Sub(b, a);
    double scale = width / 2 / fmax(snwVec3_Length(along), 1e-9), x = -along.y * scale, y = along.x * scale;
    int first = AddMarkVertex(marks, a.x - x, a.y - y, width);
    AddMarkVertex(marks, b.x - x, b.y - y, width);
    AddMarkVertex(marks, b.x + x, b.y + y, width);
    AddMarkVertex(marks, a.x + x, a.y + y, width);
    AddMarkTriangle(marks, first, first + 1, first + 2);
    AddMarkTriangle(marks, first, first + 2, first + 3);
}

// points: of all solvers, so that their tiles are seen by the same camera.
typedef struct Frame
{
    float* points;
    int count;
} Frame;

static snwResult DrawTile(const snwRigStage* stage, const Case* which, const Played* played, const Frame* frame,
    snwImage* tile, snwMessage* message)
{
    const snwCharacterDef* def = &stage->character->def;
    Marks marks = {.vertexCount = 0};
    for (int i = 0; i < snw_maxDrags && which->drags[i].handle != NULL; ++i)
        AddMark(&marks, played->hands[i], 0.02 * stage->size);
    for (int i = 0; i < played->cornerCount; ++i)
        AddSide(&marks, played->corners[i], played->corners[(i + 1) % played->cornerCount], 0.004 * stage->size);
    snwMeshLook looks[2] = {{.kind = snw_pictureSkin,
                                .positions = played->shown,
                                .vertexCount = def->vertexCount,
                                .triangles = def->triangles[0],
                                .triangleCount = def->triangleCount,
                                .texcoords = def->texcoords != NULL ? def->texcoords[0] : NULL,
                                .texture = def->texcoords != NULL ? &def->texture : NULL,
                                .color = {0.8f, 0.8f, 0.8f}},
        {.kind = snw_pictureSkin,
            .positions = marks.positions,
            .vertexCount = marks.vertexCount,
            .triangles = marks.triangles,
            .triangleCount = marks.triangleCount,
            .color = {0.02f, 0.02f, 0.03f},
            .flat = true}};
    snwPortraitDef portrait = snwDefaultPortraitDef();
    portrait.meshes = looks;
    portrait.meshCount = 2;
    portrait.width = portrait.height = snw_tileSize;
    portrait.azimuth = portrait.elevation = 0;
    portrait.fill = 0.9f;
    portrait.ground = false;
    portrait.wall = true;
    portrait.framePoints = frame->points;
    portrait.framePointCount = frame->count;
    return snwDrawPortrait(stage->context, &portrait, tile, message);
}

typedef struct Album
{
    snwContext* context; // NULL: no picture is wanted
    snwSheet sheet;
} Album;

static snwResult OpenAlbum(Album* album, snwMessage* message)
{
    const char* names[snw_dragCaseCount];
    snwContextDef contextDef = snwDefaultContextDef();
    snwResult result = snwCreateContext(&contextDef, &album->context, message);
    if (result < 0)
        return result;
    for (int i = 0; i < snw_dragCaseCount; ++i)
        names[i] = s_cases[i].name;
    snwSheetDef def = snwDefaultSheetDef();
    def.title = "The same drags: ours, ARAP, FAST";
    def.rows = names;
    def.rowCount = snw_dragCaseCount;
    def.columns = s_titles;
    def.columnCount = snw_solverCount;
    def.tileWidth = def.tileHeight = snw_tileSize;
    def.captions = true;
    return snwCreateSheet(album->context, &def, &album->sheet, message);
}

static void CloseAlbum(Album* album, snwBenchRows* rows)
{
    const snwImage* image = &album->sheet.image;
    if (rows->result >= 0 &&
        !snwBenchReport_AddPicture(rows->report, "fig7", image->width, image->height, image->pixels))
        rows->result = snwFailMemory(rows->message);
    if (album->context == NULL)
        return;
    snwDestroySheet(album->context, &album->sheet);
    snwDestroyContext(album->context);
}

static Frame FrameAll(const snwRigStage* stage, const Played* played)
{
    size_t count = 3 * (size_t)stage->character->def.vertexCount, extra = 3 * (size_t)snw_maxCorners;
    Frame frame = {.points = malloc((count + extra) * snw_solverCount * sizeof *frame.points)};
    for (int i = 0; i < snw_solverCount && frame.points != NULL; ++i)
    {
        if (!played[i].known)
            continue;
        memcpy(frame.points + 3 * (size_t)frame.count, played[i].shown, count * sizeof *frame.points);
        frame.count += stage->character->def.vertexCount;
        for (int k = 0; k < played[i].cornerCount; ++k, ++frame.count)
        {
            float* to = frame.points + 3 * (size_t)frame.count;
            to[0] = (float)played[i].corners[k].x, to[1] = (float)played[i].corners[k].y, to[2] = 0;
        }
    }
    return frame;
}

static void PutTiles(snwBenchRows* rows, Album* album, const snwRigStage* stage, int number, const Played* played)
{
    Frame frame = FrameAll(stage, played);
    for (int i = 0; i < snw_solverCount && rows->result >= 0; ++i)
    {
        snwImage tile = {0};
        char caption[48];
        if (!played[i].known)
            continue;
        rows->result = DrawTile(stage, &s_cases[number], &played[i], &frame, &tile, rows->message);
        snprintf(
            caption, sizeof caption, "%d of %d inside out", played[i].flipped, stage->character->def.triangleCount);
        if (rows->result >= 0)
            snwSheet_PutTile(&album->sheet, number, i, &tile, caption);
        snwDestroyImage(stage->context, &tile);
    }
    free(frame.points);
}

// ---------------------------------------------------------------------------------------------------------------------

static void AddCase(snwBenchRows* rows, Album* album, int number)
{
    snwRigStage stage = {0};
    Played played[snw_solverCount] = {0};
    for (int solver = 0; solver < snw_solverCount && rows->result >= 0; ++solver)
    {
        snwRigStageDef def = {.character = s_cases[number].name,
            .painted = album->context != NULL,
            .settings = {{"rigpbd.solver", solver}}};
        snwMessage why = {0};
        snwResult result = solver == 0 ? snwRigStage_Open(&stage, &def, &why) : snwRigStage_Reopen(&stage, &def, &why);
        if (result >= 0)
            result = Play(&stage, &s_cases[number], &played[solver], &why);
        AddRow(rows, &s_cases[number], solver, &played[solver], result < 0 ? why.text : "");
    }
    if (album->context != NULL && stage.character != NULL && rows->result >= 0)
        PutTiles(rows, album, &stage, number, played);
    for (int i = 0; i < snw_solverCount; ++i)
        free(played[i].shown);
    snwRigStage_Close(&stage);
}

void snwAddRigpbdRivals(snwBenchRows* rows)
{
    Album album = {0};
    if (!rows->options->noPictures)
        rows->result = OpenAlbum(&album, rows->message);
    for (int i = 0; i < snw_dragCaseCount && rows->result >= 0; ++i)
        AddCase(rows, &album, i);
    if (!rows->options->noPictures)
        CloseAlbum(&album, rows);
}
