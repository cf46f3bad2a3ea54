// The state of a session in words, for every page that shows it.

#include "studio/session_parts.h"

#include "scene/builtin.h"
#include "scene/names.h"
#include "studio/folder.h"
#include "sim/vocabulary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void PutStateText(snwText* text, const char* key, const char* value)
{
    snwText_Key(text, key);
    snwText_String(text, value != NULL ? value : "");
}

static void PutStateReal(snwText* text, const char* key, double value)
{
    snwText_Key(text, key);
    snwText_Real(text, value);
}

static void Int(snwText* text, const char* key, int64_t value)
{
    snwText_Key(text, key);
    snwText_Int(text, value);
}

static void Bool(snwText* text, const char* key, bool value)
{
    snwText_Key(text, key);
    snwText_Bool(text, value);
}

static void Vec3(snwText* text, const char* key, snwVec3 v)
{
    snwText_Key(text, key);
    snwText_Reals(text, (double[]){v.x, v.y, v.z}, 3);
}

// ---------------------------------------------------------------------------------------------------------------------
// Parameters

// "pbd.contact_force" -> "contact force"
static void WriteLabel(snwText* text, const char* name)
{
    char label[96];
    const char* dot = strchr(name, '.');
    snprintf(label, sizeof label, "%s", dot != NULL ? dot + 1 : name);
    for (char* c = label; *c != 0; ++c)
        *c = *c == '_' ? ' ' : *c;
    PutStateText(text, "label", label);
}

static void WriteParamState(snwText* text, const snwParamInfo* info, double value)
{
    // Range, default and present value: what a control on the page needs.
    snwText_Open(text, '{');
    PutStateText(text, "name", info->name);
    WriteLabel(text, info->name);
    PutStateText(text, "unit", info->unit);
    PutStateText(text, "type", snw_paramTypeWords[info->type]);
    PutStateReal(text, "min", info->lower);
    PutStateReal(text, "max", info->upper);
    snwText_Key(text, "default");
    snwParam_WriteValue(text, info, info->initial);
    snwText_Key(text, "value");
    snwParam_WriteValue(text, info, value);
    Bool(text, "live", info->live);
    PutStateText(text, "help", info->help);

    if (info->type == snw_paramChoice)
    {
        snwText_Key(text, "choices");
        snwText_Open(text, '[');
        for (int i = 0; info->choices[i] != NULL; ++i)
            snwText_String(text, info->choices[i]);
        snwText_Close(text, ']');
    }

    snwText_Close(text, '}');
}

static void WriteParams(const snwSession* session, snwText* text)
{
    snwText_Key(text, "params");
    snwText_Open(text, '[');
    for (int i = 0; i < snwSim_GetParamCount(session->sim); ++i)
        WriteParamState(text, snwSim_GetParamInfo(session->sim, i), session->live.params[i]);
    snwText_Close(text, ']');
}

static void WriteStateMethods(snwText* text)
{
    snwText_Key(text, "methods");
    snwText_Open(text, '[');
    for (int i = 0; i < snwMethodCount(); ++i)
    {
        snwMethodInfo info = snwMethod_GetInfo(i);
        snwText_Open(text, '{');
        PutStateText(text, "name", info.name);
        PutStateText(text, "title", info.title);
        snwText_Close(text, '}');
    }
    snwText_Close(text, ']');
}

// ---------------------------------------------------------------------------------------------------------------------
// Bodies

static void WriteMaterial(snwText* text, const snwMaterial* material)
{
    snwText_Open(text, '{');
    PutStateReal(text, "density", material->density);
    PutStateReal(text, "young", material->young);
    PutStateReal(text, "poisson", material->poisson);
    PutStateReal(text, "damping", material->damping);
    PutStateReal(text, "frequency", material->frequency);
    PutStateReal(text, "settling", material->settling);
    snwText_Close(text, '}');
}

static void WriteSkeleton(snwText* text, const snwCharacterDef* def)
{
    // By their names alone: poses come with every frame.
    snwText_Key(text, "bones");
    snwText_Open(text, '[');
    for (int i = 0; i < def->boneCount; ++i)
        snwText_String(text, def->bones[i].name);
    snwText_Close(text, ']');

    // Whether a joint has a motor says how it can be moved.
    snwText_Key(text, "joints");
    snwText_Open(text, '[');

    for (int i = 0; i < def->jointCount; ++i)
    {
        snwText_Open(text, '{');
        PutStateText(text, "name", def->joints[i].name);
        PutStateText(text, "type", snwJointType_Name(def->joints[i].type));
        Int(text, "parent", def->joints[i].parentBone);
        Bool(text, "motor", def->joints[i].motor);
        snwText_Close(text, '}');
    }

    snwText_Close(text, ']');
}

static void WriteHandles(const snwSession* session, int body, snwText* text)
{
    const snwCharacterDef* def = &session->sim->bodies[body].character->def;
    int count = snwCharacterDef_HandleCount(def);
    bool own = def->handleCount > 0;

    snwText_Key(text, "handles");
    snwText_Open(text, '[');

    // Handles, or bones that serve as such; then which degrees of freedom are given, in the same order.
    for (int i = 0; i < count; ++i)
    {
        snwText_Open(text, '{');
        PutStateText(text, "name", own ? def->handles[i].name : def->bones[i].name);
        PutStateText(text, "kind", own ? snwHandleKind_Name(def->handles[i].kind) : "bone");
        snwText_Close(text, '}');
    }

    snwText_Close(text, ']');
    snwText_Key(text, "given");
    snwText_Open(text, '[');
    for (int i = 0; i < count; ++i)
        snwText_Int(text, session->live.handles[body][i].given);
    snwText_Close(text, ']');
}

static void WriteStateMotions(const snwSession* session, int body, snwText* text)
{
    const snwCharacterDef* def = &session->sim->bodies[body].character->def;
    snwText_Key(text, "motions");
    snwText_Open(text, '[');
    for (int i = 0; i < def->motionCount; ++i)
        snwText_String(text, def->motions[i].name);
    snwText_Close(text, ']');
    PutStateText(text, "motion", session->sim->def->bodies[body].motion);
}

static void WriteRules(const snwSession* session, int body, snwText* text)
{
    const snwCharacterDef* def = &session->sim->bodies[body].character->def;
    snwText_Key(text, "constraints");
    snwText_Open(text, '[');
    for (int i = 0; i < def->constraintCount; ++i)
    {
        snwText_Open(text, '{');
        Bool(text, "on", session->live.rules[body][i].on);
        PutStateReal(text, "value", session->live.rules[body][i].value);
        snwText_Close(text, '}');
    }
    snwText_Close(text, ']');
}

static void WriteStateBody(const snwSession* session, int index, snwText* text)
{
    const snwBodyDef* body = &session->sim->def->bodies[index];
    const snwCharacterDef* def = &body->character->def;

    // What the body is, then what can be changed of it.
    snwText_Open(text, '{');
    PutStateText(text, "name", body->name);
    PutStateText(text, "character", def->name);
    Bool(text, "flat", def->triangleCount > 0);
    Int(text, "vertices", def->vertexCount);
    snwText_Key(text, "regions");
    snwText_Open(text, '[');
    for (int i = 0; i < def->materialCount; ++i)
        WriteMaterial(text, &session->live.materials[index][i]);
    snwText_Close(text, ']');
    WriteSkeleton(text, def);
    WriteHandles(session, index, text);
    WriteStateMotions(session, index, text);
    WriteRules(session, index, text);
    snwText_Close(text, '}');
}

// ---------------------------------------------------------------------------------------------------------------------
// The scene

static void WriteStatePins(const snwSession* session, snwText* text)
{
    const snwSim* sim = session->sim;
    snwText_Key(text, "pins");
    snwText_Open(text, '[');
    for (int i = 0; i < sim->def->pinCount; ++i)
    {
        snwText_Open(text, '{');
        PutStateText(text, "name", sim->def->pins[i].name);
        Int(text, "body", sim->def->pins[i].body);
        Bool(text, "held", sim->pins[i].held != 0);
        Vec3(text, "position", snwVec3_Add(sim->pinSets[i].pivot, sim->pins[i].transform.position));
        snwText_Close(text, '}');
    }
    snwText_Close(text, ']');
}

static void WriteThings(const snwSession* session, snwText* text)
{
    const snwSceneDef* def = session->sim->def;
    WriteStatePins(session, text);
    snwText_Key(text, "colliders");
    snwText_Open(text, '[');
    for (int i = 0; i < def->colliderCount; ++i)
        snwText_String(text, def->colliders[i].name);
    snwText_Close(text, ']');
    snwText_Key(text, "props");
    snwText_Open(text, '[');
    for (int i = 0; i < def->propCount; ++i)
        snwText_String(text, def->props[i].name);
    snwText_Close(text, ']');
}

static void WriteRecording(const snwSession* session, snwText* text)
{
    int ranges[64][2], count = snwTimeline_Ranges(session, ranges, 64);
    snwText_Key(text, "recording");
    snwText_Open(text, '{');
    Int(text, "first", 0);
    Int(text, "last", session->recording.hashes.count - 1);
    Int(text, "shown", session->timeline.shown);
    snwText_Key(text, "cached");
    snwText_Open(text, '[');
    for (int i = 0; i < count; ++i)
        snwText_Reals(text, (double[]){ranges[i][0], ranges[i][1]}, 2);
    snwText_Close(text, ']');
    Int(text, "bytes", (int64_t)(session->timeline.frameBytes + session->timeline.snapshotBytes));
    Int(text, "commands", session->recording.commands.count);
    snwText_Close(text, '}');
}

static void WriteHands(const snwSession* session, snwText* text)
{
    snwText_Key(text, "grabs");
    snwText_Open(text, '[');
    for (int i = 0; i < session->handCount; ++i)
    {
        const snwHand* hand = &session->hands[i];
        snwText_Open(text, '{');
        Int(text, "grab", hand->number);
        Int(text, "client", hand->client);
        PutStateText(text, "kind", snw_handKindWords[hand->kind]);
        Int(text, "body", hand->body);
        Int(text, "index", hand->index);
        snwText_Close(text, '}');
    }
    snwText_Close(text, ']');
}

static void WriteRows(const snwSession* session, snwText* text)
{
    snwTimings timings;
    snwText_Key(text, "measures");
    snwText_Open(text, '[');

    // Which measures and stages there are, so that pages know what the numbers of a frame mean.
    for (int i = 0; i < snwMeasureCount(); ++i)
    {
        const snwMeasureInfo* info = snwMeasure_GetInfo(i);
        snwText_Open(text, '{');
        PutStateText(text, "name", info->name);
        PutStateText(text, "unit", info->unit);
        PutStateText(text, "help", info->help);
        snwText_Close(text, '}');
    }

    snwText_Close(text, ']');
    snwSim_GetTimings(session->sim, &timings);
    snwText_Key(text, "stages");
    snwText_Open(text, '[');
    for (int i = 0; i < timings.count; ++i)
        snwText_String(text, timings.data[i].stage);
    snwText_Close(text, ']');
}

static void WriteLoading(snwSession* session, snwText* text)
{
    pthread_mutex_lock(&session->mutex);
    bool loading = session->loading;
    double share = session->loadingShare;
    char words[160];
    memcpy(words, session->loadingText, sizeof words);
    pthread_mutex_unlock(&session->mutex);
    snwText_Key(text, "loading");
    if (!loading)
    {
        snwText_Json(text, "null");
        return;
    }
    snwText_Open(text, '{');
    PutStateText(text, "text", words);
    PutStateReal(text, "share", share);
    snwText_Close(text, '}');
}

static void WriteStateScene(const snwSession* session, snwText* text)
{
    const snwStage* stage = session->stage;
    const char* slash = strrchr(stage->origin, '/');
    snwText_Key(text, "scene");
    snwText_Open(text, '{');
    PutStateText(text, "name", session->sim->def->name);
    PutStateText(text, "opened", stage->name);
    PutStateText(text, "description", stage->file.description);
    PutStateText(text, "file", slash != NULL ? slash + 1 : stage->origin);
    snwText_Close(text, '}');
}

static void WriteWarnings(const snwSession* session, snwText* text)
{
    snwText_Key(text, "warnings");
    snwText_Open(text, '[');
    if (session->warning[0] != 0)
        snwText_String(text, session->warning);
    if (session->playing && session->realtime < 0.9)
    {
        char words[96];
        snprintf(words, sizeof words, "too slow: %.0f %% of real time", 100 * session->realtime);
        snwText_String(text, words);
    }
    snwText_Close(text, ']');
}

static void WriteLabelOf(const snwSession* session, const char* key, bool again, snwText* text)
{
    const char* label = snwHistory_Label(session, again);
    snwText_Key(text, key);
    if (label != NULL)
        snwText_String(text, label);
    else
        snwText_Json(text, "null");
}

static void WriteOpen(const snwSession* session, snwText* text)
{
    const snwSim* sim = session->sim;
    char hash[24];
    snprintf(hash, sizeof hash, "%016" PRIx64, snwSim_Hash(sim));

    // What is open: names and clock, parameters, bodies, the recording.
    WriteStateScene(session, text);
    PutStateText(text, "method", sim->method->name);
    Int(text, "frame", (int64_t)snwSim_GetStepCount(sim));
    PutStateReal(text, "time", snwSim_GetTime(sim));
    PutStateReal(text, "rate", sim->def->rate);
    PutStateText(text, "hash", hash);
    Vec3(text, "gravity", session->live.gravity);
    WriteParams(session, text);
    snwText_Key(text, "bodies");
    snwText_Open(text, '[');
    for (int i = 0; i < sim->bodyCount; ++i)
        WriteStateBody(session, i, text);
    snwText_Close(text, ']');
    WriteThings(session, text);
    WriteRecording(session, text);
    WriteRows(session, text);
}

void snwSession_WriteState(snwSession* session, snwText* text)
{
    Int(text, "revision", (int64_t)session->revision);
    WriteLoading(session, text);
    WriteStateMethods(text);
    Bool(text, "playing", session->playing);
    Bool(text, "diverged", session->diverged);
    PutStateReal(text, "speed", session->speed);
    PutStateReal(text, "realtime", session->realtime);

    // What holds without a scene, too, comes first; the rest only with one.
    if (session->sim != NULL)
        WriteOpen(session, text);
    else
    {
        snwText_Key(text, "scene");
        snwText_Json(text, "null");
    }

    WriteHands(session, text);
    WriteLabelOf(session, "undo", false, text);
    WriteLabelOf(session, "redo", true, text);
    WriteWarnings(session, text);
    snwText_Key(text, "autosave");
    if (session->savedAt >= 0)
        snwText_Real(text, session->savedAt);
    else
        snwText_Json(text, "null");

    Bool(text, "restorable", session->hasAutosave);
}

// ---------------------------------------------------------------------------------------------------------------------
// What can be opened

static void WriteNames(const snwNames* names, const char* noteKey, bool sizes, snwText* text)
{
    snwText_Open(text, '[');
    for (int i = 0; i < names->count; ++i)
    {
        snwText_Open(text, '{');
        PutStateText(text, "name", names->names[i]);
        PutStateText(text, noteKey, names->notes[i]);
        if (sizes)
            Int(text, "bytes", (int64_t)names->sizes[i]);
        snwText_Close(text, '}');
    }
    snwText_Close(text, ']');
}

static void WriteStateCharacters(snwText* text)
{
    json_error_t error;
    snwText_Key(text, "characters");
    snwText_Open(text, '[');
    for (int i = 0; i < snwBuiltInCount(); ++i)
    {
        const snwBuiltIn* character = snwBuiltIn_Get(i);
        json_t* document = json_loadb(character->text, character->size, 0, &error);
        snwText_Open(text, '{');
        PutStateText(text, "name", character->name);
        PutStateText(text, "description", json_string_value(json_object_get(document, "description")));
        snwText_Close(text, '}');
        json_decref(document);
    }
    snwText_Close(text, ']');
}

static void WritePresets(snwText* text)
{
    snwText_Key(text, "presets");
    snwText_Open(text, '[');
    for (int i = 0; i < snwPresetCount(); ++i)
    {
        const snwPresetInfo* info = snwPreset_GetInfo(i);
        snwText_Open(text, '{');
        PutStateText(text, "name", info->name);
        PutStateText(text, "help", info->help);
        snwText_Key(text, "material");
        WriteMaterial(text, &info->material);
        snwText_Close(text, '}');
    }
    snwText_Close(text, ']');
}

void snwSession_WriteList(snwSession* session, snwText* text)
{
    snwNames names;
    snwScenes_List(session->context, &names);
    snwText_Key(text, "scenes");
    WriteNames(&names, "description", false, text);
    snwNames_Free(session->context, &names);
    WriteStateCharacters(text);
    snwFolder_List(session, &names);
    snwText_Key(text, "files");
    WriteNames(&names, "kind", true, text);
    snwNames_Free(session->context, &names);
    WritePresets(text);
    WriteStateMethods(text);
}
