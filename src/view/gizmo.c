// Bones, joints and arrows as solids of revolution, collected in one mesh with normals and colours.

#include "view/gizmo.h"

const snwFloat3 snwGizmo_boneColor = {0.86f, 0.78f, 0.60f};
const snwFloat3 snwGizmo_jointColor = {0.72f, 0.03f, 0.02f};

enum
{
    snw_gizmoColumns = 24,
    snw_gizmoRings = 28,
};

void snwGizmos_Free(snwGizmos* gizmos)
{
    snwArray_Free(gizmos->context, &gizmos->positions);
    snwArray_Free(gizmos->context, &gizmos->normals);
    snwArray_Free(gizmos->context, &gizmos->colors);
    snwArray_Free(gizmos->context, &gizmos->triangles);
}

// A circle of a solid of revolution: where on the axis, how wide, and which way its surface looks.
typedef struct Ring
{
    float along, radius;
    float axial, radial; // of the normal, unit
} Ring;

static bool ReserveRings(snwGizmos* gizmos, int ringCount)
{
    int vertices = ringCount * snw_gizmoColumns, corners = 6 * (ringCount - 1) * snw_gizmoColumns;
    snwContext* context = gizmos->context;
    bool room = snwArray_Reserve(context, &gizmos->positions, 3 * vertices) &&
                snwArray_Reserve(context, &gizmos->normals, 3 * vertices) &&
                snwArray_Reserve(context, &gizmos->colors, 3 * vertices) &&
                snwArray_Reserve(context, &gizmos->triangles, corners);
    gizmos->failed = gizmos->failed || !room;
    return !gizmos->failed;
}

static void PutFloat3(snwFloats* floats, snwFloat3 value)
{
    snwFloat3_Store(value, floats->data + floats->count);
    floats->count += 3;
}

static void Revolve(
    snwGizmos* gizmos, snwFloat3 origin, snwFloat3 axis, const Ring* rings, int ringCount, snwFloat3 color)
{
    if (!ReserveRings(gizmos, ringCount))
        return;
    snwFloat3 s, t;
    snwFloat3_Frame(axis, &s, &t);
    int first = gizmos->positions.count / 3;

    // Circle by circle, each turned about the axis.
    for (int r = 0; r < ringCount; ++r)
        for (int c = 0; c < snw_gizmoColumns; ++c)
        {
            float turn = 2 * SNW_PIF * (float)c / snw_gizmoColumns;
            snwFloat3 out = snwFloat3_MulAdd(snwFloat3_Scale(s, cosf(turn)), sinf(turn), t);
            snwFloat3 p = snwFloat3_MulAdd(origin, rings[r].along, axis);
            PutFloat3(&gizmos->positions, snwFloat3_MulAdd(p, rings[r].radius, out));
            PutFloat3(&gizmos->normals,
                snwFloat3_Normalize(snwFloat3_MulAdd(snwFloat3_Scale(axis, rings[r].axial), rings[r].radial, out)));
            PutFloat3(&gizmos->colors, color);
        }

    // Quads between neighbouring circles, two triangles each.
    for (int i = 0; i < (ringCount - 1) * snw_gizmoColumns; ++i)
    {
        int a = first + i, b = i % snw_gizmoColumns == snw_gizmoColumns - 1 ? a + 1 - snw_gizmoColumns : a + 1;
        const int corners[6] = {a, b, b + snw_gizmoColumns, a, b + snw_gizmoColumns, a + snw_gizmoColumns};
        for (int k = 0; k < 6; ++k)
            gizmos->triangles.data[gizmos->triangles.count++] = corners[k];
    }
}

// A quarter of a circle behind the head, a straight taper, a small round end. s: 0..1.
static float BoneRadius(float s)
{
    const float swell = 0.2f, end = 0.95f;
    float a = snwFloat_Clamp(1 - s / swell, 0, 1), b = snwFloat_Clamp((s - end) / (1 - end), 0, 1);
    float taper = 1 - 0.6f * snwFloat_Max(s - swell, 0) / (1 - swell);
    return sqrtf(1 - a * a) * taper * sqrtf(1 - b * b);
}

void snwGizmos_AddBone(snwGizmos* gizmos, snwFloat3 head, snwFloat3 tail, float radius, snwFloat3 color)
{
    snwFloat3 span = snwFloat3_Sub(tail, head);
    float length = snwFloat3_Length(span), step = 1e-3f;
    Ring rings[snw_gizmoRings];
    for (int i = 0; i < snw_gizmoRings; ++i)
    {
        // Close together at both ends, where the outline bends most.
        float s = 0.5f - 0.5f * cosf(SNW_PIF * (float)i / (snw_gizmoRings - 1));
        float before = snwFloat_Max(s - step, 0), after = snwFloat_Min(s + step, 1);
        float rise = (BoneRadius(after) - BoneRadius(before)) * radius;
        rings[i] = (Ring){s * length, radius * BoneRadius(s), -rise, (after - before) * length};
    }
    Revolve(gizmos, head, snwFloat3_Normalize(span), rings, snw_gizmoRings, color);
}

void snwGizmos_AddCapsule(snwGizmos* gizmos, snwFloat3 a, snwFloat3 b, float radius, snwFloat3 color)
{
    snwFloat3 span = snwFloat3_Sub(b, a);
    float length = snwFloat3_Length(span);
    Ring rings[snw_gizmoRings];
    for (int i = 0; i < snw_gizmoRings; ++i)
    {
        bool far = i >= snw_gizmoRings / 2;
        float polar = SNW_PIF * (float)(far ? i - 1 : i) / (snw_gizmoRings - 2);
        float axial = -cosf(polar), radial = sinf(polar);
        rings[i] = (Ring){(far ? length : 0) + radius * axial, radius * radial, axial, radial};
    }
    Revolve(gizmos, a, snwFloat3_Normalize(span), rings, snw_gizmoRings, color);
}

void snwGizmos_AddBall(snwGizmos* gizmos, snwFloat3 centre, float radius, snwFloat3 color)
{
    snwGizmos_AddCapsule(gizmos, centre, centre, radius, color);
}

void snwGizmos_AddHinge(snwGizmos* gizmos, snwFloat3 centre, snwFloat3 axis, float radius, snwFloat3 color)
{
    snwFloat3 unit = snwFloat3_Normalize(axis);
    snwFloat3 dark = snwFloat3_Scale(color, 0.45f);
    snwGizmos_AddBall(gizmos, centre, 0.8f * radius, color);
    snwGizmos_AddCapsule(gizmos, snwFloat3_MulAdd(centre, -2.2f * radius, unit),
        snwFloat3_MulAdd(centre, 2.2f * radius, unit), 0.28f * radius, dark);
}

// Rings with the same place and another normal make a sharp edge.
void snwGizmos_AddArrow(snwGizmos* gizmos, snwFloat3 from, snwFloat3 to, float radius, snwFloat3 color)
{
    snwFloat3 span = snwFloat3_Sub(to, from);
    float length = snwFloat3_Length(span), head = snwFloat_Min(9 * radius, 0.6f * length), wide = head / 3;
    const Ring rings[] = {
        {0, 0, -1, 0},
        {0, radius, -1, 0},
        {0, radius, 0, 1},
        {length - head, radius, 0, 1},
        {length - head, radius, -1, 0},
        {length - head, wide, -1, 0},
        {length - head, wide, 0.32f, 0.95f},
        {length, 0, 0.32f, 0.95f},
    };
    Revolve(gizmos, from, snwFloat3_Normalize(span), rings, 8, color);
}

void snwGizmos_AddDisc(
    snwGizmos* gizmos, snwFloat3 centre, snwFloat3 axis, float radius, float thickness, snwFloat3 color)
{
    float half = 0.5f * thickness;
    const Ring rings[] = {{-half, 0, -1, 0}, {-half, radius, -1, 0}, {-half, radius, 0, 1}, {half, radius, 0, 1},
        {half, radius, 1, 0}, {half, 0, 1, 0}};
    Revolve(gizmos, centre, axis, rings, 6, color);
}

snwResult snwGizmos_GetLook(const snwGizmos* gizmos, snwMeshLook* look, snwMessage* message)
{
    *look = (snwMeshLook){
        .kind = snw_pictureSolid,
        .positions = gizmos->positions.data,
        .normals = gizmos->normals.data,
        .colors = gizmos->colors.data,
        .vertexCount = gizmos->positions.count / 3,
        .triangles = gizmos->triangles.data,
        .triangleCount = gizmos->triangles.count / 3,
        .opacity = 1,
    };
    return gizmos->failed ? snwFailMemory(message) : snw_ok;
}
