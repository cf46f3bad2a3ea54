// Films of paper figures: a camera far in front, parts of a figure in layers so that none cuts through another, and
// colliders as shapes cut out of the plane.

#include "view/film_flat.h"

#include "base/array.h"
#include "view/surfaces.h"

#include <math.h>
#include <string.h>

enum
{
    snw_roundSides = 96,
};

static const double s_fieldOfView = 5; // degrees
static const float s_fill = 0.83f;     // what fills both ways fills 69 %: more seems large to the inspector
static const double s_behind = 0.02;   // of the picture's radius
static const float s_layers = 0.012f;  // of the picture's radius
static const snwFloat3 s_groundColor = {0.46f, 0.42f, 0.36f};
static const snwFloat3 s_solidColor = {0.16f, 0.24f, 0.34f};

bool snwFilm_IsFlat(const snwFilm* film)
{
    const snwSceneDef* def = snwScene_GetDef(film->scene);
    for (int i = 0; i < def->bodyCount; ++i)
        if (snwCharacter_GetInfo(def->bodies[i].character).triangleCount == 0)
            return false;
    return def->bodyCount > 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// The view

// What has no end is seen from below the figures; others whole, if they are near and no larger than what is shown.
static void FrameFlatCollider(const snwFilm* film, int index, snwFraming* framing)
{
    const snwColliderDef* collider = &snwScene_GetDef(film->scene)->colliders[index];
    snwVec3 lower, upper;
    snwCollider_Bounds(collider, &lower, &upper);
    float size = 0.5f * (float)snwVec3_Distance(lower, upper), radius = film->picture.radius;

    // Where the collider is in any frame.
    for (int f = 0; f < film->frames.count; ++f)
    {
        const snwTransform* place = &film->frames.data[f].colliders[index];
        snwFloat3 at = snwFloat3_FromVec3(place->position);
        snwFloat3 to = snwFloat3_Sub(at, film->picture.centre);
        bool ground = collider->kind == snw_colliderPlane && fabsf(to.y) < 1.6f * radius;

        if (ground)
            snwFraming_Add(framing, (snwFloat3){film->picture.centre.x, at.y - 0.08f * radius, 0});
        if (collider->kind == snw_colliderPlane || size > 1.5f * radius || snwFloat3_Length(to) > 2.2f * radius)
            continue;

        // Its corners, as it is turned.
        for (int c = 0; c < 4; ++c)
        {
            snwFloat3 corner = {(float)(c & 1 ? upper.x : lower.x), (float)(c & 2 ? upper.y : lower.y), 0};
            snwFraming_Add(framing, snwFloat3_Add(at, snwFloat3_Rotate(place->rotation, corner)));
        }
    }
}

snwCamera snwFilm_FlatCamera(const snwFilm* film)
{
    const snwFilmDef* def = &film->def;
    snwFraming framing = snwFraming_BeginAlong((snwFloat3){0, 0, -1}, s_fieldOfView, s_fill, def->width, def->height);
    for (int f = 0; f < film->frames.count; ++f)
    {
        for (size_t i = 0; i + 2 < film->floatCount; i += 3)
            snwFraming_Add(&framing, snwFloat3_Load(film->frames.data[f].positions + i));
        snwFilm_FrameHandles(film, f, &framing);
    }
    for (int c = 0; c < film->colliderCount; ++c)
        FrameFlatCollider(film, c, &framing);
    return snwFraming_End(&framing);
}

// ---------------------------------------------------------------------------------------------------------------------
// Layers
//
// Two parts at the very same height would mix pixel by pixel. So the figure at rest has a slope, without any step.

const float* snwFilm_LayFlat(const snwFilm* film, int index, int frame)
{
    const snwFilmBody* body = &film->bodies[index];
    const float* now = film->frames.data[frame].positions + body->first;
    float *out = film->layers + body->first, step = s_layers * film->picture.radius / (float)film->bodyCount;
    snwCharacterInfo info = snwCharacter_GetInfo(snwScene_GetDef(film->scene)->bodies[index].character);
    float size = (float)snwVec3_Distance(info.lower, info.upper);
    for (int v = 0; v < body->vertexCount; ++v)
    {
        snwFloat3 rest = body->surface != NULL ? snwFloat3_Load(body->surface->points + 3 * (size_t)v)
                                               : snwFloat3_FromVec3(body->character->vertices[body->vertices[v]]);
        float place = (0.37f * (rest.x - (float)info.lower.x) + 0.61f * (rest.y - (float)info.lower.y)) / size;
        memcpy(out + 3 * (size_t)v, now + 3 * (size_t)v, 3 * sizeof(float));
        out[3 * (size_t)v + 2] += step * ((float)index + 0.6f * place);
    }
    return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// Colliders on paper

typedef struct Cut
{
    snwContext* context;
    snwArray(snwVec3) corners; // three of each triangle
    double z;                  // m
    bool failed;
} Cut;

static void AddFlatTriangle(Cut* cut, const double a[2], const double b[2], const double c[2])
{
    const double* all[3] = {a, b, c};
    for (int i = 0; i < 3; ++i)
    {
        snwVec3 corner = {all[i][0], all[i][1], cut->z};
        cut->failed = !snwArray_Push(cut->context, &cut->corners, corner) || cut->failed;
    }
}

static void AddRectangle(Cut* cut, double left, double bottom, double right, double top)
{
    const double a[2] = {left, bottom}, b[2] = {right, bottom}, c[2] = {right, top}, d[2] = {left, top};
    AddFlatTriangle(cut, a, b, c);
    AddFlatTriangle(cut, a, c, d);
}

// Round ends half a length above and below; 0: a disc.
static void AddStadium(Cut* cut, double radius, double half)
{
    double points[snw_roundSides][2];
    for (int i = 0; i < snw_roundSides; ++i)
    {
        double angle = (i + 0.5) * (2 * SNW_PI / snw_roundSides);
        points[i][0] = radius * cos(angle);
        points[i][1] = radius * sin(angle) + (i < snw_roundSides / 2 ? half : -half);
    }
    for (int i = 0; i < snw_roundSides; ++i)
        AddFlatTriangle(cut, (const double[2]){0, 0}, points[i], points[(i + 1) % snw_roundSides]);
}

// Walls as thick as the picture is wide.
static void AddFlatRoom(Cut* cut, snwVec3 half, double far)
{
    AddRectangle(cut, -half.x - far, -half.y - far, half.x + far, -half.y);
    AddRectangle(cut, -half.x - far, half.y, half.x + far, half.y + far);
    AddRectangle(cut, -half.x - far, -half.y, -half.x, half.y);
    AddRectangle(cut, half.x, -half.y, half.x + far, half.y);
}

static void AddFlatStairs(Cut* cut, const snwColliderDef* collider, double far)
{
    double run = collider->size.x, rise = collider->size.y;
    AddRectangle(cut, -far, -far, 0, 0);
    for (int i = 0; i < collider->stepCount; ++i)
        AddRectangle(cut, i * run, -far, (i + 1 == collider->stepCount ? far : 0) + (i + 1) * run, (i + 1) * rise);
}

// The row of heights nearest to the plane.
static void AddHeights(Cut* cut, const snwColliderDef* collider, double far)
{
    const double* row = collider->heights + (size_t)(collider->rows / 2) * (size_t)collider->columns;
    double spacing = collider->size.x, first = -0.5 * (collider->columns - 1) * spacing;
    for (int i = 0; i + 1 < collider->columns; ++i)
    {
        double x = first + i * spacing;
        const double a[2] = {x, -far}, b[2] = {x + spacing, -far}, c[2] = {x + spacing, row[i + 1]}, d[2] = {x, row[i]};
        AddFlatTriangle(cut, a, b, c);
        AddFlatTriangle(cut, a, c, d);
    }
}

// A mesh is drawn as the outline that it has from the front: all of its triangles, flat.
static void AddColliderOutline(Cut* cut, const snwColliderDef* collider)
{
    for (int i = 0; i < collider->triangleCount; ++i)
    {
        double p[3][2];
        for (int k = 0; k < 3; ++k)
        {
            const snwVec3* v = &collider->vertices[collider->triangles[i][k]];
            p[k][0] = v->x;
            p[k][1] = v->y;
        }
        double turn = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
        if (turn > 0) // those that look to the front cover all of it
            AddFlatTriangle(cut, p[0], p[1], p[2]);
    }
}

static void CutCollider(Cut* cut, const snwColliderDef* collider, double far)
{
    // What the plane z = 0 cuts out of it.
    switch (collider->kind)
    {
        case snw_colliderPlane:
            AddRectangle(cut, -far, -far, far, 0);
            break;
        case snw_colliderSphere:
            AddStadium(cut, collider->size.x, 0);
            break;
        case snw_colliderCapsule:
            AddStadium(cut, collider->size.x, collider->size.y);
            break;
        case snw_colliderBox:
            AddRectangle(cut, -collider->size.x, -collider->size.y, collider->size.x, collider->size.y);
            break;
        case snw_colliderRoom:
            AddFlatRoom(cut, collider->size, far);
            break;
        case snw_colliderStairs:
            AddFlatStairs(cut, collider, far);
            break;
        case snw_colliderHeightfield:
            AddHeights(cut, collider, far);
            break;
        default:
            AddColliderOutline(cut, collider);
            break;
    }
}

snwResult snwFilm_AddFlatCollider(snwFilm* film, int index, snwMessage* message)
{
    const snwColliderDef* collider = &snwScene_GetDef(film->scene)->colliders[index];
    Cut cut = {.context = film->context, .z = -s_behind * (double)film->picture.radius};
    bool endless = collider->kind != snw_colliderSphere && collider->kind != snw_colliderBox &&
                   collider->kind != snw_colliderCapsule && collider->kind != snw_colliderMesh;
    CutCollider(&cut, collider, 30 * (double)film->picture.radius);
    snwResult result = cut.failed ? snwFailMemory(message)
                                  : snwPicture_AddTriangles(&film->picture, cut.corners.data, cut.corners.count / 3,
                                        endless ? s_groundColor : s_solidColor, &film->colliderMeshes[index], message);
    snwArray_Free(film->context, &cut.corners);
    return result;
}
