// The gate behind every bake: what was written is read again and held against the source, without the code that wrote
// it (against.h). Then the clip is run once more with flesh that is held to its skin (pbcd.hold): there all of the bake
// but the motion of flesh is at work, and nothing of it may be seen.

#include "bake/against.h"
#include "bake/document.h"
#include "bake/parts.h"
#include "bake/written_frames.h"

#include <math.h>
#include <string.h>

#define SNW_MOST_RIDE 0.15 // of the size: flesh of a body that is farther from the surface is not its own

typedef struct Gate
{
    snwBake* bake;
    snwBakeReel source;
    float* values; // of a surface, x y z in the unit of the source
    snwWrittenFrames* written;
    snwSim* sim;    // of held flesh
    int frame;      // of the sim; -1: it was not looked at
    double bodyOff; // m: the farthest that a vertex of the held body is from the artist's
    int bodyFrame, bodyVertex;
} Gate;

static const snwReelSurface* SurfaceOf(const Gate* gate, int node)
{
    for (int i = 0; i < gate->source.reel.surfaceCount; ++i)
        if (gate->source.reel.surfaces[i].node == node)
            return &gate->source.reel.surfaces[i];
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// What was written

// Surfaces that were not asked for have no flesh. Of a document that was made the skin is not that of the frames: there
// flesh is all that leads from the one to the other.
static snwResult FleshOf(void* user, int frame, int node, snwAgainstFlesh* flesh, snwMessage* message)
{
    Gate* gate = user;
    const snwReel* reel = &gate->source.reel;
    const snwReelSurface* surface = SurfaceOf(gate, node);
    const float* offsets = NULL;
    snwSkin skin;
    double time;
    if (surface == NULL)
        return snw_ok;

    // What flesh adds in this frame, in the document's units.
    int count = reel->asset->meshes[surface->mesh].vertexCount;
    snwResult result = reel->read(reel->user, frame, &time, message);
    if (result >= 0)
        result = snwBakeFrames_GetFlesh(gate->bake->frames, surface->index, &offsets, message);
    if (result >= 0)
        result = reel->get(reel->user, surface->index, &skin, message);
    flesh->values = gate->values;
    flesh->whole = gate->source.made.asset != NULL;

    // The whole surface for a document of our own, what flesh adds for the artist's.
    for (int i = 0; i < count && result >= 0; ++i)
    {
        snwVec3 x = snwReel_Position(reel, surface, &skin, i);
        for (size_t k = 0; k < 3; ++k)
            gate->values[3 * (size_t)i + k] = flesh->whole ? (float)(&x.x)[k]
                                              : offsets != NULL
                                                  ? (float)((double)offsets[3 * (size_t)i + k] / reel->scale)
                                                  : 0;
    }

    return result;
}

static snwResult ShowGateWritten(void* user, int frame, int node, snwAgainstShown* shown, snwMessage* message)
{
    Gate* gate = user;
    const snwReelSurface* surface = SurfaceOf(gate, node);
    return surface == NULL ? snw_ok
                           : snwWrittenFrames_Get(gate->written, (int)(surface - gate->source.reel.surfaces), frame,
                                 gate->values, shown, message);
}

static snwResult CompareWritten(Gate* gate, snwAgainstDef* def, const snwBakeOutputReport* report, snwMessage* message)
{
    snwBake* bake = gate->bake;
    snwAsset* document = NULL;
    snwResult result = snw_ok;
    const char* files[snw_maxBakeFiles];
    snwBakeFormat format = snwBakeFormat_OfPath(report->files[0]);
    bool zUp = bake->settings.up[0] != 0 ? bake->settings.up[0] == 'z' : format != snw_bakeObj;
    snwWrittenDef frames = {.source = gate->source.reel.asset,
        .surfaces = gate->source.reel.surfaces,
        .surfaceCount = gate->source.reel.surfaceCount,
        .files = files,
        .zUp = zUp};

    // All files that were written, by whichever reader they need.
    for (int i = 0; i < report->fileCount; ++i)
        files[i] = report->files[i];
    if (format == snw_bakeGlb)
        result = snwAsset_Open(bake->context, report->files[0], &document, message);
    else if (frames.surfaceCount > report->fileCount)
        result = snwFail(message, snw_errorInput, "--only MESH, several times",
            "%d files are more than can be read again", frames.surfaceCount);
    else
        result = snwWrittenFrames_Open(bake->context, &frames, &gate->written, message);

    // How the comparison asks for what is shown and what flesh added.
    def->written = document;
    def->shown = ShowGateWritten;
    def->flesh = FleshOf;
    if (result >= 0)
        result = snwCompareAgainst(bake->context, def, &bake->report.against, message);
    snwAsset_Close(document);

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Held flesh

// The scene of the bake without colliders and preroll, with flesh that is held: one sweep of one substep is enough.
static snwResult MakeHeldSim(Gate* gate, snwMessage* message)
{
    static const char* const s_own[] = {"pbcd.hold", "pbcd.iterations", "sim.substeps"};
    snwContext* context = gate->bake->context;
    snwSceneDef def = *snwScene_GetDef(gate->bake->scene.scene);
    snwBodyDef body = def.bodies[0];
    size_t own = sizeof s_own / sizeof *s_own;
    snwSetting* settings = snwAllocArray(context, (size_t)def.settingCount + own, sizeof *settings);
    snwScene* scene = NULL;

    if (settings == NULL)
        return snwFailMemory(message);

    // Settings of the bake, but for those that hold the flesh.
    int count = 0;
    for (int i = 0; i < def.settingCount; ++i)
    {
        bool replaced = false;
        for (size_t k = 0; k < own; ++k)
            replaced = replaced || strcmp(def.settings[i].name, s_own[k]) == 0;
        if (!replaced)
            settings[count++] = def.settings[i];
    }

    // One substep, one sweep: flesh that is tied to its skin needs no more.
    for (size_t k = 0; k < own; ++k)
        settings[count++] = (snwSetting){s_own[k], 1};

    body.motionWait = 0;
    def.bodies = &body;
    def.colliderCount = 0;
    def.settings = settings;
    def.settingCount = count;
    snwResult result = snwCreateScene(context, &def, &scene, message);
    snwSimDef sim = snwDefaultSimDef();
    sim.scene = scene;
    if (result >= 0)
        result = snwCreateSim(context, &sim, &gate->sim, message);
    if (scene != NULL)
        snwScene_Release(scene);
    snwFree(context, settings);

    return result;
}

// Takes the sim to the frame and looks at the body: what the reach of flesh would hide.
static snwResult StepHeld(Gate* gate, int frame, snwMessage* message)
{
    snwBakeFrames* frames = gate->bake->frames;
    snwVertices body;
    snwResult result = snw_ok;

    // From frame to frame, since each step needs the one before.
    for (; gate->frame < frame && result >= 0; ++gate->frame)
        result = gate->frame < 0 ? snw_ok : snwSim_Step(gate->sim, 1 / gate->bake->plan.rate, message);
    if (result >= 0)
        result = snwSim_GetVertices(gate->sim, 0, &body);
    if (result >= 0)
        result = snwBakeFrames_ShowBody(frames, frame, &body, message);
    if (result < 0)
        return result;
    const float *held = snwBakeFrames_GetBody(frames), *artist = snwBakeFrames_GetArtistBody(frames);

    // The vertex of the body that is farthest off, in any frame so far.
    for (int i = 0; i < body.count; ++i)
    {
        double square = 0;
        for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3; ++k)
            square += (double)(held[k] - artist[k]) * (double)(held[k] - artist[k]);
        if (sqrt(square) <= gate->bodyOff)
            continue;
        gate->bodyOff = sqrt(square);
        gate->bodyFrame = frame;
        gate->bodyVertex = i;
    }

    return snw_ok;
}

static snwResult ShowHeld(void* user, int frame, int node, snwAgainstShown* shown, snwMessage* message)
{
    Gate* gate = user;
    const snwReelSurface* surface = SurfaceOf(gate, node);
    snwSkin skin;
    snwResult result = gate->frame == frame ? snw_ok : StepHeld(gate, frame, message);
    if (result < 0 || surface == NULL || gate->source.made.asset != NULL)
        return result; // of a document that was made the skin is not that of the body
    result = snwBakeFrames_GetSurface(gate->bake->frames, surface->index, &skin, message);
    for (int i = 0; i < skin.vertexCount && result >= 0; ++i)
    {
        snwVec3 x = snwReel_Position(&gate->source.reel, surface, &skin, i);
        for (size_t k = 0; k < 3; ++k)
            gate->values[3 * (size_t)i + k] = (float)(&x.x)[k];
    }
    shown->positions = gate->values;
    return result;
}

static snwResult CompareHeld(Gate* gate, snwAgainstDef* def, snwMessage* message)
{
    snwBake* bake = gate->bake;
    const snwCharacterDef* body = snwCharacter_GetDef(snwPrepared_GetCharacter(bake->prepared));
    snwAgainst held, *out = &bake->report.against;
    if (strcmp(bake->settings.method, "pbcd") != 0)
        return snw_ok; // no other method has flesh that is tied to its skin

    // No file is read here: what is shown comes from the sim.
    snwResult result = MakeHeldSim(gate, message);
    def->written = NULL;
    def->shown = ShowHeld;
    def->flesh = NULL;
    def->frameCount -= bake->plan.cycleFrames > 0; // a loop ends in its beginning
    if (result >= 0)
        result = snwCompareAgainst(bake->context, def, &held, message);
    if (gate->sim != NULL)
        snwDestroySim(gate->sim);
    if (result < 0)
        return result;

    // The surface may hide what the body does: the larger of both counts.
    out->held = held.most;
    out->heldPlace = held.mostPlace;
    double off = gate->bodyOff / gate->source.reel.scale / out->size;

    if (off > out->held)
    {
        out->held = off;
        out->heldPlace = (snwAgainstPlace){.mesh = bake->name,
            .bone = snwBake_MainBone(snwPrepared_GetCharacter(bake->prepared), gate->bodyVertex),
            .clip = body->motions[bake->plan.motion].name,
            .frame = gate->bodyFrame};
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult OnLook(int done, int total, void* user)
{
    return snwBake_Tell(((const Gate*)user)->bake, snw_bakeChecking, "checking", done, total);
}

// Without flesh, and with flesh that is held, a difference of two bodies is nothing, whatever the two do.
static snwResult JudgeRide(const snwBakeReport* report, snwMessage* message)
{
    return report->ride <= SNW_MOST_RIDE * report->size
               ? snw_ok
               : snwFail(message, snw_errorInput,
                     "sinew info FILE tells what is odd about its rig; --only MESH leaves this surface out",
                     "surface '%s' is %.2g %% of the size from the body that is simulated, on average: frame %d of "
                     "'%s'",
                     report->rideMesh, 100 * report->ride / report->size, report->rideFrame, report->clip);
}

// Names of a document that was made end with it; those of the report do not.
static void KeepNames(snwArena* arena, snwAgainstPlace* place)
{
    place->mesh = snwArena_Text(arena, place->mesh);
    place->bone = snwArena_Text(arena, place->bone);
    place->clip = snwArena_Text(arena, place->clip);
}

snwResult snwBake_CheckWritten(snwBake* bake, const snwBakeOutputReport* written, snwMessage* message)
{
    Gate gate = {.bake = bake, .frame = -1};
    snwResult result = snwBakeReel_Open(bake->context, bake->frames, &gate.source, message);
    const snwReel* reel = &gate.source.reel;
    bool comparable = result >= 0 && reel->animation >= 0;

    // Room for the largest surface of the document.
    size_t most = 1;
    for (int i = 0; comparable && i < reel->asset->meshCount; ++i)
        most = most > (size_t)reel->asset->meshes[i].vertexCount ? most : (size_t)reel->asset->meshes[i].vertexCount;
    gate.values = snwAllocArray(bake->context, 3 * most, sizeof(float));
    if (result >= 0 && gate.values == NULL)
        result = snwFailMemory(message);
    snwAgainstDef def = {.source = reel->asset,
        .clip = reel->animation,
        .start = reel->start,
        .rate = reel->rate,
        .frameCount = reel->frameCount,
        .progress = OnLook,
        .user = &gate};
    // What was written, and what a held body would show.
    if (result >= 0 && comparable)
        result = CompareWritten(&gate, &def, written, message);
    if (result >= 0 && comparable)
        result = CompareHeld(&gate, &def, message);

    // Names belong to files that are closed below.
    bake->report.unit = reel->scale;
    snwAgainst* against = &bake->report.against;
    KeepNames(&bake->arena, &against->mostPlace);
    KeepNames(&bake->arena, &against->missedPlace);
    KeepNames(&bake->arena, &against->barePlace);
    KeepNames(&bake->arena, &against->heldPlace);
    KeepNames(&bake->arena, &against->tornPlace);
    KeepNames(&bake->arena, &against->foldedPlace);
    KeepNames(&bake->arena, &against->sourceFoldedPlace);
    if (result >= 0 && bake->arena.failed)
        result = snwFailMemory(message);
    // Only what can be compared can be judged.
    if (result >= 0 && comparable)
        result = snwAgainst_Judge(&bake->report.against, message);
    if (result >= 0 && comparable)
        result = JudgeRide(&bake->report, message);
    bake->report.checked = result >= 0 && comparable;
    snwWrittenFrames_Close(gate.written);
    snwBakeReel_Close(bake->context, &gate.source);
    snwFree(bake->context, gate.values);

    return result;
}
