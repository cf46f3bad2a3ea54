// Rays are traced in packets of eight, mostly of one pixel: one packet to see, one to the key light, one to the sky.
// One shadow ray per sample is noisy, so each pixel keeps what it saw in parts (see look.h), and the two visibilities
// are smoothed over neighbours that lie on the same surface before the parts are put together. The samples of the
// 4 x 4 pixels around any place together cover the lights evenly, so a filter a little wider than that leaves almost
// no grain; that is why eight samples are enough for a film.
//
// Rejected: many shadow rays per sample (five times the time for the same smoothness) and a filter on the finished
// picture (it takes the texture and the highlights with it).

#include "view/render.h"

#include "view/look.h"
#include "view/obstacles.h"
#include "view/smooth.h"
#include "view/veil.h"

#include <embree3/rtcore.h>
#include <string.h>

enum
{
    snw_packet = 8,
    snw_bandPixels = 1 << 20, // memory for parts is bounded: large pictures are made in bands
};

struct snwRenderer
{
    snwContext* context;
    RTCDevice device;
    bool packets; // this processor traces eight rays at once
    snwSubject subject;
};

// What one pixel saw: sums over its samples, then means.
typedef struct Pixel
{
    snwRadiance radiance;
    float open;  // share that sees the background
    float floor; // share that sees a ground or wall
    float rest;  // share that sees neither the background nor the subject
    snwGuide guide;
} Pixel;

// How much of a row is the subject; kept apart, so that threads need not meet.
typedef struct RowSubject
{
    double cover; // pixels
    int left, right;
} RowSubject;

typedef struct Job
{
    const snwRenderer* renderer;
    const snwPicture* picture;
    const snwCamera* camera;
    snwImage* image;
    snwLook look;
    RTCScene scene; // all that is opaque
    snwVeil veil;   // translucent and textured meshes
    int samples;
    int lanes; // of a packet, for each pixel
    snwObstacles obstacles;
    float pixelSpread, keySpread; // of the beams of a pixel and of the key light, m per m
    snwShading shading;
    float reach;        // m, how far occlusion looks
    snwFloat3* lights;  // directions to the key light: samples of each place in a block of 4 x 4 pixels
    snwFloat3* domes;   // the same for the sky, around +Z
    float (*jitter)[2]; // of each sample, pixels
    snwGuides* guides;
    Pixel* pixels;        // of the rows firstRow .. lastRow
    RowSubject* subjects; // of all rows of the image
    int firstRow, lastRow;
    int drawRow; // first row of the band that is finished now
} Job;

static int Min(int a, int b)
{
    return a < b ? a : b;
}

// ---------------------------------------------------------------------------------------------------------------------
// Setting up

snwResult snwCreateRenderer(snwContext* context, snwRenderer** result, snwMessage* message)
{
    *result = NULL;
    snwRenderer* renderer = snwAlloc(context, sizeof *renderer);
    if (renderer == NULL)
        return snwFailMemory(message);
    renderer->context = context;

    // The context's threads do the work; Embree's own would only fight with them.
    renderer->device = rtcNewDevice("threads=1,set_affinity=0");
    if (renderer->device == NULL)
    {
        int code = (int)rtcGetDeviceError(NULL);
        snwFree(context, renderer);
        return snwFail(message, snw_errorUnsupported, "check that libembree3 fits this processor",
            "the ray tracer does not start (Embree error %d)", code);
    }

    // Eight rays at once, where the processor has it.
    renderer->packets = rtcGetDeviceProperty(renderer->device, RTC_DEVICE_PROPERTY_NATIVE_RAY8_SUPPORTED) != 0;
    *result = renderer;
    return snw_ok;
}

void snwDestroyRenderer(snwRenderer* renderer)
{
    if (renderer == NULL)
        return;
    rtcReleaseDevice(renderer->device);
    snwFree(renderer->context, renderer);
}

static void AttachMesh(RTCDevice device, RTCScene scene, const snwPictureMesh* mesh, unsigned id)
{
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, mesh->positions, 0,
        3 * sizeof(float), (size_t)mesh->vertexCount);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, mesh->triangles, 0,
        3 * sizeof(int), (size_t)mesh->triangleCount);
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(scene, geometry, id);
    rtcReleaseGeometry(geometry);
}

static bool IsVeil(const snwPicture* picture, const snwPictureMesh* mesh)
{
    return mesh->texcoords != NULL || (mesh->transparency > 0 && picture->style != snw_styleSilhouette);
}

// Either the opaque meshes or the others.
static snwResult BuildScene(
    const snwRenderer* renderer, const snwPicture* picture, bool veil, RTCScene* result, snwMessage* message)
{
    RTCScene scene = rtcNewScene(renderer->device);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    for (int i = 0; i < picture->meshCount; ++i)
        if (picture->meshes[i].triangleCount > 0 && IsVeil(picture, &picture->meshes[i]) == veil)
            AttachMesh(renderer->device, scene, &picture->meshes[i], (unsigned)i);
    rtcCommitScene(scene);

    // Embree tells errors at the end, not where they arise.
    enum RTCError error = rtcGetDeviceError(renderer->device);
    if (error == RTC_ERROR_NONE)
    {
        *result = scene;
        return snw_ok;
    }

    rtcReleaseScene(scene);
    if (error == RTC_ERROR_OUT_OF_MEMORY)
        return snwFailMemory(message);
    return snwFail(message, snw_errorUnsupported, "check that libembree3 fits this processor",
        "the ray tracer cannot build the scene (Embree error %d)", (int)error);
}

static void ReleaseScenes(const Job* job)
{
    if (job->veil.scene != NULL)
        rtcReleaseScene(job->veil.scene);
    if (job->scene != NULL)
        rtcReleaseScene(job->scene);
}

static snwResult BuildScenes(Job* job, snwMessage* message)
{
    bool veiled = false;
    for (int i = 0; i < job->picture->meshCount; ++i)
        veiled = veiled || IsVeil(job->picture, &job->picture->meshes[i]);
    snwResult result = BuildScene(job->renderer, job->picture, false, &job->scene, message);
    if (result >= 0 && veiled)
        result = BuildScene(job->renderer, job->picture, true, &job->veil.scene, message);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Samples

// Additive recurrence on the generalised golden ratio (Roberts 2018): any run of it covers the square evenly.
static float Recur(float start, float step, int index)
{
    float x = start + step * (float)index;
    return x - floorf(x);
}

// The pixel's place in its block of 4 x 4, in an order that puts neighbours far apart in the sequence.
static int BlockIndex(int x, int y)
{
    static const int order[16] = {0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5};
    return order[(x & 3) + 4 * (y & 3)];
}

// A triangular filter of 1.5 pixels: from uniform 0..1 to an offset around 0.
static float Tent(float u)
{
    float t = u < 0.5f ? sqrtf(2 * u) - 1 : 1 - sqrtf(2 - 2 * u);
    return 0.75f * t;
}

static snwFloat3 SampleDome(float u, float v)
{
    float radius = sqrtf(u), around = 2 * SNW_PIF * v;
    return (snwFloat3){radius * cosf(around), radius * sinf(around), sqrtf(1 - u)};
}

static snwFloat3 TurnDome(snwFloat3 n, snwFloat3 d)
{
    snwFloat3 s, t;
    snwFloat3_Frame(n, &s, &t);
    return snwFloat3_MulAdd(snwFloat3_MulAdd(snwFloat3_Scale(n, d.z), d.x, s), d.y, t);
}

static void FreeSamples(Job* job)
{
    snwFree(job->renderer->context, job->lights);
    snwFree(job->renderer->context, job->domes);
    snwFree(job->renderer->context, job->jitter);
}

static bool MakePixelSamples(Job* job)
{
    snwContext* context = job->renderer->context;
    int count = 16 * job->samples + snw_packet;
    job->lights = snwAllocArray(context, (size_t)count, sizeof(snwFloat3));
    job->domes = snwAllocArray(context, (size_t)count, sizeof(snwFloat3));
    job->jitter = snwAllocArray(context, (size_t)count, sizeof *job->jitter);
    if (job->lights == NULL || job->domes == NULL || job->jitter == NULL)
        return false;
    for (int i = 0; i < count; ++i)
    {
        float u = Recur(0.25f, 0.7548776662f, i), v = Recur(0.75f, 0.5698402910f, i);
        job->lights[i] = snwLook_SampleKey(&job->look, u, v);
        job->domes[i] = SampleDome(v, u);
        job->jitter[i][0] = Tent(Recur(0.5f, 0.7548776662f, i));
        job->jitter[i][1] = Tent(Recur(0.5f, 0.5698402910f, i));
    }
    return true;
}

static void SetRay(struct RTCRay8* ray, int lane, snwFloat3 origin, snwFloat3 direction, float far)
{
    ray->org_x[lane] = origin.x;
    ray->org_y[lane] = origin.y;
    ray->org_z[lane] = origin.z;
    ray->dir_x[lane] = direction.x;
    ray->dir_y[lane] = direction.y;
    ray->dir_z[lane] = direction.z;
    ray->tnear[lane] = 0;
    ray->tfar[lane] = far;
    ray->time[lane] = 0;
    ray->mask[lane] = (unsigned)-1;
    ray->id[lane] = (unsigned)lane;
    ray->flags[lane] = 0;
}

static struct RTCRay GetRay(const struct RTCRay8* rays, int lane)
{
    return (struct RTCRay){
        .org_x = rays->org_x[lane],
        .org_y = rays->org_y[lane],
        .org_z = rays->org_z[lane],
        .dir_x = rays->dir_x[lane],
        .dir_y = rays->dir_y[lane],
        .dir_z = rays->dir_z[lane],
        .tfar = rays->tfar[lane],
        .mask = (unsigned)-1,
    };
}

static void IntersectOne(const Job* job, struct RTCIntersectContext* context, struct RTCRayHit8* rays, int lane)
{
    struct RTCRayHit one = {.ray = GetRay(&rays->ray, lane)};
    one.hit.geomID = one.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(job->scene, context, &one);
    rays->hit.Ng_x[lane] = one.hit.Ng_x;
    rays->hit.Ng_y[lane] = one.hit.Ng_y;
    rays->hit.Ng_z[lane] = one.hit.Ng_z;
    rays->hit.u[lane] = one.hit.u;
    rays->hit.v[lane] = one.hit.v;
    rays->hit.primID[lane] = one.hit.primID;
    rays->hit.geomID[lane] = one.hit.geomID;
}

static void Intersect(const Job* job, const int* valid, struct RTCRayHit8* rays)
{
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
    if (job->renderer->packets)
        rtcIntersect8(valid, job->scene, &context, rays);
    for (int lane = 0; lane < snw_packet && !job->renderer->packets; ++lane)
        if (valid[lane] != 0)
            IntersectOne(job, &context, rays, lane);
}

// Occluded rays come back with tfar below zero.
static void Occlude(const Job* job, const int* valid, struct RTCRay8* rays, enum RTCIntersectContextFlags flags)
{
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    context.flags = flags;
    if (job->renderer->packets)
        rtcOccluded8(valid, job->scene, &context, rays);
    for (int lane = 0; lane < snw_packet && !job->renderer->packets; ++lane)
    {
        struct RTCRay one = GetRay(rays, lane);
        if (valid[lane] != 0)
            rtcOccluded1(job->scene, &context, &one);
        rays->tfar[lane] = one.tfar;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// One pixel

static snwFloat3 CameraRay(const Job* job, int x, int y, const float jitter[2])
{
    const snwCamera* camera = job->camera;
    float u = 2 * ((float)x + 0.5f + jitter[0]) / (float)job->image->width - 1;
    float v = 1 - 2 * ((float)y + 0.5f + jitter[1]) / (float)job->image->height;
    snwFloat3 d = snwFloat3_MulAdd(camera->forward, u * camera->tanX, camera->right);
    return snwFloat3_Normalize(snwFloat3_MulAdd(d, v * camera->tanY, camera->up));
}

// On plain white, the background is put in at the very end.
static snwFloat3 Background(const Job* job, snwFloat3 direction)
{
    bool studio = job->picture->style == snw_styleStudio;
    return studio ? snwLook_Background(&job->look, direction) : (snwFloat3){0, 0, 0};
}

static bool IsFloor(snwPictureKind kind)
{
    return kind == snw_pictureGround || kind == snw_pictureWall;
}

static void AddMiss(Pixel* pixel, snwFloat3 background, const snwVeilLight* veil)
{
    pixel->radiance.plain = snwFloat3_Add(pixel->radiance.plain, veil->light);
    pixel->radiance.plain = snwFloat3_Add(pixel->radiance.plain, snwFloat3_Mul(veil->through, background));
    pixel->open += snwFloat3_Luminance(veil->through);
}

// Visibilities are means weighted with the light that they let through.
static void AddHit(Pixel* pixel, const snwRayHit* hit, const snwRadiance* radiance, float key, float sky)
{
    pixel->radiance.plain = snwFloat3_Add(pixel->radiance.plain, radiance->plain);
    pixel->radiance.key = snwFloat3_Add(pixel->radiance.key, radiance->key);
    pixel->radiance.sky = snwFloat3_Add(pixel->radiance.sky, radiance->sky);
    pixel->guide.key += key * snwFloat3_Luminance(radiance->key);
    pixel->guide.sky += sky * snwFloat3_Luminance(radiance->sky);
    pixel->guide.position = snwFloat3_Add(pixel->guide.position, hit->point.position);
    pixel->guide.normal = snwFloat3_Add(pixel->guide.normal, hit->point.normal);
    pixel->guide.mesh = pixel->guide.hits > 0 && pixel->guide.mesh != hit->mesh ? snw_seesSeveral : hit->mesh;
    pixel->guide.hits += 1;
}

static void AddVeiledHit(const Job* job, Pixel* pixel, const snwRayHit* hit, const snwRadiance* radiance,
    const float visible[2], snwVeilLight veil)
{
    snwRadiance dimmed = {snwFloat3_Add(veil.light, snwFloat3_Mul(veil.through, radiance->plain)),
        snwFloat3_Mul(veil.through, radiance->key), snwFloat3_Mul(veil.through, radiance->sky)};
    AddHit(pixel, hit, &dimmed, visible[0], visible[1]);
    float through = snwFloat3_Luminance(veil.through);
    bool floor = IsFloor(hit->point.kind);
    pixel->floor += floor ? through : 0;
    pixel->rest += floor || job->picture->meshes[hit->mesh].scenery ? through : 0;
}

// Lanes belong to one pixel, or to a few if there are less samples than lanes.
typedef struct Packet
{
    struct RTCRayHit8 see __attribute__((aligned(32)));
    struct RTCRay8 key __attribute__((aligned(32)));
    struct RTCRay8 sky __attribute__((aligned(32)));
    int valid[snw_packet] __attribute__((aligned(32)));
    int lit[snw_packet] __attribute__((aligned(32)));  // a ray to the key light is needed
    int open[snw_packet] __attribute__((aligned(32))); // a ray to the sky is needed
    int x[snw_packet];                                 // the pixel
    int sample[snw_packet];
    snwFloat3 directions[snw_packet];
    snwRayHit hits[snw_packet]; // mesh -1: none
    snwRadiance radiances[snw_packet];
    float visible[snw_packet][2]; // key light and sky
    snwVeilLight veils[snw_packet];
} Packet;

// Pixels of one row, side by side.
typedef struct Chunk
{
    Pixel* pixels; // of the whole row
    int y;
    int full[snw_packet]; // pixels that need all their samples
    int fullCount;
    int simple[snw_packet]; // pixels of plain ground: one look, and rays to the lights only
    int simpleCount;
    snwRayHit hits[snw_packet]; // of the simple ones
    snwRadiance radiances[snw_packet];
} Chunk;

// Gives the lanes to the pixels' samples from `first` on.
static void SetLanes(const Job* job, Packet* packet, const int* xs, int count, int first)
{
    for (int lane = 0; lane < snw_packet; ++lane)
    {
        int which = lane / job->lanes;
        packet->sample[lane] = first + lane % job->lanes;
        packet->valid[lane] = which < count && packet->sample[lane] < job->samples ? -1 : 0;
        packet->x[lane] = xs[which < count ? which : 0];
    }
}

// A flat ground gets no shadow from itself; one that is far from everything gets none at all.
static void FindNeeds(const Job* job, snwRayHit* hit, const snwRadiance* radiance)
{
    bool flat = IsFloor(hit->point.kind) && job->obstacles.groundCount == 1;
    hit->key = snwFloat3_Luminance(radiance->key) > 0;
    hit->sky = snwFloat3_Luminance(radiance->sky) > 0;
    if (hit->key && flat)
        hit->key = snwObstacles_Meet(&job->obstacles, hit->start, job->look.keyDirection, job->keySpread);
    if (hit->sky && flat)
        hit->sky = snwObstacles_Near(&job->obstacles, hit->start, job->reach);
}

// Samples of one pixel on one triangle of a skin have almost the same colour: it is shaded once for up to four.
static bool SeesAlike(const Job* job, const Packet* packet, int lane)
{
    const struct RTCHit8* hit = &packet->see.hit;
    return (packet->sample[lane] & 3) != 0 && packet->x[lane] == packet->x[lane - 1] &&
           hit->geomID[lane] == hit->geomID[lane - 1] && hit->primID[lane] == hit->primID[lane - 1] &&
           job->picture->meshes[hit->geomID[lane]].kind != snw_pictureGround &&
           job->picture->meshes[hit->geomID[lane]].edges == NULL &&
           job->picture->meshes[hit->geomID[lane]].paint == NULL;
}

static snwMeeting MeetingOf(const struct RTCHit8* hit, int lane)
{
    return (snwMeeting){hit->geomID[lane], hit->primID[lane], hit->u[lane], hit->v[lane],
        {hit->Ng_x[lane], hit->Ng_y[lane], hit->Ng_z[lane]}};
}

static void See(const Job* job, Packet* packet)
{
    // One ray per lane, to the first opaque thing.
    for (int lane = 0; lane < snw_packet; ++lane)
    {
        SetRay(&packet->see.ray, lane, job->camera->position, packet->directions[lane], INFINITY);
        packet->see.hit.geomID[lane] = RTC_INVALID_GEOMETRY_ID;
        packet->see.hit.instID[0][lane] = RTC_INVALID_GEOMETRY_ID;
    }

    Intersect(job, packet->valid, &packet->see);

    // Lane by lane: what is in front of the hit, then the hit itself.
    for (int lane = 0; lane < snw_packet; ++lane)
    {
        packet->hits[lane].mesh = -1;
        packet->veils[lane] = snw_veilClear;
        if (packet->valid[lane] != 0 && job->veil.scene != NULL)
            packet->veils[lane] = snwVeil_See(
                &job->veil, job->camera->position, packet->directions[lane], packet->see.ray.tfar[lane]);
        if (packet->valid[lane] == 0 || packet->see.hit.geomID[lane] == RTC_INVALID_GEOMETRY_ID)
            continue;

        // Neighbouring samples of a smooth place share the shading.
        if (lane > 0 && SeesAlike(job, packet, lane))
        {
            packet->hits[lane] = packet->hits[lane - 1];
            packet->radiances[lane] = packet->radiances[lane - 1];
            continue;
        }

        snwMeeting meeting = MeetingOf(&packet->see.hit, lane);
        packet->hits[lane] = snwShading_Hit(&job->shading, &meeting, packet->directions[lane]);
        packet->radiances[lane] = snwLook_Shade(&job->look, &packet->hits[lane].point);
        FindNeeds(job, &packet->hits[lane], &packet->radiances[lane]);
    }
}

static bool AnyLane(const int* valid)
{
    int any = 0;
    for (int lane = 0; lane < snw_packet; ++lane)
        any |= valid[lane];
    return any != 0;
}

static snwFloat3 RayOrigin(const struct RTCRay8* rays, int lane)
{
    return (snwFloat3){rays->org_x[lane], rays->org_y[lane], rays->org_z[lane]};
}

static snwFloat3 RayDirection(const struct RTCRay8* rays, int lane)
{
    return (snwFloat3){rays->dir_x[lane], rays->dir_y[lane], rays->dir_z[lane]};
}

// Which of the lanes that ask have anything translucent or textured in the way of their ray.
static void FindVeiled(const Job* job, const int* asks, const struct RTCRay8* rays, int* veiled)
{
    struct RTCIntersectContext context;
    struct RTCRay8 tried = *rays;
    memcpy(veiled, asks, snw_packet * sizeof *veiled);
    if (!job->renderer->packets || !AnyLane(asks))
        return;
    rtcInitIntersectContext(&context);
    rtcOccluded8(asks, job->veil.scene, &context, &tried);
    for (int lane = 0; lane < snw_packet; ++lane)
        veiled[lane] = asks[lane] != 0 && tried.tfar[lane] < 0 ? -1 : 0;
}

// Translucent meshes dim the floor; what is inside them stays bright, since it is what one wants to see.
static void VeilLights(const Job* job, Packet* packet)
{
    int asks[2][snw_packet] __attribute__((aligned(32))), veiled[2][snw_packet];

    // Only floors that are lit or open at all.
    for (int lane = 0; lane < snw_packet; ++lane)
    {
        const snwRayHit* hit = &packet->hits[lane];
        bool floor = packet->valid[lane] != 0 && hit->mesh >= 0 && IsFloor(hit->point.kind);
        asks[0][lane] = floor && packet->visible[lane][0] > 0 ? packet->lit[lane] : 0;
        asks[1][lane] = floor && packet->visible[lane][1] > 0 ? packet->open[lane] : 0;
    }

    // How much gets through what is translucent, for each of both lights.
    FindVeiled(job, asks[0], &packet->key, veiled[0]);
    FindVeiled(job, asks[1], &packet->sky, veiled[1]);

    for (int lane = 0; lane < snw_packet; ++lane)
    {
        if (veiled[0][lane] != 0)
            packet->visible[lane][0] = snwVeil_Shadow(
                &job->veil, RayOrigin(&packet->key, lane), RayDirection(&packet->key, lane), INFINITY);
        if (veiled[1][lane] != 0)
            packet->visible[lane][1] = snwVeil_Shadow(
                &job->veil, RayOrigin(&packet->sky, lane), RayDirection(&packet->sky, lane), job->reach);
    }
}

// Rays that are not needed come back as free: so do those of what nobody sees behind something textured.
static void Light(const Job* job, Packet* packet, int y)
{
    // The two shadow rays of each lane; what needs none gets a ray of no meaning.
    for (int lane = 0; lane < snw_packet; ++lane)
    {
        const snwRayHit* hit = &packet->hits[lane];
        bool hits = packet->valid[lane] != 0 && hit->mesh >= 0 && snwFloat3_Luminance(packet->veils[lane].through) > 0;
        packet->lit[lane] = hits && hit->key ? -1 : 0;
        packet->open[lane] = hits && hit->sky ? -1 : 0;
        int index = BlockIndex(packet->x[lane], y) * job->samples + packet->sample[lane];
        bool lit = packet->lit[lane] != 0, open = packet->open[lane] != 0;
        const snwFloat3 up = {0, 1, 0}, zero = {0, 0, 0};
        SetRay(&packet->key, lane, lit ? hit->start : zero, lit ? job->lights[index] : up, INFINITY);
        SetRay(&packet->sky, lane, open ? hit->start : zero, open ? TurnDome(hit->point.normal, job->domes[index]) : up,
            job->reach);
    }

    // Rays to the key light are nearly parallel; those to the sky go everywhere.
    if (AnyLane(packet->lit))
        Occlude(job, packet->lit, &packet->key, RTC_INTERSECT_CONTEXT_FLAG_COHERENT);
    if (AnyLane(packet->open))
        Occlude(job, packet->open, &packet->sky, RTC_INTERSECT_CONTEXT_FLAG_INCOHERENT);
    for (int lane = 0; lane < snw_packet; ++lane)
    {
        packet->visible[lane][0] = packet->key.tfar[lane] >= 0;
        packet->visible[lane][1] = packet->sky.tfar[lane] >= 0;
    }

    if (job->veil.scene != NULL)
        VeilLights(job, packet);
}

static void AddPacket(const Job* job, Pixel* pixels, const Packet* packet)
{
    for (int lane = 0; lane < snw_packet; ++lane)
    {
        Pixel* pixel = &pixels[packet->x[lane]];
        if (packet->valid[lane] == 0)
            continue;
        if (packet->hits[lane].mesh < 0)
            AddMiss(pixel, Background(job, packet->directions[lane]), &packet->veils[lane]);
        else
            AddVeiledHit(
                job, pixel, &packet->hits[lane], &packet->radiances[lane], packet->visible[lane], packet->veils[lane]);
    }
}

// Sums -> means.
static void FinishPixel(const Job* job, Pixel* pixel, int samples)
{
    float scale = 1 / (float)samples;
    float key = snwFloat3_Luminance(pixel->radiance.key), sky = snwFloat3_Luminance(pixel->radiance.sky);
    pixel->guide.key = key > 0 ? pixel->guide.key / key : 1;
    pixel->guide.sky = sky > 0 ? pixel->guide.sky / sky : 1;
    pixel->radiance.plain = snwFloat3_Scale(pixel->radiance.plain, scale);
    pixel->radiance.key = snwFloat3_Scale(pixel->radiance.key, scale);
    pixel->radiance.sky = snwFloat3_Scale(pixel->radiance.sky, scale);

    // Places count where something was hit; the rest saw the background.
    if (pixel->guide.hits > 0)
        pixel->guide.position = snwFloat3_Scale(pixel->guide.position, 1 / pixel->guide.hits);
    pixel->guide.normal = snwFloat3_Normalize(pixel->guide.normal);
    pixel->guide.hits *= scale;
    pixel->open *= scale;
    pixel->floor *= scale;
    pixel->rest *= scale;

    // A pixel's height over the surface is a fraction of its own size: that is the measure of "the same surface".
    float distance = snwFloat3_Length(snwFloat3_Sub(pixel->guide.position, job->camera->position));
    pixel->guide.softness = 0.5f * (float)job->image->height / snwFloat_Max(distance * job->camera->tanY, 1e-20f);
}

static void TraceFull(const Job* job, Chunk* chunk)
{
    int step = snw_packet / job->lanes;

    // As many pixels as fit into a packet with all of their samples, or with a part of them.
    for (int i = 0; i < chunk->fullCount; i += step)
    {
        int count = Min(step, chunk->fullCount - i);
        for (int first = 0; first < job->samples; first += job->lanes)
        {
            Packet packet;
            SetLanes(job, &packet, chunk->full + i, count, first);
            for (int lane = 0; lane < snw_packet; ++lane)
                packet.directions[lane] = CameraRay(
                    job, packet.x[lane], chunk->y, job->jitter[Min(packet.sample[lane], job->samples)]);
            See(job, &packet);
            Light(job, &packet, chunk->y);
            AddPacket(job, chunk->pixels, &packet);
        }

        for (int k = i; k < i + count; ++k)
            FinishPixel(job, &chunk->pixels[chunk->full[k]], job->samples);
    }
}

static void TraceSimple(const Job* job, Chunk* chunk)
{
    // The same with one look for all samples of a pixel: only its lights are sampled.
    int step = snw_packet / job->lanes;
    for (int i = 0; i < chunk->simpleCount; i += step)
    {
        int count = Min(step, chunk->simpleCount - i);
        for (int first = 0; first < job->samples; first += job->lanes)
        {
            Packet packet;
            SetLanes(job, &packet, chunk->simple + i, count, first);
            for (int lane = 0; lane < snw_packet; ++lane)
            {
                int which = i + Min(lane / job->lanes, count - 1);
                packet.hits[lane] = chunk->hits[which];
                packet.radiances[lane] = chunk->radiances[which];
                packet.veils[lane] = snw_veilClear;
            }

            Light(job, &packet, chunk->y);
            AddPacket(job, chunk->pixels, &packet);
        }

        for (int k = i; k < i + count; ++k)
            FinishPixel(job, &chunk->pixels[chunk->simple[k]], job->samples);
    }
}

// One look through the middle of a pixel tells its colour if nothing but sky or plain ground is there.
static void SortPixel(const Job* job, Chunk* chunk, const Packet* look, int lane)
{
    int x = look->x[lane];
    const snwRayHit* hit = &look->hits[lane];
    const snwRadiance* radiance = &look->radiances[lane];
    if (hit->mesh < 0)
    {
        AddMiss(&chunk->pixels[x], Background(job, look->directions[lane]), &snw_veilClear);
        FinishPixel(job, &chunk->pixels[x], 1);
        return;
    }

    // How much ground the pixel covers decides whether grid lines could be in it.
    float distance = snwFloat3_Length(snwFloat3_Sub(hit->point.position, job->camera->position));
    float slope = snwFloat_Max(snwFloat3_Dot(hit->point.normal, hit->point.view), 1e-3f);
    if (!snwLook_IsPlain(&job->look, &hit->point, distance * job->pixelSpread / slope))
    {
        chunk->full[chunk->fullCount++] = x;
    }
    else if (hit->key || hit->sky)
    {
        chunk->hits[chunk->simpleCount] = *hit;
        chunk->radiances[chunk->simpleCount] = *radiance;
        chunk->simple[chunk->simpleCount++] = x;
    }
    else
    {
        AddVeiledHit(job, &chunk->pixels[x], hit, radiance, (const float[2]){1, 1}, snw_veilClear);
        FinishPixel(job, &chunk->pixels[x], 1);
    }
}

static void SortPixels(const Job* job, Chunk* chunk, int begin, int end)
{
    Packet look;

    // Pixels that meet an obstacle's box go the full way at once.
    for (int lane = 0; lane < snw_packet; ++lane)
    {
        int x = look.x[lane] = Min(begin + lane, end - 1);
        look.sample[lane] = 0;
        look.directions[lane] = CameraRay(job, x, chunk->y, (const float[2]){0, 0});
        bool clear = job->obstacles.groundCount <= 1 && !snwObstacles_Meet(&job->obstacles, job->camera->position,
                                                            look.directions[lane], job->pixelSpread);
        look.valid[lane] = begin + lane < end && clear ? -1 : 0;
        if (begin + lane < end && !clear)
            chunk->full[chunk->fullCount++] = x;
    }

    if (AnyLane(look.valid))
        See(job, &look);
    for (int lane = 0; lane < snw_packet; ++lane)
        if (look.valid[lane] != 0)
            SortPixel(job, chunk, &look, lane);
}

static void TraceRows(int begin, int end, void* data)
{
    const Job* job = data;
    int width = job->image->width;
    for (int row = begin; row < end; ++row)
    {
        Pixel* pixels = job->pixels + (size_t)row * (size_t)width;
        for (int x = 0; x < width; ++x)
            pixels[x] = (Pixel){.guide.mesh = snw_seesNothing};
        for (int x = 0; x < width; x += snw_packet)
        {
            Chunk chunk = {.pixels = pixels, .y = job->firstRow + row};
            SortPixels(job, &chunk, x, Min(x + snw_packet, width));
            TraceFull(job, &chunk);
            TraceSimple(job, &chunk);
        }
        snwGuides_SetRow(job->guides, row, &pixels->guide, sizeof *pixels);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Putting the parts together

static snwFloat3 Vignette(const Job* job, int x, int y, snwFloat3 color)
{
    float u = 2 * ((float)x + 0.5f) / (float)job->image->width - 1;
    float v = 2 * ((float)y + 0.5f) / (float)job->image->height - 1;
    return snwFloat3_Scale(color, 1 - 0.09f * (u * u + v * v));
}

static void FinishColor(const Job* job, const Pixel* pixel, int x, int y, float key, float sky)
{
    snwFloat3 color = snwFloat3_MulAdd(pixel->radiance.plain, key, pixel->radiance.key);
    color = snwFloat3_MulAdd(color, sky, pixel->radiance.sky);
    float white = pixel->open + pixel->floor, cover = snwFloat_Max(1 - white, 0);
    float light = white > 0 ? (pixel->open + pixel->floor * snwLook_FloorLight(key, sky)) / white : 1;
    if (job->picture->style == snw_styleSilhouette)
        snwImage_SetTone(job->image, x, y, cover);
    else if (job->picture->style == snw_styleClear)
        snwImage_SetClear(job->image, x, y, color, cover);
    else if (job->picture->style == snw_styleWhite)
        snwImage_SetOnWhite(job->image, x, y, color, cover, light);
    else
        snwImage_SetPixel(job->image, x, y, Vignette(job, x, y, color));
}

static void AddSubject(RowSubject* subject, const Pixel* pixel, int x)
{
    float cover = snwFloat_Clamp(1 - pixel->open - pixel->rest, 0, 1);
    subject->cover += (double)cover;
    if (cover < 0.25f)
        return;
    subject->left = subject->right == 0 ? x : subject->left;
    subject->right = x + 1;
}

static void FinishImageRow(const Job* job, int y)
{
    int width = job->image->width, row = y - job->firstRow;
    for (int x = 0; x < width; x += snw_segment)
    {
        float key[snw_segment], sky[snw_segment];
        snwGuides_Smooth(job->guides, row, x / snw_segment, job->lastRow - job->firstRow, key, sky);
        for (int i = 0; i < snw_segment && x + i < width; ++i)
        {
            const Pixel* pixel = &job->pixels[(size_t)row * (size_t)width + (size_t)(x + i)];
            FinishColor(job, pixel, x + i, y, key[i], sky[i]);
            AddSubject(&job->subjects[y], pixel, x + i);
        }
    }
}

static void FinishImageRows(int begin, int end, void* data)
{
    const Job* job = data;
    for (int y = job->drawRow + begin; y < job->drawRow + end; ++y)
        FinishImageRow(job, y);
}

static snwResult DrawBands(Job* job, snwMessage* message)
{
    snwContext* context = job->renderer->context;
    int width = job->image->width, height = job->image->height;
    int bandRows = Min(height, snw_bandPixels / width + 16);
    int rows = bandRows + 2 * snw_filterRadius;
    snwGuides guides;

    // A band at a time, with a margin for the filter on either side: memory does not grow with the picture.
    job->guides = &guides;
    job->pixels = snwAllocArray(context, (size_t)rows * (size_t)width, sizeof(Pixel));
    bool made = snwGuides_Alloc(&guides, context, width, rows) && job->pixels != NULL;

    // Rows of a margin are traced twice: by this band and by its neighbour.
    for (int row = 0; made && row < height; row += bandRows)
    {
        int count = Min(bandRows, height - row);
        job->drawRow = row;
        job->firstRow = row > snw_filterRadius ? row - snw_filterRadius : 0;
        job->lastRow = Min(height, row + count + snw_filterRadius);
        snwParallelFor(context, job->lastRow - job->firstRow, 4, TraceRows, job);
        snwParallelFor(context, count, 8, FinishImageRows, job);
    }

    snwGuides_Free(&guides, context);
    snwFree(context, job->pixels);
    job->guides = NULL;
    job->pixels = NULL;

    return made ? snw_ok : snwFailMemory(message);
}

static snwSubject GatherSubject(const Job* job)
{
    snwSubject subject = {0};
    for (int y = 0; y < job->image->height; ++y)
    {
        const RowSubject* row = &job->subjects[y];
        bool first = subject.right == 0;
        subject.share += row->cover / ((double)job->image->width * job->image->height);
        if (row->right == 0)
            continue;
        subject.top = first ? y : subject.top;
        subject.bottom = y + 1;
        subject.left = first ? row->left : Min(subject.left, row->left);
        subject.right = row->right > subject.right ? row->right : subject.right;
    }
    return subject;
}

snwSubject snwRenderer_Subject(const snwRenderer* renderer)
{
    return renderer->subject;
}

snwResult snwRenderer_Draw(snwRenderer* renderer, const snwPicture* picture, const snwCamera* camera, int samples,
    snwImage* image, snwMessage* message)
{
    snwLook look = snwMakeLook(picture, camera);
    Job job = {
        .renderer = renderer,
        .picture = picture,
        .camera = camera,
        .image = image,
        .look = look,
        .samples = samples,
        .lanes = Min(samples, snw_packet),
        .obstacles = snwMakeObstacles(picture),
        .pixelSpread = 2.5f * camera->tanY / (float)image->height, // pixels look 0.75 to each side
        .keySpread = 1.01f * snwLook_KeySpread(&look),
        .shading = {.picture = picture, .camera = camera, .height = image->height, .epsilon = 2e-4f * picture->radius},
        .reach = 0.9f * picture->radius,
    };

    // Light, veils and obstacles are the same for all pixels.
    snwShading_SetLight(&job.shading);
    job.veil = (snwVeil){.shading = &job.shading, .look = &job.look};
    renderer->subject = (snwSubject){0};
    job.subjects = snwAllocArray(renderer->context, (size_t)image->height + 1, sizeof *job.subjects);
    if (job.subjects == NULL)
        return snwFailMemory(message);

    // Scenes of opaque and translucent meshes, samples, then the pixels.
    snwResult result = BuildScenes(&job, message);
    if (result >= 0)
        result = MakePixelSamples(&job) ? DrawBands(&job, message) : snwFailMemory(message);
    if (result >= 0)
        renderer->subject = GatherSubject(&job);
    snwFree(renderer->context, job.subjects);
    FreeSamples(&job);
    ReleaseScenes(&job);

    return result;
}
