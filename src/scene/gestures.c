// Gestures of hands - paths, locks, shaking, gravity turned over - become plain commands, one per step, when a scene
// is read. Roughness is random but depends only on the seed, the gesture and the step.

#include "scene/gestures.h"

#include "base/array.h"
#include "base/hash.h"
#include "math/transform.h"
#include "scene/names.h"
#include "sim/character.h"
#include "sim/limits.h"
#include "sim/scene.h"
#include "sim/vocabulary.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// The table

#define GESTURE(member, k, t, ...)                                                                                     \
    {                                                                                                                  \
        .key = k, .type = t, .offset = offsetof(snwGestureData, member), __VA_ARGS__                                   \
    }
#define KIND(k) (1u << snw_gesture##k)
#define FAR     .lower = -SNW_MAX_POSITION, .upper = SNW_MAX_POSITION, .unit = "m"

static const char* const s_kindNames[] = {"path", "lock", "unlock", "shake", "gravity", NULL};

static const snwField s_fields[] = {
    GESTURE(kind, "kind", snw_fieldChoice, .required = true, .names = s_kindNames, .help = "what is done"),
    GESTURE(body, "body", snw_fieldText, .required = true,
        .kinds = KIND(Path) | KIND(Lock) | KIND(Unlock) | KIND(Shake), .help = "name of the body"),
    GESTURE(handle, "handle", snw_fieldRaw, .required = true,
        .kinds = KIND(Path) | KIND(Lock) | KIND(Unlock) | KIND(Shake), .schema = "index",
        .help = "name or number of the handle (of the bone, if the body has none)"),
    GESTURE(start, "start", snw_fieldReal, .upper = SNW_MAX_SECONDS, .unit = "s", .help = "when it begins"),
    GESTURE(duration, "duration", snw_fieldReal, .required = true, .kinds = KIND(Path) | KIND(Shake) | KIND(Gravity),
        .lower = 1e-3, .upper = SNW_MAX_SECONDS, .unit = "s", .help = "how long it takes"),
    GESTURE(points, "points", snw_fieldRaw, .required = true, .kinds = KIND(Path), .schema = "points", .unit = "m",
        .help = "a smooth curve through these, from where the handle began: [x, y] or [x, y, z]"),
    GESTURE(turns, "turns", snw_fieldRaw, .kinds = KIND(Path), .schema = "numbers", .unit = "degrees",
        .help = "about z, one per point: the handle is turned, too"),
    GESTURE(repeat, "repeat", snw_fieldInt, .kinds = KIND(Path), .lower = 1, .upper = 1000,
        .help = "how often it is gone along, within the duration"),
    GESTURE(given, "given", snw_fieldMask, .kinds = KIND(Path) | KIND(Lock) | KIND(Shake), .names = snw_dofWords,
        .help = "degrees of freedom that are given. If absent: a path and a shake give the place, and with turns the "
                "rotation about z; a lock gives all"),
    GESTURE(offset, "offset", snw_fieldVec3, FAR, .kinds = KIND(Lock),
        .help = "from where the handle began; if absent, it is held where it is then"),
    GESTURE(offset, "offset", snw_fieldVec3, FAR, .kinds = KIND(Shake), .help = "from where the handle began"),
    GESTURE(turn, "turn", snw_fieldReal, .kinds = KIND(Lock), .lower = -36000, .upper = 36000, .unit = "degrees",
        .help = "about z, since it began; if absent, it is held as it is turned then"),
    GESTURE(turn, "turn", snw_fieldReal, .kinds = KIND(Shake), .lower = -36000, .upper = 36000, .unit = "degrees",
        .help = "to and fro, about z"),
    GESTURE(amplitude, "amplitude", snw_fieldVec3, FAR, .kinds = KIND(Shake), .help = "to either side"),
    GESTURE(frequency, "frequency", snw_fieldReal, .kinds = KIND(Shake), .lower = 0.01, .upper = 1000, .unit = "Hz",
        .help = "of the shaking"),
    GESTURE(rough, "rough", snw_fieldReal, .kinds = KIND(Path) | KIND(Shake), .upper = SNW_MAX_POSITION, .unit = "m",
        .help = "how far an unsteady hand jumps aside in every step"),
    GESTURE(release, "release", snw_fieldBool, .kinds = KIND(Path) | KIND(Shake), .help = "lets go at the end"),
    GESTURE(vector, "vector", snw_fieldVec3, .kinds = KIND(Gravity), .lower = -SNW_MAX_ACCELERATION,
        .upper = SNW_MAX_ACCELERATION, .unit = "m/s^2", .help = "one way; the scene's own if absent"),
    GESTURE(period, "period", snw_fieldReal, .kinds = KIND(Gravity), .lower = 1e-3, .upper = SNW_MAX_SECONDS,
        .unit = "s", .help = "of one way and back"),
};

static void InitGesture(void* object, int kind)
{
    *(snwGestureData*)object = (snwGestureData){.kind = kind, .repeat = 1, .frequency = 2, .period = 2};
}

const snwTable snw_gestureTable = {"gesture", "What a hand does over some time", SNW_TABLE_FIELDS(s_fields),
    sizeof(snwGestureData), "kind", InitGesture};

// ---------------------------------------------------------------------------------------------------------------------
// Reading

typedef snwArray(snwCommand) Commands;

typedef struct Expander
{
    snwJson* json;
    const snwSceneDef* def;
    Commands commands;
    snwGestureData data;
    uint64_t seen;
    uint64_t number;     // of the gesture, for its own chance
    snwCommand plain;    // body and handle of all commands of the gesture
    snwVec3 home;        // m, in the world: where the handle begins
    snwQuat facing;      // likewise
    double (*points)[4]; // x y z and turn
    int pointCount;
} Expander;

static snwResult AddCommand(Expander* x, const snwCommand* command)
{
    if (x->commands.count >= snw_maxCommands)
        return snwJson_Fail(
            x->json, "shorten it, or lower the rate", "the script would have more than %d commands", snw_maxCommands);
    bool made = snwArray_Push(x->json->context, &x->commands, *command);
    return made ? snw_ok : snwFailMemory(x->json->message);
}

static snwResult FindGestureHandle(Expander* x)
{
    snwJson* json = x->json;
    size_t mark = snwJson_Enter(json, "body");
    snwResult result = snwFindBody(json, x->def, x->data.body, &x->plain.body);
    snwJson_Leave(json, mark);
    if (result < 0)
        return result;
    const snwBodyDef* body = &x->def->bodies[x->plain.body];
    mark = snwJson_Enter(json, "handle");
    result = snwFindHandle(json, body->character, x->data.handle, &x->plain.index);
    snwJson_Leave(json, mark);
    if (result < 0)
        return result;
    const snwCharacterDef* def = snwCharacter_GetDef(body->character);
    x->home = snwTransform_Apply(body->transform, snwCharacterDef_HandlePoint(def, x->plain.index));
    x->facing = body->transform.rotation;
    return snw_ok;
}

static snwResult ReadPathPoint(Expander* x, const json_t* value, double point[4])
{
    size_t count = json_array_size(value);
    if (count < 2 || count > 3)
        return snwJson_Fail(x->json, "[x, y] or [x, y, z]", "must be a list of two or three numbers");
    snwResult result = snw_ok;
    for (size_t k = 0; k < count && result >= 0; ++k)
        result = snwJson_ReadReal(x->json, json_array_get(value, k), -SNW_MAX_POSITION, SNW_MAX_POSITION, &point[k]);
    return result;
}

static snwResult ReadPathPoints(Expander* x, snwArena* arena)
{
    snwJson* json = x->json;
    snwResult result = snw_ok;
    size_t outer = snwJson_Enter(json, "points"), count = json_array_size(x->data.points);
    if (count < 1 || count > snw_maxGesturePoints)
        return snwJson_Fail(json, NULL, "must be a list of 1 to %d points", snw_maxGesturePoints);

    x->points = snwArena_Alloc(arena, count, sizeof *x->points);
    x->pointCount = (int)count;
    if (x->points == NULL)
        return snwFailMemory(json->message);

    // Places, then turns, one for each place.
    for (size_t i = 0; i < count && result >= 0; ++i)
    {
        size_t mark = snwJson_EnterIndex(json, i);
        result = ReadPathPoint(x, json_array_get(x->data.points, i), x->points[i]);
        snwJson_Leave(json, mark);
    }

    snwJson_Leave(json, outer);
    if (result < 0 || x->data.turns == NULL)
        return result;
    outer = snwJson_Enter(json, "turns");
    if (json_array_size(x->data.turns) != count)
        return snwJson_Fail(json, NULL, "must be a list of %zu numbers, one per point", count);

    for (size_t i = 0; i < count && result >= 0; ++i)
    {
        size_t mark = snwJson_EnterIndex(json, i);
        result = snwJson_ReadReal(json, json_array_get(x->data.turns, i), -36000, 36000, &x->points[i][3]);
        snwJson_Leave(json, mark);
    }

    snwJson_Leave(json, outer);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Where the hand is

// Uniform Catmull-Rom through the points; as long between any two. share: 0..1 of the whole.
static void OnCurve(const Expander* x, double share, double place[4])
{
    int last = x->pointCount - 1;
    memset(place, 0, 4 * sizeof *place);
    if (last < 0 || x->points == NULL)
        return;
    double at = fmin(fmax(share, 0), 1) * last;
    int i = (int)fmin(at, last > 0 ? last - 1 : 0);
    double t = at - i;
    const double *b = x->points[i], *c = x->points[i < last ? i + 1 : last];
    const double *a = x->points[i > 0 ? i - 1 : 0], *d = x->points[i + 2 <= last ? i + 2 : last];
    for (int k = 0; k < 4; ++k)
        place[k] = b[k] + 0.5 * t *
                              (c[k] - a[k] +
                                  t * (2 * a[k] - 5 * b[k] + 4 * c[k] - d[k] + t * (3 * (b[k] - c[k]) + d[k] - a[k])));
}

// Swells up and down over a quarter of a second, so that the shaking begins and ends where the hand is.
static void InShake(const Expander* x, double time, double place[4])
{
    const snwGestureData* data = &x->data;
    double swell = fmin(fmin(time, data->duration - time) / fmin(0.25, data->duration / 2), 1);
    double wave = fmax(swell, 0) * sin(2 * SNW_PI * data->frequency * time);
    place[0] = data->offset.x + wave * data->amplitude.x;
    place[1] = data->offset.y + wave * data->amplitude.y;
    place[2] = data->offset.z + wave * data->amplitude.z;
    place[3] = wave * data->turn;
}

// -1..1, from the scene's seed, the gesture, the step and the axis.
static double Chance(const Expander* x, uint64_t step, uint64_t axis)
{
    uint64_t words[4] = {x->def->seed, x->number, step, axis};
    return (double)(snwHash(words, sizeof words, 0) >> 11) * 0x1p-52 - 1;
}

static uint32_t GivenBy(const Expander* x, bool turned)
{
    if (snwTable_Saw(&snw_gestureTable, x->seen, "given"))
        return x->data.given;
    return snw_dofX | snw_dofY | snw_dofZ | (turned ? snw_dofRotationZ : 0);
}

static snwCommand HandleAt(const Expander* x, uint64_t step, const double place[4])
{
    snwCommand command = x->plain;
    double half = place[3] * (SNW_PI / 360);
    command.step = step;
    command.transform.position = snwVec3_Add(x->home, (snwVec3){place[0], place[1], place[2]});
    command.transform.rotation = snwQuat_Mul((snwQuat){0, 0, sin(half), cos(half)}, x->facing);
    return command;
}

static uint64_t StepAt(const Expander* x, double time)
{
    return (uint64_t)llround(time * x->def->rate);
}

// ---------------------------------------------------------------------------------------------------------------------
// From gestures to commands

// A command before each step says where the hand is at its end.
static snwResult MoveHand(Expander* x)
{
    const snwGestureData* data = &x->data;
    bool path = data->kind == snw_gesturePath;

    // At least one step, so that a gesture without a length still happens.
    uint64_t first = StepAt(x, data->start), end = StepAt(x, data->start + data->duration);
    snwResult result = snw_ok;

    x->plain.mask = GivenBy(x, path ? data->turns != NULL : snwTable_Saw(&snw_gestureTable, x->seen, "turn"));
    end = end > first ? end : first + 1;
    for (uint64_t step = first; step < end && result >= 0; ++step)
    {
        // Where the hand shall be at the step's end: along the path, as often as it repeats, or shaking about a
        // place.
        double place[4], share = (double)(step + 1 - first) / (double)(end - first), round = share * data->repeat;
        if (path)
            OnCurve(x, step + 1 == end ? 1 : round - floor(round), place);
        else
            InShake(x, share * data->duration, place);

        // Roughness in x and y alone.
        for (uint64_t k = 0; k < 2; ++k)
            place[k] += data->rough > 0 ? data->rough * Chance(x, step, k) : 0;
        snwCommand command = HandleAt(x, step, place);
        result = AddCommand(x, &command);
    }

    // Then the handle is let go.
    snwCommand free = x->plain;
    free.step = end;
    free.mask = 0;
    return result < 0 || !data->release ? result : AddCommand(x, &free);
}

static snwResult HoldHand(Expander* x)
{
    const snwGestureData* data = &x->data;
    double place[4] = {data->offset.x, data->offset.y, data->offset.z, data->turn};
    x->plain.mask = snwTable_Saw(&snw_gestureTable, x->seen, "given") ? data->given : (uint32_t)snw_dofAll;
    x->plain.mask = data->kind == snw_gestureUnlock ? 0 : x->plain.mask;
    snwCommand command = HandleAt(x, StepAt(x, data->start), place);
    if (!snwTable_Saw(&snw_gestureTable, x->seen, "offset"))
    {
        command.stay |= snw_dofX | snw_dofY | snw_dofZ;
        command.transform.position = (snwVec3){0, 0, 0};
    }
    if (!snwTable_Saw(&snw_gestureTable, x->seen, "turn"))
    {
        command.stay |= snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ;
        command.transform.rotation = snwQuat_Identity();
    }
    return AddCommand(x, &command);
}

static snwResult Overturn(Expander* x)
{
    const snwGestureData* data = &x->data;
    snwCommand command = snwDefaultCommand(snw_commandGravity);
    snwVec3 one = snwTable_Saw(&snw_gestureTable, x->seen, "vector") ? data->vector : x->def->gravity;
    snwResult result = snw_ok;
    int turns = (int)fmin(ceil(2 * data->duration / data->period - 1e-9), snw_maxCommands + 1.0);
    for (int i = 0; i < turns && result >= 0; ++i)
    {
        command.step = StepAt(x, data->start + i * data->period / 2);
        command.vector = snwVec3_Scale(one, i % 2 == 0 ? 1 : -1);
        result = AddCommand(x, &command);
    }
    command.step = StepAt(x, data->start + data->duration);
    command.vector = x->def->gravity;
    return result < 0 ? result : AddCommand(x, &command);
}

static snwResult ExpandGesture(Expander* x, const json_t* value, snwArena* arena)
{
    snwResult result = snwTable_Read(x->json, &snw_gestureTable, value, &x->data, &x->seen);
    if (result >= 0 && x->data.kind == snw_gestureGravity)
        return Overturn(x);
    x->plain = snwDefaultCommand(snw_commandHandle);
    int first = x->commands.count;
    if (result >= 0)
        result = FindGestureHandle(x);
    if (result >= 0 && x->data.kind == snw_gesturePath)
        result = ReadPathPoints(x, arena);
    if (result >= 0)
        result = x->data.kind == snw_gesturePath || x->data.kind == snw_gestureShake ? MoveHand(x) : HoldHand(x);
    // Does the method hear such commands at all? All of a gesture are alike.
    if (result >= 0 &&
        snwCommand_Check(x->def, snwMethod_Find(x->def->method), &x->commands.data[first], x->json->message) < 0)
        return snwJson_Locate(x->json, snw_errorInput);
    return result;
}

snwResult snwGestures_Read(snwJson* json, const json_t* list, snwArena* arena, snwSceneDef* def)
{
    snwResult result = snw_ok;
    if (list == NULL)
        return snw_ok;
    size_t outer = snwJson_Enter(json, "gestures"), count = json_array_size(list);
    if (!json_is_array(list) || count > snw_maxGestures)
        return snwJson_Fail(json, NULL, "must be a list of at most %d gestures", snw_maxGestures);
    Expander x = {.json = json, .def = def};
    // The scene's own commands first; snwScene sorts by step and keeps this order among equals.
    for (int i = 0; i < def->commandCount && result >= 0; ++i)
        result = AddCommand(&x, &def->commands[i]);

    for (size_t i = 0; i < count && result >= 0; ++i)
    {
        size_t mark = snwJson_EnterIndex(json, i);
        x.number = i;
        x.seen = 0;
        result = ExpandGesture(&x, json_array_get(list, i), arena);
        snwJson_Leave(json, mark);
    }

    snwJson_Leave(json, outer);
    if (result >= 0)
    {
        def->commandCount = x.commands.count;
        def->commands = snwArena_Copy(arena, x.commands.data, (size_t)x.commands.count, sizeof *x.commands.data);
        result = arena->failed ? snwFailMemory(json->message) : snw_ok;
    }

    snwArray_Free(json->context, &x.commands);
    return result;
}
