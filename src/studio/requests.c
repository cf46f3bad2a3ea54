// The words of the protocol. A table says which keys each has, so unknown words and keys, wrong types and ranges are
// answered in one way; below it one function per word.

#include "studio/requests.h"

#include "base/hash.h"
#include "scene/names.h"
#include "scene/tables.h"
#include "scene/words.h"
#include "sim/limits.h"
#include "sim/vocabulary.h"
#include "studio/jobs.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef snwResult ActFn(snwAnswer* answer);

typedef enum Word
{
    wordHello,
    wordList,
    wordOpen,
    wordPlay,
    wordPause,
    wordReset,
    wordStep,
    wordSpeed,
    wordMethod,
    wordSet,
    wordGravity,
    wordMaterial,
    wordMotion,
    wordGrab,
    wordMove,
    wordDrop,
    wordPush,
    wordLock,
    wordUnlock,
    wordRule,
    wordCommand,
    wordUndo,
    wordRedo,
    wordSeek,
    wordExport,
    wordCancel,
    wordView,
    wordWords,
    wordAck,
    wordCount,
} Word;

static const char* const s_words[wordCount + 1] = {"hello", "list", "open", "play", "pause", "reset", "step", "speed",
    "method", "set", "gravity", "material", "motion", "grab", "move", "drop", "push", "lock", "unlock", "rule",
    "command", "undo", "redo", "seek", "export", "cancel", "view", "words", "ack", NULL};

// As snwSource.
static const char* const s_sources[] = {"any", "scene", "character", "file", NULL};

#define OF(word) (1u << word##_)
#define FIELD(member, name, kind, mask, ...)                                                                           \
    {                                                                                                                  \
        .key = name, .type = kind, .offset = offsetof(snwRequestData, member), .kinds = mask, __VA_ARGS__              \
    }
#define BIT(word) (1u << word)
#define FAR_AWAY  .lower = -SNW_MAX_POSITION, .upper = SNW_MAX_POSITION

enum
{
    ofBody = BIT(wordMaterial) | BIT(wordMotion) | BIT(wordGrab) | BIT(wordPush) | BIT(wordLock) | BIT(wordUnlock) |
             BIT(wordRule),
    ofLocks = BIT(wordLock) | BIT(wordUnlock),
    ofHands = BIT(wordMove) | BIT(wordDrop),
    ofRays = BIT(wordGrab) | BIT(wordPush),
};

static const snwField s_fields[] = {
    FIELD(protocol, "v", snw_fieldInt, 0, .required = true, .lower = snw_studioProtocol, .upper = snw_studioProtocol),
    FIELD(id, "id", snw_fieldRaw, 0, .lower = 0),
    FIELD(word, "do", snw_fieldChoice, 0, .required = true, .names = s_words),
    FIELD(name, "name", snw_fieldText, BIT(wordOpen), .required = true, .upper = 255),
    FIELD(name, "name", snw_fieldText, BIT(wordMethod) | BIT(wordSet), .required = true),
    FIELD(name, "name", snw_fieldText, BIT(wordMotion)),
    FIELD(name, "name", snw_fieldText, BIT(wordExport), .upper = 120),
    FIELD(frames, "frames", snw_fieldInt, BIT(wordStep), .lower = 1, .upper = 1000),
    FIELD(speed, "value", snw_fieldReal, BIT(wordSpeed), .required = true, .lower = 0.05, .upper = 4),
    FIELD(value, "value", snw_fieldRaw, BIT(wordSet), .required = true),
    FIELD(ruleValue, "value", snw_fieldReal, BIT(wordRule), FAR_AWAY),
    FIELD(vector, "vector", snw_fieldVec3, BIT(wordGravity), .required = true, .lower = -SNW_MAX_ACCELERATION,
        .upper = SNW_MAX_ACCELERATION),
    FIELD(body, "body", snw_fieldInt, ofBody, .lower = -1, .upper = 1e9),
    FIELD(region, "region", snw_fieldInt, BIT(wordMaterial), .lower = -1, .upper = 1e9),
    FIELD(preset, "preset", snw_fieldRaw, BIT(wordMaterial), .lower = 0),
    FIELD(softness, "softness", snw_fieldRaw, BIT(wordMaterial), .lower = 0),
    FIELD(density, "density", snw_fieldRaw, BIT(wordMaterial), .lower = 0),
    FIELD(young, "young", snw_fieldRaw, BIT(wordMaterial), .lower = 0),
    FIELD(poisson, "poisson", snw_fieldRaw, BIT(wordMaterial), .lower = 0),
    FIELD(damping, "damping", snw_fieldRaw, BIT(wordMaterial), .lower = 0),
    FIELD(frequency, "frequency", snw_fieldRaw, BIT(wordMaterial), .lower = 0),
    FIELD(settling, "settling", snw_fieldRaw, BIT(wordMaterial), .lower = 0),
    FIELD(origin, "origin", snw_fieldVec3, ofRays, FAR_AWAY),
    FIELD(direction, "direction", snw_fieldVec3, ofRays, .lower = -1e6, .upper = 1e6),
    FIELD(handle, "handle", snw_fieldInt, BIT(wordGrab), .lower = 0, .upper = 1e9),
    FIELD(bone, "bone", snw_fieldInt, BIT(wordGrab), .lower = 0, .upper = 1e9),
    FIELD(joint, "joint", snw_fieldInt, BIT(wordGrab), .lower = 0, .upper = 1e9),
    FIELD(pin, "pin", snw_fieldInt, BIT(wordGrab), .lower = 0, .upper = 1e9),
    FIELD(prop, "prop", snw_fieldInt, BIT(wordGrab), .lower = 0, .upper = 1e9),
    FIELD(collider, "collider", snw_fieldInt, BIT(wordGrab), .lower = 0, .upper = 1e9),
    FIELD(grab, "grab", snw_fieldInt, ofHands, .required = true, .lower = 0, .upper = 2e9),
    FIELD(position, "position", snw_fieldVec3, BIT(wordMove), .required = true, FAR_AWAY),
    FIELD(rotation, "rotation", snw_fieldRotation, BIT(wordMove), .lower = 0),
    FIELD(keep, "keep", snw_fieldBool, BIT(wordDrop), .lower = 0),
    FIELD(vertex, "vertex", snw_fieldInt, BIT(wordPush), .lower = -1, .upper = 1e9),
    FIELD(force, "force", snw_fieldVec3, BIT(wordPush), .required = true, .lower = -SNW_MAX_FORCE,
        .upper = SNW_MAX_FORCE),
    FIELD(duration, "duration", snw_fieldReal, BIT(wordPush), .lower = 0, .upper = SNW_MAX_SECONDS),
    FIELD(handles, "handles", snw_fieldRaw, ofLocks, .required = true),
    FIELD(given, "given", snw_fieldMask, ofLocks, .names = snw_dofWords),
    FIELD(constraint, "constraint", snw_fieldInt, BIT(wordRule), .required = true, .lower = 0, .upper = 1e9),
    FIELD(on, "on", snw_fieldBool, BIT(wordRule), .lower = 0),
    FIELD(command, "command", snw_fieldRaw, BIT(wordCommand), .required = true),
    FIELD(frame, "frame", snw_fieldInt, BIT(wordSeek), .required = true, .lower = 0, .upper = 2e9),
    FIELD(kind, "kind", snw_fieldText, BIT(wordExport), .required = true),
    FIELD(source, "kind", snw_fieldChoice, BIT(wordOpen), .names = s_sources),
    FIELD(job, "job", snw_fieldInt, BIT(wordCancel), .required = true, .lower = 0, .upper = 2e9),
    FIELD(want, "want", snw_fieldRaw, BIT(wordView), .required = true),
    FIELD(serial, "serial", snw_fieldU64, BIT(wordAck), .lower = 0),
};

static void InitRequestData(void* object, int kind)
{
    (void)kind;
    *(snwRequestData*)object = (snwRequestData){
        .frames = 1, .region = -1, .vertex = -1, .duration = 0.1, .given = snw_dofAll, .on = true, .name = ""};
}

const snwTable snw_requestTable = {
    "request", "What a viewer asks for", SNW_TABLE_FIELDS(s_fields), sizeof(snwRequestData), "do", InitRequestData};

bool snwAnswer_Saw(const snwAnswer* answer, const char* key)
{
    return snwTable_Saw(&snw_requestTable, answer->seen, key);
}

// ---------------------------------------------------------------------------------------------------------------------
// Seeing

static snwResult Hello(snwAnswer* answer)
{
    snwSession_WriteState(answer->session, &answer->text);
    return snw_ok;
}

static snwResult List(snwAnswer* answer)
{
    snwSession_WriteList(answer->session, &answer->text);
    return snw_ok;
}

static snwClient* FindClient(snwSession* session, int number)
{
    for (int i = 0; i < session->clients.count; ++i)
        if (session->clients.data[i].number == number)
            return &session->clients.data[i];
    snwClient fresh = {.number = number};
    return snwArray_Push(session->context, &session->clients, fresh)
               ? &session->clients.data[session->clients.count - 1]
               : NULL;
}

static snwResult ReadWant(snwAnswer* answer, uint32_t* want)
{
    static const char* const names[] = {
        "strain", "speed", "contact", "stiffness", "weights", "elements", "contacts", "pressure", NULL};
    const json_t* list = answer->data.want;
    snwResult result = snw_ok;
    size_t mark = snwJson_Enter(&answer->json, "want");
    if (!json_is_array(list))
        return snwJson_Fail(&answer->json, NULL, "must be a list, is %s", snwJson_TypeName(list));
    *want = 0;
    for (size_t i = 0; i < json_array_size(list) && result >= 0; ++i)
    {
        int word = 0;
        result = snwJson_ReadChoice(&answer->json, json_array_get(list, i), names, &word);
        *want |= 1u << word;
    }
    snwJson_Leave(&answer->json, mark);
    return result;
}

// What stands still is seen as it is.
static void ShowPresent(snwSession* session)
{
    if (session->sim == NULL || session->playing || session->timeline.shown >= 0)
        return;
    snwBlob* blob = snwSession_EncodeFrame(session);
    if (blob != NULL)
        snwSession_PublishFrame(session, blob);
}

// A paused scene shows at once what is wanted.
static snwResult View(snwAnswer* answer)
{
    snwSession* session = answer->session;
    snwClient* client = FindClient(session, answer->client);
    uint32_t want = 0;
    snwResult result = ReadWant(answer, &want);
    if (result < 0)
        return result;
    if (client == NULL)
        return snwFailMemory(answer->json.message);
    client->want = want;
    snwSession_GatherWants(session);
    if ((want & snw_wantWeights) != 0)
        snwSession_StartPainting(session);
    ShowPresent(session);
    return snw_ok;
}

static snwResult Ack(snwAnswer* answer)
{
    answer->silent = true; // the transport's business
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Time

static snwResult AnswerPlay(snwAnswer* answer)
{
    snwResult result = snwSession_GoOn(answer->session, answer->json.message);
    if (result >= 0)
        snwSession_Play(answer->session, true);
    return result;
}

// While a scene runs late not every frame is shown; the one it stops at is.
static snwResult Pause(snwAnswer* answer)
{
    snwSession_Play(answer->session, false);
    ShowPresent(answer->session);
    return snw_ok;
}

static snwResult AnswerStep(snwAnswer* answer)
{
    snwSession* session = answer->session;
    snwResult result = snw_ok;
    snwSession_Play(session, false);
    for (int i = 0; i < answer->data.frames && result >= 0; ++i)
        result = snwSession_StepOnce(session, answer->json.message);
    session->stale = true;
    snwText_Key(&answer->text, "frame");
    snwText_Int(&answer->text, session->recording.hashes.count - 1);
    return result;
}

static snwResult Reset(snwAnswer* answer)
{
    snwSession* session = answer->session;
    snwMoment before;

    // Hands let go, an old frame gives way to the present, and all of it can be undone.
    snwSession_ForgetHands(session);
    snwResult result = session->timeline.shown >= 0
                           ? snwSession_Seek(session, session->recording.hashes.count - 1, answer->json.message)
                           : snw_ok;
    if (result >= 0)
        result = snwSession_TakeMoment(session, &before, answer->json.message);
    if (result < 0)
        return result;
    result = snwSession_Restart(session, answer->json.message);
    if (result >= 0)
        snwHistory_AddMoment(session, "reset", &before);
    snwMoment_Free(session->context, &before);

    // The first frame at once, also while the scene is paused.
    snwBlob* blob = snwSession_EncodeFrame(session);
    if (blob != NULL)
        snwSession_PublishFrame(session, blob);
    snwSession_Play(session, session->playing);
    session->stale = true;

    return result;
}

static snwResult Speed(snwAnswer* answer)
{
    answer->session->speed = answer->data.speed;
    snwSession_Play(answer->session, answer->session->playing);
    answer->session->stale = true;
    return snw_ok;
}

static snwResult Seek(snwAnswer* answer)
{
    return snwSession_Seek(answer->session, answer->data.frame, answer->json.message);
}

static snwResult UndoOrRedo(snwAnswer* answer, bool again)
{
    char label[112] = "";
    snwSession* session = answer->session;
    snwResult result = snwSession_Undo(session, again, label, sizeof label, answer->json.message);
    if (result < 0)
        return result;
    snwText_Key(&answer->text, "label");
    snwText_String(&answer->text, label);
    snwBlob* blob = snwSession_EncodeFrame(session);
    if (blob != NULL)
        snwSession_PublishFrame(session, blob);
    snwSession_Play(session, session->playing);
    return snw_ok;
}

static snwResult Undo(snwAnswer* answer)
{
    return UndoOrRedo(answer, false);
}

static snwResult Redo(snwAnswer* answer)
{
    return UndoOrRedo(answer, true);
}

// ---------------------------------------------------------------------------------------------------------------------
// Jobs

static snwResult AnswerOpen(snwAnswer* answer)
{
    snwJob* job = snwCreateJob(answer->session, snw_jobOpen);
    if (job == NULL)
        return snwFailMemory(answer->json.message);
    snprintf(job->name, sizeof job->name, "%s", answer->data.name);
    snprintf(job->label, sizeof job->label, "opening %.80s", answer->data.name);
    job->source = (snwSource)answer->data.source;
    snwText_Key(&answer->text, "job");
    snwText_Int(&answer->text, job->number);
    snwSession_Start(answer->session, job);
    return snw_ok;
}

static snwJob* StartChange(snwAnswer* answer)
{
    snwJob* job = snwCreateJob(answer->session, snw_jobChange);
    if (job == NULL)
        return NULL;
    snwStage_Retain(answer->session->stage);
    job->base.stage = answer->session->stage;
    snwText_Key(&answer->text, "job");
    snwText_Int(&answer->text, job->number);
    return job;
}

static snwResult Method(snwAnswer* answer)
{
    int method = -1;
    size_t mark = snwJson_Enter(&answer->json, "name");
    snwResult result = snwFindMethod(&answer->json, answer->data.name, &method);
    snwJson_Leave(&answer->json, mark);
    if (result < 0)
        return result;
    snwJob* job = StartChange(answer);
    if (job == NULL)
        return snwFailMemory(answer->json.message);
    snprintf(job->method, sizeof job->method, "%s", snwMethod_GetInfo(method).name);
    snprintf(job->label, sizeof job->label, "method %s", job->method);
    job->change.method = job->method;
    snwSession_Start(answer->session, job);
    return snw_ok;
}

static snwResult Motion(snwAnswer* answer)
{
    const snwSceneDef* def = answer->session->sim->def;
    const char* name = answer->data.name; // "": none
    int motion = -1;
    snwResult result = snwAnswer_CheckBody(answer);

    if (result >= 0 && name[0] != 0)
        result = snwFindMotion(&answer->json, def->bodies[answer->data.body].character, name, &motion);
    if (result < 0)
        return result;

    // It changes the scene, so it is a job: weights and shapes may have to be made anew.
    snwJob* job = StartChange(answer);
    if (job == NULL)
        return snwFailMemory(answer->json.message);
    snprintf(job->motion, sizeof job->motion, "%s", name);
    snprintf(job->label, sizeof job->label, "motion %.80s", name[0] != 0 ? name : "none");
    job->change.body = answer->data.body;
    job->change.motion = job->motion;
    snwSession_Start(answer->session, job);

    return snw_ok;
}

static snwResult Export(snwAnswer* answer)
{
    snwSession* session = answer->session;
    if (!snwExportWord_IsKnown(answer->data.kind))
        return snwFail(answer->json.message, snw_errorArgument, "glb, joints, pc2, mdd, obj, mp4, scene, log, sidecar",
            "kind is '%s'", snwQuoteWord(answer->data.kind).text);

    // A job has all it needs of its own: live values, the scene, a copy of the recording.
    snwJob* job = snwCreateJob(session, snw_jobExport);
    if (job == NULL)
        return snwFailMemory(answer->json.message);
    snprintf(job->format, sizeof job->format, "%s", answer->data.kind);
    snprintf(job->name, sizeof job->name, "%s", answer->data.name);
    memcpy(job->params, session->live.params, sizeof job->params);
    job->gravity = session->live.gravity;
    if (session->sim->bodyCount > 0)
        job->material = session->live.materials[0][0];
    snwStage_Retain(session->stage);
    job->base.stage = session->stage;

    if (!snwRecording_Copy(session->context, &session->recording, &job->base.recording))
    {
        snwDestroyJob(job);
        return snwFailMemory(answer->json.message);
    }

    snwText_Key(&answer->text, "job");
    snwText_Int(&answer->text, job->number);
    snwSession_Start(session, job);
    return snw_ok;
}

static snwResult Cancel(snwAnswer* answer)
{
    if (snwSession_Cancel(answer->session, answer->data.job))
        return snw_ok;
    return snwFail(answer->json.message, snw_errorArgument, NULL, "there is no job %d", answer->data.job);
}

// ---------------------------------------------------------------------------------------------------------------------

typedef struct Row
{
    ActFn* act;
    bool anyTime; // also while nothing is open, or something is being opened
} Row;

static const Row s_rows[wordCount] = {
    [wordHello] = {Hello, true},
    [wordList] = {List, true},
    [wordOpen] = {AnswerOpen, true},
    [wordPlay] = {AnswerPlay, false},
    [wordPause] = {Pause, true},
    [wordReset] = {Reset, false},
    [wordStep] = {AnswerStep, false},
    [wordSpeed] = {Speed, true},
    [wordMethod] = {Method, false},
    [wordSet] = {snwAct_Set, false},
    [wordGravity] = {snwAct_Gravity, false},
    [wordMaterial] = {snwAct_Material, false},
    [wordMotion] = {Motion, false},
    [wordGrab] = {snwAct_Grab, false},
    [wordMove] = {snwAct_Move, false},
    [wordDrop] = {snwAct_Drop, false},
    [wordPush] = {snwAct_Push, false},
    [wordLock] = {snwAct_Lock, false},
    [wordUnlock] = {snwAct_Unlock, false},
    [wordRule] = {snwAct_Rule, false},
    [wordCommand] = {snwAct_Command, false},
    [wordUndo] = {Undo, false},
    [wordRedo] = {Redo, false},
    [wordSeek] = {Seek, false},
    [wordExport] = {Export, false},
    [wordCancel] = {Cancel, true},
    [wordView] = {View, true},
    [wordWords] = {snwAct_Words, false},
    [wordAck] = {Ack, true},
};

static bool IsLoading(snwSession* session)
{
    pthread_mutex_lock(&session->mutex);
    bool loading = session->loading;
    pthread_mutex_unlock(&session->mutex);
    return loading;
}

static snwResult Act(snwAnswer* answer)
{
    const Row* row = &s_rows[answer->data.word];
    snwSession* session = answer->session;
    if (!row->anyTime && session->sim == NULL)
        return snwFail(answer->json.message, snw_errorArgument, "open a scene", "nothing is open");
    if (!row->anyTime && IsLoading(session))
        return snwFail(answer->json.message, snw_errorArgument, "wait until it is there", "a scene is being opened");
    return row->act(answer);
}

static void TellError(snwAnswer* answer, const snwMessage* message)
{
    snwText text = snwCreateText(answer->session->context, 0);
    snwText_Open(&text, '{');
    snwAnswer_WriteId(answer, &text);
    snwText_Key(&text, "ok");
    snwText_Bool(&text, false);
    snwText_Key(&text, "error");
    snwText_Open(&text, '{');
    snwText_Key(&text, "text");
    snwText_String(&text, message->text);
    snwText_Key(&text, "place");
    snwText_String(&text, message->place);
    snwText_Key(&text, "remedy");
    snwText_String(&text, message->remedy);
    snwText_Close(&text, '}');
    snwText_Close(&text, '}');

    // To whoever asked, and nobody else.
    snwSession_Tell(answer->session, answer->client, &text);
    snwText_Free(&text);
}

void snwAnswer_WriteId(const snwAnswer* answer, snwText* text)
{
    snwText_Key(text, "id");
    if (json_is_integer(answer->id))
        snwText_Int(text, json_integer_value(answer->id));
    else if (json_is_real(answer->id))
        snwText_Real(text, json_real_value(answer->id));
    else
        snwText_Json(text, "null");
}

static snwResult ParseRequest(snwAnswer* answer, json_t* document)
{
    answer->id = json_object_get(document, "id");
    snwResult result = snwTable_Read(&answer->json, &snw_requestTable, document, &answer->data, &answer->seen);
    if (result >= 0 && answer->id != NULL && !json_is_number(answer->id))
        result = snwFail(answer->json.message, snw_errorInput, NULL, "id must be a number");
    return result;
}

void snwSession_Handle(snwSession* session, const snwRequest* request)
{
    snwMessage message = {0};
    snwAnswer answer = {.session = session,
        .client = request->client,
        .text = snwCreateText(session->context, 0),
        .json = {.message = &message, .file = ""}};
    snwResult result = snw_ok;
    json_t* document = snwJson_Parse(&answer.json, request->text, request->size, &result);

    // The answer is written while the request is read; a failure throws it away and tells the error instead.
    answer.document = document;
    snwText_Open(&answer.text, '{');
    if (document != NULL)
        result = ParseRequest(&answer, document);
    if (document != NULL && result >= 0)
    {
        snwAnswer_WriteId(&answer, &answer.text);
        snwText_Key(&answer.text, "ok");
        snwText_Bool(&answer.text, true);
        result = Act(&answer);
    }

    snwText_Close(&answer.text, '}');
    if (result < 0)
        TellError(&answer, &message);
    else if (!answer.silent)
        snwSession_Tell(session, request->client, &answer.text);

    snwText_Free(&answer.text);
    json_decref(document);
}
