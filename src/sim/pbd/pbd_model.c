// Preparing a character for pbd: constraints, and the rest shapes of the compliant law.

#include "sim/pbd/pbd.h"

static snwResult MakeRests(snwPbdModel* model, const snwCharacter* character)
{
    model->rests = snwArena_Alloc(&model->arena, (size_t)model->blocks.tetBlocks, sizeof *model->rests);
    if (model->rests == NULL)
        return snw_errorMemory;
    snwNeoRest_SetAll(model->rests, &model->blocks, character);
    return snw_ok;
}

snwResult snwPbd_CreateModel(const snwModelDef* def, void** out, snwMessage* message)
{
    const snwCharacter* character = def->character;
    snwPbdModel* model = snwAlloc(def->context, sizeof *model);
    *out = model;
    if (model == NULL)
        return snwFailMemory(message);
    model->arena.context = def->context;
    model->vertexCount = character->def.vertexCount;
    model->character = character;
    model->compliant = def->params[snw_sharedParamCount + snw_pbdLaw] == snw_pbdCompliant &&
                       character->def.tetCount > 0;
    snwResult result = snwBlocks_Make(&model->arena, character, &model->blocks, message);
    if (result == snw_ok && model->compliant && MakeRests(model, character) < 0)
        result = snwFailMemory(message);
    if (result < 0)
        snwPbd_DestroyModel(def->context, model);
    return result;
}

void snwPbd_DestroyModel(snwContext* context, void* data)
{
    snwPbdModel* model = data;
    if (model != NULL)
        snwArena_Free(&model->arena);
    snwFree(context, model);
}
