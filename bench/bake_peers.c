#include "bake_peers.h"

#include "asset/asset.h"
#include "base/context.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double snwBakePeer_Validate(const char* path)
{
    char command[1024], line[512] = "";
    snprintf(command, sizeof command, "node '%s/tools/validate.js' '%s' 2>/dev/null", SNW_SOURCE_DIR, path);
    FILE* lines = popen(command, "r"); // NOLINT(cert-env33-c): the paths are ours, and quoted
    bool told = lines != NULL && fgets(line, sizeof line, lines) != NULL;
    if (lines != NULL)
        pclose(lines);
    return told ? strtod(line, NULL) : NAN;
}

// Positions that a program left behind: the numbers of frames and vertices, then x y z; NULL: none of that many.
static float* ReadPositions(const char* path, int frames, int count)
{
    int32_t head[2] = {0};
    float* positions = NULL;
    FILE* file = fopen(path, "rb");
    if (file != NULL && fread(head, sizeof head, 1, file) == 1 && head[0] == frames && head[1] == count)
    {
        size_t numbers = 3 * (size_t)frames * (size_t)count;
        positions = malloc(numbers * sizeof *positions);
        if (positions != NULL && fread(positions, sizeof *positions, numbers, file) != numbers)
        {
            free(positions);
            positions = NULL;
        }
    }
    if (file != NULL)
        fclose(file);
    return positions;
}

static double FarthestFrom(const snwAssetCache* cache, const float* shown)
{
    double worst = 0;
    for (size_t i = 0; i < (size_t)cache->frameCount * (size_t)cache->pointCount; ++i)
    {
        double square = 0;
        for (size_t k = 3 * i; k < 3 * i + 3; ++k)
            square += pow((double)cache->positions[k] - (double)shown[k], 2);
        worst = fmax(worst, sqrt(square));
    }
    return worst;
}

// Importers have their own names for clips without one; a file with one clip needs none.
static bool HasClip(const snwAsset* file, const char* clip, char note[160])
{
    bool found = file->animationCount == 1;
    for (int i = 0; i < file->animationCount && !found; ++i)
        found = strcmp(file->animations[i].name, clip) == 0;
    if (found)
        return true;
    snprintf(note, 160, "its clip has no name to ask for");
    return false;
}

// program: a command before OUT RATE FRAMES START OBJECT CLIP FILE.
static double Compare(const snwBakeShown* shown, const char* program, const char* absent, char note[160])
{
    snwContextDef def = snwDefaultContextDef();
    snwContext* context = NULL;
    snwAsset *file = NULL, *cache = NULL;
    char out[128], command[2048];
    double error = NAN;
    snprintf(note, 160, "the file has several surfaces, or none with a skin");
    snprintf(out, sizeof out, "%s/shown.bin", shown->folder);
    unlink(out);
    if (snwCreateContext(&def, &context, NULL) < 0)
        return NAN;
    if (shown->cache[0] != 0 && snwAsset_Open(context, shown->cache, &cache, NULL) >= 0 &&
        snwAsset_Open(context, shown->file, &file, NULL) >= 0)
        for (int i = 0; i < file->nodeCount && HasClip(file, shown->clip, note); ++i)
        {
            const snwAssetNode* node = &file->nodes[i];
            if (node->mesh < 0 || node->skin < 0 || file->meshes[node->mesh].triangleCount == 0)
                continue;
            snprintf(command, sizeof command, "%s '%s' %.9g %d %.9g '%s|%s' '%s' '%s' >/dev/null 2>&1", program, out,
                shown->rate, shown->frames, shown->start, node->name, file->meshes[node->mesh].name,
                file->animationCount == 1 ? "" : shown->clip, shown->file);
            int status = system(command); // NOLINT(cert-env33-c): the paths are ours, and quoted
            float* positions = ReadPositions(out, shown->frames, cache->cache.pointCount);
            error = positions != NULL ? FarthestFrom(&cache->cache, positions) : NAN;
            snprintf(note, 160, "%s",
                positions != NULL ? ""
                : status != 0     ? absent
                                  : "it shows another number of frames or vertices");
            free(positions);
            break;
        }
    snwAsset_Close(file);
    snwAsset_Close(cache);
    snwDestroyContext(context);
    unlink(out);
    return error;
}

double snwBakePeer_Blender(const snwBakeShown* shown, char note[160])
{
    char program[1024];
    snprintf(program, sizeof program,
        "blender -b --factory-startup --python-exit-code 9 -P '%s/tools/blender_positions.py' --", SNW_SOURCE_DIR);
    return Compare(shown, program, "no Blender here: make bench-deps", note);
}

double snwBakePeer_Three(const snwBakeShown* shown, char note[160])
{
    char program[1024];
    snprintf(program, sizeof program, "node '%s/tools/three_positions.mjs'", SNW_SOURCE_DIR);
    return Compare(shown, program, "no three.js here: make web", note);
}
