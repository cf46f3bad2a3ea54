// Pictures of the file: textures that are shown, and maps that are read.

#include "prepare/parts.h"

#include "asset/gltf.h"
#include <math.h>
#include <string.h>

snwResult snwPreparer_ReadPicture(snwPreparer* p, const char* name, snwTexture* texture)
{
    snwAssetFolder folder = snwAssetFolder_Of(p->path);
    char* data = NULL;
    size_t size = 0;
    snwResult result = folder.read(folder.user, p->context, name, &data, &size, p->message);
    if (result >= 0)
        result = snwTexture_Read(&p->arena, data, size, texture, p->message);
    if (result < 0)
        snwMessage_AddPlace(p->message, "texture '%s'", name);
    snwFree(p->context, data);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Pictures of a glTF document

static int IndexOf(const json_t* object, const char* key, int count)
{
    const json_t* value = json_object_get(object, key);
    json_int_t index = json_is_integer(value) ? json_integer_value(value) : -1;
    return index >= 0 && index < count ? (int)index : -1;
}

// Bytes of an image: a buffer view, a file beside, or base64.
static snwResult Fetch(snwPreparer* p, const json_t* image, char** owned, const void** data, size_t* size)
{
    const snwGltf* gltf = p->asset->gltf;
    int view = IndexOf(image, "bufferView", gltf->viewCount);
    const char* uri = json_string_value(json_object_get(image, "uri"));
    if (view >= 0 && gltf->views[view].data != NULL)
    {
        *data = gltf->views[view].data;
        *size = gltf->views[view].size;
        return snw_ok;
    }
    if (uri == NULL)
        return snwFail(p->message, snw_errorInput, NULL, "it has no data");
    snwAssetFolder folder = snwAssetFolder_Of(p->path);
    snwResult result = snwGltf_LoadUri(p->context, &folder, uri, owned, size, p->message);
    *data = *owned;
    return result;
}

snwResult snwPreparer_Texture(snwPreparer* p, int image, int* texture)
{
    const json_t* images = json_object_get(p->asset->gltf->root, "images");
    int count = (int)json_array_size(images);

    // Every picture is read at most once; -1 stands for one that cannot be read.
    if (p->textureOf == NULL)
    {
        p->textureOf = snwPreparer_Alloc(p, count + 1, sizeof *p->textureOf);
        p->textures = snwPreparer_Alloc(p, snw_maxTextures, sizeof *p->textures);
        if (p->arena.failed)
            return snwFailMemory(p->message);
        for (int i = 0; i < count; ++i)
            p->textureOf[i] = -2; // not asked for yet
    }

    if (p->textureOf[image] != -2)
    {
        *texture = p->textureOf[image];
        return snw_ok;
    }

    // Until it has been read, and if that fails, it is none.
    *texture = p->textureOf[image] = -1;
    if (p->textureCount == snw_maxTextures)
        return snw_ok;
    char* owned = NULL;
    const void* data = NULL;
    size_t size = 0;
    snwResult result = Fetch(p, json_array_get(images, (size_t)image), &owned, &data, &size);
    // An unreadable picture does not stop the preparation.
    if (result >= 0)
        result = snwTexture_Read(&p->arena, data, size, &p->textures[p->textureCount], p->message);
    if (result >= 0)
        *texture = p->textureOf[image] = p->textureCount++;
    else if (result != snw_errorMemory)
        snwPreparer_Note(p, "picture %d of the file: %s; surfaces are shown without it", image, p->message->text);

    snwFree(p->context, owned);
    return result == snw_errorMemory ? result : snw_ok;
}

snwResult snwPreparer_Look(snwPreparer* p, int mesh, int part, snwMaterialLook* look)
{
    *look = (snwMaterialLook){{0.8f, 0.8f, 0.8f}, -1};
    if (p->asset->gltf == NULL)
        return snw_ok;
    const json_t* root = p->asset->gltf->root;
    const json_t* materials = json_object_get(root, "materials");
    const json_t* primitive = json_array_get(
        json_object_get(json_array_get(json_object_get(root, "meshes"), (size_t)mesh), "primitives"), (size_t)part);
    int index = IndexOf(primitive, "material", (int)json_array_size(materials));
    if (index < 0)
        return snw_ok;

    // The base colour's factor, and its texture, by way of the texture's list.
    const json_t* model = json_object_get(json_array_get(materials, (size_t)index), "pbrMetallicRoughness");
    const json_t* factor = json_object_get(model, "baseColorFactor");
    const json_t* textures = json_object_get(root, "textures");
    for (size_t k = 0; k < 3; ++k)
        look->color[k] = json_array_size(factor) >= 3
                             ? (float)fmin(fmax(json_number_value(json_array_get(factor, k)), 0), 1)
                             : 1.0f;

    int texture = IndexOf(json_object_get(model, "baseColorTexture"), "index", (int)json_array_size(textures));
    const json_t* item = json_array_get(textures, texture >= 0 ? (size_t)texture : SIZE_MAX);

    // WebP, where the file gives both, is the one meant.
    const json_t* webp = json_object_get(json_object_get(item, "extensions"), "EXT_texture_webp");
    int image = IndexOf(webp != NULL ? webp : item, "source", (int)json_array_size(json_object_get(root, "images")));

    return image >= 0 ? snwPreparer_Texture(p, image, &look->texture) : snw_ok;
}
