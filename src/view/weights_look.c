// The skin of a character in the colours of its weights: all handles in colours of their own, or one from nothing to
// all.

#include "view/weights_look.h"
#include "base/result.h"
#include "sim/character.h"
#include "view/ramp.h"

#include <math.h>
#include <string.h>

typedef struct Maker
{
    snwContext* context;
    snwArena* arena;
    const snwWeightsLookDef* def;
    const snwCharacterDef* character;
    bool handles;
    int only;                  // the one handle, -1: all
    const snwWeights* weights; // the character's, or `computed`
    snwWeights* computed;
    snwSkin skin;
    snwMessage* message;
} Maker;

// Bones first: a handle that is a bone has one of its name.
static snwResult ChooseHandle(Maker* m)
{
    const char* name = m->def->handle;

    // Without bones, handles' weights are shown; -1: of all in one picture.
    m->handles = m->character->boneCount == 0;
    m->only = -1;
    if (name == NULL)
        return snw_ok;
    m->only = snwCharacterDef_FindBone(m->character, name);
    if (m->only >= 0)
        return snw_ok;

    // Handles by name, after bones.
    for (int i = 0; i < m->character->handleCount; ++i)
        if (strcmp(m->character->handles[i].name, name) == 0)
        {
            m->only = i;
            m->handles = true;
            return snw_ok;
        }

    return snwFail(m->message, snw_errorInput, "sinew info names them", "'%s' has no bone or handle '%s'",
        m->character->name, name);
}

static snwResult FindLookWeights(Maker* m)
{
    m->weights = m->handles ? &m->character->handleWeights : &m->character->boneWeights;
    if (m->weights->vertexCount > 0)
        return snw_ok;
    snwWeightsDef def = snwDefaultWeightsDef();
    def.handles = m->handles;
    snwResult result = snwComputeWeights(m->def->character, &def, &m->computed, m->message);
    m->weights = m->computed;
    return result;
}

// Colours as different as can be, however many: hues by the golden ratio, in three shades.
snwFloat3 snwWeights_Color(int handle)
{
    static const float shades[3] = {0.85f, 0.5f, 0.25f};
    float hue = 6 * (float)fmod(0.11 + handle * 0.6180339887, 1.0), shade = shades[handle / 7 % 3];
    float r = snwFloat_Clamp(fabsf(hue - 3) - 1, 0, 1), g = snwFloat_Clamp(2 - fabsf(hue - 2), 0, 1);
    float b = snwFloat_Clamp(2 - fabsf(hue - 4), 0, 1);
    return snwFloat3_Scale((snwFloat3){0.06f + 0.94f * r, 0.06f + 0.94f * g, 0.06f + 0.94f * b}, shade);
}

static snwFloat3 VertexColor(const Maker* m, int vertex)
{
    snwFloat3 sum = {0, 0, 0};
    double weight = 0;
    for (int k = m->weights->starts[vertex]; k < m->weights->starts[vertex + 1]; ++k)
    {
        sum = snwFloat3_MulAdd(sum, (float)m->weights->values[k], snwWeights_Color(m->weights->handles[k]));
        weight += m->weights->handles[k] == m->only ? m->weights->values[k] : 0;
    }
    return m->only >= 0 ? snwRamp_Color((float)weight) : sum;
}

static snwResult PoseLook(Maker* m, const snwSkinningTarget* target)
{
    snwSkinningDef def = snwDefaultSkinningDef();
    def.positions = m->skin.positions;
    def.normals = m->skin.normals;
    def.stride = m->skin.stride;
    def.vertexCount = m->skin.vertexCount;
    def.weights = m->weights;
    def.vertices = m->skin.vertices;
    snwSkinning* skinning = NULL;
    snwResult result = snwCreateSkinning(m->context, &def, &skinning, m->message);
    if (result < 0)
        return result;
    snwSkinningPose pose = {.kind = m->def->kind, .transforms = m->def->pose, .count = m->weights->handleCount};
    result = snwSkinning_Apply(skinning, &pose, target, m->message);
    snwDestroySkinning(skinning);
    return result;
}

static snwResult FillLook(Maker* m, snwMeshLook* look)
{
    size_t count = (size_t)m->skin.vertexCount;
    float* colors = snwArena_Alloc(m->arena, count, 3 * sizeof(float));
    float* positions = snwArena_Copy(m->arena, m->skin.positions, count, 3 * sizeof(float));
    float* normals = snwArena_Copy(m->arena, m->skin.normals, count, 3 * sizeof(float));

    if (m->arena->failed)
        return snwFailMemory(m->message);

    for (size_t i = 0; i < count; ++i)
    {
        snwFloat3 color = VertexColor(m, m->skin.vertices[i]);
        colors[3 * i] = color.x, colors[3 * i + 1] = color.y, colors[3 * i + 2] = color.z;
    }

    // Paper is flat; a body keeps its smooth normals.
    bool flat = m->character->triangleCount > 0;
    *look = (snwMeshLook){.kind = snw_pictureSkin,
        .positions = positions,
        .colors = colors,
        .normals = flat ? NULL : normals,
        .flat = flat,
        .vertexCount = m->skin.vertexCount,
        .triangles = m->skin.triangles,
        .triangleCount = m->skin.triangleCount,
        .opacity = 1,
        .gloss = 0.1f};
    snwSkinningTarget target = {positions, normals, 3 * sizeof(float), 3 * sizeof(float)};

    return m->def->pose != NULL && !m->handles ? PoseLook(m, &target) : snw_ok;
}

snwResult snwMakeWeightsLook(
    snwContext* context, snwArena* arena, const snwWeightsLookDef* def, snwMeshLook* look, snwMessage* message)
{
    Maker m = {.context = context,
        .arena = arena,
        .def = def,
        .character = snwCharacter_GetDef(def->character),
        .message = message};
    snwCharacter_GetRestSkin(def->character, &m.skin);
    snwResult result = ChooseHandle(&m), filled = snw_ok;
    if (result >= 0)
        result = FindLookWeights(&m);
    if (result >= 0)
        filled = FillLook(&m, look);
    snwContext_Free(context, m.computed);
    return filled < 0 ? filled : result;
}
