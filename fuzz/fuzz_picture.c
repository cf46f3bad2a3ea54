// Pictures as characters. A PNG, JPEG or WebP goes the whole way; any other bytes are the opacities of a small picture,
// whose outline must be one that can be filled: rings that neither touch nor cross.

#include "fuzz.h"

#include "asset/texture.h"
#include "geom/contour.h"
#include "prepare/flat.h"

static void FillContours(snwContext* context, const uint8_t* data, size_t size)
{
    snwArena arena = {.context = context};
    int width = 1 + data[0] % 32, height = (int)((size - 2) / (size_t)width);
    snwContourDef def = {data + 2, width, height < 64 ? height : 64, 1 + data[1] % 255, 0};
    snwOutline outline;
    snwFlatMesh mesh;
    snwTriangulateDef fill = snwDefaultTriangulateDef();
    fill.minAngle = 0;
    snwMessage message = {0};
    snwResult result = height > 0 ? snwFindContours(context, &def, &arena, &outline, NULL, &message) : snw_errorInput;
    if (result >= 0 && outline.ringCount > 0)
    {
        result = snwTriangulate(context, &outline, &fill, &arena, &mesh, &message);
        if (result < 0 && result != snw_errorMemory)
            abort();
        if (result >= 0 && snwFlatMesh_Measure(&mesh).inverted != 0)
            abort();
    }
    snwArena_Free(&arena);
}

static void PreparePicture(snwContext* context, const uint8_t* data, size_t size)
{
    snwMessage message = {0};
    snwPrepareReport* report = calloc(1, sizeof *report);
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepared* prepared = NULL;
    def.elements = 40;
    def.sidecar = "";
    snwPreparer preparer = {.context = context,
        .arena = {.context = context},
        .path = "fuzz.png",
        .def = &def,
        .report = report,
        .message = &message};
    snwResult result = report != NULL ? snwPreparePicture(&preparer, data, size, &prepared) : snw_errorMemory;
    if (report != NULL && result < 0 && message.text[0] == 0)
        abort(); // an error without words
    snwPrepared_Release(prepared);
    snwArena_Free(&preparer.arena);
    free(report);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzMemory memory;
    if (size < 3)
        return 0;
    snwContext* context = snwFuzz_NewContext(&memory, 16 << 20);
    if (snwTexture_Kind(data, size) != NULL)
        PreparePicture(context, data, size);
    else
        FillContours(context, data, size);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
