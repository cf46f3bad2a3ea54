// The 2D part of a blueprint: whatever is read is meshed and painted, and a mesh has no inverted triangle.

#include "fuzz.h"

#include "scene/flat_file.h"

static void CheckBlueprint(snwContext* context, const snwFlatBlueprint* blueprint, snwArena* arena)
{
    snwFlatFitDef def = {.vertices = 60, .triangles = 85, .minAngle = 25};
    snwFlatMesh mesh;
    snwFlatPicture picture;
    snwMessage message = {0};
    if (snwFlat_MakeMesh(context, blueprint, &def, arena, &mesh, &message) < 0)
    {
        if (message.text[0] == 0)
            abort(); // an error without words
        return;
    }
    if (mesh.triangleCount < 1 || snwFlatMesh_Measure(&mesh).inverted != 0)
        abort();
    snwFlat_Paint(context, blueprint, 32, arena, &picture, &message);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzMemory memory;
    snwMessage message = {0};
    snwContext* context = snwFuzz_NewContext(&memory, 4 << 20);
    snwJson json = {.context = context, .message = &message, .file = "fuzz"};
    snwArena arena = {.context = context};
    snwFlatBlueprint blueprint = {0};
    snwResult result;
    json_t* document = snwJson_Parse(&json, (const char*)data, size, &result);
    if (document != NULL && json_is_object(document))
    {
        result = snwFlat_ReadJson(
            &json, json_object_get(document, "outline"), json_object_get(document, "paint"), &arena, &blueprint);
        if (result == snw_ok)
            CheckBlueprint(context, &blueprint, &arena);
        else if (message.text[0] == 0)
            abort();
    }
    json_decref(document);
    snwArena_Free(&arena);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
