// KHR_draco_mesh_compression: parts whose indices and attributes are packed with Draco. The helper program sinew-draco
// unpacks one at a time, under limits of memory and time; what it answers gets a view of its own, which the accessors
// of the part then lie in, so that everybody else reads them as any other.
//
// A part that has the same data unpacked besides is read from there, for its vertices may have another order.

#include "asset/gltf_parts.h"
#include "asset/helper.h"
#include "draco/block.h"

#include <stdio.h>
#include <string.h>

enum
{
    snw_dracoSeconds = 60,
    snw_dracoMegabytes = 4096,
    snw_maxDracoParts = 4096,
    snw_maxDracoAttributes = 64,
};

static const char s_dracoRemedy[] =
    "compress it again, or export without Draco: in Blender leave Data > Compression off";

typedef struct Part
{
    snwGltfReading* reading;
    const unsigned char* packed;
    size_t packedSize;
    int accessors[1 + snw_maxDracoAttributes]; // the indices first
    int ids[1 + snw_maxDracoAttributes];       // of Draco; not of the indices
    int count;                                 // of accessors
    size_t size;                               // of the numbers of all of them
} Part;

static const json_t* FindPacked(const json_t* primitive)
{
    return json_object_get(json_object_get(primitive, "extensions"), "KHR_draco_mesh_compression");
}

// What is packed in it and what that is for; false if there is nothing to unpack.
static bool ReadDracoPart(Part* part, const json_t* primitive, const json_t* packed)
{
    static const int64_t s_idRange[2] = {0, INT32_MAX}, s_modeRange[2] = {0, 6};
    snwGltfReading* reading = part->reading;
    const snwGltf* gltf = reading->gltf;
    const json_t *all = json_object_get(primitive, "attributes"), *id;
    const char* name;

    part->accessors[0] = snwGltf_NeedIndex(reading, primitive, "indices", gltf->accessorCount, "accessors");
    part->count = 1;
    bool strips = snwGltf_Int(reading, primitive, "mode", s_modeRange, 4) != 4;
    size_t mark = snwJson_Enter(&reading->json, "extensions.KHR_draco_mesh_compression");
    int view = snwGltf_NeedIndex(reading, packed, "bufferView", gltf->viewCount, "buffer views");
    const json_t* ids = snwGltf_Object(reading, packed, "attributes");

    // Attributes by the number that Draco gives them, each with the accessor that it fills.
    json_object_foreach((json_t*)ids, name, id)
    {
        int accessor = snwGltf_NeedIndex(reading, all, name, gltf->accessorCount, "accessors");
        if (part->count > snw_maxDracoAttributes)
            snwGltf_Fail(reading, NULL, "has more than %d attributes", snw_maxDracoAttributes);
        else
        {
            part->ids[part->count] = (int)snwGltf_Int(reading, ids, name, s_idRange, -1);
            part->accessors[part->count++] = accessor;
        }
    }
    // What it must have to be of use here.
    if (json_object_get(ids, "POSITION") == NULL)
        snwGltf_Fail(reading, s_dracoRemedy, "KHR_draco_mesh_compression without positions");
    if (strips)
        snwGltf_Fail(reading, s_dracoRemedy, "only triangles are read, not strips and fans");
    for (int i = 0; i < part->count && !snwGltfReading_Failed(reading); ++i)
        snwGltf_CheckAccessor(reading, part->accessors[i], i == 0 ? 1 << snw_gltfScalar : 0xF,
            i == 0 ? snw_gltfUnsigned : snw_gltfSmallInts | snw_gltfUnsigned | snw_gltfReal);
    if (!snwGltfReading_Failed(reading) && gltf->views[view].data == NULL)
        snwGltf_Fail(reading, s_dracoRemedy, "its buffer has no data");
    snwJson_Leave(&reading->json, mark);
    if (snwGltfReading_Failed(reading))
        return false;

    part->packed = gltf->views[view].data;
    part->packedSize = gltf->views[view].size;

    // Accessors with a view of their own have their numbers already, from another program's fallback.
    bool wanted = false;
    for (int i = 0; i < part->count; ++i)
    {
        const snwGltfAccessor* accessor = &gltf->accessors[part->accessors[i]];
        wanted = wanted || accessor->view < 0;
        part->size += (size_t)accessor->count * (size_t)snwGltfAccessor_PackedSize(accessor);
    }

    return wanted;
}

static snwResult ExplainDraco(const snwHelperRun* run, snwMessage* message)
{
    switch (run->end)
    {
        case snw_helperAbsent:
            return snwFail(message, snw_errorUnsupported,
                "install libdraco-dev and build again, or export without Draco: in Blender leave Data > Compression "
                "off",
                "Draco is unpacked by the program sinew-draco, which is not here");
        case snw_helperLate:
            return snwFail(message, snw_errorInput, s_dracoRemedy, "Draco did not come to an end in time");
        case snw_helperCrashed:
            return snwFail(message, snw_errorInput, s_dracoRemedy, "Draco crashed on it (signal %d)", run->signal);
        case snw_helperFailed:
            return snwFail(message, snw_errorInput, s_dracoRemedy, "sinew-draco failed on it");
        case snw_helperDone:
            break;
    }

    return snw_ok;
}

static snwResult AskDraco(const Part* part, snwWriter* answer)
{
    const snwGltf* gltf = part->reading->gltf;
    snwMessage* message = part->reading->json.message;
    snwWriter question = {.context = part->reading->asset->context};

    // Limits, then the packed bytes, then what shall come back.
    snwWriteInt(&question, snw_dracoAsked);
    snwWriteInt(&question, snw_dracoSeconds);
    snwWriteInt(&question, snw_dracoMegabytes);
    snwWriteInt(&question, (int)part->packedSize);
    snwWrite(&question, part->packed, part->packedSize);
    snwWriteInt(&question, snwGltfComponent_Size(gltf->accessors[part->accessors[0]].component));
    snwWriteInt(&question, part->count - 1);

    // What each attribute shall come back as.
    for (int i = 1; i < part->count; ++i)
    {
        const snwGltfAccessor* accessor = &gltf->accessors[part->accessors[i]];
        snwWriteInt(&question, part->ids[i]);
        snwWriteInt(&question, (int)accessor->component);
        snwWriteInt(&question, snwGltfType_Width(accessor->type));
    }

    snwWriteInt(&question, snw_dracoAsked);

    // In a program of its own: if it crashes or hangs, that is an error message.
    snwHelperRun run = {0};
    snwHelperDef def = {.program = "sinew-draco",
        .variable = "SINEW_DRACO",
        .input = question.data,
        .inputSize = question.size,
        .mostOutput = part->size + 4096, // one that is longer is wrong anyway
        .seconds = 2 * snw_dracoSeconds};
    snwResult result = question.failed ? snwFailMemory(message) : snwHelper_Run(&def, answer, &run, message);
    snwFree(question.context, question.data);
    bool endless = answer->size >= def.mostOutput; // it was killed for that

    return result < 0 || endless ? result : ExplainDraco(&run, message);
}

// Nothing of the answer is believed: it has to have as many vertices and corners as the accessors say.
static snwResult CheckDracoAnswer(const Part* part, snwReader* answer, snwMessage* message)
{
    int magic = snwReadInt(answer);
    if (magic == snw_dracoFailed)
    {
        int length = snwReadInt(answer);
        const unsigned char* words = length > 0 && length < 200 ? snwReadBytes(answer, (size_t)length) : NULL;
        return snwFail(message, snw_errorInput, s_dracoRemedy, "its compressed data is broken%s%.*s",
            words != NULL ? ": " : "", words != NULL ? length : 0, (const char*)words);
    }

    int vertices = snwReadInt(answer), corners = snwReadInt(answer);
    if (magic != snw_dracoDone || answer->failed)
        return snwFail(message, snw_errorInput, s_dracoRemedy, "what sinew-draco answers makes no sense");

    // As many corners and vertices as the accessors announce, or nothing is taken.
    for (int i = 0; i < part->count; ++i)
    {
        int wanted = part->reading->gltf->accessors[part->accessors[i]].count;
        if (wanted != (i == 0 ? corners : vertices))
            return snwFail(message, snw_errorInput, s_dracoRemedy, "it unpacks to %d %s; its accessor %d has %d",
                i == 0 ? corners : vertices, i == 0 ? "corners" : "vertices", part->accessors[i], wanted);
    }

    // No more and no less than that, with the word that ends it.
    if (answer->size - answer->position != part->size + sizeof(int))
        return snwFail(message, snw_errorInput, s_dracoRemedy, "what sinew-draco answers makes no sense");
    return snw_ok;
}

// The part's numbers become the view, and its accessors lie in that.
static void UnpackDraco(Part* part, int view)
{
    snwGltfReading* reading = part->reading;
    snwGltf* gltf = reading->gltf;
    snwWriter block = {.context = reading->asset->context};
    snwResult result = AskDraco(part, &block);
    snwReader answer = {block.data, block.size, 0, false};

    if (result >= 0)
        result = CheckDracoAnswer(part, &answer, reading->json.message);
    snwGltf_Check(reading, result);
    const unsigned char* numbers = result >= 0 ? snwReadBytes(&answer, part->size) : NULL;
    unsigned char* data = snwGltf_Room(reading, (int64_t)part->size, 1);

    // Indices first, then attribute after attribute, as they were asked for.
    if (data != NULL && numbers != NULL)
    {
        memcpy(data, numbers, part->size);
        gltf->views[view] = (snwGltfView){.data = data, .size = part->size, .buffer = -1};
        size_t offset = 0;
        for (int i = 0; i < part->count; ++i)
        {
            snwGltfAccessor* accessor = &gltf->accessors[part->accessors[i]];
            if (accessor->view < 0) // else it has numbers already: unpacked ones, or those of a part that shares them
            {
                accessor->view = view;
                accessor->offset = offset;
                accessor->stride = snwGltfAccessor_PackedSize(accessor);
            }

            offset += (size_t)accessor->count * (size_t)snwGltfAccessor_PackedSize(accessor);
        }
    }

    snwFree(reading->asset->context, block.data);
}

void snwGltf_UnpackDraco(snwGltfReading* reading)
{
    snwGltf* gltf = reading->gltf;
    const json_t* meshes = json_object_get(gltf->root, "meshes");
    int parts = 0;

    // Counted first: every part gets a view.
    for (size_t m = 0; m < json_array_size(meshes); ++m)
    {
        const json_t* primitives = json_object_get(json_array_get(meshes, m), "primitives");
        for (size_t i = 0; i < json_array_size(primitives); ++i)
            parts += FindPacked(json_array_get(primitives, i)) != NULL;
    }

    if (parts == 0 || snwGltfReading_Failed(reading))
        return;
    if (parts > snw_maxDracoParts)
        snwGltf_Fail(reading, "join some of them", "more than %d parts are packed with Draco", snw_maxDracoParts);

    // Room for one view more per part, behind those of the document.
    snwGltfView* views = snwGltf_Room(reading, gltf->viewCount + parts, sizeof *views);
    if (views != NULL && gltf->viewCount > 0)
        memcpy(views, gltf->views, (size_t)gltf->viewCount * sizeof *views);
    gltf->views = views;
    int view = gltf->viewCount;

    // Part by part, each with its place for messages.
    for (size_t m = 0; m < json_array_size(meshes); ++m)
    {
        const json_t* primitives = json_object_get(json_array_get(meshes, m), "primitives");
        for (size_t i = 0; i < json_array_size(primitives) && !snwGltfReading_Failed(reading); ++i)
        {
            const json_t *primitive = json_array_get(primitives, i), *packed = FindPacked(primitive);
            char place[64];
            snprintf(place, sizeof place, "meshes[%zu].primitives[%zu]", m, i);
            size_t mark = snwJson_Enter(&reading->json, place);
            Part part = {.reading = reading};
            if (packed != NULL && ReadDracoPart(&part, primitive, packed))
                UnpackDraco(&part, view++);
            snwJson_Leave(&reading->json, mark);
        }
    }
}
