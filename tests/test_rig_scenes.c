// The scenes of rigpbd, run as their films are made, and looked at as a viewer would: nothing turns inside out, tears
// or leaves the picture, something happens, what is given is met, and it comes to rest where its description says so.

#include "fixture.h"
#include "process.h"
#include "test.h"

#include "math/transform.h"
#include "rig/clip.h"
#include "sim/character.h"
#include "view/film.h"
#include "view/inspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Show
{
    const char* name; // behind "rig-"
    bool rests;       // its last quarter of a second is still
    bool apart;       // its bodies never touch
    int crossed;      // vertices that may be shown over another part of it, in any frame; 0: they are not counted
    int flipped;      // elements that may be inside out as they are shown, in any frame
} Show;

typedef struct Watch
{
    const Show* show;
    snwSceneFile file;
    snwSim* sim;
    snwFilm* film;
    int inverted;  // frames
    int flipped;   // shown elements, in the worst frame
    int contacts;  // frames
    int crossed;   // vertices, in the worst frame
    double depth;  // m, in colliders, as it is shown
    double missed; // m, the farthest that a given coordinate was from its hand
} Watch;

static double SizeOf(const snwSceneDef* def, int body)
{
    snwCharacterInfo info = snwCharacter_GetInfo(def->bodies[body].character);
    return snwVec3_Distance(info.lower, info.upper);
}

// ---------------------------------------------------------------------------------------------------------------------
// While it runs

// Where the hand wants a handle now: the clip's, or what the script said last. False: nobody has said.
static bool FindHand(const Watch* watch, int body, int handle, snwTransform* hand, uint32_t* given)
{
    const snwSceneDef* def = snwScene_GetDef(watch->file.scene);
    uint64_t step = snwSim_GetStepCount(watch->sim);
    bool found = false;
    for (int i = 0; i < def->clipCount; ++i)
        if (def->clips[i].target == snw_clipHandle && def->clips[i].body == body && def->clips[i].index == handle)
        {
            *hand = snwClip_Evaluate(&def->clips[i], snwSim_GetTime(watch->sim));
            *given = def->clips[i].given;
            found = true;
        }
    for (int i = 0; i < def->commandCount; ++i)
    {
        const snwCommand* command = &def->commands[i];
        if (command->kind != snw_commandHandle || command->body != body || command->index != handle ||
            command->step >= step)
            continue;
        *hand = command->transform;
        *given = command->mask & ~command->stay; // what stays has no place of its own
        found = true;
    }
    return found;
}

static void WatchHands(Watch* watch)
{
    const snwSceneDef* def = snwScene_GetDef(watch->file.scene);
    for (int b = 0; b < def->bodyCount; ++b)
    {
        const snwCharacterDef* character = snwCharacter_GetDef(def->bodies[b].character);
        snwTransforms now = {0};
        CHECK_INT(snwSim_GetHandles(watch->sim, b, &now), snw_ok);
        for (int i = 0; i < now.count; ++i)
        {
            snwTransform hand;
            uint32_t given = 0;
            if (!FindHand(watch, b, i, &hand, &given))
                continue;
            snwVec3 rest = snwCharacterDef_HandlePoint(character, i);
            snwVec3 at = snwTransform_Apply(*(const snwTransform*)((const char*)now.data + i * now.stride), rest);
            double x = (given & snw_dofX) != 0 ? fabs(at.x - hand.position.x) : 0;
            double y = (given & snw_dofY) != 0 ? fabs(at.y - hand.position.y) : 0;
            double z = (given & snw_dofZ) != 0 ? fabs(at.z - hand.position.z) : 0;
            watch->missed = fmax(watch->missed, fmax(x, fmax(y, z)));
        }
    }
}

static snwVec3 VertexAt(const snwVertices* vertices, int v)
{
    const float* p = (const float*)((const char*)vertices->positions + (size_t)v * (size_t)vertices->stride);
    return (snwVec3){(double)p[0], (double)p[1], (double)p[2]};
}

// How many elements are inside out as they are shown.
static int CountFlipped(const snwCharacterDef* def, const snwVertices* shown)
{
    int flipped = 0;
    for (int i = 0; i < def->triangleCount + def->tetCount; ++i)
    {
        const int* v = def->triangleCount > 0 ? def->triangles[i] : def->tets[i];
        snwVec3 a = VertexAt(shown, v[0]), b = snwVec3_Sub(VertexAt(shown, v[1]), a);
        snwVec3 c = snwVec3_Sub(VertexAt(shown, v[2]), a), normal = snwVec3_Cross(b, c);
        double volume = def->triangleCount > 0 ? normal.z : snwVec3_Dot(normal, snwVec3_Sub(VertexAt(shown, v[3]), a));
        flipped += !(volume > 0);
    }
    return flipped;
}

static double Turn(snwVec3 a, snwVec3 b, snwVec3 c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// How many vertices of a flat character lie in a triangle of another part of it, as it is shown.
static int CountCrossed(const snwCharacterDef* def, const snwVertices* shown)
{
    int crossed = 0;
    for (int v = 0; v < def->vertexCount; ++v)
    {
        snwVec3 p = VertexAt(shown, v);
        bool inside = false;
        for (int t = 0; t < def->triangleCount && !inside; ++t)
        {
            const int* c = def->triangles[t];
            snwVec3 corners[3] = {VertexAt(shown, c[0]), VertexAt(shown, c[1]), VertexAt(shown, c[2])};
            bool left = p.x < corners[0].x && p.x < corners[1].x && p.x < corners[2].x;
            bool right = p.x > corners[0].x && p.x > corners[1].x && p.x > corners[2].x;
            inside = !left && !right && v != c[0] && v != c[1] && v != c[2] && Turn(corners[0], corners[1], p) > 0 &&
                     Turn(corners[1], corners[2], p) > 0 && Turn(corners[2], corners[0], p) > 0;
        }
        crossed += inside;
    }
    return crossed;
}

// m, how deep what is shown is inside of a ball
static double FindDepth(const Watch* watch, const snwVertices* shown)
{
    const snwSceneDef* def = snwScene_GetDef(watch->file.scene);
    snwTransforms places = {0};
    double depth = 0;
    CHECK_INT(snwSim_GetColliders(watch->sim, &places), snw_ok);
    for (int i = 0; i < def->colliderCount; ++i)
    {
        const snwTransform* place = (const snwTransform*)((const char*)places.data + i * places.stride);
        for (int v = 0; def->colliders[i].kind == snw_colliderSphere && v < shown->count; ++v)
            depth = fmax(depth, def->colliders[i].size.x - snwVec3_Distance(VertexAt(shown, v), place->position));
    }
    return depth;
}

static void WatchStep(Watch* watch)
{
    const snwSceneDef* def = snwScene_GetDef(watch->file.scene);
    bool inverted = false, touching = false;
    for (int b = 0; b < def->bodyCount; ++b)
    {
        snwMeasures measures;
        CHECK_INT(snwSim_GetMeasures(watch->sim, b, &measures), snw_ok);
        snwVertices shown;
        CHECK_INT(snwSim_GetShown(watch->sim, b, &shown), snw_ok);
        int flipped = CountFlipped(snwCharacter_GetDef(def->bodies[b].character), &shown);
        watch->flipped = flipped > watch->flipped ? flipped : watch->flipped;
        watch->depth = fmax(watch->depth, FindDepth(watch, &shown));
        if (watch->show->crossed > 0)
        {
            int crossed = CountCrossed(snwCharacter_GetDef(def->bodies[b].character), &shown);
            watch->crossed = crossed > watch->crossed ? crossed : watch->crossed;
        }
        inverted = inverted || !(measures.minVolumeRatio > 0);
        touching = touching || measures.contacts > 0;
    }
    watch->inverted += inverted;
    watch->contacts += touching;
    WatchHands(watch);
    CHECK_INT(snwFilm_AddFrame(watch->film, watch->sim, NULL), snw_ok);
}

// ---------------------------------------------------------------------------------------------------------------------
// What was seen

static const float* Points(const Watch* watch, int body, int frame)
{
    return watch->film->frames.data[frame].positions + watch->film->bodies[body].first;
}

static double Farthest(const Watch* watch, int body, int a, int b)
{
    const float *p = Points(watch, body, a), *q = Points(watch, body, b);
    double most = 0;
    for (int v = 0; v < watch->film->bodies[body].vertexCount; ++v)
        most = fmax(
            most, (double)snwFloat3_Length(snwFloat3_Sub(snwFloat3_Load(p + 3 * v), snwFloat3_Load(q + 3 * v))));
    return most;
}

// m, of the box around it
static double Extent(const Watch* watch, int body, int frame)
{
    const float* p = Points(watch, body, frame);
    double square = 0;
    for (int k = 0; k < 3; ++k)
    {
        double lower = HUGE_VAL, upper = -HUGE_VAL;
        for (int v = 0; v < watch->film->bodies[body].vertexCount; ++v)
        {
            CHECK(isfinite(p[3 * v + k]));
            lower = fmin(lower, (double)p[3 * v + k]);
            upper = fmax(upper, (double)p[3 * v + k]);
        }
        square += (upper - lower) * (upper - lower);
    }
    return sqrt(square);
}

// The part of the picture that is ever seen of bodies: 1 is the border.
typedef struct Box
{
    double left, right, bottom, top;
} Box;

static void GrowBox(const Watch* watch, int body, int frame, Box* box)
{
    const snwCamera* camera = &watch->film->camera;
    const float* p = Points(watch, body, frame);
    for (int v = 0; v < watch->film->bodies[body].vertexCount; ++v)
    {
        snwFloat3 to = snwFloat3_Sub(snwFloat3_Load(p + 3 * v), camera->position);
        double depth = fmax((double)snwFloat3_Dot(to, camera->forward), 1e-9);
        double x = (double)snwFloat3_Dot(to, camera->right) / (depth * (double)camera->tanX);
        double y = (double)snwFloat3_Dot(to, camera->up) / (depth * (double)camera->tanY);
        *box = (Box){fmin(box->left, x), fmax(box->right, x), fmin(box->bottom, y), fmax(box->top, y)};
    }
}

#define JUDGE(condition, ...)                                                                                          \
    do                                                                                                                 \
    {                                                                                                                  \
        if (!(condition))                                                                                              \
            snwTest_Fail(__FILE__, __LINE__, __VA_ARGS__);                                                             \
    } while (0)

static void JudgeBody(const Watch* watch, int body, bool whole, double* moved)
{
    const char* name = watch->show->name;
    double size = SizeOf(snwScene_GetDef(watch->file.scene), body), largest = 0;
    int last = watch->film->frames.count - 1;
    for (int f = 0; f <= last; ++f)
    {
        *moved = fmax(*moved, Farthest(watch, body, 0, f) / size);
        largest = fmax(largest, Extent(watch, body, f) / size);
    }
    JUDGE(largest < 1.4, "%s: body %d grows to %.2f of its size", name, body, largest);
    double speed = 4 * Farthest(watch, body, last > 8 ? last - 7 : 0, last) / size;
    JUDGE(
        !whole || !watch->show->rests || speed < 0.1, "%s: body %d ends with %.3f sizes per second", name, body, speed);
}

static void JudgePicture(const Watch* watch, bool whole)
{
    const char* name = watch->show->name;
    Box box = {1, -1, 1, -1};
    for (int f = 0; f < watch->film->frames.count; ++f)
        for (int b = 0; b < watch->film->bodyCount; ++b)
            GrowBox(watch, b, f, &box);
    double reach = fmax(fmax(-box.left, box.right), fmax(-box.bottom, box.top));
    double fill = (box.right - box.left) * (box.top - box.bottom) / 4;
    JUDGE(reach < 0.98, "%s: it reaches to %.2f of the way to the picture's side", name, reach);
    JUDGE(!whole || (fill > 0.15 && fill < 0.7), "%s: it fills %.2f of the picture", name, fill);
}

// The inspector of films, on a small picture of every tenth frame.
static void Inspect(Watch* watch)
{
    snwFilm* film = watch->film;
    char text[128];
    for (int f = 0; f < film->frames.count; f += 10)
    {
        CHECK_INT(snwFilm_Draw(film, f, 1, NULL), snw_ok);
        snwSubject subject = snwRenderer_Subject(film->renderer);
        CHECK_INT(snwInspector_Add(&film->inspector, &film->image, &subject, NULL), snw_ok);
    }
    snwFilmCheck check = snwFilm_GetCheck(film);
    JUDGE(snwFilmCheck_Format(&check, text, sizeof text) == 0, "%s: %s", watch->show->name, text);
}

static void Judge(Watch* watch, bool whole)
{
    const snwSceneDef* def = snwScene_GetDef(watch->file.scene);
    const char* name = watch->show->name;
    double moved = 0, size = SizeOf(def, 0);
    CHECK_INT(snwFilm_SetUp(watch->film, NULL), snw_ok);
    for (int b = 0; b < def->bodyCount; ++b)
        JudgeBody(watch, b, whole, &moved);
    JudgePicture(watch, whole);
    JUDGE(watch->inverted == 0, "%s: inverted elements in %d frames", name, watch->inverted);
    JUDGE(watch->flipped <= watch->show->flipped, "%s: %d elements are shown inside out", name, watch->flipped);
    JUDGE(watch->crossed <= watch->show->crossed, "%s: %d vertices are shown over another part", name, watch->crossed);
    JUDGE(watch->depth < 0.02 * size, "%s: it is shown %.3f m deep in a ball", name, watch->depth);
    JUDGE(!watch->show->apart || watch->contacts == 0, "%s: bodies touch in %d frames", name, watch->contacts);
    JUDGE(moved > 0.1, "%s: nothing moves by more than %.3f of its size", name, moved);
    JUDGE(watch->missed < 1e-3 * size, "%s: what is given is missed by %.4f m", name, watch->missed);
    if (whole)
        Inspect(watch);
}

// The scene without paint, which nothing here judges; scale: with so many times the elements.
static snwResult OpenScene(snwContext* context, const char* path, double scale, snwSceneFile* file, snwMessage* message)
{
    char* text = snwReadWhole(path);
    char* plain = text != NULL ? snwFixture_Smaller(text, scale) : NULL;
    snwResult result = snw_errorIo;
    if (plain != NULL)
        result = snwSceneFile_Parse(context, plain, strlen(plain), path, NULL, file, message);
    free(plain);
    free(text);
    return result;
}

// seconds: 0 for the whole scene
static void Run(const Show* show, double seconds, double scale)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSimDef simDef = snwDefaultSimDef();
    snwFilmDef filmDef = snwDefaultFilmDef();
    snwMessage message = {0};
    Watch watch = {.show = show};
    char path[512];
    snprintf(path, sizeof path, "%s/scenes/rig-%s.json", SNW_SOURCE_DIR, show->name);
    if (OpenScene(context, path, scale, &watch.file, &message) < 0)
    {
        snwTest_Fail(__FILE__, __LINE__, "%s: %s: %s", path, message.place, message.text);
        snwDestroyContext(context);
        return;
    }
    const snwSceneDef* def = snwScene_GetDef(watch.file.scene);
    simDef.scene = watch.file.scene;
    filmDef.camera = watch.file.camera;
    filmDef.width = 160;
    filmDef.height = 90;
    CHECK_INT(snwCreateSim(context, &simDef, &watch.sim, NULL), snw_ok);
    CHECK_INT(snwCreateFilm(context, &filmDef, watch.file.scene, &watch.film, NULL), snw_ok);
    CHECK_INT(snwFilm_AddFrame(watch.film, watch.sim, NULL), snw_ok);
    int steps = (int)((seconds > 0 ? seconds : def->duration) * def->rate + 0.5);
    for (int i = 0; i < steps; ++i)
    {
        CHECK_INT(snwSim_Step(watch.sim, 1 / def->rate, NULL), snw_ok);
        WatchStep(&watch);
    }
    Judge(&watch, seconds == 0);
    snwDestroyFilm(watch.film);
    snwDestroySim(watch.sim);
    snwSceneFile_Close(&watch.file);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------

TEST_HEAVY(rigscenes, ellipse)
{
    Run(&(Show){.name = "ellipse", .flipped = 1}, 0, 1);
}

TEST_HEAVY(rigscenes, fine)
{
    Run(&(Show){.name = "fine", .rests = true, .apart = true}, 0, 1);
}

TEST_HEAVY(rigscenes, fish2d)
{
    Run(&(Show){.name = "fish-2d"}, 0, 1);
}

TEST_HEAVY(rigscenes, ghost)
{
    Run(&(Show){.name = "ghost"}, 0, 1);
}

TEST_HEAVY(rigscenes, ghostPoint)
{
    Run(&(Show){.name = "ghost-point"}, 0, 1);
}

TEST_HEAVY(rigscenes, mushroom)
{
    Run(&(Show){.name = "mushroom"}, 0, 1);
}

TEST_HEAVY(rigscenes, octopus2d)
{
    Run(&(Show){.name = "octopus-2d", .rests = true, .crossed = 8}, 0, 1);
}

TEST_HEAVY(rigscenes, starfish)
{
    Run(&(Show){.name = "starfish"}, 0, 1);
}

TEST_HEAVY(rigscenes, worm)
{
    Run(&(Show){.name = "worm"}, 0, 1);
}

static const Show s_bunny = {.name = "bunny", .apart = true}, s_cow = {.name = "cow", .rests = true},
                  s_dragon = {.name = "dragon", .rests = true}, s_manikin = {.name = "manikin", .rests = true},
                  s_octopus = {.name = "octopus", .rests = true, .flipped = 60};

// The first part of what the long cases run whole; of the dragon they are the only ones, for to mesh it takes longer
// than all the rest.
TEST_HEAVY(rigscenes, bunnyBegins)
{
    Run(&s_bunny, 1.2, 0.5);
}

TEST_HEAVY(rigscenes, cowBegins)
{
    Run(&s_cow, 0.5, 0.5);
}

TEST_HEAVY(rigscenes, manikinBegins)
{
    Run(&s_manikin, 0.8, 0.5);
}

TEST_HEAVY(rigscenes, octopusBegins)
{
    Run(&s_octopus, 1, 0.5);
}

TEST_LONG(rigscenes, bunny)
{
    Run(&s_bunny, 0, 1);
}

TEST_LONG(rigscenes, cow)
{
    Run(&s_cow, 0, 1);
}

TEST_LONG(rigscenes, dragon)
{
    Run(&s_dragon, 0, 1);
}

TEST_LONG(rigscenes, manikin)
{
    Run(&s_manikin, 0, 1);
}

TEST_LONG(rigscenes, octopus)
{
    Run(&s_octopus, 0, 1);
}
