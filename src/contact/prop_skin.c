// Points of props against the triangles of a skin: vertices alone would let a pen slip in between them, and the corner
// of a box sink in where no vertex is.

#include "contact/facet.h"
#include "contact/response.h"

#include <math.h>
#include <string.h>

static void CornersOf(const snwSkin* skin, int triangle, int corners[3])
{
    for (int k = 0; k < 3; ++k)
        corners[k] = skin->vertices[skin->triangles[3 * (size_t)triangle + (size_t)k]];
}

static snwFacet FacetOf(const snwContactFlesh* flesh, const int corners[3])
{
    return (snwFacet){{snwContactFlesh_Now(flesh, corners[0]), snwContactFlesh_Now(flesh, corners[1]),
                          snwContactFlesh_Now(flesh, corners[2])},
        false};
}

static bool IsBeyond(double a, double b, double c, double middle, double reach)
{
    return fmin(a, fmin(b, c)) > middle + reach || fmax(a, fmax(b, c)) < middle - reach;
}

// Triangles whose box is within reach of a ball; how many there are.
static int FindNearTriangles(
    const snwResponse* response, const snwSkin* skin, const snwContactFlesh* flesh, snwVec3 middle, double reach)
{
    int count = 0;
    for (int t = 0; t < skin->triangleCount; ++t)
    {
        int corners[3];
        CornersOf(skin, t, corners);
        snwFacet f = FacetOf(flesh, corners);
        if (!IsBeyond(f.p[0].y, f.p[1].y, f.p[2].y, middle.y, reach) &&
            !IsBeyond(f.p[0].x, f.p[1].x, f.p[2].x, middle.x, reach) &&
            !IsBeyond(f.p[0].z, f.p[1].z, f.p[2].z, middle.z, reach))
            response->nearTriangles[count++] = t;
    }
    return count;
}

// The nearest point of the skin. At an edge or a corner several triangles are equally near: the one that sees the point
// most from the front or from behind knows on which side it is.
typedef struct Nearest
{
    int corners[3];
    snwFacetPoint at;
    snwVec3 normal; // of the triangle
    double side;    // m, above its plane
} Nearest;

static bool FindNearestFacet(const snwResponse* response, const snwSkin* skin, const snwContactFlesh* flesh, int count,
    snwVec3 point, Nearest* nearest)
{
    // Where several facets are equally near (at an edge or a corner), the one whose plane the point is farthest from:
    // its side is the right one.
    *nearest = (Nearest){.at.squared = INFINITY};
    for (int i = 0; i < count; ++i)
    {
        int corners[3];
        CornersOf(skin, response->nearTriangles[i], corners);
        snwFacet facet = FacetOf(flesh, corners);
        snwFacetPoint at = snwFacet_Closest(&facet, point);
        if (!(at.squared <= 1.000001 * nearest->at.squared))
            continue;
        snwVec3 normal = snwFacet_Normal(&facet);
        double side = snwVec3_Dot(snwVec3_Sub(point, at.point), normal);
        if (at.squared >= 0.999999 * nearest->at.squared && fabs(side) <= fabs(nearest->side))
            continue;
        *nearest = (Nearest){.at = at, .normal = normal, .side = side};
        memcpy(nearest->corners, corners, sizeof corners);
    }

    return nearest->at.squared < INFINITY;
}

static void AddPropPoint(snwResponse* response, int prop, int body, snwVec3 at, const Nearest* nearest)
{
    const snwContactFlesh* flesh = &response->flesh[body];
    const snwPropMotion* motion = &response->props[prop];
    double radius = response->propPoints[prop].radius, distance = sqrt(nearest->at.squared);
    bool outside = nearest->side >= 0.0;

    // Outside, and out of reach.
    if (outside && distance > radius + flesh->margin)
        return;
    snwPairRow* row = snwResponse_NewPair(response);
    if (row == NULL)
        return;
    snwVec3 point = snwTransform_Apply(motion->transform, at), away = snwVec3_Sub(point, nearest->at.point);
    row->body = -1;
    row->vertex = prop;
    row->kind = snw_touchFlesh;

    // Out along the line from the skin, unless the point is too near to it to tell, or inside.
    row->other = body;
    row->at = at;
    row->radius = radius;
    row->normal = outside && distance > 1e-3 * radius ? snwVec3_Normalize(away) : nearest->normal;
    for (int k = 0; k < 3; ++k)
    {
        row->triangle[k] = row->homeTriangle[k] = nearest->corners[k];
        row->weights[k] = row->homeWeights[k] = nearest->at.weights[k];
    }

    // The prop's own point on the contact, and how far it was from the skin's before.
    row->grip = snwTransform_ApplyInverse(motion->transform, snwVec3_MulAdd(point, -radius, row->normal));
    row->home = snwVec3_Sub(
        snwTransform_Apply(motion->before, row->grip), snwFlesh_Mix(flesh, flesh->before, row->triangle, row->weights));
    row->allowed = snwResponse_AllowedDepth(response, -snwVec3_Dot(row->home, row->normal), flesh->size);
    row->friction = snwFriction_Between(response->scene, snwPropDef_Friction(&response->scene->props[prop]),
        snwBodyDef_Friction(&response->scene->bodies[body]));
}

void snwResponse_GatherPropOnSkin(snwResponse* response, int prop, int body)
{
    const snwContactFlesh* flesh = &response->flesh[body];
    const snwPropMotion* motion = &response->props[prop];
    const snwPropPoints* points = &response->propPoints[prop];
    snwSkin skin;
    double reach = snwPropDef_Radius(&response->scene->props[prop]) + flesh->margin;
    if (snwCharacter_GetRestSkin(response->scene->bodies[body].character, &skin) < 0 ||
        snwCharacter_GetInfo(response->scene->bodies[body].character).triangleCount > 0) // flat
        return;
    int count = FindNearTriangles(response, &skin, flesh, motion->transform.position, reach);
    for (int i = 0; i < points->count && count > 0; ++i)
    {
        Nearest nearest;
        if (FindNearestFacet(
                response, &skin, flesh, count, snwTransform_Apply(motion->transform, points->at[i]), &nearest))
            AddPropPoint(response, prop, body, points->at[i], &nearest);
    }
}
