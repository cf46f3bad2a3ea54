// Storms. The first thing that anybody does with a soft character is to pull it: at any vertex or handle, by up to its
// own size, at once or within half a second, softly or hard. Then it is let go, pulled elsewhere, and let go again.

#include "flesh_bench.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

const char* const snwStormHandNames[snw_stormHandCount] = {"vertex", "hand", "handle"};

enum
{
    snw_pulls = 2,
    snw_pullFrames = 60, // from grip to grip
    snw_gripFrame = 5,
    snw_letGoFrame = 50,
    snw_moveFrames = 30, // of a target that moves
    snw_stormElements = 4000,
    snw_fullSeeds = 20,
    snw_briefSeeds = 1,
};

static const double s_restSeconds = 2;

// A hand that holds something and leads it to a target.
typedef struct Hand
{
    snwStormHand kind;
    int index;            // of the vertex or handle
    snwVec3 target, move; // m, and per frame
    double strength;
    uint64_t seed;
} Hand;

// ---------------------------------------------------------------------------------------------------------------------
// Hands

// On a single vertex, or as a user has it who sets nothing.
static snwCommand MakeDrag(snwStormHand kind)
{
    snwCommand command = snwDefaultCommand(snw_commandDrag);
    if (kind == snw_stormVertex)
        command.radius = 0;
    return command;
}

static snwVec3 HandlePlace(const snwFleshStage* stage, int handle)
{
    snwMatrices handles;
    snwVec3 p = snwCharacterDef_HandlePoint(&stage->character->def, handle);
    if (snwSim_GetHandleMatrices(stage->sim, 0, &handles) < 0)
        return p;
    const double* m = handles.data[handle];
    return (snwVec3){m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3], m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
        m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
}

static snwVec3 VertexPlace(const snwFleshStage* stage, int vertex)
{
    snwVertices now;
    if (snwSim_GetVertices(stage->sim, 0, &now) < 0)
        return (snwVec3){0, 0, 0};
    const float* x = (const float*)((const char*)now.positions + (size_t)vertex * (size_t)now.stride);
    return (snwVec3){(double)x[0], (double)x[1], (double)x[2]};
}

// Takes hold of something and chooses where to go: at once, or within half a second.
static void Grip(Hand* hand, const snwFleshStage* stage)
{
    bool flat = stage->character->def.triangleCount > 0;
    if (hand->kind == snw_stormHandle)
    {
        hand->index = (int)(snwBenchRandom(&hand->seed) * snwCharacter_HandleCount(stage->character));
        hand->target = HandlePlace(stage, hand->index);
    }
    else
    {
        int skin = (int)(snwBenchRandom(&hand->seed) * stage->character->skinVertexCount);
        hand->index = stage->character->skinVertices[skin];
        hand->target = VertexPlace(stage, hand->index);
    }

    bool jumps = snwBenchRandom(&hand->seed) < 0.5;
    double way = (0.3 + 0.7 * snwBenchRandom(&hand->seed)) * stage->size;
    snwVec3 aim = {snwBenchRandom(&hand->seed) - 0.5, snwBenchRandom(&hand->seed) - 0.3,
        flat ? 0 : snwBenchRandom(&hand->seed) - 0.5}; // rather up than down
    aim = snwVec3_Scale(snwVec3_Normalize(aim), way);
    hand->strength = snwBenchRandom(&hand->seed) < 0.5 ? 0.5 : 0.9;
    hand->target = jumps ? snwVec3_Add(hand->target, aim) : hand->target;
    hand->move = jumps ? (snwVec3){0, 0, 0} : snwVec3_Scale(aim, 1.0 / snw_moveFrames);
}

static snwResult Lead(const Hand* hand, snwFleshStage* stage, bool on, snwMessage* message)
{
    bool flat = stage->character->def.triangleCount > 0;
    snwCommand command = hand->kind == snw_stormHandle ? snwDefaultCommand(snw_commandHandle) : MakeDrag(hand->kind);
    command.index = hand->index;
    command.on = on;
    command.value = hand->strength;
    command.mask = !on ? 0 : flat ? snw_dofX | snw_dofY : snw_dofX | snw_dofY | snw_dofZ;
    command.transform.position = hand->target;
    return snwSim_Push(stage->sim, &command, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Runs

static snwResult Start(snwFleshStage* stage, const snwStormDef* def, snwMessage* message)
{
    snwFleshRun run = {.method = def->method};
    if (def->substeps > 0)
        run.settings[0] = (snwSetting){"sim.substeps", def->substeps};
    return snwFleshStage_Start(stage, &run, message);
}

static snwResult RunSeed(snwFleshStage* stage, snwStormHand kind, int seed, snwFleshWatch* watch, snwMessage* message)
{
    Hand hand = {.kind = kind, .seed = 88172645463325252ull + 7919 * (uint64_t)seed};
    for (int i = 0; i < 8; ++i) // seeds that are near each other are not alike
        snwBenchRandom(&hand.seed);

    *watch = snwFleshStage_StartWatch(stage);
    for (int frame = 0; frame < snw_pulls * snw_pullFrames; ++frame)
    {
        int phase = frame % snw_pullFrames;
        snwResult result = snw_ok;
        if (phase == snw_gripFrame)
            Grip(&hand, stage);
        if (phase >= snw_gripFrame && phase <= snw_letGoFrame)
            result = Lead(&hand, stage, phase < snw_letGoFrame, message);
        if (result < 0)
            return result;
        if (phase >= snw_gripFrame && phase < snw_gripFrame + snw_moveFrames)
            hand.target = snwVec3_Add(hand.target, hand.move);
        if (!snwFleshStage_Step(stage, watch))
            return snw_ok;
    }
    snwFleshStage_Play(stage, watch, s_restSeconds);
    return snw_ok;
}

static void Count(snwStormResult* storm, int seed, const snwFleshWatch* watch)
{
    storm->runs++;
    storm->diverged += watch->failed;
    if (watch->failed)
    {
        if (storm->diverged == 1)
            snprintf(storm->note, sizeof storm->note, "seed %d: %.130s", seed, watch->why);
        return;
    }
    storm->inverted += watch->leastNow < 0;
    storm->stretchMost = fmax(storm->stretchMost, watch->stretchMost);
    storm->leastAtRest = fmin(storm->leastAtRest, watch->leastNow);
}

snwResult snwFleshStage_Storm(snwFleshStage* stage, const snwStormDef* def, snwStormResult* storm, snwMessage* message)
{
    *storm = (snwStormResult){.leastAtRest = 1};
    for (int seed = def->firstSeed; seed < def->firstSeed + def->seedCount; ++seed)
    {
        snwFleshWatch watch;
        snwResult result = Start(stage, def, message);
        if (result >= 0)
            result = RunSeed(stage, def->hand, seed, &watch, message);
        if (result < 0)
            return result;
        Count(storm, seed, &watch);
    }
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows of storms

static const char* const s_metrics[] = {"storm_diverged", "storm_inverted_at_rest", "storm_stretch_most"};

static void AddRows(
    snwBenchRows* rows, const char* name, const snwStormDef* def, const snwStormResult* storm, const char* why)
{
    bool calm = storm->runs > storm->diverged;
    const double values[] = {storm->diverged, storm->inverted, calm ? storm->stretchMost : NAN};
    for (int i = 0; i < 3; ++i)
    {
        snwBenchRow row = snwMakeBenchRow(name, def->method, s_metrics[i]);
        row.n = storm->runs;
        row.value = why[0] == 0 ? values[i] : NAN;
        if (i < 2)
            snwBenchRow_SetTarget(&row, "==", 0);
        else if (def->hand == snw_stormDefault)
            snwBenchRow_SetTarget(&row, "<=", 3);
        if (why[0] != 0)
            snprintf(row.note, sizeof row.note, "%.150s", why);
        else if (i == 0)
            snprintf(row.note, sizeof row.note, "%s", storm->note);
        else if (calm)
            snprintf(row.note, sizeof row.note, "least volume at rest %.2g; %d of %d runs diverged", storm->leastAtRest,
                storm->diverged, storm->runs);
        else
            snprintf(row.note, sizeof row.note, "all runs diverged");
        if (i == 1 && why[0] == 0 && !calm)
            row.value = NAN; // none came to rest
        snwBenchRows_Add(rows, &row);
    }
}

// What a method does not do is told in the row, once for all numbers of substeps; anything else ends the bench.
static void AddStorm(snwBenchRows* rows, snwFleshStage* stage, const char* name, const snwStormDef* def,
    snwResult (*run)(snwFleshStage*, const snwStormDef*, snwStormResult*, snwMessage*))
{
    snwStormResult storm = {0};
    snwMessage message = {0};
    snwResult result = run(stage, def, &storm, &message);
    if (result >= 0)
        AddRows(rows, name, def, &storm, "");
    else if (result == snw_errorUnsupported && def->substeps == 0)
        AddRows(rows, name, def, &storm, message.text);
    else if (result != snw_errorUnsupported)
    {
        rows->result = result;
        if (rows->message != NULL)
            *rows->message = message;
    }
}

static const char* const s_methods[] = {"pbcd", "apd", "rigpbd", "skelfem"};
static const char* const s_cast[] = {"horse", "biped", "cow", "octopus", "manikin", "hand", "worm", "ghost"};
static const int s_substeps[] = {0, 1, 4, 16};

enum
{
    snw_methodCount = sizeof s_methods / sizeof *s_methods,
    snw_castCount = sizeof s_cast / sizeof *s_cast,
    snw_substepCount = sizeof s_substeps / sizeof *s_substeps
};

static int DefaultSubsteps(const char* method)
{
    int index = snwMethod_Find(method);
    const snwParamInfo* param;
    for (int i = 0; (param = snwMethod_GetParam(index, i)) != NULL; ++i)
        if (strcmp(param->name, "sim.substeps") == 0)
            return (int)param->initial;
    return 0;
}

// Brief: default substeps, and one character with others. What is the default is not run twice.
static bool IsWorthIt(const snwBenchRows* rows, int character, const char* method, int substeps)
{
    return substeps != DefaultSubsteps(method) && (rows->options->full || substeps == 0 || character == 0);
}

static void AddStormsOf(snwBenchRows* rows, snwFleshStage* stage, int character)
{
    for (int m = 0; m < snw_methodCount; ++m)
        for (int hand = 0; hand < snw_stormHandCount; ++hand)
            for (int s = 0; s < snw_substepCount; ++s)
            {
                char name[48];
                snwStormDef def = {.method = s_methods[m],
                    .hand = (snwStormHand)hand,
                    .substeps = s_substeps[s],
                    .seedCount = rows->options->full ? snw_fullSeeds : snw_briefSeeds};
                if (s_substeps[s] == 0)
                    snprintf(name, sizeof name, "%s, %s", s_cast[character], snwStormHandNames[hand]);
                else
                    snprintf(name, sizeof name, "%s, %s, %d substeps", s_cast[character], snwStormHandNames[hand],
                        s_substeps[s]);
                if (IsWorthIt(rows, character, s_methods[m], s_substeps[s]) &&
                    snwBenchRows_Wants(rows, name, s_methods[m]))
                    AddStorm(rows, stage, name, &def, snwFleshStage_Storm);
            }
}

// Is any case of this character asked for? Meshing is not for nothing.
static bool WantsCharacter(const snwBenchRows* rows, const char* character)
{
    const char* words = rows->options->only != NULL ? strchr(rows->options->only, '/') : NULL;
    if (words == NULL)
        return true;
    for (int i = 0; i < snw_castCount; ++i)
        if (strstr(words + 1, s_cast[i]) != NULL)
            return strstr(words + 1, character) != NULL;
    return true;
}

void snwAddFleshStorms(snwBenchRows* rows)
{
    for (int i = 0; i < snw_castCount && rows->result >= 0; ++i)
    {
        snwFleshStage stage = {0};
        if (!WantsCharacter(rows, s_cast[i]))
            continue;
        rows->result = snwFleshStage_Open(&stage, snwMakeFleshScene(s_cast[i], snw_stormElements), rows->message);
        if (rows->result >= 0)
            AddStormsOf(rows, &stage, i);
        snwFleshStage_Close(&stage);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Clips that bend joints far

json_t* snwMakeClipScene(const char* character, int elements, double speed)
{
    json_t *scene = snwMakeFleshScene(character, elements), *track, *key;
    json_t* body = json_array_get(json_object_get(scene, "bodies"), 0);
    json_t* blueprint = json_object_get(json_object_get(body, "character"), "blueprint");
    json_t* motion = json_array_get(json_object_get(blueprint, "motions"), 0);
    size_t i, k;
    double duration = json_number_value(json_object_get(motion, "duration")) / speed;
    json_object_set_new(motion, "duration", json_real(duration));
    json_object_set_new(motion, "loop", json_false()); // the last pose is held
    json_array_foreach(json_object_get(motion, "tracks"), i, track) json_array_foreach(json_object_get(track, "keys"),
        k, key) json_array_set_new(key, 0, json_real(json_number_value(json_array_get(key, 0)) / speed));
    json_object_set(body, "motion", json_object_get(motion, "name"));
    json_object_set_new(scene, "duration", json_real(duration + s_restSeconds));
    return scene;
}

snwResult snwFleshStage_PlayClip(
    snwFleshStage* stage, const snwStormDef* def, snwStormResult* storm, snwMessage* message)
{
    *storm = (snwStormResult){.leastAtRest = 1};
    snwResult result = Start(stage, def, message);
    if (result < 0)
        return result;
    snwFleshWatch watch = snwFleshStage_StartWatch(stage);
    snwFleshStage_Play(stage, &watch, stage->def->duration);
    Count(storm, 0, &watch);
    return snw_ok;
}

// An arm whose elbow is bent or twisted as far as joints go, and held there.
static json_t* MakeArmScene(bool bends, double degrees, double speed)
{
    char keys[160];
    double half = 0.5 / speed, x = bends ? degrees : 0, z = bends ? 0 : degrees;
    snprintf(keys, sizeof keys, "[[0, 0, 0, 0], [%g, %g, 0, %g], [%g, %g, 0, %g]]", half, x / 2, z / 2, 2 * half, x, z);
    char blueprint[1200];
    snprintf(blueprint, sizeof blueprint,
        "\"sinew\": 1, \"name\": \"arm\", \"material\": {\"density\": 1000, \"young\": 20000, \"poisson\": 0.45, "
        "\"damping\": 1}, \"size\": {\"vertices\": 1500}, \"bones\": [{\"name\": \"upper\", \"head\": [0, 0.5, -0.45], "
        "\"tail\": [0, 0.5, -0.02], \"radius\": 0.02}, {\"name\": \"lower\", \"parent\": \"upper\", \"head\": [0, 0.5, "
        "0.02], \"tail\": [0, 0.5, 0.45], \"radius\": 0.02}], \"joints\": [{\"type\": \"ball\", \"bone\": \"lower\", "
        "\"at\": [0, 0.5, 0], \"axis\": [0, 0, 1], \"cone\": 170, \"range\": [-179, 179]}], \"parts\": [{\"kind\": "
        "\"capsule\", \"from\": [0, 0.5, -0.5], \"to\": [0, 0.5, 0.5], \"radius\": 0.1}], \"motions\": [{\"name\": "
        "\"bend\", \"duration\": %g, \"loop\": false, \"tracks\": [{\"bone\": \"lower\", \"keys\": %s}]}]",
        2 * half, keys);
    json_t* character = json_object();
    snwJson_Add(character, blueprint);
    return json_pack("{s:i, s:i, s:f, s:[iii], s:[{s:s, s:s, s:{s:o}}]}", "sinew", 1, "rate", 60, "duration",
        2 * half + s_restSeconds, "gravity", 0, 0, 0, "bodies", "name", "arm", "motion", "bend", "character",
        "blueprint", character);
}

static const char* const s_actors[] = {
    "horse", "biped", "cow", "manikin", "reptile", "upper-body", "elbow bent 160", "arm twisted 170"};

enum
{
    snw_actorCount = sizeof s_actors / sizeof *s_actors,
    snw_ownActors = snw_actorCount - 2 // of the cast
};

static json_t* MakeActor(int actor, double speed)
{
    if (actor < snw_ownActors)
        return snwMakeClipScene(s_actors[actor], snw_stormElements, speed);
    return actor == snw_ownActors ? MakeArmScene(true, 160, speed) : MakeArmScene(false, 170, speed);
}

void snwAddFleshClips(snwBenchRows* rows)
{
    static const char* const s_followers[] = {"pbcd", "apd"};
    static const double s_speeds[] = {1, 3};
    bool brief = !rows->options->full; // brief: the cast at 3x alone
    for (int i = 0; i < snw_actorCount; ++i)
        for (int k = brief && i < snw_ownActors; k < 2; ++k)
        {
            snwFleshStage stage = {0};
            char name[48];
            snprintf(name, sizeof name, "%s, motion %gx", s_actors[i], s_speeds[k]);
            if (!snwBenchRows_Wants(rows, name, s_followers[0]) && !snwBenchRows_Wants(rows, name, s_followers[1]))
                continue;
            rows->result = snwFleshStage_Open(&stage, MakeActor(i, s_speeds[k]), rows->message);
            for (int m = 0; m < 2 && rows->result >= 0; ++m)
                if (snwBenchRows_Wants(rows, name, s_followers[m]))
                    AddStorm(rows, &stage, name, &(snwStormDef){.method = s_followers[m]}, snwFleshStage_PlayClip);
            snwFleshStage_Close(&stage);
        }
}
