// Whose bones or handles move what, as colours: weights take a while, so they are made only when somebody wants to see
// them.

#include "studio/encode.h"
#include "math/display.h"
#include "studio/jobs.h"

#include "asset/export_parts.h"
#include "view/weights_look.h"

#include <math.h>

static void PaintVertex(const snwWeights* weights, int vertex, unsigned char color[4])
{
    snwFloat3 sum = {0, 0, 0};
    for (int k = weights->starts[vertex]; k < weights->starts[vertex + 1]; ++k)
        sum = snwFloat3_MulAdd(sum, (float)weights->values[k], snwWeights_Color(weights->handles[k]));
    const float linear[3] = {sum.x, sum.y, sum.z};
    for (int k = 0; k < 3; ++k)
        color[k] = (unsigned char)lrintf(255 * snwDisplay_FromLight(linear[k]));
    color[3] = 255;
}

// A character without bones and handles stays without colours.
static snwResult PaintBody(snwJob* job, snwArena* arena, const snwCharacter* character, snwPaintedVertex** rows)
{
    const snwCharacterDef* def = &character->def;
    bool handles = def->boneCount == 0;
    const snwWeights* weights = handles ? &def->handleWeights : &def->boneWeights;
    snwWeights* computed = NULL;

    if (def->boneCount + def->handleCount == 0)
        return snw_ok;

    // Weights that the character brings, else computed ones.
    if (weights->vertexCount == 0)
    {
        snwWeightsDef how = snwDefaultWeightsDef();
        how.handles = handles;
        snwResult result = snwComputeWeights(character, &how, &computed, &job->message);
        if (result < 0)
            return result;
        weights = computed;
    }

    *rows = snwArena_Alloc(arena, (size_t)def->vertexCount + 1, sizeof **rows);
    for (int i = 0; i < def->vertexCount && *rows != NULL; ++i)
        PaintVertex(weights, i, (*rows)[i]);
    snwContext_Free(job->context, computed);
    return *rows != NULL ? snw_ok : snwFailMemory(&job->message);
}

snwResult snwJob_Paint(snwJob* job)
{
    const snwSceneDef* scene = snwScene_GetDef(job->base.stage->file.scene);
    snwArena arena = {.context = job->context};
    snwPaintedVertex** rows = snwArena_Alloc(&arena, (size_t)scene->bodyCount + 1, sizeof(void*));
    snwResult result = rows != NULL ? snw_ok : snwFailMemory(&job->message);
    for (int i = 0; rows != NULL && i < scene->bodyCount && result >= 0; ++i)
    {
        for (int k = 0; k < i && rows[i] == NULL; ++k)
            if (scene->bodies[k].character == scene->bodies[i].character)
                rows[i] = rows[k];
        if (rows[i] == NULL)
            result = PaintBody(job, &arena, scene->bodies[i].character, &rows[i]);
    }
    if (result >= 0)
        result = snwEncodeModel(job->base.stage, rows, &job->model, &job->message);
    snwArena_Free(&arena);
    return result;
}

void snwSession_StartPainting(snwSession* session)
{
    if (session->stage == NULL || session->painting || session->stage->painted)
        return;
    snwJob* job = snwCreateJob(session, snw_jobPaint);
    if (job == NULL)
        return;
    snwStage_Retain(session->stage);
    job->base.stage = session->stage;
    session->painting = true;
    snwSession_Start(session, job);
}
