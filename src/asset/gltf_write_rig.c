// Nodes, skins and animations of the glTF writer.

#include "asset/gltf_write_parts.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Nodes

snwGltfNodeDef snwDefaultGltfNodeDef(void)
{
    return (snwGltfNodeDef){
        .name = "", .parent = -1, .pose = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}}, .mesh = -1, .skin = -1};
}

static void SetReals(snwGltfWriter* writer, snwValue* object, const char* key, const double* values, int count)
{
    snwValue* list = snwTree_NewList(&writer->tree);
    for (int i = 0; i < count; ++i)
        snwTree_AppendReal(&writer->tree, list, values[i]);
    snwTree_Set(&writer->tree, object, key, list);
}

// What is as if not said is left out.
static void SetPose(snwGltfWriter* writer, snwValue* node, const snwAssetPose* pose)
{
    snwVec3 t = pose->translation, s = pose->scale;
    snwQuat q = snwQuat_Normalize(pose->rotation);
    if (!snwVec3_IsFinite(t) || !snwVec3_IsFinite(s) || !snwQuat_IsFinite(q))
        snwGltfWriter_Fail(writer, NULL, "the pose of a node is not finite");
    if (t.x != 0.0 || t.y != 0.0 || t.z != 0.0)
        SetReals(writer, node, "translation", (double[]){t.x, t.y, t.z}, 3);
    if (q.x != 0.0 || q.y != 0.0 || q.z != 0.0)
        SetReals(writer, node, "rotation", (double[]){q.x, q.y, q.z, q.w}, 4);
    if (s.x != 1.0 || s.y != 1.0 || s.z != 1.0)
        SetReals(writer, node, "scale", (double[]){s.x, s.y, s.z}, 3);
}

// The scene that is shown, made if the document has none.
static snwValue* ShownScene(snwGltfWriter* writer)
{
    if (snwGltfWriter_Count(writer, "scenes") == 0)
        snwTree_SetInt(&writer->tree, writer->root, "scene",
            snwGltfWriter_AddItem(writer, "scenes", snwTree_NewObject(&writer->tree)));
    return snwGltfWriter_Item(writer, "scenes", (int)snwValue_GetInt(writer->root, "scene", 0));
}

int snwGltfWriter_AddNode(snwGltfWriter* writer, const snwGltfNodeDef* def)
{
    snwTree* tree = &writer->tree;
    if (snwGltfWriter_Failed(writer))
        return -1;
    snwValue* above = def->parent < 0 ? ShownScene(writer) : snwGltfWriter_Item(writer, "nodes", def->parent);
    snwValue* node = snwTree_NewObject(tree);
    if (def->name[0] != 0)
        snwTree_SetText(tree, node, "name", def->name);
    SetPose(writer, node, &def->pose);
    if (def->mesh >= 0 && snwGltfWriter_Item(writer, "meshes", def->mesh) != NULL)
        snwTree_SetInt(tree, node, "mesh", def->mesh);
    if (def->skin >= 0 && snwGltfWriter_Item(writer, "skins", def->skin) != NULL)
        snwTree_SetInt(tree, node, "skin", def->skin);
    int index = snwGltfWriter_AddItem(writer, "nodes", node);
    snwTree_AppendInt(tree, snwTree_List(tree, above, def->parent < 0 ? "nodes" : "children"), index);
    return snwGltfWriter_Failed(writer) ? -1 : index;
}

// ---------------------------------------------------------------------------------------------------------------------
// Skins

// By columns; the last row is exact, as the specification wants it.
static void StoreMatrix(snwAffine a, double* m)
{
    for (int column = 0; column < 3; ++column)
        for (int row = 0; row < 3; ++row)
            m[4 * column + row] = a.linear.m[row][column];
    m[12] = a.translation.x;
    m[13] = a.translation.y;
    m[14] = a.translation.z;
    m[3] = m[7] = m[11] = 0.0;
    m[15] = 1.0;
}

static void StoreIdentity(double* m)
{
    for (int i = 0; i < 16; ++i)
        m[i] = i % 5 == 0;
}

static bool HasJoint(const snwValue* joints, int node)
{
    for (int i = 0; i < snwValue_Count(joints); ++i)
        if (snwValue_Int(joints->items[i], -1) == node)
            return true;
    return false;
}

static void AppendJoints(snwGltfWriter* writer, snwValue* joints, const snwAssetSkin* more)
{
    for (int i = 0; i < more->jointCount && !snwGltfWriter_Failed(writer); ++i)
    {
        if (HasJoint(joints, more->joints[i]))
            snwGltfWriter_Fail(
                writer, "give each joint a node of its own", "nodes[%d] is a joint of the skin twice", more->joints[i]);
        else if (snwGltfWriter_Item(writer, "nodes", more->joints[i]) != NULL)
            snwTree_AppendInt(&writer->tree, joints, more->joints[i]);
    }
}

// Matrices of the skin's first `known` joints, which may be given by accessor, and those of the new ones.
static void SetInverseBinds(snwGltfWriter* writer, snwValue* skin, int known, const snwAssetSkin* more)
{
    int before = (int)snwValue_GetInt(skin, "inverseBindMatrices", -1), count = known + more->jointCount;
    snwGltfShape shape = snwGltfWriter_Shape(writer, before);
    double* old = before >= 0 ? snwGltfWriter_Read(writer, before) : NULL;
    double* all = snwAllocArray(writer->context, (size_t)count, 16 * sizeof *all);

    if (all == NULL)
        snwGltfWriter_FailMemory(writer);

    // New matrices as they are, known ones as they were, and identity where the skin said nothing.
    for (int i = 0; i < count && all != NULL; ++i)
    {
        if (i >= known)
            StoreMatrix(more->inverseBinds[i - known], all + 16 * (size_t)i);
        else if (old != NULL && shape.width == 16 && i < shape.count)
            memcpy(all + 16 * (size_t)i, old + 16 * (size_t)i, 16 * sizeof *all);
        else
            StoreIdentity(all + 16 * (size_t)i);
    }

    // The old accessor may be dropped when nobody else uses it.
    if (!snwGltfWriter_Failed(writer))
    {
        snwGltfWriter_Replace(writer, before);
        snwTree_SetInt(&writer->tree, skin, "inverseBindMatrices",
            snwGltfWriter_AddFloats(writer, all, count, snw_gltfMat4, false));
    }

    snwFree(writer->context, all);
    snwFree(writer->context, old);
}

int snwGltfWriter_AddSkin(snwGltfWriter* writer, const snwAssetSkin* skin)
{
    snwTree* tree = &writer->tree;
    if (snwGltfWriter_Failed(writer))
        return -1;
    if (skin->jointCount < 1)
        return snwGltfWriter_Fail(writer, NULL, "a skin without joints");
    snwValue* value = snwTree_NewObject(tree);
    if (skin->name != NULL && skin->name[0] != 0)
        snwTree_SetText(tree, value, "name", skin->name);
    AppendJoints(writer, snwTree_List(tree, value, "joints"), skin);
    SetInverseBinds(writer, value, 0, skin);
    if (skin->root >= 0 && snwGltfWriter_Item(writer, "nodes", skin->root) != NULL)
        snwTree_SetInt(tree, value, "skeleton", skin->root);
    return snwGltfWriter_Failed(writer) ? -1 : snwGltfWriter_AddItem(writer, "skins", value);
}

void snwGltfWriter_AddJoints(snwGltfWriter* writer, int skin, const snwAssetSkin* more)
{
    snwValue* value = snwGltfWriter_Failed(writer) ? NULL : snwGltfWriter_Item(writer, "skins", skin);
    if (value == NULL || more->jointCount < 1)
        return;
    snwValue* joints = snwTree_List(&writer->tree, value, "joints");
    int known = snwValue_Count(joints);
    AppendJoints(writer, joints, more);
    if (!snwGltfWriter_Failed(writer))
        SetInverseBinds(writer, value, known, more);
}

void snwGltfWriter_RemoveSkin(snwGltfWriter* writer, int node)
{
    snwValue* value = snwGltfWriter_Failed(writer) ? NULL : snwGltfWriter_Item(writer, "nodes", node);
    if (value != NULL)
        snwTree_Remove(value, "skin");
}

// ---------------------------------------------------------------------------------------------------------------------
// Nodes that are to move

// A matrix says what translation, rotation and scale cannot if it shears.
static bool TakeMatrixApart(const snwValue* matrix, snwAssetPose* pose)
{
    snwMat3 m;
    double scale[3];

    // Lengths of the columns are the scale; what is left should be a rotation.
    for (int column = 0; column < 3; ++column)
    {
        double c[3];
        for (int row = 0; row < 3; ++row)
            c[row] = snwValue_Real(snwValue_At(matrix, 4 * column + row), 0.0);
        scale[column] = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
        for (int row = 0; row < 3; ++row)
            m.m[row][column] = c[row] / scale[column];
    }

    // A mirror turns one axis round.
    if (snwMat3_Determinant(m) < 0.0)
    {
        scale[0] = -scale[0];
        for (int row = 0; row < 3; ++row)
            m.m[row][0] = -m.m[row][0];
    }

    pose->scale = (snwVec3){scale[0], scale[1], scale[2]};
    pose->translation = (snwVec3){snwValue_Real(snwValue_At(matrix, 12), 0.0),
        snwValue_Real(snwValue_At(matrix, 13), 0.0), snwValue_Real(snwValue_At(matrix, 14), 0.0)};
    return fabs(snwMat3_Determinant(m) - 1.0) < 1e-6 && (pose->rotation = snwQuat_FromMat3(m), true);
}

static void PrepareToMove(snwGltfWriter* writer, snwValue* node, int index)
{
    const snwValue* matrix = snwValue_Get(node, "matrix");
    snwAssetPose pose;
    if (matrix == NULL)
        return;
    if (!TakeMatrixApart(matrix, &pose))
    {
        snwGltfWriter_Fail(writer, "apply the scale in the program that made the file",
            "nodes[%d] is to move, but its matrix is no translation, rotation and scale", index);
        return;
    }
    snwTree_Remove(node, "matrix");
    SetPose(writer, node, &pose);
}

// ---------------------------------------------------------------------------------------------------------------------
// Animations

static int MorphCount(const snwGltfWriter* writer, const snwValue* node)
{
    const snwValue* mesh = snwValue_GetAt(writer->root, "meshes", snwValue_GetInt(node, "mesh", -1));
    return snwValue_Count(snwValue_Get(snwValue_GetAt(mesh, "primitives", 0), "targets"));
}

static bool CheckChannelTimes(const snwAssetChannel* channel)
{
    for (int i = 0; i < channel->keyCount; ++i)
    {
        bool first = i == 0, finite = isfinite(channel->times[i]) && channel->times[i] >= 0.0;
        if (!finite || (!first && (float)channel->times[i] <= (float)channel->times[i - 1]))
            return false;
    }
    return channel->keyCount > 0;
}

static bool CheckChannel(snwGltfWriter* writer, const snwAssetChannel* channel, const snwValue* node)
{
    static const int s_widths[] = {3, 4, 3};
    int width = channel->path == snw_pathMorphs ? MorphCount(writer, node) : s_widths[channel->path];
    if (node == NULL || snwGltfWriter_Failed(writer))
        return false;
    if (channel->width != width || width == 0)
        snwGltfWriter_Fail(writer, NULL, "a channel of %d numbers for the %s of nodes[%d], which has %d",
            channel->width, snw_gltfPathWords[channel->path], channel->node, width);
    else if (!CheckChannelTimes(channel))
        snwGltfWriter_Fail(writer, "keep keys at least a thousandth of a second apart and start at 0",
            "times of the %s of nodes[%d] do not rise from 0 on", snw_gltfPathWords[channel->path], channel->node);
    else if (channel->interpolation == snw_assetCubic && channel->keyCount < 2)
        snwGltfWriter_Fail(writer, NULL, "a cubic channel of nodes[%d] needs two keys", channel->node);
    return !snwGltfWriter_Failed(writer);
}

// Times are the same for most channels: one accessor serves all of an animation that have them.
static int AddTimes(snwGltfWriter* writer, const snwAssetAnimation* animation, int at, const int* inputs)
{
    const snwAssetChannel* channel = &animation->channels[at];
    size_t size = (size_t)channel->keyCount * sizeof *channel->times;
    for (int i = 0; i < at; ++i)
    {
        const snwAssetChannel* other = &animation->channels[i];
        if (other->keyCount == channel->keyCount &&
            (other->times == channel->times || memcmp(other->times, channel->times, size) == 0))
            return inputs[i];
    }
    return snwGltfWriter_AddFloats(writer, channel->times, channel->keyCount, snw_gltfScalar, true);
}

// Rotations become unit; those that are so to a float's precision keep their bits, tangents are no rotations.
static void NormalizeRotations(const snwAssetChannel* channel, double* values)
{
    bool cubic = channel->interpolation == snw_assetCubic;
    for (int i = 0; i < channel->keyCount; ++i)
    {
        double* v = values + 4 * (size_t)(cubic ? 3 * i + 1 : i);
        double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3];
        for (int k = 0; k < 4 && fabs(square - 1.0) > 1e-6; ++k)
            v[k] /= sqrt(square);
    }
}

static int AddChannelValues(snwGltfWriter* writer, const snwAssetChannel* channel)
{
    static const snwGltfType s_types[] = {snw_gltfVec3, snw_gltfVec4, snw_gltfVec3, snw_gltfScalar};
    int rows = channel->keyCount * (channel->interpolation == snw_assetCubic ? 3 : 1);
    int count = channel->path == snw_pathMorphs ? rows * channel->width : rows;
    if (channel->path != snw_pathRotation)
        return snwGltfWriter_AddFloats(writer, channel->values, count, s_types[channel->path], false);
    double* unit = snwCopyArray(writer->context, channel->values, (size_t)count * 4, sizeof *unit);
    if (unit == NULL)
        return snwGltfWriter_FailMemory(writer);
    NormalizeRotations(channel, unit); // a zero becomes NaN, which the accessor refuses
    int accessor = snwGltfWriter_AddFloats(writer, unit, count, snw_gltfVec4, false);
    snwFree(writer->context, unit);
    return accessor;
}

static bool IsDrivenTwice(const snwAssetAnimation* animation, int at)
{
    const snwAssetChannel* channel = &animation->channels[at];
    for (int i = 0; i < at; ++i)
        if (animation->channels[i].node == channel->node && animation->channels[i].path == channel->path)
            return true;
    return false;
}

static snwValue* FindChannel(const snwValue* animation, const snwAssetChannel* channel)
{
    const snwValue* channels = snwValue_Get(animation, "channels");
    for (int i = 0; i < snwValue_Count(channels); ++i)
    {
        const snwValue* target = snwValue_Get(channels->items[i], "target");
        if (snwValue_GetInt(target, "node", -1) == channel->node &&
            strcmp(snwValue_Text(snwValue_Get(target, "path"), ""), snw_gltfPathWords[channel->path]) == 0)
            return channels->items[i];
    }
    return NULL;
}

// The sampler of a channel whose numbers are replaced; NULL: others need it as well.
static snwValue* OwnSampler(snwGltfWriter* writer, const snwValue* animation, const snwValue* channel)
{
    const snwValue* channels = snwValue_Get(animation, "channels");
    int64_t index = snwValue_GetInt(channel, "sampler", -1);
    int users = 0;
    for (int i = 0; i < snwValue_Count(channels); ++i)
        users += snwValue_GetInt(channels->items[i], "sampler", -1) == index;
    snwValue* sampler = users == 1 ? snwValue_At(snwValue_Get(animation, "samplers"), (int)index) : NULL;
    snwGltfWriter_Replace(writer, snwValue_GetInt(sampler, "input", -1));
    snwGltfWriter_Replace(writer, snwValue_GetInt(sampler, "output", -1));
    return sampler;
}

static void AddChannel(snwGltfWriter* writer, const snwAssetAnimation* from, int at, snwValue* animation, int* inputs)
{
    snwTree* tree = &writer->tree;
    const snwAssetChannel* channel = &from->channels[at];
    snwValue* node = snwGltfWriter_Item(writer, "nodes", channel->node);

    // One channel per property, on a node that can be moved.
    if (IsDrivenTwice(from, at))
        snwGltfWriter_Fail(
            writer, NULL, "two channels for the %s of nodes[%d]", snw_gltfPathWords[channel->path], channel->node);
    if (!CheckChannel(writer, channel, node))
        return;
    if (channel->path != snw_pathMorphs)
        PrepareToMove(writer, node, channel->node);

    // Times that an earlier channel has, too, are shared.
    inputs[at] = AddTimes(writer, from, at, inputs);

    // A channel that is there already gets new numbers.
    snwValue* before = FindChannel(animation, channel);
    snwValue* own = before != NULL ? OwnSampler(writer, animation, before) : NULL;
    snwValue* sampler = own != NULL ? own : snwTree_NewObject(tree);
    snwTree_SetInt(tree, sampler, "input", inputs[at]);
    snwTree_SetText(tree, sampler, "interpolation", snw_gltfInterpolationWords[channel->interpolation]);
    snwTree_SetInt(tree, sampler, "output", AddChannelValues(writer, channel));
    if (own != NULL)
        return;
    snwValue* samplers = snwTree_List(tree, animation, "samplers");
    snwTree_Append(tree, samplers, sampler);
    if (before != NULL)
    {
        snwTree_SetInt(tree, before, "sampler", snwValue_Count(samplers) - 1);
        return;
    }

    snwValue* item = snwTree_NewObject(tree);
    snwTree_SetInt(tree, item, "sampler", snwValue_Count(samplers) - 1);
    snwValue* target = snwTree_Object(tree, item, "target");
    snwTree_SetInt(tree, target, "node", channel->node);
    snwTree_SetText(tree, target, "path", snw_gltfPathWords[channel->path]);
    snwTree_Append(tree, snwTree_List(tree, animation, "channels"), item);
}

static void AddChannels(snwGltfWriter* writer, const snwAssetAnimation* animation, snwValue* value)
{
    int* inputs = snwAllocArray(writer->context, (size_t)animation->channelCount, sizeof *inputs);
    if (inputs == NULL)
        snwGltfWriter_FailMemory(writer);
    for (int i = 0; i < animation->channelCount && inputs != NULL && !snwGltfWriter_Failed(writer); ++i)
        AddChannel(writer, animation, i, value, inputs);
    snwFree(writer->context, inputs);
}

int snwGltfWriter_AddAnimation(snwGltfWriter* writer, const snwAssetAnimation* animation)
{
    if (snwGltfWriter_Failed(writer))
        return -1;
    if (animation->channelCount < 1)
        return snwGltfWriter_Fail(writer, NULL, "an animation without channels");
    snwValue* value = snwTree_NewObject(&writer->tree);
    if (animation->name != NULL && animation->name[0] != 0)
        snwTree_SetText(&writer->tree, value, "name", animation->name);
    AddChannels(writer, animation, value);
    return snwGltfWriter_Failed(writer) ? -1 : snwGltfWriter_AddItem(writer, "animations", value);
}

void snwGltfWriter_ExtendAnimation(snwGltfWriter* writer, int index, const snwAssetAnimation* more)
{
    snwValue* value = snwGltfWriter_Failed(writer) ? NULL : snwGltfWriter_Item(writer, "animations", index);
    if (value != NULL && more->channelCount > 0)
        AddChannels(writer, more, value);
}
