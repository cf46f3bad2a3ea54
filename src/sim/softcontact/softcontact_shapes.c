// Bodies that bones say themselves: what they weigh, and the shapes that touch in place of the mesh.
//
// Points of a soft box are the corners of its cells that are on its surface; springs run along the sides of the faces
// of cells and across each of them. The mesh follows them: what is seen of such a bone goes along with the four points
// that are nearest in the rest pose.

#include "sim/softcontact/softcontact.h"

#include "contact/prop.h"
#include "math/eigen.h"

#include <math.h>

static const double s_square = 1e-6; // m^2: within a millimetre of a point its offset is that of the mesh

bool snwSoft_IsShaped(const snwCharacterDef* def)
{
    for (int b = 0; b < def->boneCount; ++b)
        if (def->bones[b].shape.kind != snw_colliderPlane)
            return true;
    return false;
}

static bool IsSoft(const snwBoneShape* shape)
{
    return shape->cells[0] > 0;
}

// Corners of cells on the surface of a box; at[]: where, in cells. NULL: only counted.
static int BoxCorners(const int cells[3], int (*at)[3])
{
    int count = 0;
    for (int x = 0; x <= cells[0]; ++x)
        for (int y = 0; y <= cells[1]; ++y)
            for (int z = 0; z <= cells[2]; ++z)
            {
                bool surface = x == 0 || x == cells[0] || y == 0 || y == cells[1] || z == 0 || z == cells[2];
                if (surface && at != NULL)
                    at[count][0] = x, at[count][1] = y, at[count][2] = z;
                count += surface;
            }
    return count;
}

int snwSoft_ShapePointCount(const snwCharacterDef* def)
{
    int count = 0;
    for (int b = 0; b < def->boneCount; ++b)
        if (IsSoft(&def->bones[b].shape))
            count += BoxCorners(def->bones[b].shape.cells, NULL);
    return count;
}

// Neighbours along one or two axes that lie on the same face.
static bool AreTied(const int cells[3], const int a[3], const int b[3])
{
    int steps = 0;
    bool near = true, face = false;
    for (int k = 0; k < 3; ++k)
    {
        int step = b[k] - a[k];
        near = near && step >= 0 && step <= 1;
        steps += step;
        face = face || (step == 0 && a[k] % cells[k] == 0);
    }
    return near && face && (steps == 1 || steps == 2);
}

static int NearestSkinVertex(const snwCharacter* character, snwVec3 x)
{
    int nearest = 0;
    double least = INFINITY;
    for (int i = 0; i < character->skinVertexCount; ++i)
    {
        double away = snwVec3_Distance(character->def.vertices[character->skinVertices[i]], x);
        if (away < least)
            least = away, nearest = character->skinVertices[i];
    }
    return nearest;
}

int snwSoft_PutShapePoints(snwSoftModel* model, snwSoftPoints* points)
{
    const snwCharacterDef* def = &model->character->def;
    int first = 0, edges = 0;
    for (int b = 0; b < def->boneCount; ++b)
    {
        // Contacts of the bone are told of the vertex next to its shape.
        const snwBoneShape* shape = &def->bones[b].shape;
        model->vertexOfLink[model->linkOfBone[b]] = NearestSkinVertex(model->character, shape->place.position);
        if (!IsSoft(shape))
            continue;

        // Corners of the cells on the surface of the box.
        int(*at)[3] = points->corners + first, count = BoxCorners(shape->cells, at);
        for (int i = 0; i < count; ++i)
        {
            // In the box, -1 to 1 along each axis.
            const double cell[3] = {shape->cells[0], shape->cells[1], shape->cells[2]};
            snwVec3 own = {shape->size.x * (2 * at[i][0] / cell[0] - 1), shape->size.y * (2 * at[i][1] / cell[1] - 1),
                shape->size.z * (2 * at[i][2] / cell[2] - 1)};
            int p = first + i;

            points->rest[p] = snwTransform_Apply(shape->place, own);
            points->anchors[p] = (snwPointAnchor){.count = 1, .links = {model->linkOfBone[b]}, .weights = {1}};
            points->bones[p] = b;
            model->vertexOfPoint[p] = NearestSkinVertex(model->character, points->rest[p]);

            for (int j = 0; j < count; ++j)
                if (AreTied(shape->cells, at[i], at[j]))
                    points->edges[edges][0] = p, points->edges[edges++][1] = first + j;
        }

        first += count;
    }

    return edges;
}

// The four points of its bone that are nearest to each vertex of the mesh, by the inverse square of how far they are.
void snwSoft_FollowPoints(snwSoftModel* model, const snwSoftPoints* points)
{
    const snwCharacterDef* def = &model->character->def;
    for (int v = 0; v < def->vertexCount; ++v)
    {
        snwSoftFollow* follow = &model->follows[v];
        double sum = 0;

        // Points of the vertex' own bone; insertion into a short list.
        for (int p = 0; p < model->pointCount; ++p)
        {
            if (points->anchors[p].links[0] != model->anchors[v].links[0])
                continue;
            snwVec3 apart = snwVec3_Sub(points->rest[p], def->vertices[v]);

            double weight = model->anchors[v].weights[0] / (snwVec3_LengthSquared(apart) + s_square);
            int at = follow->count < snw_softFollowed ? follow->count++ : snw_softFollowed;
            for (; at > 0 && weight > follow->weights[at - 1]; --at)
                if (at < snw_softFollowed)
                    follow->points[at] = follow->points[at - 1], follow->weights[at] = follow->weights[at - 1];
            if (at < snw_softFollowed)
                follow->points[at] = p, follow->weights[at] = weight;
        }

        // Together they count as much as the vertex follows the bone.
        for (int k = 0; k < follow->count; ++k)
            sum += follow->weights[k];
        for (int k = 0; k < follow->count; ++k)
            follow->weights[k] *= model->anchors[v].weights[0] / sum;
    }
}

snwVec3 snwSoft_Followed(const snwSoftFollow* follow, const snwBodyTree* tree, const snwPointSkin* skin)
{
    snwVec3 sum = {0, 0, 0};
    for (int k = 0; k < follow->count; ++k)
    {
        int p = follow->points[k], link = skin->links[skin->single[p]];
        snwVec3 arm = snwVec3_Sub(skin->rest[p], tree->links[link].joint.position);
        snwVec3 anchor = snwVec3_Add(tree->points[link], snwMat3_MulVec(tree->axes[link], arm));
        sum = snwVec3_MulAdd(sum, follow->weights[k], snwVec3_Sub(skin->x[p], anchor));
    }
    return sum;
}

// What is hard, as balls on links: shapes that say so, or else the vertices inside of the mesh, so that a deep dent
// ends where the skin does. at is from the link's point, in the axes that the body started with.
int snwSoft_PutProbes(const snwSim* sim, int index, snwSoftProbe* probes)
{
    const snwSoftModel* model = sim->bodies[index].model;
    const snwCharacterDef* def = &model->character->def;
    snwQuat turn = sim->starts[index].transform.rotation;
    int count = 0;

    for (int b = 0; b < def->boneCount; ++b)
    {
        const snwBoneShape* shape = &def->bones[b].shape;
        if (shape->kind == snw_colliderPlane || IsSoft(shape))
            continue;

        int link = model->linkOfBone[b];
        snwPropPoints points = snwPropPoints_Make(shape->kind, shape->size);
        for (int p = 0; p < points.count; ++p, ++count)
        {
            snwVec3 at = snwVec3_Sub(snwTransform_Apply(shape->place, points.at[p]), model->links[link].joint.position);
            if (probes != NULL)
                probes[count] = (snwSoftProbe){
                    index, link, model->vertexOfLink[link], snwQuat_Rotate(turn, at), points.radius};
        }
    }

    for (int v = 0; v < def->vertexCount && model->follows == NULL; ++v)
    {
        if (model->pointOfVertex[v] >= 0)
            continue;
        int link = model->anchors[v].links[0];
        snwVec3 at = snwVec3_Sub(def->vertices[v], model->links[link].joint.position);
        if (probes != NULL)
            probes[count] = (snwSoftProbe){index, link, v, snwQuat_Rotate(turn, at), 0};
        ++count;
    }
    return count;
}

// ---------------------------------------------------------------------------------------------------------------------
// Masses

double snwSoft_MassRatio(const snwBoneDef* bone, double meshMass)
{
    return bone->mass > 0 && meshMass > 0 ? bone->mass / meshMass : 1;
}

void snwSoft_GiveMass(const snwBoneDef* bone, snwLinkDef* link)
{
    if (!(bone->mass > 0))
        return;
    const double* i = bone->inertia;
    snwMat3 inertia = snwMat3_FromColumns(
        (snwVec3){i[0], i[3], i[5]}, (snwVec3){i[3], i[1], i[4]}, (snwVec3){i[5], i[4], i[2]});
    if (i[0] > 0)
    {
        link->mass = snwLinkMass_Make(bone->mass, snwVec3_Sub(bone->centre, link->joint.position), inertia);
        return;
    }
    double ratio = snwSoft_MassRatio(bone, link->mass.mass);
    link->mass.mass = bone->mass;
    link->mass.moment = snwVec3_Scale(link->mass.moment, ratio);
    link->mass.inertia = snwMat3_Scale(link->mass.inertia, ratio);
}

// What is left once the skin has taken its part must be a body still.
snwResult snwSoft_CheckMass(const snwBoneDef* bone, const snwLinkMass* left, snwMessage* message)
{
    double least = 0;
    if (left->mass > 0)
    {
        snwVec3 centre = snwVec3_Scale(left->moment, 1 / left->mass);
        snwLinkMass about = *left;
        snwLinkMass_AddPoint(&about, -left->mass, centre);
        least = snwEigen3_Symmetric(about.inertia).values[2];
    }
    if (bone->mass == 0 || least > 0)
        return snw_ok;
    return snwFail(message, snw_errorArgument, "lower softcontact.share, or give it more mass and inertia",
        "bone '%s' is too light, or its inertia too small, for the skin that it carries", bone->name);
}
