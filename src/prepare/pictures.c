// Pictures of the file: textures that are shown, and maps that are read.

#include "prepare/parts.h"

#include "asset/gltf.h"
#include "scene/file.h"
#include "sim/limits.h"

#include <math.h>
#include <png.h>
#include <string.h>

enum
{
    snw_maxPictureBytes = 1 << 28,
    snw_maxPicturePixels = 1 << 26,
};

// ---------------------------------------------------------------------------------------------------------------------
// PNG

snwResult snwPreparer_Unpack(snwPreparer* p, const void* data, size_t size, snwTexture* texture)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&image, data, size))
        return snwFail(p->message, snw_errorInput, NULL, "not a PNG picture: %s", image.message);
    image.format = PNG_FORMAT_RGBA;
    uint8_t* pixels = NULL;
    snwResult result = snw_ok;
    if (image.width > SNW_MAX_TEXTURE || image.height > SNW_MAX_TEXTURE ||
        (int64_t)image.width * image.height > snw_maxPicturePixels)
        result = snwFail(p->message, snw_errorInput, "scale it down",
            "a picture of %u x %u pixels is too large: at most %d each way, %d million in all", image.width,
            image.height, SNW_MAX_TEXTURE, snw_maxPicturePixels >> 20);
    else if ((pixels = snwPreparer_Alloc(p, (int64_t)image.width * image.height, 4)) == NULL)
        result = snwFailMemory(p->message);
    else if (!png_image_finish_read(&image, NULL, pixels, 0, NULL))
        result = snwFail(p->message, snw_errorInput, NULL, "a damaged PNG picture: %s", image.message);
    *texture = (snwTexture){(int)image.width, (int)image.height, pixels};
    png_image_free(&image);
    return result;
}

snwResult snwPreparer_ReadPicture(snwPreparer* p, const char* name, snwTexture* texture)
{
    snwAssetFolder folder = snwAssetFolder_Of(p->path);
    char* data = NULL;
    size_t size = 0;
    snwResult result = folder.read(folder.user, p->context, name, &data, &size, p->message);
    if (result >= 0)
        result = snwPreparer_Unpack(p, data, size, texture);
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

static bool IsPng(const void* data, size_t size)
{
    return size >= 8 && png_sig_cmp(data, 0, 8) == 0;
}

// Bytes of an image: a buffer view, or a file beside. Base64 is left to buffers.
static snwResult Fetch(snwPreparer* p, const json_t* image, char** owned, const void** data, size_t* size)
{
    const snwGltf* gltf = p->asset->gltf;
    int view = IndexOf(image, "bufferView", gltf->viewCount);
    const char* uri = json_string_value(json_object_get(image, "uri"));
    if (view >= 0)
    {
        *data = gltf->views[view].data;
        *size = gltf->views[view].size;
        return *data != NULL ? snw_ok : snw_errorInput;
    }
    if (uri == NULL || strncmp(uri, "data:", 5) == 0)
        return snw_errorInput;
    snwAssetFolder folder = snwAssetFolder_Of(p->path);
    snwResult result = folder.read(folder.user, p->context, uri, owned, size, NULL);
    *data = *owned;
    return result;
}

snwResult snwPreparer_Texture(snwPreparer* p, int image, int* texture)
{
    const json_t* images = json_object_get(p->asset->gltf->root, "images");
    int count = (int)json_array_size(images);
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
    *texture = p->textureOf[image] = -1;
    if (p->textureCount == snw_maxTextures)
        return snw_ok;
    char* owned = NULL;
    const void* data = NULL;
    size_t size = 0;
    snwResult result = Fetch(p, json_array_get(images, (size_t)image), &owned, &data, &size);
    if (result == snw_errorMemory)
        return snwFailMemory(p->message);
    if (result < 0 || !IsPng(data, size))
        snwPreparer_Note(p, "picture %d of the file is no PNG that can be read: surfaces are shown without it", image);
    else if ((result = snwPreparer_Unpack(p, data, size, &p->textures[p->textureCount])) >= 0)
        *texture = p->textureOf[image] = p->textureCount++;
    else if (result == snw_errorInput)
        snwPreparer_Note(p, "picture %d of the file is damaged: surfaces are shown without it", image);
    snwFree(p->context, owned);
    return result == snw_errorMemory ? result : snw_ok;
}

snwResult snwPreparer_Look(snwPreparer* p, int mesh, int part, snwLook* look)
{
    *look = (snwLook){{0.8f, 0.8f, 0.8f}, -1};
    if (p->asset->gltf == NULL)
        return snw_ok;
    const json_t* root = p->asset->gltf->root;
    const json_t* materials = json_object_get(root, "materials");
    const json_t* primitive = json_array_get(
        json_object_get(json_array_get(json_object_get(root, "meshes"), (size_t)mesh), "primitives"), (size_t)part);
    int index = IndexOf(primitive, "material", (int)json_array_size(materials));
    if (index < 0)
        return snw_ok;
    const json_t* model = json_object_get(json_array_get(materials, (size_t)index), "pbrMetallicRoughness");
    const json_t* factor = json_object_get(model, "baseColorFactor");
    const json_t* textures = json_object_get(root, "textures");
    for (size_t k = 0; k < 3; ++k)
        look->color[k] = json_array_size(factor) >= 3
                             ? (float)fmin(fmax(json_number_value(json_array_get(factor, k)), 0), 1)
                             : 1.0f;
    int texture = IndexOf(json_object_get(model, "baseColorTexture"), "index", (int)json_array_size(textures));
    int image = IndexOf(json_array_get(textures, texture >= 0 ? (size_t)texture : SIZE_MAX), "source",
        (int)json_array_size(json_object_get(root, "images")));
    return texture >= 0 && image >= 0 ? snwPreparer_Texture(p, image, &look->texture) : snw_ok;
}
