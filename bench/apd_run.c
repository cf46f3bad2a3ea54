#include "apd_bench.h"

#include "scene/shipped.h"
#include "base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Scenes

static snwResult OpenContext(snwApdStage* stage, snwMessage* message)
{
    *stage = (snwApdStage){0};
    snwContextDef def = snwDefaultContextDef();
    def.threadCount = 1;
    return snwCreateContext(&def, &stage->context, message);
}

static snwResult FinishOpen(snwApdStage* stage, snwResult result)
{
    if (result < 0)
        snwApdStage_Close(stage);
    else
        stage->def = snwScene_GetDef(stage->file.scene);
    return result;
}

snwResult snwApdStage_Open(snwApdStage* stage, const char* scene, snwMessage* message)
{
    char folder[snw_maxPath], path[snw_maxPath + 100];
    snprintf(path, sizeof path, "%s/%s.json", snwScenesFolder(folder, sizeof folder), scene);
    snwResult result = OpenContext(stage, message);
    return FinishOpen(
        stage, result < 0 ? result : snwSceneFile_Open(stage->context, path, NULL, &stage->file, message));
}

snwResult snwApdStage_Parse(snwApdStage* stage, const char* json, snwMessage* message)
{
    snwResult result = OpenContext(stage, message);
    if (result >= 0)
        result = snwSceneFile_Parse(stage->context, json, strlen(json), "bench", NULL, &stage->file, message);
    return FinishOpen(stage, result);
}

void snwApdStage_Close(snwApdStage* stage)
{
    if (stage->file.scene != NULL)
        snwSceneFile_Close(&stage->file);
    if (stage->context != NULL)
        snwDestroyContext(stage->context);
    *stage = (snwApdStage){0};
}

const char* snwApdSolver_Name(snwApdSolver solver)
{
    static const char* const names[snw_apdSolverCount] = {
        "articulated", "plain", "stiff", "split", "literal", "constrained"};
    return names[solver];
}

enum
{
    snw_ownSettings = 4
};

static int ListSettings(const snwApdVariant* variant, snwSetting settings[snw_ownSettings])
{
    int count = 0;
    settings[count++] = (snwSetting){"apd.solver", variant->solver};
    if (variant->iterations > 0)
        settings[count++] = (snwSetting){"apd.iterations", variant->iterations};
    if (variant->substeps > 0)
        settings[count++] = (snwSetting){"sim.substeps", variant->substeps};
    settings[count++] = (snwSetting){"apd.law", variant->law};
    return count;
}

static const snwSetting* FindSetting(const snwSetting* settings, int count, const char* name)
{
    for (int i = 0; i < count; ++i)
        if (strcmp(settings[i].name, name) == 0)
            return &settings[i];
    return NULL;
}

snwResult snwCreateApdSim(
    snwContext* context, const snwSceneDef* def, const snwApdVariant* variant, snwSim** sim, snwMessage* message)
{
    snwSetting own[snw_ownSettings];
    int ownCount = ListSettings(variant, own), count = 0;
    snwSetting* settings = snwAllocArray(context, (size_t)def->settingCount + snw_ownSettings, sizeof *settings);
    *sim = NULL;
    if (settings == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < def->settingCount; ++i)
        if (FindSetting(own, ownCount, def->settings[i].name) == NULL)
            settings[count++] = def->settings[i];
    for (int i = 0; i < ownCount; ++i)
        settings[count++] = own[i];
    snwSceneDef changed = *def;
    changed.method = "apd";
    changed.settings = settings;
    changed.settingCount = count;
    snwScene* scene = NULL;
    snwResult result = snwCreateScene(context, &changed, &scene, message);
    snwFree(context, settings);
    if (result < 0)
        return result;
    snwSimDef made = snwDefaultSimDef();
    made.scene = scene;
    result = snwCreateSim(context, &made, sim, message);
    snwScene_Release(scene);
    return result;
}

snwResult snwApdStage_CreateSim(
    const snwApdStage* stage, const snwApdVariant* variant, snwSim** sim, snwMessage* message)
{
    return snwCreateApdSim(stage->context, stage->def, variant, sim, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Moments

snwResult snwApdMoment_Take(const snwSim* sim, snwApdMoment* moment, snwMessage* message)
{
    *moment = (snwApdMoment){sim, snwAlloc(sim->context, sim->blockSize)};
    if (moment->block == NULL)
        return snwFailMemory(message);
    memcpy(moment->block, sim->block, sim->blockSize);
    return snw_ok;
}

void snwApdMoment_Free(snwApdMoment* moment)
{
    if (moment->block != NULL)
        snwFree(moment->owner->context, moment->block);
    *moment = (snwApdMoment){0};
}

// Something of the owner's block, as it was.
static const void* Then(const snwApdMoment* moment, const void* now)
{
    return moment->block + ((const unsigned char*)now - moment->owner->block);
}

#define SNW_COPY(to, from, count) memcpy(to, Then(moment, from), (size_t)(count) * sizeof *(to))

static void ApplyBody(const snwApdMoment* moment, snwSim* sim, int index)
{
    const snwApdModel *model = snwApd_Body(sim, index)->model, *other = snwApd_Body(moment->owner, index)->model;
    snwApdState to = snwApd_GetState(sim, index), from = snwApd_GetState(moment->owner, index);
    int touches = model->character->touchCount * snw_anchorsPerVertex;
    SNW_COPY(to.positions, from.positions, model->vertexCount);
    SNW_COPY(to.velocities, from.velocities, model->vertexCount);
    SNW_COPY(to.joints, from.joints, model->character->def.jointCount);
    SNW_COPY(to.anchors, from.anchors, touches);
    if (model->boneCount == other->boneCount)
        SNW_COPY(to.bones, from.bones, model->boneCount);
    if (model->blockCount == other->blockCount)
        SNW_COPY(to.rotations, from.rotations, model->blockCount);
}

void snwApdMoment_Apply(const snwApdMoment* moment, snwSim* sim)
{
    const snwSim* from = moment->owner;
    snwStateHeader header = *(const snwStateHeader*)Then(moment, from->state);
    memcpy(header.params, sim->state->params, sizeof header.params);
    *sim->state = header;
    SNW_COPY(sim->pins, from->pins, sim->def->pinCount);
    SNW_COPY(sim->colliders, from->colliders, sim->def->colliderCount);
    SNW_COPY(sim->props, from->props, sim->def->propCount);
    for (int i = 0; i < sim->bodyCount; ++i)
        ApplyBody(moment, sim, i);
}

static snwApdBone BoneAt(const snwApdModel* model, int bone, snwTransform transform)
{
    return (snwApdBone){.rotation = transform.rotation, .centre = snwTransform_Apply(transform, model->centres[bone])};
}

void snwApdSim_Place(snwSim* sim, const snwApdPlaces* before, const snwApdPlaces* now, double h)
{
    const snwApdModel* model = snwApd_Body(sim, 0)->model;
    snwApdState state = snwApd_GetState(sim, 0);
    for (int i = 0; i < model->vertexCount; ++i)
    {
        state.positions[i] = now->positions[i];
        state.velocities[i] = snwVec3_Scale(snwVec3_Sub(now->positions[i], before->positions[i]), 1 / h);
    }
    for (int k = 0; k < model->boneCount; ++k)
    {
        snwApdBone was = BoneAt(model, k, before->bones[k]), is = BoneAt(model, k, now->bones[k]);
        snwVec3 from[4], to[4];
        snwApdBone_Rows(model, k, &was, from);
        snwApdBone_Rows(model, k, &is, to);
        for (int a = 0; a < 4; ++a)
            is.rate[a] = snwVec3_Scale(snwVec3_Sub(to[a], from[a]), 1 / h);
        state.bones[k] = is;
    }
    snwApd_PlaceBoneVertices(model, state.bones, state.positions);
}

// ---------------------------------------------------------------------------------------------------------------------
// What a frame tells

double snwApdSim_Size(const snwSim* sim)
{
    return snwVec3_Distance(sim->bodies[0].character->lower, sim->bodies[0].character->upper);
}

static snwBonePose PoseAt(const snwTransform* bones, int bone, snwVec3 point)
{
    if (bone < 0)
        return (snwBonePose){{0, 0, 0, 1}, point};
    return (snwBonePose){bones[bone].rotation, snwTransform_Apply(bones[bone], point)};
}

static double BodyGap(const snwSim* sim, int index)
{
    const snwCharacterDef* def = &sim->bodies[index].character->def;
    snwTransforms bones;
    double worst = 0;
    if (snwSim_GetBones(sim, index, &bones) < 0)
        return NAN;
    for (int i = 0; i < def->jointCount; ++i)
    {
        const snwJointDef* joint = &def->joints[i];
        snwJointRowsDef rows = {.joint = joint, .restCentres = {joint->position, joint->position}};
        rows.poses[0] = PoseAt(bones.data, joint->bone, joint->position);
        rows.poses[1] = PoseAt(bones.data, joint->parentBone, joint->position);
        worst = fmax(worst, snwJointRows_Gap(&rows).length);
    }
    return worst;
}

double snwApdSim_JointGap(const snwSim* sim)
{
    double worst = 0;
    for (int i = 0; i < sim->bodyCount; ++i)
        worst = fmax(worst, BodyGap(sim, i));
    return worst / snwApdSim_Size(sim);
}

static snwVec3 VertexAt(const snwVertices* vertices, int index)
{
    const float* p = (const float*)((const char*)vertices->positions + (size_t)index * (size_t)vertices->stride);
    return (snwVec3){p[0], p[1], p[2]};
}

enum
{
    snw_marks = 4
};

// Four vertices of a bone, each as far from the ones before as can be.
static int ChooseMarks(const snwCharacter* character, int bone, int marks[snw_marks])
{
    int count = 0;
    for (; count < snw_marks; ++count)
    {
        double most = 0;
        marks[count] = -1;
        for (int v = 0; v < character->def.vertexCount; ++v)
        {
            double near = count == 0 ? 1 : INFINITY;
            for (int k = 0; k < count; ++k)
                near = fmin(near, snwVec3_Distance(character->def.vertices[v], character->def.vertices[marks[k]]));
            if (character->vertexBones[v] == bone && near > most)
                most = near, marks[count] = v;
        }
        if (marks[count] < 0)
            break;
    }
    return count;
}

static double BoneRigidity(const snwCharacter* character, const snwVertices* now, int bone)
{
    int marks[snw_marks], count = ChooseMarks(character, bone, marks);
    double worst = 0;
    for (int v = 0; v < character->def.vertexCount; ++v)
        for (int k = 0; k < count && character->vertexBones[v] == bone; ++k)
        {
            double rest = snwVec3_Distance(character->def.vertices[v], character->def.vertices[marks[k]]);
            double length = snwVec3_Distance(VertexAt(now, v), VertexAt(now, marks[k]));
            worst = fmax(worst, fabs(length - rest));
        }
    return worst;
}

double snwApdSim_Rigidity(const snwSim* sim)
{
    double worst = 0;
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwVertices vertices;
        const snwCharacter* character = sim->bodies[i].character;
        if (snwSim_GetVertices(sim, i, &vertices) < 0)
            return NAN;
        for (int k = 0; k < character->def.boneCount; ++k)
            worst = fmax(worst, BoneRigidity(character, &vertices, k));
    }
    return worst / snwApdSim_Size(sim);
}

double snwApdSim_Distance(const snwSim* one, const snwSim* other)
{
    const snwVec3 *x = snwApd_GetState(one, 0).positions, *y = snwApd_GetState(other, 0).positions;
    double worst = 0;
    for (int i = 0; i < one->bodies[0].character->def.vertexCount; ++i)
        worst = fmax(worst, snwVec3_Distance(x[i], y[i]));
    return worst;
}

double snwTurnedAngle(snwQuat rotation)
{
    double sine = sqrt(rotation.x * rotation.x + rotation.y * rotation.y + rotation.z * rotation.z);
    return 2 * atan2(sine, fabs(rotation.w)) * 180 / SNW_PI;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

snwBenchRow snwApdRows_Start(const snwApdRows* rows, const char* method, const char* metric)
{
    snwBenchRow row = snwMakeBenchRow(rows->caseName, method, metric);
    row.n = 1;
    return row;
}

void snwApdRows_Add(snwApdRows* rows, const snwBenchRow* row)
{
    if (rows->result >= 0)
        rows->result = snwBenchReport_Add(rows->report, row, rows->message);
}

void snwApdRows_AddMissing(snwApdRows* rows, const char* method, const char* metric, const char* why)
{
    snwBenchRow row = snwMakeBenchRow(rows->caseName, method, metric);
    snprintf(row.note, sizeof row.note, "%s", why);
    snwApdRows_Add(rows, &row);
}
