// From a hit of the ray tracer to a point that can be shaded: normals, colours, lines along triangles, where shadow
// rays may start; and translucent and textured layers.

#include "view/shading.h"

#include <float.h>

static const float s_halfLine = 0.55f; // pixels, of the lines along the sides of triangles

// ---------------------------------------------------------------------------------------------------------------------
// Opaque

// On a coarse mesh the smooth normal sees a light that the flat triangle does not, and shadows end in steps. Rays
// that start on the curved surface which the normals suggest do not have that fault (Hanika 2021).
static snwFloat3 CurvedStart(const snwPictureMesh* mesh, size_t triangle, const float weights[3], snwFloat3 p)
{
    snwFloat3 lift = {0, 0, 0};
    for (size_t i = 0; i < 3; ++i)
    {
        snwFloat3 vertex = snwFloat3_Load(mesh->positions + 3 * (size_t)mesh->triangles[3 * triangle + i]);
        snwFloat3 normal = snwFloat3_Load(mesh->normals + 3 * (size_t)mesh->corners[3 * triangle + i]);
        float height = snwFloat3_Dot(snwFloat3_Sub(p, vertex), normal);
        lift = snwFloat3_MulAdd(lift, weights[i] * snwFloat_Max(-height, 0), normal);
    }
    return snwFloat3_Add(p, lift);
}

static snwFloat3 MixPoints(const float* points, const int* corners, const float weights[3])
{
    snwFloat3 sum = {0, 0, 0};
    for (size_t i = 0; i < 3; ++i)
        sum = snwFloat3_MulAdd(sum, weights[i], snwFloat3_Load(points + 3 * (size_t)corners[i]));
    return sum;
}

static snwFloat3 ColorAt(const snwPictureMesh* mesh, size_t triangle, const float weights[3], snwFloat3 position)
{
    if (mesh->paint != NULL)
    {
        float point[3], painted[3];
        if (mesh->paintPoints != NULL)
            position = MixPoints(mesh->paintPoints, mesh->triangles + 3 * triangle, weights);
        snwFloat3_Store(position, point);
        mesh->paint(mesh->paintData, point, painted);
        return snwFloat3_Load(painted);
    }
    if (mesh->colors == NULL)
        return mesh->color;
    snwFloat3 color = {0, 0, 0};
    for (size_t i = 0; i < 3; ++i)
        color = snwFloat3_MulAdd(
            color, weights[i], snwFloat3_Load(mesh->colors + 3 * (size_t)mesh->triangles[3 * triangle + i]));
    return color;
}

// Where a point is in the picture, pixels.
static void ProjectPoint(const snwShading* shading, snwFloat3 p, float at[2])
{
    const snwCamera* camera = shading->camera;
    snwFloat3 d = snwFloat3_Sub(p, camera->position);
    float scale = 0.5f * (float)shading->height /
                  (camera->tanY * snwFloat_Max(snwFloat3_Dot(d, camera->forward), 1e-20f));
    at[0] = scale * snwFloat3_Dot(d, camera->right);
    at[1] = scale * snwFloat3_Dot(d, camera->up);
}

// Darkness of the lines along a triangle's sides, at a point inside it: 1 where there is none. Lines of triangles that
// are hardly larger than the lines would only turn everything grey, so they fade.
static float LineShade(const snwShading* shading, const snwPictureMesh* mesh, size_t triangle, snwFloat3 position)
{
    float corners[3][2], p[2], nearest = FLT_MAX, longest = 1e-20f;
    ProjectPoint(shading, position, p);
    for (size_t i = 0; i < 3; ++i)
        ProjectPoint(
            shading, snwFloat3_Load(mesh->positions + 3 * (size_t)mesh->triangles[3 * triangle + i]), corners[i]);
    for (int i = 0; i < 3; ++i)
    {
        const float *a = corners[i], *b = corners[(i + 1) % 3];
        float x = b[0] - a[0], y = b[1] - a[1], length = snwFloat_Max(sqrtf(x * x + y * y), 1e-20f);
        float gap = fabsf((p[0] - a[0]) * y - (p[1] - a[1]) * x) / length;
        longest = snwFloat_Max(longest, length);
        if ((mesh->edges[triangle] >> i & 1) != 0)
            nearest = snwFloat_Min(nearest, gap);
    }
    return nearest < s_halfLine ? 1 - 0.72f * snwFloat_SmoothStep(2, 14, longest) : 1;
}

snwRayHit snwShading_Hit(const snwShading* shading, const snwMeeting* meeting, snwFloat3 direction)
{
    const snwPictureMesh* mesh = &shading->picture->meshes[meeting->mesh];
    size_t triangle = meeting->triangle;
    const float weights[3] = {1 - meeting->u - meeting->v, meeting->u, meeting->v};
    snwFloat3 normal = {0, 0, 0}, position = {0, 0, 0};

    // The mesh's own normal and place there.
    for (size_t i = 0; i < 3; ++i)
    {
        const float* n = mesh->normals + 3 * (size_t)mesh->corners[3 * triangle + i];
        normal = snwFloat3_MulAdd(normal, weights[i], snwFloat3_Load(n));
        const float* p = mesh->positions + 3 * (size_t)mesh->triangles[3 * triangle + i];
        position = snwFloat3_MulAdd(position, weights[i], snwFloat3_Load(p));
    }

    // Seen from behind, a surface is shaded from behind.
    normal = snwFloat3_Normalize(normal);
    snwFloat3 face = snwFloat3_Normalize(meeting->normal);
    bool inside = snwFloat3_Dot(face, direction) > 0;
    snwRayHit hit = {.mesh = (int)meeting->mesh, .start = CurvedStart(mesh, triangle, weights, position)};
    hit.start = snwFloat3_MulAdd(inside ? position : hit.start, inside ? -shading->epsilon : shading->epsilon, face);
    hit.point = (snwSurfacePoint){
        .kind = mesh->kind,
        .position = position,
        .normal = snwFloat3_Scale(normal, inside ? -1 : 1),
        .view = snwFloat3_Scale(direction, -1),
        .color = ColorAt(mesh, triangle, weights, position),
        .gloss = mesh->gloss,
        .frame = &mesh->frame,
    };
    if (mesh->edges != NULL)
        hit.point.color = snwFloat3_Scale(hit.point.color, LineShade(shading, mesh, triangle, position));

    return hit;
}

// ---------------------------------------------------------------------------------------------------------------------
// Translucent

typedef struct Texel
{
    snwFloat3 light; // times alpha
    float alpha;
} Texel;

void snwShading_SetLight(snwShading* shading)
{
    for (int i = 0; i < 256; ++i)
        shading->light[i] = snwImage_ToLight((float)i);
}

// Where a meeting is in its texture: the four nearest texels, row by row, and how far it is from the first.
typedef struct TexturePlace
{
    const uint8_t* texels[4];
    float tx, ty;
} TexturePlace;

static const uint8_t* TexelAt(const snwTexture* texture, int x, int y)
{
    x = x < 0 ? 0 : x >= texture->width ? texture->width - 1 : x;
    y = y < 0 ? 0 : y >= texture->height ? texture->height - 1 : y;
    return texture->pixels + 4 * ((size_t)y * (size_t)texture->width + (size_t)x);
}

static TexturePlace FindTexels(const snwPictureMesh* mesh, const snwMeeting* meeting)
{
    const snwTexture* texture = &mesh->texture;
    const float weights[3] = {1 - meeting->u - meeting->v, meeting->u, meeting->v};
    float u = 0, v = 0;
    for (size_t i = 0; i < 3; ++i)
    {
        const float* uv = mesh->texcoords + 2 * (size_t)mesh->triangles[3 * (size_t)meeting->triangle + i];
        u += weights[i] * uv[0];
        v += weights[i] * uv[1];
    }
    float x = snwFloat_Clamp(u, 0, 1) * (float)texture->width - 0.5f;
    float y = snwFloat_Clamp(v, 0, 1) * (float)texture->height - 0.5f;
    int x0 = (int)(x + 1) - 1, y0 = (int)(y + 1) - 1; // floor: neither is below -1
    TexturePlace place = {.tx = x - (float)x0, .ty = y - (float)y0};
    for (int i = 0; i < 4; ++i)
        place.texels[i] = TexelAt(texture, x0 + (i & 1), y0 + (i >> 1));
    return place;
}

static Texel GetTexel(const snwShading* shading, const uint8_t* p)
{
    float alpha = (float)p[3] / 255;
    snwFloat3 light = {shading->light[p[0]], shading->light[p[1]], shading->light[p[2]]};
    return (Texel){snwFloat3_Scale(light, alpha), alpha};
}

static Texel MixTexels(Texel a, Texel b, float t)
{
    return (Texel){snwFloat3_Mix(a.light, b.light, t), a.alpha + t * (b.alpha - a.alpha)};
}

// Between the four nearest, in light times alpha, so that clear texels lend no colour.
static Texel SampleTexture(const snwShading* shading, const snwPictureMesh* mesh, const snwMeeting* meeting)
{
    TexturePlace place = FindTexels(mesh, meeting);
    Texel texels[4];
    for (int i = 0; i < 4; ++i)
        texels[i] = GetTexel(shading, place.texels[i]);
    return MixTexels(MixTexels(texels[0], texels[1], place.tx), MixTexels(texels[2], texels[3], place.tx), place.ty);
}

static float SampleAlpha(const snwPictureMesh* mesh, const snwMeeting* meeting)
{
    TexturePlace place = FindTexels(mesh, meeting);
    float top = (float)place.texels[0][3] + place.tx * (float)(place.texels[1][3] - place.texels[0][3]);
    float bottom = (float)place.texels[2][3] + place.tx * (float)(place.texels[3][3] - place.texels[2][3]);
    return (top + place.ty * (bottom - top)) / 255;
}

// More opaque where it is seen at a slant, as a thin film of jelly is; its far side is fainter, so that what is
// inside stays clear.
static float FilmAlpha(const snwPictureMesh* mesh, float cosine, bool inside)
{
    float opacity = 1 - mesh->transparency, m = 1 - snwFloat_Clamp(cosine, 0, 1);
    float alpha = opacity + 0.85f * mesh->transparency * m * m * sqrtf(m);
    return inside ? 0.35f * alpha : alpha;
}

// Light that passes takes on some of the film's colour.
static snwFloat3 FilmTint(snwFloat3 color, bool inside)
{
    const snwFloat3 white = {1, 1, 1};
    float brightest = snwFloat_Max(color.x, snwFloat_Max(color.y, color.z));
    snwFloat3 pure = snwFloat3_Scale(color, 1 / snwFloat_Max(brightest, 1e-3f));
    return snwFloat3_Mix(white, pure, inside ? 0.12f : 0.30f);
}

snwLayer snwShading_Layer(
    const snwShading* shading, const snwLook* look, const snwMeeting* meeting, snwFloat3 direction)
{
    const snwPictureMesh* mesh = &shading->picture->meshes[meeting->mesh];
    if (mesh->texcoords != NULL)
    {
        Texel texel = SampleTexture(shading, mesh, meeting);
        float opacity = 1 - mesh->transparency, clear = 1 - opacity * texel.alpha;
        return (snwLayer){snwFloat3_Scale(texel.light, opacity), {clear, clear, clear}};
    }
    snwRayHit hit = snwShading_Hit(shading, meeting, direction);
    snwRadiance parts = snwLook_Shade(look, &hit.point);
    bool inside = snwFloat3_Dot(meeting->normal, direction) > 0;
    float alpha = FilmAlpha(mesh, snwFloat3_Dot(hit.point.normal, hit.point.view), inside);
    snwFloat3 light = snwFloat3_Add(parts.plain, snwFloat3_Add(parts.key, parts.sky));
    return (snwLayer){snwFloat3_Scale(light, alpha), snwFloat3_Scale(FilmTint(hit.point.color, inside), 1 - alpha)};
}

float snwShading_ShadowAlpha(const snwShading* shading, const snwMeeting* meeting)
{
    const snwPictureMesh* mesh = &shading->picture->meshes[meeting->mesh];
    float opacity = 1 - mesh->transparency;
    return mesh->texcoords != NULL ? opacity * SampleAlpha(mesh, meeting) : 0.5f * opacity + 0.1f;
}
