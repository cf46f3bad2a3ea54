#include "blender.h"

#include "process.h"
#include "test.h"

#include <stdlib.h>

static float* Load(const char* path, int frameCount, int* vertexCount)
{
    FILE* file = fopen(path, "rb");
    int32_t head[2] = {0};
    float* positions = NULL;
    if (file != NULL && fread(head, sizeof head, 1, file) == 1 && head[0] == frameCount && head[1] > 0)
    {
        size_t count = 3 * (size_t)head[0] * (size_t)head[1];
        positions = malloc(count * sizeof *positions);
        if (positions != NULL && fread(positions, sizeof *positions, count, file) != count)
        {
            free(positions);
            positions = NULL;
        }
    }
    if (file != NULL)
        fclose(file);
    *vertexCount = head[1];
    return positions;
}

float* snwBlender_Positions(const snwBlenderJob* job, int* vertexCount, bool* missing)
{
    char out[256], rate[32], frames[16];
    snprintf(out, sizeof out, "%s/blender.bin", snwTest_TempDir());
    snprintf(rate, sizeof rate, "%.9g", job->rate);
    snprintf(frames, sizeof frames, "%d", job->frameCount);
    const char* words[] = {"blender", "-b", "--factory-startup", "-P", SNW_SOURCE_DIR "/tools/blender_positions.py",
        "--", out, rate, frames, "0", job->object, job->clip != NULL ? job->clip : "", job->file, NULL};
    remove(out);
    snwProcess process = snwProcess_Run(words);
    *missing = process.code == -1 || process.code == 127;
    float* positions = *missing ? NULL : Load(out, job->frameCount, vertexCount);
    if (!*missing && positions == NULL)
        snwTest_Fail(__FILE__, __LINE__, "Blender ended with %d: %s%s", process.code, process.text, process.errors);
    snwProcess_Free(&process);
    return positions;
}
