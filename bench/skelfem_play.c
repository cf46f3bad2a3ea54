#include "skelfem_play.h"

#include "bench.h"
#include "base/result.h"
#include "math/vec.h"

#include <math.h>
#include <string.h>

const snwSetting snwSkelfemConverged[3] = {
    {"skelfem.newton", 60}, {"skelfem.tolerance", 1e-8}, {"skelfem.linear", 1e-6}};

snwSkelfemPlayDef snwDefaultSkelfemPlayDef(const snwFemBody* body)
{
    return (snwSkelfemPlayDef){.body = body, .young = 1e6, .gravity = {0, -9.81, 0}, .held = 1e-6, .threads = 1};
}

static snwResult MakeCharacter(
    snwContext* context, const snwSkelfemPlayDef* def, snwCharacter** character, snwMessage* message)
{
    snwMaterial material = snwDefaultMaterial();
    const snwFemBody* body = def->body;
    double mu = body->mu[0], lambda = body->lambda[0];
    material.density = 1000;
    material.young = def->young;
    material.poisson = lambda / (2 * (lambda + mu));
    snwCharacterDef made = snwDefaultCharacterDef();
    made.name = "body";
    made.vertices = body->rest;
    made.vertexCount = body->vertexCount;
    made.tets = (const int(*)[4])body->tets;
    made.tetCount = body->tetCount;
    made.materials = &material;
    made.materialCount = 1;
    return snwCreateCharacter(context, &made, character, message);
}

static snwResult MakeScene(
    snwContext* context, const snwSkelfemPlayDef* def, snwCharacter* character, snwScene** scene, snwMessage* message)
{
    snwBodyDef body = snwDefaultBodyDef();
    body.name = "body";
    body.character = character;
    body.velocity = def->velocity;
    body.angularVelocity = def->spin;
    snwPinDef pin = snwDefaultPinDef();
    snwCharacterInfo info = snwCharacter_GetInfo(character);
    pin.name = "end";
    pin.lower = info.lower;
    pin.upper = info.upper;
    (&pin.upper.x)[def->heldAxis] = (&info.lower.x)[def->heldAxis] + def->held;
    pin.held = true;
    for (int k = 0; k < 3; ++k) // a pin's box has its own rounding
    {
        (&pin.lower.x)[k] -= 1e-9;
        (&pin.upper.x)[k] += 1e-9;
    }

    snwSetting settings[snw_maxPlaySettings + 1] = {{"sim.substeps", 1}};
    int count = 1;
    for (int i = 0; i < snw_maxPlaySettings && def->settings[i].name != NULL; ++i)
        settings[count++] = def->settings[i];
    snwSceneDef made = snwDefaultSceneDef();
    made.name = "play";
    made.method = "skelfem";
    made.gravity = def->gravity;
    made.bodies = &body;
    made.bodyCount = 1;
    made.pins = &pin;
    made.pinCount = def->held >= 0;
    made.settings = settings;
    made.settingCount = count;
    return snwCreateScene(context, &made, scene, message);
}

snwResult snwSkelfemPlay_Open(snwSkelfemPlay* play, const snwSkelfemPlayDef* def, snwMessage* message)
{
    *play = (snwSkelfemPlay){.body = def->body};
    snwContextDef context = snwDefaultContextDef();
    context.threadCount = def->threads;
    context.simd = def->simd;
    snwCharacter* character = NULL;
    snwScene* scene = NULL;
    snwResult result = snwCreateContext(&context, &play->context, message);
    if (result >= 0)
        result = MakeCharacter(play->context, def, &character, message);
    if (result >= 0)
        result = MakeScene(play->context, def, character, &scene, message);
    if (result >= 0)
    {
        snwSimDef made = snwDefaultSimDef();
        made.scene = scene;
        result = snwCreateSim(play->context, &made, &play->sim, message);
    }
    if (scene != NULL)
        snwScene_Release(scene);
    if (character != NULL)
        snwCharacter_Release(character);
    if (result < 0)
        snwSkelfemPlay_Close(play);
    return result;
}

void snwSkelfemPlay_Close(snwSkelfemPlay* play)
{
    if (play->sim != NULL)
        snwDestroySim(play->sim);
    if (play->context != NULL)
        snwDestroyContext(play->context);
    *play = (snwSkelfemPlay){0};
}

snwResult snwSkelfemPlay_Step(snwSkelfemPlay* play, int count, double h, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < count && result >= 0; ++i)
        result = snwSim_Step(play->sim, h, message);
    return result;
}

const snwSkelfemBody* snwSkelfemPlay_Body(const snwSkelfemPlay* play)
{
    return snwSkelfem_Body(play->sim, 0);
}

double snwSkelfemPlay_Energy(const snwSkelfemPlay* play)
{
    const snwSkelfemBody* body = snwSkelfemPlay_Body(play);
    double sum = snwElasticity_Evaluate(body->elasticity, body->state.positions, body->state.rotations).elastic;
    for (int i = 0; i < body->model->vertexCount; ++i)
        sum += 0.5 * play->body->masses[i] * snwVec3_LengthSquared(body->state.velocities[i]);
    return sum;
}

snwVec3 snwSkelfemPlay_Momentum(const snwSkelfemPlay* play)
{
    const snwSkelfemBody* body = snwSkelfemPlay_Body(play);
    snwVec3 sum = {0, 0, 0};
    for (int i = 0; i < body->model->vertexCount; ++i)
        sum = snwVec3_MulAdd(sum, play->body->masses[i], body->state.velocities[i]);
    return sum;
}
