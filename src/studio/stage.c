// What a session shows: a scene file, the surfaces that are drawn of it, and the model that pages got. A changed
// scene (method, settings, motion) is a new stage that shares what stays the same.

#include "studio/stage.h"

#include "base/array.h"
#include "studio/encode.h"

#include <string.h>

static void ShareModel(snwStage* like, snwStage* stage)
{
    pthread_mutex_lock(&like->mutex);
    stage->model = like->model;
    stage->painted = like->painted;
    snwBlob_Retain(stage->model);
    pthread_mutex_unlock(&like->mutex);
}

void snwStage_Repaint(snwStage* stage, snwBlob* model)
{
    pthread_mutex_lock(&stage->mutex);
    snwBlob_Release(stage->context, stage->model);
    stage->model = model;
    stage->painted = true;
    pthread_mutex_unlock(&stage->mutex);
}

snwResult snwCreateStage(snwContext* context, snwSceneFile* file, snwStage* like, snwStage** stage, snwMessage* message)
{
    snwStage* made = snwAlloc(context, sizeof *made);
    *stage = NULL;
    if (made == NULL)
    {
        snwSceneFile_Close(file);
        return snwFailMemory(message);
    }

    // The scene file belongs to the stage from here on, also if the rest fails.
    atomic_init(&made->references, 1);
    made->context = context;
    pthread_mutex_init(&made->mutex, NULL);
    made->file = *file;
    *file = (snwSceneFile){0};
    snwResult result = snw_ok;

    // A changed scene draws the same surfaces and keeps its names.
    if (like != NULL)
    {
        made->shown = like->shown;
        atomic_fetch_add(&made->shown->references, 1);
        ShareModel(like, made);
        memcpy(made->name, like->name, sizeof made->name);
        memcpy(made->asset, like->asset, sizeof made->asset);
        memcpy(made->origin, like->origin, sizeof made->origin);
    }
    else
        result = snwCreateShown(context, snwScene_GetDef(made->file.scene), &made->shown, message);

    if (result >= 0 && made->model == NULL)
        result = snwEncodeModel(made, NULL, &made->model, message);
    if (result < 0)
        snwStage_Release(made);
    else
        *stage = made;

    return result;
}

void snwStage_Retain(snwStage* stage)
{
    atomic_fetch_add(&stage->references, 1);
}

void snwStage_Release(snwStage* stage)
{
    if (stage == NULL || atomic_fetch_sub(&stage->references, 1) != 1)
        return;
    pthread_mutex_destroy(&stage->mutex);
    snwBlob_Release(stage->context, stage->model);
    snwShown_Release(stage->shown);
    snwSceneFile_Close(&stage->file);
    snwFree(stage->context, stage);
}

// ---------------------------------------------------------------------------------------------------------------------

// The last of a name counts, so an old one is taken out.
static int ChangeSettings(const snwSceneDef* def, const snwStageChange* change, snwSetting* settings)
{
    int count = 0;
    for (int i = 0; i < def->settingCount; ++i)
        if (change->param == NULL || strcmp(def->settings[i].name, change->param) != 0)
            settings[count++] = def->settings[i];
    if (change->param != NULL && !change->forget)
        settings[count++] = (snwSetting){change->param, change->value};
    return count;
}

snwResult snwStage_Change(snwStage* stage, const snwStageChange* change, snwStage** changed, snwMessage* message)
{
    const snwSceneDef* old = snwScene_GetDef(stage->file.scene);
    snwSceneDef def = *old;
    snwSceneFile file = stage->file;
    snwArena arena = {.context = stage->context};
    snwSetting* settings = snwArena_Alloc(&arena, (size_t)old->settingCount + 1, sizeof *settings);
    snwBodyDef* bodies = snwArena_Alloc(&arena, (size_t)old->bodyCount + 1, sizeof *bodies);

    // The scene is made again with other settings, or another motion of one body.
    file.scene = NULL;
    *changed = NULL;
    snwResult result = settings != NULL && bodies != NULL ? snw_ok : snwFailMemory(message);
    if (settings != NULL && bodies != NULL)
    {
        // All of them as they were, but the one.
        if (old->bodyCount > 0)
            memcpy(bodies, old->bodies, (size_t)old->bodyCount * sizeof *bodies);
        def.method = change->method != NULL ? change->method : old->method;
        def.settings = settings;
        def.settingCount = ChangeSettings(old, change, settings);
        def.bodies = bodies;
        if (change->body >= 0 && change->body < def.bodyCount)
            bodies[change->body].motion = change->motion;
        result = snwCreateScene(stage->context, &def, &file.scene, message);
    }

    if (result >= 0)
        result = snwCreateStage(stage->context, &file, stage, changed, message);
    snwArena_Free(&arena);
    return result;
}
