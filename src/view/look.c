// The look of all pictures: three lights and a sky relative to the camera, skin, flesh and solids shaded in parts
// that shadows multiply later, a ground with a grid that fades, a wall, plain white.

#include "view/look.h"

static const float s_lineWidth = 0.012f; // of the grid, in cells
static const float s_gridEnd = 5;        // radii, where its lines have faded

// Degrees around the camera's vertical axis (0: behind the camera, positive: to its right) and above the horizon.
static snwFloat3 LightDirection(const snwCamera* camera, float azimuth, float elevation)
{
    float a = azimuth * SNW_PIF / 180, e = elevation * SNW_PIF / 180;
    snwFloat3 back = snwFloat3_Cross(camera->right, (snwFloat3){0, 1, 0});
    snwFloat3 flat = snwFloat3_MulAdd(snwFloat3_Scale(back, cosf(a)), sinf(a), camera->right);
    return snwFloat3_MulAdd((snwFloat3){0, sinf(e), 0}, cosf(e), flat);
}

// 1, 2 or 5 times a power of ten, about a third of the radius.
static float ChooseGridCell(float radius)
{
    float power = powf(10, floorf(log10f(radius / 3)));
    float rest = radius / 3 / power;
    return power * (rest < 2 ? 1 : rest < 5 ? 2 : 5);
}

snwLook snwMakeLook(const snwPicture* picture, const snwCamera* camera)
{
    // Angles are degrees around the camera and above the horizon; before a wall the key light comes from the front.
    bool front = picture->frontLight;
    return (snwLook){
        .keyDirection = front ? LightDirection(camera, -32, 40) : LightDirection(camera, -66, 50),
        .fillDirection = LightDirection(camera, 55, 22),
        .rimDirection = LightDirection(camera, 152, 34),
        .keyColor = {1.04f, 0.95f, 0.84f},
        .fillColor = {0.06f, 0.07f, 0.10f},
        .rimColor = {0.20f, 0.21f, 0.24f},
        .skyColor = {0.30f, 0.325f, 0.37f},
        .bounceColor = {0.20f, 0.175f, 0.15f},
        .centre = picture->centre,
        .viewUp = camera->up,
        .radius = picture->radius,
        .gridCell = ChooseGridCell(picture->radius),
        .keyAngle = front ? 0.42f : 0.11f,
        .style = picture->style,
    };
}

snwFloat3 snwLook_Background(const snwLook* look, snwFloat3 direction)
{
    (void)look;
    const snwFloat3 horizon = {0.80f, 0.775f, 0.735f}, zenith = {0.47f, 0.485f, 0.51f};
    float height = snwFloat_Clamp(direction.y, 0, 1);
    return snwFloat3_Mix(horizon, zenith, snwFloat_SmoothStep(0, 0.75f, height));
}

// What a glossy skin mirrors: the sky above, with the horizon as a soft step, and the ground below.
static snwFloat3 Environment(const snwLook* look, snwFloat3 direction)
{
    snwFloat3 sky = snwFloat3_Scale(look->skyColor, 1.5f + 0.8f * direction.y);
    return snwFloat3_Mix(look->bounceColor, sky, snwFloat_SmoothStep(-0.35f, 0.45f, direction.y));
}

// Light that enters soft matter comes out around the corner: the terminator moves past 90 degrees.
static float WrapDiffuse(float cosine, float wrap)
{
    float x = (cosine + wrap) / (1 + wrap);
    return x > 0 ? x * x * (1 / (1 + 0.5f * wrap)) + 0.5f * wrap * x / (1 + 0.5f * wrap) : 0;
}

// GGX with Schlick's fresnel and the usual approximate visibility; reflectance of rubber and clay.
static float Specular(snwFloat3 n, snwFloat3 v, snwFloat3 l, float roughness)
{
    float nl = snwFloat3_Dot(n, l), nv = snwFloat_Max(snwFloat3_Dot(n, v), 1e-3f);
    if (nl <= 0)
        return 0;
    snwFloat3 h = snwFloat3_Normalize(snwFloat3_Add(v, l));
    float nh = snwFloat3_Dot(n, h), vh = snwFloat_Max(snwFloat3_Dot(v, h), 0);
    float a = roughness * roughness, a2 = a * a;
    float d = nh * nh * (a2 - 1) + 1;
    float k = 0.5f * a, m = 1 - vh;
    float fresnel = 0.04f + 0.96f * m * m * m * m * m;
    return nl * fresnel * a2 / (4 * d * d * (nl * (1 - k) + k) * (nv * (1 - k) + k));
}

static snwRadiance ShadeSkin(const snwLook* look, const snwSurfacePoint* p, float roughness, float gloss)
{
    snwFloat3 n = p->normal, albedo = p->color;

    // How much each light meets of the surface; fill and rim go around the corner.
    float nv = snwFloat_Clamp(snwFloat3_Dot(n, p->view), 0, 1);
    float key = snwFloat_Max(snwFloat3_Dot(n, look->keyDirection), 0);
    float fill = WrapDiffuse(snwFloat3_Dot(n, look->fillDirection), 0.5f);
    float rim = WrapDiffuse(snwFloat3_Dot(n, look->rimDirection), 0.2f);

    snwRadiance out = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    float keyGlint = gloss * 1.6f * Specular(n, p->view, look->keyDirection, roughness);

    out.key = snwFloat3_Scale(snwFloat3_Mul(look->keyColor, albedo), 0.95f * key);
    out.key = snwFloat3_MulAdd(out.key, keyGlint, look->keyColor);

    // The sky: diffuse from above and below, mirrored at grazing angles.
    snwFloat3 sky = snwFloat3_Mix(look->bounceColor, look->skyColor, 0.5f + 0.5f * n.y);
    snwFloat3 soft = snwFloat3_MulAdd(snwFloat3_MulAdd(sky, fill, look->fillColor), rim, look->rimColor);
    out.sky = snwFloat3_Mul(soft, albedo);
    float m = 1 - nv, fresnel = 0.035f + 0.55f * (1 - roughness) * m * m * m * m * m;
    snwFloat3 mirror = snwFloat3_MulAdd(snwFloat3_Scale(n, 2 * snwFloat3_Dot(n, p->view)), -1, p->view);
    out.sky = snwFloat3_MulAdd(out.sky, gloss * 1.6f * fresnel, Environment(look, mirror));
    float rimGlint = gloss * 3 * Specular(n, p->view, look->rimDirection, roughness);
    out.sky = snwFloat3_MulAdd(out.sky, rimGlint, look->rimColor);

    // Occluded corners still see light that went through or came back from the flesh: its own colour, squared.
    out.plain = snwFloat3_Scale(snwFloat3_Mul(albedo, snwFloat3_Mul(albedo, sky)), 0.22f);
    return out;
}

// Flesh: what the key light loses past the terminator comes back from inside, warmer and where the sky reaches; the
// outline gets a soft rim of light. Gloss is dry skin at 0 and a wet eye at 1.
static snwRadiance ShadeFlesh(const snwLook* look, const snwSurfacePoint* p)
{
    float roughness = 0.56f - 0.42f * p->gloss;
    snwRadiance out = ShadeSkin(look, p, roughness, 0.55f + 1.6f * p->gloss);
    float cosine = snwFloat3_Dot(p->normal, look->keyDirection);
    float inner = snwFloat_Max(WrapDiffuse(cosine, 0.55f) - 0.8f * snwFloat_Max(cosine, 0), 0);
    float brightest = snwFloat_Max(p->color.x, snwFloat_Max(p->color.y, p->color.z));
    snwFloat3 deep = snwFloat3_Mul(p->color, (snwFloat3){1.0f, 0.72f, 0.62f});
    deep = snwFloat3_Mix(deep, snwFloat3_Mul(p->color, snwFloat3_Scale(p->color, 1 / (brightest + 1e-3f))), 0.35f);
    out.sky = snwFloat3_MulAdd(out.sky, 0.55f * inner, snwFloat3_Mul(deep, look->keyColor));
    float m = 1 - snwFloat_Clamp(snwFloat3_Dot(p->normal, p->view), 0, 1);
    float rim = m * m * m * (0.35f + 0.65f * WrapDiffuse(snwFloat3_Dot(p->normal, look->rimDirection), 0.6f));
    snwFloat3 sheen = snwFloat3_Mix(p->color, (snwFloat3){1, 1, 1}, 0.35f);
    out.sky = snwFloat3_MulAdd(out.sky, 0.9f * rim, snwFloat3_Mul(sheen, look->skyColor));
    return out;
}

// 1 on a grid line, falling to 0 within its soft edge.
static float GridLine(float x, float cell, float width)
{
    float t = x / cell - roundf(x / cell);
    return 1 - snwFloat_SmoothStep(0.5f * width, 1.5f * width, fabsf(t));
}

static snwFloat3 OnGround(const snwSurfacePoint* p)
{
    snwFloat3 local = snwFloat3_Sub(p->position, snwFloat3_FromVec3(p->frame->position));
    snwQuat q = p->frame->rotation;
    return snwFloat3_Rotate((snwQuat){-q.x, -q.y, -q.z, q.w}, local);
}

static float Grid(const snwLook* look, const snwSurfacePoint* p)
{
    snwFloat3 local = OnGround(p);
    return snwFloat_Max(GridLine(local.x, look->gridCell, s_lineWidth), GridLine(local.z, look->gridCell, s_lineWidth));
}

static float LineDistance(float x, float cell)
{
    return fabsf(x - cell * roundf(x / cell));
}

bool snwLook_IsPlain(const snwLook* look, const snwSurfacePoint* p, float width)
{
    float distance = snwFloat3_Length(snwFloat3_Sub(p->position, look->centre));
    if (distance - width > s_gridEnd * look->radius || p->kind == snw_pictureWall || look->style != snw_styleStudio)
        return true;
    snwFloat3 local = OnGround(p);
    float gap = snwFloat_Min(LineDistance(local.x, look->gridCell), LineDistance(local.z, look->gridCell));
    return gap > 1.5f * s_lineWidth * look->gridCell + width;
}

static snwRadiance ShadeGround(const snwLook* look, const snwSurfacePoint* p)
{
    float distance = snwFloat3_Length(snwFloat3_Sub(p->position, look->centre));
    float there = 1 - snwFloat_SmoothStep(2.2f * look->radius, 11 * look->radius, distance);
    snwFloat3 background = snwLook_Background(look, snwFloat3_Scale(p->view, -1));
    snwRadiance out = {background, {0, 0, 0}, {0, 0, 0}};
    if (there <= 0)
        return out;
    float lines = Grid(look, p) * (1 - snwFloat_SmoothStep(1.5f * look->radius, s_gridEnd * look->radius, distance));
    snwFloat3 albedo = snwFloat3_Scale(p->color, 1 - 0.13f * lines);
    float key = snwFloat_Max(snwFloat3_Dot(p->normal, look->keyDirection), 0);
    snwFloat3 sky = snwFloat3_Mix(look->bounceColor, look->skyColor, 0.5f + 0.5f * p->normal.y);
    out.plain = snwFloat3_Scale(background, 1 - there);
    out.key = snwFloat3_Scale(snwFloat3_Mul(look->keyColor, albedo), 0.86f * key * there);
    out.sky = snwFloat3_Scale(snwFloat3_Mul(sky, albedo), there);
    return out;
}

static snwRadiance ShadeWall(const snwLook* look, const snwSurfacePoint* p)
{
    snwFloat3 background = snwLook_Background(look, snwFloat3_Scale(p->view, -1));
    return (snwRadiance){
        snwFloat3_Scale(background, 0.5f), snwFloat3_Scale(background, 0.42f), snwFloat3_Scale(background, 0.08f)};
}

float snwLook_FloorLight(float key, float sky)
{
    return 0.36f + 0.40f * key + 0.24f * sky;
}

// On plain white a floor sends no light of its own; a trace of it keeps its visibilities measured.
static snwRadiance ShadePlainFloor(void)
{
    const snwFloat3 trace = {1e-6f, 1e-6f, 1e-6f};
    return (snwRadiance){{0, 0, 0}, trace, trace};
}

snwRadiance snwLook_Shade(const snwLook* look, const snwSurfacePoint* point)
{
    // Silhouettes and clear pictures have no light at all on what is not the subject.
    bool floor = point->kind == snw_pictureGround || point->kind == snw_pictureWall;
    if (look->style == snw_styleSilhouette || (look->style == snw_styleClear && floor))
        return (snwRadiance){{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (look->style == snw_styleWhite && floor)
        return ShadePlainFloor();

    switch (point->kind)
    {
        case snw_pictureGround:
            return ShadeGround(look, point);
        case snw_pictureWall:
            return ShadeWall(look, point);
        case snw_pictureFlesh:
            return ShadeFlesh(look, point);
        case snw_pictureSolid:
            return ShadeSkin(look, point, 0.6f, 0.6f);
        case snw_pictureSkin:
        default:
            return ShadeSkin(look, point, 0.38f, 1);
    }
}

float snwLook_KeySpread(const snwLook* look)
{
    return tanf(look->keyAngle);
}

snwFloat3 snwLook_SampleKey(const snwLook* look, float u, float v)
{
    snwFloat3 s, t;
    snwFloat3_Frame(look->keyDirection, &s, &t);
    float radius = tanf(look->keyAngle) * sqrtf(u), around = 2 * SNW_PIF * v;
    snwFloat3 d = snwFloat3_MulAdd(look->keyDirection, radius * cosf(around), s);
    return snwFloat3_Normalize(snwFloat3_MulAdd(d, radius * sinf(around), t));
}
