// Nodes and skins.

#include "asset/gltf_parts.h"
#include "scene/words.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Poses

// Off by more than exporters' rounding.
static bool IsUnitQuat(snwQuat q)
{
    return fabs(sqrt(snwQuat_Dot(q, q)) - 1) < 1e-3;
}

static snwVec3 Column(const double matrix[16], int c)
{
    return (snwVec3){matrix[c * 4], matrix[c * 4 + 1], matrix[c * 4 + 2]};
}

static snwAffine ToAffine(const double matrix[16])
{
    return (snwAffine){snwMat3_FromColumns(Column(matrix, 0), Column(matrix, 1), Column(matrix, 2)), Column(matrix, 3)};
}

static bool HasLastRow(const double matrix[16])
{
    return matrix[3] == 0 && matrix[7] == 0 && matrix[11] == 0 && matrix[15] == 1;
}

static void ReadMatrix(snwGltfReading* reading, snwAssetNode* node, const double matrix[16])
{
    if (!HasLastRow(matrix))
        snwGltf_Note(reading, snw_noteRepaired, 1, "the last row of a node's matrix was not 0 0 0 1");
    snwAffine local = ToAffine(matrix);
    snwAssetNode_SetLocal(node, local);
    if (node->sheared)
        snwGltf_Note(
            reading, snw_noteOdd, 1, "a node's matrix shears: no translation, rotation and scale say the same");
}

static void ReadNodePose(snwGltfReading* reading, snwAssetNode* node, const json_t* item)
{
    double matrix[16], t[3] = {0}, r[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    if (snwGltf_Reals(reading, item, "matrix", 16, matrix))
    {
        // A matrix wins, as it says more.
        bool twice = json_object_get(item, "translation") != NULL || json_object_get(item, "rotation") != NULL ||
                     json_object_get(item, "scale") != NULL;
        snwGltf_Note(reading, snw_noteLeftOut, twice,
            "translation, rotation and scale of a node that has a matrix, too: only one of both is allowed");
        ReadMatrix(reading, node, matrix);
        return;
    }

    // What is missing stays as it is set above.
    snwGltf_Reals(reading, item, "translation", 3, t);
    snwGltf_Reals(reading, item, "rotation", 4, r);
    snwGltf_Reals(reading, item, "scale", 3, s);
    snwQuat rotation = {r[0], r[1], r[2], r[3]};
    if (!IsUnitQuat(rotation))
        snwGltf_Note(reading, snw_noteRepaired, 1, "rotations that were not unit quaternions were normalised");
    node->pose = (snwAssetPose){{t[0], t[1], t[2]}, snwQuat_Normalize(rotation), {s[0], s[1], s[2]}};
    node->local = snwAffine_FromTrs(node->pose.translation, node->pose.rotation, node->pose.scale);
}

// ---------------------------------------------------------------------------------------------------------------------
// The tree

static void ReadChildren(snwGltfReading* reading, int parent, const json_t* item)
{
    snwAsset* asset = reading->asset;
    int count;
    const json_t* list = snwGltf_List(reading, item, "children", snw_maxAssetNodes, &count);
    size_t mark = snwJson_Enter(&reading->json, "children");

    // A tree has one parent for every node.
    for (int i = 0; i < count && !snwGltfReading_Failed(reading); ++i)
    {
        json_int_t child = json_integer_value(json_array_get(list, (size_t)i));
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        if (!json_is_integer(json_array_get(list, (size_t)i)) || child < 0 || child >= asset->nodeCount)
            snwGltf_Fail(
                reading, "export the file again", "must be the number of a node, 0 to %d", asset->nodeCount - 1);
        else if (asset->nodes[child].parent >= 0)
            snwGltf_Fail(reading, "give each parent its own copy of the node", "node %lld has two parents: %d and %d",
                (long long)child, asset->nodes[child].parent, parent);
        else
            asset->nodes[child].parent = parent;

        snwJson_Leave(&reading->json, place);
    }

    snwJson_Leave(&reading->json, mark);
}

// Each walk to the root marks its nodes; meeting its own mark again, it goes round.
static void CheckCircles(snwGltfReading* reading)
{
    const snwAsset* asset = reading->asset;
    int* marks = snwGltf_Room(reading, asset->nodeCount, sizeof *marks);

    // Up from each node, as far as nobody has been.
    for (int i = 0; marks != NULL && i < asset->nodeCount && !snwGltfReading_Failed(reading); ++i)
    {
        int node = i;
        while (node >= 0 && marks[node] == 0)
        {
            marks[node] = i + 1;
            node = asset->nodes[node].parent;
        }

        if (node >= 0 && marks[node] == i + 1)
        {
            snwJson_EnterIndex(&reading->json, (size_t)node);
            snwGltf_Fail(reading, "a node cannot be above itself: repair the tree and export again",
                "its parents go round in a circle");
        }
    }
}

// They say which trees are shown; all nodes are read, whatever they say.
static void ReadScenes(snwGltfReading* reading)
{
    const snwAsset* asset = reading->asset;
    int count, rootCount;
    const json_t* list = snwGltf_List(reading, reading->gltf->root, "scenes", snw_maxAssetNodes, &count);

    snwGltf_Index(reading, reading->gltf->root, "scene", count, "scenes");
    size_t mark = snwJson_Enter(&reading->json, "scenes");

    // Every scene's roots must exist, and be roots.
    for (int i = 0; i < count && !snwGltfReading_Failed(reading); ++i)
    {
        size_t scene = snwJson_EnterIndex(&reading->json, (size_t)i);
        const json_t* roots = snwGltf_List(
            reading, snwGltf_Item(reading, list, i), "nodes", snw_maxAssetNodes, &rootCount);
        size_t nodes = snwJson_Enter(&reading->json, "nodes");

        for (int k = 0; k < rootCount && !snwGltfReading_Failed(reading); ++k)
        {
            const json_t* value = json_array_get(roots, (size_t)k);
            json_int_t root = json_integer_value(value);
            size_t place = snwJson_EnterIndex(&reading->json, (size_t)k);
            if (!json_is_integer(value) || root < 0 || root >= asset->nodeCount)
                snwGltf_Fail(
                    reading, "export the file again", "must be the number of a node, 0 to %d", asset->nodeCount - 1);
            else
                snwGltf_Note(reading, snw_noteOdd, asset->nodes[root].parent >= 0,
                    "a scene names a node that is no root: viewers refuse it or show it twice");

            snwJson_Leave(&reading->json, place);
        }

        snwJson_Leave(&reading->json, nodes);
        snwJson_Leave(&reading->json, scene);
    }

    snwJson_Leave(&reading->json, mark);
}

static void ReadNode(snwGltfReading* reading, int index, const json_t* item)
{
    const json_t* root = reading->gltf->root;
    snwAssetNode* node = &reading->asset->nodes[index];
    node->name = snwArena_Text(&reading->asset->arena, snwGltf_Text(reading, item, "name"));
    snwGltf_SetWhere(reading, "node", index, node->name);
    node->mesh = snwGltf_Index(reading, item, "mesh", (int)json_array_size(json_object_get(root, "meshes")), "meshes");
    node->skin = snwGltf_Index(reading, item, "skin", (int)json_array_size(json_object_get(root, "skins")), "skins");
    ReadNodePose(reading, node, item);
    ReadChildren(reading, index, item);
}

void snwGltf_ReadNodes(snwGltfReading* reading)
{
    snwAsset* asset = reading->asset;
    const json_t* list = snwGltf_List(reading, reading->gltf->root, "nodes", snw_maxAssetNodes, &asset->nodeCount);
    asset->nodes = snwGltf_Room(reading, asset->nodeCount, sizeof *asset->nodes);
    size_t mark = snwJson_Enter(&reading->json, "nodes");
    for (int i = 0; i < asset->nodeCount && asset->nodes != NULL; ++i)
        asset->nodes[i].parent = -1;
    for (int i = 0; i < asset->nodeCount && !snwGltfReading_Failed(reading); ++i)
    {
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        ReadNode(reading, i, snwGltf_Item(reading, list, i));
        snwJson_Leave(&reading->json, place);
    }
    CheckCircles(reading);
    snwJson_Leave(&reading->json, mark);
    reading->where[0] = 0;
    ReadScenes(reading);
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights of morphs at rest, of a node or a mesh

static void ReadNodeMorphs(snwGltfReading* reading, snwAssetNode* node, const json_t* item)
{
    int count, wanted = node->mesh < 0 ? 0 : reading->asset->meshes[node->mesh].morphCount;
    const json_t* list = snwGltf_List(reading, item, "weights", snw_maxAssetNodes, &count);
    if (list == NULL)
        return;
    if (count != wanted)
    {
        snwGltf_Note(reading, snw_noteLeftOut, 1, "morph weights of a node that do not fit its mesh");
        return;
    }
    float* weights = snwGltf_Room(reading, count, sizeof *weights);
    for (int i = 0; i < count && weights != NULL; ++i)
        weights[i] = (float)fmin(fmax(json_number_value(json_array_get(list, (size_t)i)), -1e30), 1e30);
    node->morphWeights = weights;
    node->morphCount = count;
}

void snwGltf_ReadNodeMorphs(snwGltfReading* reading)
{
    snwAsset* asset = reading->asset;
    const json_t* list = json_object_get(reading->gltf->root, "nodes");
    size_t mark = snwJson_Enter(&reading->json, "nodes");
    for (int i = 0; i < asset->nodeCount && !snwGltfReading_Failed(reading); ++i)
    {
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        snwGltf_SetWhere(reading, "node", i, asset->nodes[i].name);
        ReadNodeMorphs(reading, &asset->nodes[i], json_array_get(list, (size_t)i));
        snwJson_Leave(&reading->json, place);
    }
    snwJson_Leave(&reading->json, mark);
    reading->where[0] = 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Skins

static void ReadJoints(snwGltfReading* reading, snwAssetSkin* skin, const json_t* item, int* marks, int stamp)
{
    const json_t* list = snwGltf_List(reading, item, "joints", snw_maxAssetNodes, &skin->jointCount);
    int* joints = snwGltf_Room(reading, skin->jointCount, sizeof *joints);
    size_t mark = snwJson_Enter(&reading->json, "joints");
    if (skin->jointCount == 0)
        snwGltf_Fail(reading, "bind the mesh to an armature with bones, or remove the skin", "has no joints");

    // Bones by the numbers of their nodes.
    for (int i = 0; i < skin->jointCount && !snwGltfReading_Failed(reading); ++i)
    {
        const json_t* value = json_array_get(list, (size_t)i);
        json_int_t joint = json_integer_value(value);
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        if (!json_is_integer(value) || joint < 0 || joint >= reading->asset->nodeCount)
            snwGltf_Fail(reading, "export the file again", "must be the number of a node, 0 to %d",
                reading->asset->nodeCount - 1);
        else if (marks[joint] == stamp)
            snwGltf_Note(reading, snw_noteOdd, 1, "a bone is more than once in the list of a skin");

        snwJson_Leave(&reading->json, place);
        if (snwGltfReading_Failed(reading))
            return;

        joints[i] = (int)joint;
        marks[joint] = stamp;
    }

    skin->joints = joints;
    snwJson_Leave(&reading->json, mark);
}

static void ReadBinds(snwGltfReading* reading, snwAssetSkin* skin, int accessor)
{
    snwAffine* binds = snwGltf_Room(reading, skin->jointCount, sizeof *binds);
    if (accessor < 0)
    {
        // Identity: as if all bones had been at the origin.
        for (int i = 0; i < skin->jointCount && binds != NULL; ++i)
            binds[i].linear = snwMat3_Identity();
        skin->inverseBinds = binds;
        snwGltf_Note(reading, snw_noteOdd, 1,
            "a skin says nothing of its bind pose: all bones were at the origin when the mesh was bound");
        return;
    }

    snwGltf_CheckAccessor(reading, accessor, 1 << snw_gltfMat4, snw_gltfReal);
    int count = reading->gltf->accessors[accessor].count;
    if (count < skin->jointCount)
        snwGltf_Fail(reading, "export the file again", "accessor %d has %d matrices for %d joints", accessor, count,
            skin->jointCount);
    double* matrices = snwGltf_Room(reading, (int64_t)count * 16, sizeof *matrices);
    if (matrices != NULL)
        snwGltf_Check(reading, snwGltf_ReadReals(reading->gltf, accessor, matrices, NULL, reading->json.message));

    // Column by column to our matrices; what is odd about them is noted.
    for (int i = 0; i < skin->jointCount && matrices != NULL && !snwGltfReading_Failed(reading); ++i)
    {
        binds[i] = ToAffine(matrices + (size_t)i * 16);
        snwGltf_Note(reading, snw_noteRepaired, !HasLastRow(matrices + (size_t)i * 16),
            "the last row of a bind matrix was not 0 0 0 1");
        snwGltf_Note(reading, snw_noteOdd, snwMat3_Determinant(binds[i].linear) == 0,
            "a bind matrix flattens: its bone had a scale of zero when the mesh was bound");
    }

    skin->inverseBinds = binds;
}

static void ReadSkin(snwGltfReading* reading, int index, const json_t* item, int* marks)
{
    snwAssetSkin* skin = &reading->asset->skins[index];
    skin->name = snwArena_Text(&reading->asset->arena, snwGltf_Text(reading, item, "name"));
    snwGltf_SetWhere(reading, "skin", index, skin->name);
    skin->root = snwGltf_Index(reading, item, "skeleton", reading->asset->nodeCount, "nodes");
    ReadJoints(reading, skin, item, marks, index + 1);
    int accessor = snwGltf_Index(reading, item, "inverseBindMatrices", reading->gltf->accessorCount, "accessors");
    size_t mark = snwJson_Enter(&reading->json, "inverseBindMatrices");
    if (!snwGltfReading_Failed(reading))
        ReadBinds(reading, skin, accessor);
    snwJson_Leave(&reading->json, mark);
}

void snwGltf_ReadSkins(snwGltfReading* reading)
{
    snwAsset* asset = reading->asset;
    const json_t* list = snwGltf_List(reading, reading->gltf->root, "skins", snw_maxAssetNodes, &asset->skinCount);
    asset->skins = snwGltf_Room(reading, asset->skinCount, sizeof *asset->skins);
    int* marks = snwGltf_Room(reading, asset->nodeCount, sizeof *marks);
    size_t mark = snwJson_Enter(&reading->json, "skins");
    for (int i = 0; i < asset->skinCount && !snwGltfReading_Failed(reading); ++i)
    {
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        ReadSkin(reading, i, snwGltf_Item(reading, list, i), marks);
        snwJson_Leave(&reading->json, place);
    }
    snwJson_Leave(&reading->json, mark);
    reading->where[0] = 0;
}
