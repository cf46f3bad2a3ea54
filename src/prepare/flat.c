// From a picture to a flat character, step by step: settings, picture, outline, mesh, handles, weights. Here are the
// texture that is cut out of the picture, the size of its triangles, and the putting together; outline and handles
// have files of their own.

#include "prepare/flat.h"

#include <math.h>
#include <string.h>

enum
{
    snw_fitAttempts = 4,
    snw_textureRim = 2, // pixels around what the outline covers
};

// ---------------------------------------------------------------------------------------------------------------------
// Settings

static snwResult ReadFlatSettings(snwFlatPreparer* p)
{
    char path[4096];
    const snwPrepareDef* def = p->base->def;
    snwResult result = snw_ok;
    if (snwPreparer_FindSidecar(p->base, path, sizeof path))
    {
        const char* kept = snwArena_Text(&p->base->arena, path);
        result = p->base->arena.failed ? snwFailMemory(p->base->message)
                                       : snwFlatSettings_Open(p->base->context, kept, &p->settings, p->base->message);
    }
    if (def->size > 0)
        p->settings.size = def->size;
    if (def->elements > 0)
        p->settings.triangles = def->elements;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The picture

static bool IsOpaquePicture(const snwTexture* picture)
{
    size_t count = (size_t)picture->width * (size_t)picture->height;
    for (size_t i = 0; i < count; ++i)
        if (picture->pixels[4 * i + 3] < 255)
            return false;
    return true;
}

// Between a drawn pixel and a clear one colours are mixed, and a clear one may have any: it gets that of a drawn one
// beside it, or of a clear one that got it so.
static void BleedTowards(uint8_t* pixel, const uint8_t* from, uint8_t* known)
{
    if (*known == 0)
    {
        memcpy(pixel, from, 3);
        *known = 1;
    }
}

static void BleedRow(uint8_t* row, uint8_t* known, int width)
{
    for (int i = 1; i < width; ++i)
        if (known[i - 1] != 0)
            BleedTowards(row + 4 * i, row + 4 * (i - 1), &known[i]);
    for (int i = width - 2; i >= 0; --i)
        if (known[i + 1] != 0)
            BleedTowards(row + 4 * i, row + 4 * (i + 1), &known[i]);
}

static void Bleed(uint8_t* pixels, uint8_t* known, int width, int height)
{
    size_t pitch = (size_t)width;
    for (int j = 0; j < height; ++j)
        BleedRow(pixels + 4 * pitch * (size_t)j, known + pitch * (size_t)j, width);
    for (int turn = 0; turn < 2; ++turn)
        for (int n = 1; n < height; ++n)
        {
            size_t to = (size_t)(turn == 0 ? n : height - 1 - n), from = turn == 0 ? to - 1 : to + 1;
            for (size_t i = 0; i < pitch; ++i)
                if (known[from * pitch + i] != 0)
                    BleedTowards(
                        pixels + 4 * (to * pitch + i), pixels + 4 * (from * pitch + i), &known[to * pitch + i]);
        }
}

// What the outline covers of the picture, with good colours beyond the rim of what is drawn.
static snwResult CutTexture(snwFlatPreparer* p, snwTexture* texture, int corner[2])
{
    int far[2], side[2] = {p->picture.width, p->picture.height};

    // The outline's box and a rim around it, inside of the picture.
    for (int k = 0; k < 2; ++k)
    {
        corner[k] = (int)fmax(floor(p->lower[k]) - snw_textureRim, 0);
        far[k] = (int)fmin(ceil(p->upper[k]) + snw_textureRim, side[k]);
    }

    int width = far[0] - corner[0], height = far[1] - corner[1];
    size_t count = (size_t)width * (size_t)height;
    uint8_t* pixels = snwArena_Alloc(&p->base->arena, 4 * count, 1);
    uint8_t* known = snwArena_Alloc(&p->base->arena, count, 1);
    if (p->base->arena.failed)
        return snwFailMemory(p->base->message);

    // The rectangle, row by row.
    for (int j = 0; j < height; ++j)
        memcpy(pixels + 4 * (size_t)width * (size_t)j,
            p->picture.pixels + 4 * ((size_t)p->picture.width * (size_t)(corner[1] + j) + (size_t)corner[0]),
            4 * (size_t)width);

    // Pixels with any opacity have a colour that is meant; it spreads into clear ones.
    for (size_t i = 0; i < count; ++i)
        known[i] = pixels[4 * i + 3] > 0;
    Bleed(pixels, known, width, height);
    *texture = (snwTexture){width, height, pixels};
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// The mesh

static double RingLength(const snwRing* ring)
{
    double length = 0;
    for (int i = 0; i < ring->count; ++i)
    {
        const double *a = ring->points[i], *b = ring->points[(i + 1) % ring->count];
        length += hypot(b[0] - a[0], b[1] - a[1]);
    }
    return length;
}

static double RingArea(const snwRing* ring)
{
    double sum = 0;
    for (int i = 0; i < ring->count; ++i)
    {
        const double *a = ring->points[i], *b = ring->points[(i + 1) % ring->count];
        sum += (a[0] * b[1] - a[1] * b[0]) / 2;
    }
    return ring->hole ? -fabs(sum) : fabs(sum);
}

// Even triangles of the wanted number have sides of some length; rings are walked in such steps.
static snwFlatFitDef ChooseFit(const snwFlatPreparer* p, int triangles)
{
    double length = 0, area = 0;
    int euler = 0;
    for (int r = 0; r < p->outline.ringCount; ++r)
    {
        length += RingLength(&p->outline.rings[r]);
        area += RingArea(&p->outline.rings[r]);
        euler += p->outline.rings[r].hole ? -2 : 2;
    }
    double step = sqrt(4 * area / (sqrt(3) * triangles));
    int ring = (int)fmax(1.15 * length / step, 8 * p->outline.ringCount);
    int least = 2 * ring; // else nothing but rim
    triangles = triangles > least ? triangles : least;
    return (snwFlatFitDef){(triangles + ring + euler) / 2, triangles, p->settings.minAngle};
}

// Coarse steps along two rims that are close to each other may cross: finer ones do not. If all else fails the outline
// is taken point by point.
static snwResult MakeFlatMesh(snwFlatPreparer* p)
{
    snwPreparer* base = p->base;
    int triangles = p->settings.triangles;
    snwResult result = snw_errorInput;

    // Twice as many triangles each time: finer steps along the rims.
    for (int i = 0; i < snw_fitAttempts && result == snw_errorInput; ++i, triangles *= 2)
    {
        snwFlatFitDef def = ChooseFit(p, triangles);
        result = snwFitTriangles(base->context, &p->outline, &def, &base->arena, &p->mesh, base->message);
        if (result >= 0 && p->mesh.triangleCount > 1.2 * p->settings.triangles)
            snwPreparer_Note(base, "%d triangles, because its outline has so fine a detail", p->mesh.triangleCount);
    }

    if (result != snw_errorInput)
        return result;

    // Point by point, as the outline stands; angles may be less even.
    snwTriangulateDef def = snwDefaultTriangulateDef();
    def.minAngle = fmin(p->settings.minAngle, 20);
    def.maxVertices = 400000;
    result = snwTriangulate(base->context, &p->outline, &def, &base->arena, &p->mesh, base->message);
    if (result >= 0)
        snwPreparer_Note(
            base, "the outline is taken point by point, because it is very fine: %d triangles", p->mesh.triangleCount);

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The character

typedef struct Sheet
{
    snwVec3* vertices;
    float (*texcoords)[2];
    snwTexture texture;
} Sheet;

static snwResult MakeFlatSheet(snwFlatPreparer* p, Sheet* sheet)
{
    int corner[2];
    snwResult result = CutTexture(p, &sheet->texture, corner);
    sheet->vertices = snwPreparer_Alloc(p->base, p->mesh.vertexCount, sizeof *sheet->vertices);
    sheet->texcoords = snwPreparer_Alloc(p->base, p->mesh.vertexCount, sizeof *sheet->texcoords);
    if (result < 0 || p->base->arena.failed)
        return result < 0 ? result : snwFailMemory(p->base->message);
    for (int i = 0; i < p->mesh.vertexCount; ++i)
    {
        const double* at = p->mesh.vertices[i];
        double pixels[2] = {p->centre[0] + at[0] / p->pixel, p->centre[1] - at[1] / p->pixel};
        sheet->vertices[i] = (snwVec3){at[0], at[1], 0};
        sheet->texcoords[i][0] = (float)fmin(fmax((pixels[0] - corner[0]) / sheet->texture.width, 0), 1);
        sheet->texcoords[i][1] = (float)fmin(fmax((pixels[1] - corner[1]) / sheet->texture.height, 0), 1);
    }
    return snw_ok;
}

// NAME of NAME.png.
static const char* NameOfPicture(snwFlatPreparer* p)
{
    const char *slash = strrchr(p->base->path, '/'), *begin = slash != NULL ? slash + 1 : p->base->path;
    char* name = snwArena_Text(&p->base->arena, begin);
    char* dot = name != NULL ? strrchr(name, '.') : NULL;
    if (dot != NULL && dot != name)
        *dot = 0;
    return name;
}

static snwCharacterDef DescribeCharacter(snwFlatPreparer* p, const Sheet* sheet)
{
    snwCharacterDef def = snwDefaultCharacterDef();
    def.name = NameOfPicture(p);
    def.vertices = sheet->vertices;
    def.vertexCount = p->mesh.vertexCount;
    def.triangles = (const int(*)[3])p->mesh.triangles;
    def.triangleCount = p->mesh.triangleCount;
    def.texcoords = (const float(*)[2])sheet->texcoords;
    def.texture = sheet->texture;
    def.thickness = p->settings.thickness;
    def.materials = &p->settings.material;
    def.materialCount = 1;
    def.handles = p->handles;
    def.handleCount = p->handleCount;
    def.bones = p->bones;
    def.boneCount = p->boneCount;
    return def;
}

// Weights are computed once and kept.
static snwResult MakeFlatCharacter(snwFlatPreparer* p, const Sheet* sheet, snwCharacter** character)
{
    snwPreparer* base = p->base;
    snwCharacterDef def = DescribeCharacter(p, sheet);
    snwWeightsDef ask = snwDefaultWeightsDef();
    snwCharacter* bare = NULL;
    snwWeights* weights = NULL;
    snwMessage words = {0};

    // The character is made bare, asked for its weights, and made again with them.
    ask.handles = true;
    snwResult result = base->arena.failed ? snwFailMemory(base->message)
                                          : snwCreateCharacter(base->context, &def, &bare, base->message);
    if (result >= 0)
        result = snwComputeWeights(bare, &ask, &weights, &words);
    if (result > 0)
        snwPreparer_Note(base, "%s", words.text);
    else if (result < 0 && words.text[0] != 0 && base->message != NULL)
        *base->message = words;

    if (result >= 0)
    {
        def.handleWeights = *weights;
        result = snwCreateCharacter(base->context, &def, character, base->message);
    }

    snwFree(base->context, weights);
    snwCharacter_Release(bare);
    return result;
}

static snwResult AssembleFlat(snwFlatPreparer* p, snwCharacter* character, snwPrepared** prepared)
{
    const char* slash = strrchr(p->base->path, '/');
    snwEmbedding none = {0};
    int* nodes = snwPreparer_Alloc(p->base, p->boneCount, sizeof *nodes);
    if (nodes == NULL)
        return snwFailMemory(p->base->message);
    for (int i = 0; i < p->boneCount; ++i)
        nodes[i] = -1;
    snwPreparedDef def = {.character = character,
        .embedding = &none,
        .info = {.source = slash != NULL ? slash + 1 : p->base->path,
            .sourceHash = p->base->sourceHash,
            .scale = p->pixel,
            .settings = "",
            .boneNodes = nodes}};
    return snwCreatePrepared(p->base->context, &def, prepared, p->base->message);
}

static snwResult RunFlatSteps(snwFlatPreparer* p, snwCharacter** character)
{
    Sheet sheet = {0};
    snwResult result = snwFlatPreparer_MakeOutline(p);
    if (result >= 0)
        result = MakeFlatMesh(p);
    if (result >= 0)
        result = snwFlatPreparer_MakeHandles(p);
    if (result >= 0)
        result = MakeFlatSheet(p, &sheet);
    return result < 0 ? result : MakeFlatCharacter(p, &sheet, character);
}

snwResult snwPreparePicture(snwPreparer* preparer, const void* data, size_t size, snwPrepared** prepared)
{
    snwFlatPreparer p = {.base = preparer, .settings = snwDefaultFlatSettings()};
    snwCharacter* character = NULL;
    snwResult result = ReadFlatSettings(&p);
    if (result >= 0)
        result = snwTexture_Read(&preparer->arena, data, size, &p.picture, preparer->message);
    if (result >= 0 && IsOpaquePicture(&p.picture))
        snwPreparer_Note(preparer, "nothing of the picture is clear: its whole rectangle is the character");
    if (result >= 0)
        result = RunFlatSteps(&p, &character);
    if (result >= 0)
        result = AssembleFlat(&p, character, prepared);
    snwCharacter_Release(character);
    snwFlatSettings_Free(&p.settings);
    return result;
}
